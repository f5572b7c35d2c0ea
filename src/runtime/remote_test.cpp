#include "runtime/remote.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "runtime/hosted.h"
#include "runtime/masked_cpu.h"
#include "runtime/places.h"
#include "support/cpus_required.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/other_process.h"
#include "support/temporary_folder.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

using test::endless;
using test::error_of;
using test::floats;
using test::kFloat;
using test::negation;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// y = x + w, with w in an external data file of this name.
std::string sum_with(const std::string& location) {
  test::ModelBuilder model(13, 7);
  model.input("x", kFloat, {2}).output("y", kFloat, {2});
  model.initializer(test::external_tensor("w", {2}, location, "0", "8")).node("Add", {"x", "w"}, {"y"});
  return model.bytes();
}

struct RemoteTest : testing::Test {
  fs::path write(const std::string& model, const std::string& name = "model.onnx") {
    test::write_file(folder / name, model);
    return folder / name;
  }
  std::string script(const std::string& name, const std::string& lines) {
    test::write_file(folder / name, "#!/bin/sh\n" + lines + "\n");
    ::chmod((folder / name).c_str(), 0755);
    return (folder / name).string();
  }
  // Options for a device whose folder is `there`, in the test's folder.
  ExecutorOptions via(const std::string& command) {
    ExecutorOptions options;
    options.remote = RemoteOptions{};
    options.remote->via = command;
    options.remote->folder = there.string();
    return options;
  }
  // The names of the files on the device, without digests.
  std::vector<std::string> names_there() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(there)) {
      const std::string name = entry.path().filename().string();
      names.push_back(name.substr(0, name.find_last_of("-.", name.size() - 4)));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  static void expect_negation(Executor& model) {
    for (const float value : {1.0F, 5.0F}) {
      const Tensor x = floats({2}, {value, 2});
      EXPECT_EQ(data::copy_of(model.run(std::vector<TensorView>{x})[0]).bytes,
                floats({2}, {-value, -2}).bytes);
    }
  }
  test::TemporaryFolder folder;
  fs::path there = folder / "a place there";
};

TEST_F(RemoteTest, RunsAModelBehindACommandAndLeavesOnlyRunnerAndLibrary) {
  const auto path = write(negation());
  {
    Remote model(path, via("sh -c"));
    ASSERT_EQ(model.inputs().size(), 1U);
    EXPECT_EQ(model.inputs()[0].name, "x");
    EXPECT_THAT(model.library_version(), HasSubstr("1."));
    expect_negation(model);
    EXPECT_GT(model.peak_memory(), 1'000'000U);
    EXPECT_GT(model.library_seconds(), 0);
    EXPECT_GT(model.load_seconds(), 0);
    EXPECT_GT(model.last_run_seconds(), 0);
    EXPECT_THAT(names_there(), ElementsAre("libonnxruntime", "model", "ounce-runner"));
  }
  EXPECT_THAT(names_there(), ElementsAre("libonnxruntime", "ounce-runner"));
}

TEST_F(RemoteTest, SendsOnlyWhatIsNotThere) {
  const auto path = write(negation());
  ExecutorOptions options =
      via(script("noting", "echo \"$1\" >> " + (folder / "log").string() + "; exec sh -c \"$1\""));
  const auto sent = [&] {
    fs::remove(folder / "log");
    Remote model(path, options);
    expect_negation(model);
    const std::string log = test::read_file(folder / "log");
    std::vector<std::string> names;
    for (const std::string name : {"ounce-runner-", "libonnxruntime-", "model.onnx"}) {
      for (std::size_t at = log.find("f='"); at != std::string::npos; at = log.find("f='", at + 1)) {
        if (log.substr(at, log.find(';', at) - at).find(name) != std::string::npos) names.push_back(name);
      }
    }
    return names;
  };
  EXPECT_THAT(sent(), ElementsAre("ounce-runner-", "libonnxruntime-", "model.onnx"));
  EXPECT_THAT(sent(), ElementsAre("model.onnx"));
  options.remote->keep = true;
  EXPECT_THAT(sent(), ElementsAre("model.onnx"));
  EXPECT_THAT(sent(), IsEmpty());
  // A damaged file, for example after an interrupted transfer, is sent again.
  for (const auto& entry : fs::directory_iterator(there)) {
    if (entry.is_regular_file() && entry.path().extension() == ".so") fs::resize_file(entry.path(), 1000);
  }
  EXPECT_THAT(sent(), ElementsAre("libonnxruntime-"));
}

TEST_F(RemoteTest, AFolderOfOursIsMadeAndSomebodyElsesIsNotTaken) {
  const auto path = write(negation());
  fs::create_directory(folder / "tmp");
  ExecutorOptions options =
      via(script("device", "TMPDIR=" + (folder / "tmp").string() + "; export TMPDIR; exec sh -c \"$1\""));
  options.remote->folder.clear();
  {
    Remote model(path, options);
    expect_negation(model);
  }
  const fs::path ours = folder / "tmp" / ("ounce-" + std::to_string(::geteuid()));
  EXPECT_THAT(std::vector<fs::path>(fs::directory_iterator(folder / "tmp"), {}), ElementsAre(ours));
  EXPECT_EQ(fs::status(ours).permissions(), fs::perms::owner_all);
  if (::geteuid() != 0) return;  // only root can give a folder away
  ASSERT_EQ(::chown(ours.c_str(), 1, 1), 0);
  EXPECT_THAT(error_of([&] { Remote(path, options); }).what(), HasSubstr("belongs to another user"));
}

