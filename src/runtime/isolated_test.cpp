#include "runtime/hosted.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/other_process.h"
#include "support/temporary_folder.h"

namespace ounce::runtime {
namespace {

using test::endless;
using test::error_of;
using test::floats;
using test::kFloat;
using test::negation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Expands x 2^20 times, which takes 8 MiB, and the result 2^12 times.
std::string enormous() {
  test::ModelBuilder model(13, 7);
  const std::string large("\0\0\0\0\x02\0\0\0", 8);  // 2^33
  model.input("x", kFloat, {1}).output("y", kFloat, {std::int64_t{1} << 33});
  model.initializer(test::tensor("shape", test::kInt64, {1}, large));
  model.node("Expand", {"x", "shape"}, {"y"});
  return model.bytes();
}

struct IsolatedTest : testing::Test {
  std::filesystem::path write(const std::string& model) {
    test::write_file(folder / "model.onnx", model);
    return folder / "model.onnx";
  }
  static ExecutorOptions with(Limits limits) {
    ExecutorOptions options;
    options.isolate = limits;
    return options;
  }
  // Uses a script instead of the runner.
  void stand_in(const std::string& script) {
    test::write_file(folder / "runner", "#!/bin/sh\n" + script);
    ::chmod((folder / "runner").c_str(), 0755);
    ::setenv("OUNCE_RUNNER", (folder / "runner").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("OUNCE_RUNNER"); }
  test::TemporaryFolder folder;
};

TEST_F(IsolatedTest, RunsAModelElsewhere) {
  Isolated model(write(negation()), with({}));
  ASSERT_EQ(model.inputs().size(), 1U);
  EXPECT_EQ(model.inputs()[0].name, "x");
  EXPECT_THAT(model.library_version(), HasSubstr("1."));
  for (const float value : {1.0F, 5.0F}) {
    const Tensor x = floats({2}, {value, 2});
    const auto outputs = model.run(std::vector<TensorView>{x});
    ASSERT_EQ(outputs.size(), 1U);
    EXPECT_EQ(data::copy_of(outputs[0]).bytes, floats({2}, {-value, -2}).bytes);
  }
  EXPECT_GT(model.peak_memory(), 1'000'000U);
  EXPECT_GT(model.load_seconds(), 0);
  EXPECT_GT(model.last_run_seconds(), 0);
}

TEST_F(IsolatedTest, TimesRunsInARow) {
  Isolated model(write(negation()), with({}));
  const Tensor x = floats({2}, {1, 2});
  const SlotTimes times = model.time(std::vector<TensorView>{x}, 5);
  EXPECT_EQ(times.calls.size(), 5U);
  EXPECT_GT(times.cpu_seconds, 0);
  EXPECT_FALSE(times.pieces.empty());
  EXPECT_EQ(model.run(std::vector<TensorView>{x}).size(), 1U);
  const Tensor wrong = floats({3}, {1, 2, 3});
  EXPECT_EQ(error_of([&] { model.time(std::vector<TensorView>{wrong}, 5); }).code(), ErrorCode::kBadInput);
}

TEST_F(IsolatedTest, AnErrorOfTheRuntimeComesBackWithItsCode) {
  test::ModelBuilder model(13, 7);
  model.input("x", kFloat, {1}).output("y", kFloat, {1}).node("NoSuchOp", {"x"}, {"y"});
  const auto path = write(model.bytes());
  const Error error = error_of([&] { Isolated(path, with({})); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("NoSuchOp"));
  EXPECT_EQ(error_of([&] { Isolated("none.onnx", with({})); }).code(), ErrorCode::kIo);
}

TEST_F(IsolatedTest, AWrongInputLeavesTheProcessAlive) {
  Isolated model(write(negation()), with({}));
  const Tensor wrong = floats({3}, {1, 2, 3}), right = floats({2}, {1, 2});
  EXPECT_EQ(error_of([&] { model.run(std::vector<TensorView>{wrong}); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(model.run(std::vector<TensorView>{right}).size(), 1U);
}

TEST_F(IsolatedTest, AModelWithoutEndIsStopped) {
  Isolated model(write(endless()), with({0, 5}));  // 5 s: ten times the loading time on a busy machine
  const Tensor x = floats({2}, {1, 2});
  const auto start = std::chrono::steady_clock::now();
  const Error error = error_of([&] { model.run(std::vector<TensorView>{x}); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(300));
  EXPECT_THAT(error.what(), HasSubstr("timeout: running the model took longer than 5 s"));
  // The next run gets a new process and times out again.
  EXPECT_THAT(error_of([&] { model.run(std::vector<TensorView>{x}); }).what(), HasSubstr("timeout: "));
}

TEST_F(IsolatedTest, AModelThatWantsAllMemoryGetsAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer takes more address space than any limit";
#endif
  Isolated model(write(enormous()), with({std::uint64_t{2} << 30, 60}));
  const Tensor x = floats({1}, {1});
  EXPECT_EQ(error_of([&] { model.run(std::vector<TensorView>{x}); }).code(), ErrorCode::kMemory);
}

TEST_F(IsolatedTest, ARunnerThatGetsNothingFromTheSystemSaysSo) {
  stand_in("exit 71");
  const auto path = write(negation());
  const Error error = error_of([&] { Isolated(path, with({})); });
  EXPECT_EQ(error.code(), ErrorCode::kMemory);
  EXPECT_THAT(error.what(), HasSubstr("ran out of memory or threads while loading the model"));
}

TEST_F(IsolatedTest, OutlivesTheThreadThatStartedIt) {
  const auto path = write(negation());
  std::unique_ptr<Isolated> model;
  std::thread([&] { model = std::make_unique<Isolated>(path, with({})); }).join();
  const Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(model->run(std::vector<TensorView>{x}).size(), 1U);
  const double first_load = model->load_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  model->run(std::vector<TensorView>{x});
  EXPECT_EQ(model->load_seconds(), first_load);  // the process was not restarted
}

TEST_F(IsolatedTest, ACrashIsAnErrorThatNamesTheSignal) {
  stand_in("kill -SEGV $$");
  const auto path = write(negation());
  const Error error = error_of([&] { Isolated(path, with({})); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("ONNX Runtime crashed with SIGSEGV while loading the model"));
  stand_in("exit 7");
  EXPECT_THAT(error_of([&] { Isolated(path, with({})); }).what(), HasSubstr("ended with 7"));
}

TEST_F(IsolatedTest, AKillFromOutsideIsNotTheModelsFault) {
  const auto path = write(negation());
  for (const char* const signal : {"KILL", "TERM"}) {
    stand_in(std::string("kill -") + signal + " $$");
    const Error error = error_of([&] { Isolated(path, with({})); });
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_THAT(error.what(), HasSubstr(std::string("ONNX Runtime was killed (SIG") + signal +
                                        ") while loading the model, perhaps because memory ran out"));
  }
}

TEST_F(IsolatedTest, AFileThatIsCutWhileTheRuntimeReadsItIsNotTheModelsFault) {
  stand_in("kill -BUS $$");
  const auto path = write(negation());
  const Error error = error_of([&] { Isolated(path, with({})); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("crashed with SIGBUS while loading the model: a file was truncated"));
}

TEST_F(IsolatedTest, NonsenseFromTheRunnerIsRefused) {
  const auto path = write(negation());
  // A kLoaded message whose 8-byte body announces a name of 2^56 bytes; and a message that ends early.
  stand_in(
      R"(printf '\002\000\000\000\010\000\000\000\000\000\000\000\000\000\000\000\000\000\000\001'; sleep 60)");
  EXPECT_THAT(error_of([&] { Isolated(path, with({})); }).what(), HasSubstr("have different versions"));
  stand_in(R"(printf '\002\000\000\000\377\377\377\377\377\377\377\177 and no more')");
  EXPECT_THAT(error_of([&] { Isolated(path, with({})); }).what(), HasSubstr("ended with 0"));
}

TEST_F(IsolatedTest, ARunnerThatIsNotThereIsExplained) {
  ::setenv("OUNCE_RUNNER", "/nowhere/runner", 1);
  const auto path = write(negation());
  EXPECT_THAT(error_of([&] { Isolated(path, with({})); }).what(), HasSubstr("OUNCE_RUNNER=/nowhere/runner"));
}

}  // namespace
}  // namespace ounce::runtime
