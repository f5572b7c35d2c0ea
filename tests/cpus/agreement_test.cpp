// Tests that the embedded example and its quantized models give the same outputs on other CPUs as on this
// machine.
//
// x64 without VNNI is emulated, or shown by masking CPUID. arm64 is emulated, which needs ounce-runner-arm64
// (built if Debian's g++-aarch64-linux-gnu is installed), qemu-aarch64 (or the program that
// OUNCE_QEMU_AARCH64 names) and an ONNX Runtime for aarch64 (./setup runtime 1.22.0:aarch64). Each version
// installed for both machines is compared; a version that the emulator cannot start is skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ounce/data.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "cpus/example.h"
#include "data/source/data_feed.h"
#include "runtime/executor.h"
#include "runtime/ort/library.h"
#include "support/cpus_required.h"
#include "support/runtime_versions.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSamples = 8;

struct Variant {
  std::string name, options;
  // Largest allowed difference of a logit, as a share of the largest logit.
  double tolerance;
};

// FP32 (w8, w16): 2e-7 was measured, which is the last bit or two, because kernels of different machines add
// in different orders; fifty times that leaves room for other CPUs. Static: integer sums are exact, but
// integer Adds compute in FP32, where a tie may round differently on another machine. With min-max ranges
// this happens on arm64 (3e-3), with these ranges and clips it does not. Dynamic: an activation that differs
// in its last bit may be quantized to the next value, which changes a logit by about a hundredth; 1e-7 was
// measured.
const std::vector<Variant> kVariants = {
    {"fp32", "", 1e-5},
    {"w8", "--to w8", 1e-5},
    {"w16", "--to w16", 1e-5},
    {"static", "--to int8 --data '{data}' --rescale 1/32768 --calibration percentile", 0},
    {"dynamic", "--to int8-dynamic", 1e-2},
};
const std::vector<std::string> kCpus = {"avx2", "avx512", "arm64"};

std::string data_file() { return (test::kExample / "commands_calib.npz").string(); }

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

struct AgreementTest : testing::TestWithParam<std::tuple<std::string, Variant>> {
  static const std::string& cpu() { return std::get<0>(GetParam()); }
  static const Variant& variant() { return std::get<1>(GetParam()); }

  void SetUp() override {
    try {
      if (runtime::on_cpu(cpu(), {}).how == "this CPU") GTEST_SKIP() << "this machine is such a CPU";
    } catch (const Error& error) {
      if (cpu() == "avx512") GTEST_SKIP() << error.what();  // not every x64 has it
      return ounce::test::skip_or_fail(error.what());
    }
    for (const fs::path& library : runtime::Library::installed(cpu() == "arm64" ? "aarch64" : "x86_64")) {
      const std::string name = library.parent_path().parent_path().filename().string();
      versions.push_back(name.substr(0, name.find('-')));
    }
  }
  // The example, or its quantized model.
  fs::path model() const {
    if (variant().options.empty()) return test::kExample / "commands.onnx";
    fs::path path = folder / "model.onnx";
    const std::string command =
        fmt::format("'{}' quantize '{}' -o '{}' {} --on none > '{}' 2>&1", OUNCE_PROGRAM,
                    (test::kExample / "commands.onnx").string(), path.string(),
                    fmt::format(fmt::runtime(variant().options), fmt::arg("data", data_file())),
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

TEST_P(AgreementTest, GivesTheSameThere) {
  const fs::path path = model();
  std::size_t compared = 0;
  const bool is_static = std::string(variant().name).find("static") != std::string::npos;
  bool has_wrong_kernels = false;
  for (const std::string& version : versions) {
    if (is_static && ounce::test::has_wrong_amx_kernels(version)) {
      has_wrong_kernels = true;
      continue;
    }
    runtime::ExecutorOptions options;
    options.library = version;
    const auto here = runtime::load(path, options);
    std::unique_ptr<runtime::Executor> there;
    try {
      there = runtime::load(path, runtime::on_cpu(cpu(), options).options);
    } catch (const Error& error) {
      // Debian 12's emulator crashes in ONNX Runtime 1.29 and newer, independently of the model.
      const bool is_known = cpu() == "arm64" && runtime::parse_version(version)->minor >= 29 &&
                            std::string(error.what()).find("crashed") != std::string::npos;
      ASSERT_TRUE(is_known) << error.what();
      fmt::print("{} {}: {}\n", variant().name, version, error.what());
      continue;
    }
    ASSERT_EQ(there->library_version(), version);
    const Difference found = run(*here, *there);
    fmt::print(
        "{} {} {}: logits differ by {:.2e} at most, {:.1e} of the largest; {} of {} predictions differ\n",
        cpu(), variant().name, version, found.largest, found.largest / found.scale, found.other_answers,
        found.answers);
    EXPECT_LE(found.largest / found.scale, variant().tolerance);
    EXPECT_EQ(found.other_answers, 0U);
    compared += 1;
  }
  if (compared == 0 && has_wrong_kernels)
    GTEST_SKIP() << "this CPU has AMX, where ONNX Runtime 1.22.0 is wrong";
  if (compared == 0) ounce::test::skip_or_fail("the emulator starts none of the installed versions");
}

INSTANTIATE_TEST_SUITE_P(Variants, AgreementTest,
                         testing::Combine(testing::ValuesIn(kCpus), testing::ValuesIn(kVariants)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace ounce