TEST_F(RemoteTest, DoesWithoutSha256sum) {
  const auto path = write(negation());
  const ExecutorOptions options = via(script("poor", "sha256sum() { return 127; }\neval \"$1\""));
  for (int i = 0; i < 2; ++i) {
    Remote model(path, options);
    expect_negation(model);
  }
}

TEST_F(RemoteTest, ExternalDataGoesByTheNamesOfTheModelHoweverTheyAreSpelled) {
  const fs::path pwned = fs::current_path() / "pwned";
  for (const std::string name :
       {"w.bin", "inner/w.bin", "it's $(touch pwned) `touch pwned`; \"& touch pwned;.bin", "-rf"}) {
    fs::create_directories((folder / name).parent_path());
    test::write_file(folder / name, test::raw_floats({10, 20}));
    Remote model(write(sum_with(name), "it's a model'; touch pwned #.onnx"), via("sh -c"));
    const Tensor x = floats({2}, {1, 2});
    EXPECT_EQ(data::copy_of(model.run(std::vector<TensorView>{x})[0]).bytes, floats({2}, {11, 22}).bytes)
        << name;
    fs::remove_all(folder / name);
  }
  EXPECT_FALSE(fs::exists(pwned));
}

TEST_F(RemoteTest, StandInsGetTheirNamesThere) {
  test::write_file(folder / "unnamed", test::raw_floats({10, 20}));
  ExecutorOptions options = via("sh -c");
  options.settings.external_data_paths = {{"w.bin", folder / "unnamed"}};
  Remote model(write(sum_with("w.bin")), options);
  const Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(data::copy_of(model.run(std::vector<TensorView>{x})[0]).bytes, floats({2}, {11, 22}).bytes);
}

