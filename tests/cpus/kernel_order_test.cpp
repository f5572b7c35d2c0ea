// Tests the order in which kernels of CPUs without VNNI add products of weights in pairs
// (src/quant/dot_product_pairs.h), in every installed release of ONNX Runtime. Random large weights that are
// limited by pairs in that order must give exact results; weights limited in any other order must not.
//
// The exact results come from the same weights as uint8, whose products are added in 32 bits everywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "formats/onnx/file/reader.h"
#include "runtime/executor.h"
#include "support/cpus_required.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"
#include "target/ort/saturation.h"

namespace ounce {
namespace {

namespace fs = std::filesystem;
using quant::DotProductPairs;
using test::Dims;

constexpr int kUint8 = 2, kInt8 = 3, kInt32 = 6;
constexpr int kSafe = 64;

struct Case {
  std::string name, op;
  Dims input, weight;
  std::int64_t group = 1;
};

const std::vector<Case> kCases = {
    {"conv 16x16x3x3", "QLinearConv", {1, 16, 9, 9}, {16, 16, 3, 3}},
    {"conv 32x8x3x3", "QLinearConv", {1, 8, 9, 9}, {32, 8, 3, 3}},
    {"conv of an odd number", "QLinearConv", {1, 5, 9, 9}, {17, 5, 3, 3}},
    {"conv of three channels", "QLinearConv", {1, 3, 9, 9}, {16, 3, 3, 3}},
    {"conv of one channel", "QLinearConv", {1, 1, 9, 9}, {8, 1, 3, 3}},
    {"pointwise conv", "QLinearConv", {1, 64, 5, 5}, {64, 64, 1, 1}},
    {"pointwise conv of an odd number", "QLinearConv", {1, 31, 5, 5}, {33, 31, 1, 1}},
    {"grouped conv", "QLinearConv", {1, 32, 9, 9}, {16, 8, 3, 3}, 4},
    {"grouped conv of an odd number", "QLinearConv", {1, 9, 9, 9}, {18, 3, 3, 3}, 3},
    {"two channels for each input", "QLinearConv", {1, 16, 9, 9}, {32, 1, 3, 3}, 16},
    {"depthwise conv", "QLinearConv", {1, 16, 9, 9}, {16, 1, 3, 3}, 16},
    {"depthwise conv of five taps", "QLinearConv", {1, 24, 9, 9}, {24, 1, 5, 5}, 24},
    {"depthwise conv of an odd number", "QLinearConv", {1, 5, 9, 9}, {5, 1, 3, 3}, 5},
    {"conv over time", "QLinearConv", {1, 12, 40}, {20, 12, 5}},
    {"conv over time of an odd number", "QLinearConv", {1, 7, 40}, {20, 7, 5}},
    {"depthwise conv over time", "QLinearConv", {1, 24, 40}, {24, 1, 9}, 24},
    {"one row", "MatMulInteger", {1, 64}, {64, 64}},
    {"one row of an odd number", "MatMulInteger", {1, 63}, {63, 33}},
    {"many rows", "MatMulInteger", {70, 513}, {513, 257}},
    {"few columns", "MatMulInteger", {7, 1000}, {1000, 10}},
    {"few inputs", "MatMulInteger", {3, 5}, {5, 3}},
};

std::size_t size_of(const Dims& dims) {
  std::size_t size = 1;
  for (const auto dim : dims) size *= static_cast<std::size_t>(dim);
  return size;
}

std::string bytes_of(float value) { return test::raw_floats({value}); }

// The model of a case with these weights. uint8 weights and their zero point are larger by 128.
std::string model_of(const Case& test, const std::vector<std::int8_t>& codes, bool is_signed) {
  std::string raw(codes.begin(), codes.end());
  for (char& code : raw) code = static_cast<char>(is_signed ? code : code + 128);
  const std::string zero(1, is_signed ? '\0' : '\x80');
  const int type = is_signed ? kInt8 : kUint8;
  test::ModelBuilder model(13, 8);
  model.initializer(test::tensor("w", type, test.weight, raw));
  model.initializer(test::tensor("wz", type, {}, zero));
  model.initializer(test::tensor("xz", kUint8, {}, std::string(1, '\x03')));
  model.input("x", kUint8, test.input);
  if (test.op == "MatMulInteger") {
    model.output("y", kInt32, {test.input[0], test.weight[1]});
    model.node(test.op, {"x", "w", "xz", "wz"}, {"y"});
    return model.bytes();
  }
  const double inputs = static_cast<double>(codes.size()) / static_cast<double>(test.weight[0]);
  Dims output = {1, test.weight[0]};
  for (std::size_t i = 2; i < test.input.size(); ++i) output.push_back(test.input[i] - test.weight[i] + 1);
  model.output("y", kUint8, output);
  model.initializer(test::tensor("one", test::kFloat, {}, bytes_of(1)));
  model.initializer(test::tensor("ys", test::kFloat, {}, bytes_of(static_cast<float>(60 * inputs))));
  model.initializer(test::tensor("yz", kUint8, {}, zero.empty() ? "" : std::string(1, '\x80')));
  model.node(test.op, {"x", "one", "xz", "w", "one", "wz", "ys", "yz"}, {"y"},
             {test::int_attribute("group", test.group)});
  return model.bytes();
}

// Limits the weights so that no pair of this order saturates.
std::vector<std::int8_t> limited(std::vector<std::int8_t> codes, const DotProductPairs& pairs) {
  quant::for_each_pair(pairs, codes.size(), [&](std::size_t, std::size_t i, std::size_t j) {
    if (quant::pair_sum<int>(codes[i], codes[j]) <= quant::kLargestPairSum) return;
    for (const std::size_t at : {i, j}) codes[at] = static_cast<std::int8_t>(codes[at] > 0 ? kSafe : -kSafe);
  });
  return codes;
}

struct KernelOrder : testing::TestWithParam<std::string> {
  data::Tensor run(const std::string& model, const data::Tensor& input,
                   const runtime::ExecutorOptions& how) const {
    const fs::path path = folder / "model.onnx";
    ounce::test::write_file(path, model);
    const auto executor = runtime::load(path, how);
    const std::vector<data::TensorView> inputs = {input};
    return data::copy_of(executor->run(inputs)[0]);
  }
  ounce::test::TemporaryFolder folder;
};

TEST_P(KernelOrder, IsTheOneThatScalesAreMadeFor) {
  runtime::CpuAccess there;
  try {
    there = runtime::on_cpu(GetParam(), {});
  } catch (const Error& error) {
    if (GetParam() == "avx512") GTEST_SKIP() << error.what();  // not every x64 has it
    return ounce::test::skip_or_fail(error.what());
  }
  std::mt19937 random(3);
  for (const fs::path& library : runtime::Library::installed()) {
    runtime::ExecutorOptions how = there.options;
    how.library = library.string();
    if (how.remote) how.remote->library = how.library;
    std::size_t saturated = 0, saturated_in_other_order = 0;
    for (const Case& test : kCases) {
      std::uniform_int_distribution<int> code(-127, 127), large(200, 255);
      std::vector<std::int8_t> codes(size_of(test.weight));
      for (std::int8_t& value : codes) value = static_cast<std::int8_t>(code(random));
      data::Tensor input{ElementType::kUint8, test.input, std::string(size_of(test.input), '\0')};
      for (char& byte : input.bytes) byte = static_cast<char>(large(random));
      const onnx::Model model = onnx::read_model_from_memory(model_of(test, codes, true), "model");
      const DotProductPairs pairs = target::pairs_of(*model.proto->graph->nodes[0], test.weight);
      const auto differs = [&](const std::vector<std::int8_t>& weights) {
        return run(model_of(test, weights, true), input, how).bytes !=
               run(model_of(test, weights, false), input, how).bytes;
      };
      EXPECT_FALSE(differs(limited(codes, pairs))) << test.name << ", " << library;
      if (!pairs.exist()) continue;
      saturated += differs(codes) ? 1U : 0U;
      // Pairs of neighbors in memory, which differ from the kernel's pairs.
      const DotProductPairs others =
          pairs.order == DotProductPairs::Order::kRows
              ? DotProductPairs{pairs.order, pairs.inputs * pairs.taps, 1, 0}
              : DotProductPairs{DotProductPairs::Order::kRows, pairs.channels, 1, 0};
      saturated_in_other_order += differs(limited(codes, others)) ? 1U : 0U;
    }
    fmt::print(
        "{} {}: {} cases saturate without a limit, {} with pairs in another order, none in the kernel's "
        "order\n",
        GetParam(), library.parent_path().parent_path().filename().string(), saturated,
        saturated_in_other_order);
    EXPECT_GE(saturated, 12U);
    EXPECT_GE(saturated_in_other_order, 8U);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, KernelOrder, testing::Values("avx2", "avx512"),
                         [](const auto& cpu) { return cpu.param; });

}  // namespace
}  // namespace ounce
