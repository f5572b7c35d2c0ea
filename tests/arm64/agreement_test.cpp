// The embedded example and what `ounce quantize` makes of it give the same on arm64 as on this machine.
//
// arm64 is emulated: it takes ounce-runner-arm64 (built where Debian's g++-aarch64-linux-gnu is),
// qemu-aarch64 (or what OUNCE_QEMU_AARCH64 names) and an ONNX Runtime for aarch64 (./setup
// runtime 1.22.0:aarch64). Each version that is here for both machines is compared; a version that the
// emulator cannot start is skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ounce/contract.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "data/data_feed.h"
#include "runtime/executor.h"
#include "runtime/isolated.h"
#include "runtime/machine.h"
#include "runtime/version.h"
#include "support/arm64_required.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

namespace fs = std::filesystem;

const fs::path kExample = fs::path(OUNCE_EXAMPLES) / "commands";
constexpr std::uint64_t kSamples = 8;

struct Variant {
  std::string name, options;
  // The largest difference of a logit that is allowed, as a share of the largest logit.
  double tolerance;
};

// Floats: measured 2e-7 with 1.22.0 and 1.30.0, which is the last bit or two, for kernels of two machines add
// in another order; fifty times that leaves room for other CPUs. Integers: measured 0 (static) and 1e-7
// (dynamic), for sums of integers are exact; but a float in front of them that differs in its last bit may
// round to the next code, which is worth about a hundredth. 7-bit weights, because the 8-bit products of x86
// CPUs without VNNI saturate, and those of arm64 do not.
const std::vector<Variant> kVariants = {
    {"fp32", "", 1e-5},
    {"w8", "--to w8", 1e-5},
    {"w16", "--to w16", 1e-5},
    {"static", "--to static --reduce-range --data '{data}' --rescale 1/32768", 1e-2},
    {"dynamic", "--to dynamic --reduce-range", 1e-2},
};

std::string emulator() {
  const char* const named = std::getenv("OUNCE_QEMU_AARCH64");
  return named == nullptr ? "qemu-aarch64" : named;
}

std::string data_file() { return (kExample / "commands_calib.npz").string(); }

struct Difference {
  double largest = 0, scale = 0;  // of all logits
  std::size_t other_answers = 0, answers = 0;
};

void compare(std::span<const data::TensorView> here, std::span<const data::TensorView> there,
             Difference& found) {
  const data::Tensor a = data::copy_of(here[0]), b = data::copy_of(there[0]);
  const auto ours = data::values_of<float>(a), theirs = data::values_of<float>(b);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    found.largest = std::max<double>(found.largest, std::fabs(ours[i] - theirs[i]));
    found.scale = std::max<double>(found.scale, std::fabs(ours[i]));
    ASSERT_TRUE(std::isfinite(theirs[i]));
  }
  const auto best = [](std::span<const float> values) {
    return std::max_element(values.begin(), values.end()) - values.begin();
  };
  found.other_answers += best(ours) == best(theirs) ? 0U : 1U;
  found.answers += 1;
}

struct AgreementTest : testing::TestWithParam<Variant> {
  void SetUp() override {
    if (runtime::this_machine() == "aarch64") GTEST_SKIP() << "this machine is an arm64 itself";
    if (runtime::find_runner_named("ounce-runner-arm64").empty())
      return ounce::test::skip_or_fail("ounce-runner-arm64 was not built: there is no aarch64-linux-gnu-g++");
    if (std::system((emulator() + " --version > /dev/null 2>&1").c_str()) != 0)
      return ounce::test::skip_or_fail("there is no " + emulator() +
                                       ": install qemu-user, or name it in OUNCE_QEMU_AARCH64");
    for (const fs::path& library : runtime::Library::installed("aarch64")) {
      const std::string name = library.parent_path().parent_path().filename().string();
      versions.push_back(name.substr(0, name.find('-')));
    }
    if (versions.empty())
      return ounce::test::skip_or_fail(
          "there is no ONNX Runtime for aarch64: ./setup runtime 1.22.0:aarch64");
  }
  // The example itself, or what the program makes of it.
  fs::path model() const {
    if (GetParam().options.empty()) return kExample / "commands.onnx";
    fs::path path = folder / "model.onnx";
    const std::string command = fmt::format(
        "'{}' quantize '{}' -o '{}' {} > '{}' 2>&1", OUNCE_PROGRAM, (kExample / "commands.onnx").string(),
        path.string(), fmt::format(fmt::runtime(GetParam().options), fmt::arg("data", data_file())),
        (folder / "log").string());
    EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n" << ounce::test::read_file(folder / "log");
    return path;
  }
  static Difference run(runtime::Executor& here, runtime::Executor& there) {
    DataOptions options;
    options.path = data_file();
    options.samples = kSamples;
    options.contract = Contract{};
    options.contract->inputs["audio"].rescale_factor = 1.0 / 32768;
    data::DataFeed feed(here.inputs(), options);
    Difference found;
    data::Batch batch;
    for (std::uint64_t i = 0; i < feed.batches(); ++i) {
      feed.read(i, batch);
      const std::vector<data::TensorView> inputs(batch.inputs.begin(), batch.inputs.end());
      compare(here.run(inputs), there.run(inputs), found);
    }
    return found;
  }
  std::vector<std::string> versions;
  ounce::test::TemporaryFolder folder;
};

TEST_P(AgreementTest, GivesTheSameOnArm64) {
  const fs::path path = model();
  std::size_t compared = 0;
  for (const std::string& version : versions) {
    runtime::ExecutorOptions options;
    options.library = version;
    const auto here = runtime::load(path, options);
    options.remote = runtime::RemoteOptions{};
    options.remote->launcher = emulator() + " -L /usr/aarch64-linux-gnu";
    options.remote->seconds = 60;
    std::unique_ptr<runtime::Executor> there;
    try {
      there = runtime::load(path, options);
    } catch (const Error& error) {
      // Debian 12's emulator crashes in ONNX Runtime 1.29 and newer; that is no fault of a model.
      const bool is_known = runtime::parse_version(version)->minor >= 29 &&
                            std::string(error.what()).find("crashed") != std::string::npos;
      ASSERT_TRUE(is_known) << error.what();
      fmt::print("{} {}: {}\n", GetParam().name, version, error.what());
      continue;
    }
    ASSERT_EQ(there->library_version(), version);
    const Difference found = run(*here, *there);
    fmt::print("{} {}: logits differ by {:.2e} at most, {:.1e} of the largest; {} of {} answers differ\n",
               GetParam().name, version, found.largest, found.largest / found.scale, found.other_answers,
               found.answers);
    EXPECT_LE(found.largest / found.scale, GetParam().tolerance);
    EXPECT_EQ(found.other_answers, 0U);
    compared += 1;
  }
  if (compared == 0) GTEST_SKIP() << "the emulator starts none of the versions that are here";
}

INSTANTIATE_TEST_SUITE_P(Variants, AgreementTest, testing::ValuesIn(kVariants),
                         [](const auto& variant) { return variant.param.name; });

}  // namespace
}  // namespace ounce