TEST_F(RemoteTest, AnErrorOfTheRuntimeComesBackWithItsCode) {
  test::ModelBuilder model(13, 7);
  model.input("x", kFloat, {1}).output("y", kFloat, {1}).node("NoSuchOp", {"x"}, {"y"});
  const auto path = write(model.bytes());
  const Error error = error_of([&] { Remote(path, via("sh -c")); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("NoSuchOp"));
  EXPECT_THAT(names_there(), ElementsAre("libonnxruntime", "ounce-runner"));
}

TEST_F(RemoteTest, ADeadSideIsExplainedInItsOwnWords) {
  const auto path = write(negation());
  const Error error =
      error_of([&] { Remote(path, via(script("dead", "echo 'no route to board' >&2; exit 255"))); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("dead"), HasSubstr("ended with 255: no route to board")));
  EXPECT_THAT(error_of([&] { Remote(path, via("/nowhere/ssh board")); }).what(),
              HasSubstr("cannot start the program"));
  EXPECT_THAT(error_of([&] { Remote(path, via("true")); }).what(),
              HasSubstr("does not run its argument in a shell"));
  EXPECT_EQ(error_of([&] { Remote(path, via("ssh 'board")); }).code(), ErrorCode::kUsage);
}

TEST_F(RemoteTest, ARunnerThatDiesThereIsExplainedInItsOwnWords) {
  const auto path = write(negation());
  ExecutorOptions options = via("sh -c");
  options.remote->runner = script("runner", "echo 'libc.so.6: version not found' >&2; exit 3");
  EXPECT_THAT(error_of([&] { Remote(path, options); }).what(),
              HasSubstr("behind 'sh -c' ended with 3 while loading the model: libc.so.6: version not found"));
  options.remote->runner = script("runner", "kill -SEGV $$");
  EXPECT_THAT(error_of([&] { Remote(path, options); }).what(), HasSubstr("crashed with SIGSEGV"));
  options.remote->runner = script("runner", "yes 'a long message' >&2");
  EXPECT_EQ(error_of([&] { Remote(path, options); }).code(), ErrorCode::kBadInput);
}

TEST_F(RemoteTest, ASideThatHangsIsLeft) {
  const auto path = write(negation());
  const auto start = std::chrono::steady_clock::now();
  ExecutorOptions options =
      via(script("stuck", "case $1 in *mkdir*cat*) sleep 100;; *) exec sh -c \"$1\";; esac"));
  options.remote->seconds = 0.5;
  const Error error = error_of([&] { Remote(path, options); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("stuck: timeout: no answer within 0.5 s"));
  options = via("sh -c");
  options.remote->runner = script("runner", "sleep 100");
  options.isolate = Limits{0, 0.5};
  EXPECT_THAT(error_of([&] { Remote(path, options); }).what(),
              HasSubstr("loading the model took longer than 0.5 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
}

TEST_F(RemoteTest, ACommandThatChangesBytesIsRefused) {
  const auto path = write(negation());
  EXPECT_THAT(error_of([&] { Remote(path, via(script("mangling", "tr -d '\\012' | sh -c \"$1\""))); }).what(),
              HasSubstr("must transfer bytes unchanged"));
}

TEST_F(RemoteTest, AGreetingIsNotTakenForAnAnswer) {
  const auto path = write(negation());
  const std::string greeting = script("greeting", "echo 'Welcome to board 1'; exec sh -c \"$1\"");
  EXPECT_THAT(error_of([&] { Remote(path, via(greeting)); }).what(), HasSubstr("have different versions"));
}

// The runner uses pipes, as over ssh, and is not killed with its parent.
TEST_F(RemoteTest, ARunnerOnPipesEndsWhenNobodyListens) {
  const Tensor x = floats({2}, {1, 2});
  ExecutorOptions options = via(script("pipes", "cat | setsid sh -c \"$1\" | cat"));
  {
    Remote model(write(negation()), options);
    expect_negation(model);
  }
  const std::string number = (folder / "number").string();
  options.remote->launcher = "echo $$ > " + number + "; exec";
  Remote model(write(endless()), options);
  const auto pid = static_cast<pid_t>(std::stol(test::read_file(number)));
  ASSERT_EQ(::kill(pid, 0), 0);
  {
    options.isolate = Limits{0, 5};  // 5 s: ten times the loading time on a busy machine
    Remote busy(write(endless()), options);
    EXPECT_THAT(error_of([&] { busy.run(std::vector<TensorView>{x}); }).what(), HasSubstr("timeout: "));
    const auto busy_pid = static_cast<pid_t>(std::stol(test::read_file(number)));
    ASSERT_NE(busy_pid, pid);
    for (int i = 0; i < 1200 && ::kill(busy_pid, 0) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_NE(::kill(busy_pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), 0);
}

TEST_F(RemoteTest, AMachineWithoutARunnerIsExplained) {
  const auto path = write(negation());
  ExecutorOptions options;
  options.remote = RemoteOptions{};
  options.remote->launcher = "qemu-riscv64";
  EXPECT_THAT(error_of([&] { Remote(path, options); }).what(), HasSubstr("no ounce-runner for riscv64"));
}

// Tests with arm64 in an emulator, if everything needed is installed.
struct EmulatedTest : RemoteTest {
  void SetUp() override {
    const char* const named = std::getenv("OUNCE_QEMU_AARCH64");
    const std::string qemu = named == nullptr ? "qemu-aarch64" : named;
    if (std::system((qemu + " --version > /dev/null 2>&1").c_str()) != 0)
      return ounce::test::skip_or_fail("qemu-aarch64 is not installed");
    if (find_runner_named("ounce-runner-arm64").empty())
      return ounce::test::skip_or_fail("ounce-runner-arm64 was not found");
    // Use the oldest library, because the newest does not start in every emulator.
    const auto libraries = installed_libraries(model::ModelKind::kOnnx, "aarch64");
    if (libraries.empty()) return ounce::test::skip_or_fail("ONNX Runtime for aarch64 is not installed");
    options.remote = RemoteOptions{};
    options.remote->launcher = qemu + " -L /usr/aarch64-linux-gnu";
    options.remote->library = libraries.back().string();
  }
  ExecutorOptions options;
};

TEST_F(EmulatedTest, RunsAModelUnderAnEmulator) {
  Remote model(write(negation()), options);
  expect_negation(model);
  EXPECT_GT(model.last_run_seconds(), 0);
}

TEST_F(EmulatedTest, RunsAModelUnderAnEmulatorBehindACommand) {
  options.remote->via = "sh -c";
  options.remote->folder = there.string();
  Remote model(write(negation()), options);
  expect_negation(model);
}

TEST_F(EmulatedTest, IsWhatLoadGives) {
  const auto model = load(write(negation()), options);
  expect_negation(*model);
}

TEST(DeviceTest, WordsAreSplitAtBlanksOutsideOfQuotes) {
  EXPECT_THAT(words_of("ssh  -o 'A b' \"c'd\"e ''"), ElementsAre("ssh", "-o", "A b", "c'de", ""));
  EXPECT_THAT(words_of(""), IsEmpty());
  EXPECT_THAT(words_of("a$(b) ;c"), ElementsAre("a$(b)", ";c"));
}

TEST(DeviceTest, AWordComesThroughAShellAsItIs) {
  const std::string word = "it's $HOME `x` \\ \n \" * ~ -e";
  EXPECT_EQ(Device("sh -c").run("printf %s " + shell_word(word), {}, 10), word);
  EXPECT_EQ(error_of([] { shell_word(std::string(1, '\0')); }).code(), ErrorCode::kBadInput);
}

TEST(MachineTest, AnEmulatorSaysWhichMachineItIs) {
  EXPECT_EQ(emulated_machine("qemu-aarch64 -L /x"), "aarch64");
  EXPECT_EQ(emulated_machine("/usr/bin/qemu-arm64-static"), "aarch64");
  EXPECT_EQ(emulated_machine("nice qemu"), "");
  EXPECT_EQ(emulated_machine(""), "");
}

}  // namespace
}  // namespace ounce::runtime
