// Mixed precision in quantize(), and the outputs of the results in every installed version of ONNX Runtime.
#include <gmock/gmock.h>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <filesystem>

#include "formats/onnx/file/reader.h"
#include "support/error_of.h"
#include "support/integer_runs.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using passes::test::least_sqnr;
using passes::test::waves;
using test::Dims;
using test::error_of;
using test::graph_attribute;
using test::GraphBuilder;
using test::int_attribute;
using test::kBool;
using test::kFloat;
using test::ModelBuilder;
using test::Strings;
using testing::HasSubstr;

constexpr double kLeastSqnr = 28;  // dB, through three layers of 8 bits
constexpr std::size_t kSamples = 16;

using Nodes = std::map<std::string, Format>;

std::vector<float> scattered(const Dims& dims, std::uint32_t seed) {
  std::size_t count = 1;
  for (const auto dim : dims) count *= static_cast<std::size_t>(dim);
  std::vector<float> values(count);
  std::uint32_t state = seed * 2654435761U + 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8U) / 8388608.0F - 1;
  }
  return values;
}
void add_weight(GraphBuilder& graph, const std::string& name, const Dims& dims, std::uint32_t seed) {
  graph.initializer(name, dims, scattered(dims, seed));
}

struct Mixed : testing::Test {
  // The result, and the lowest output SQNR in all versions of the runtime.
  struct Made {
    QuantizeResult result;
    double sqnr_db = 0;
  };
  Made make(const ModelBuilder& model, Format format, const Nodes& nodes) {
    const std::string bytes = model.bytes();
    test::write_file(folder / "model.onnx", bytes);
    options.recipe.format = format;
    options.recipe.nodes = nodes;
    Made made{quantize(folder / "model.onnx", folder / "mixed.onnx", options), 0};
    made.sqnr_db = least_sqnr(bytes, onnx::read_model(folder / "mixed.onnx"));
    return made;
  }
  // Writes calibration data like the data for the comparison.
  void give_samples(Dims dims) {
    dims[0] = kSamples;
    std::string shape;
    for (const auto dim : dims) shape += std::to_string(dim) + ", ";
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize((header.size() + 10 + 64) / 64 * 64 - 10 - 1, ' ');
    header += '\n';
    std::string bytes = "\x93NUMPY";
    bytes += {'\1', '\0', static_cast<char>(header.size() & 255U), static_cast<char>(header.size() >> 8U)};
    test::write_file(folder / "data.npy", bytes + header + test::raw_floats(waves(dims, 1)));
    options.trial.data.path = folder / "data.npy";
  }
  Mixed() {
    options.recipe.fp16_budget = 0;
    options.recipe.integer.search = false;
  }
  test::TemporaryFolder folder;
  QuantizeOptions options;
};

std::string arithmetic_of(const QuantizeResult& result, const std::string& op) {
  std::string found;
  for (const NodeOutcome& node : result.nodes) {
    if (node.op_type == op) found += std::string(found.empty() ? "" : " ") + name_of(node.arithmetic);
  }
  return found;
}
const TensorOutcome& tensor(const QuantizeResult& result, const std::string& name) {
  const auto found = std::find_if(result.tensors.begin(), result.tensors.end(),
                                  [&](const TensorOutcome& outcome) { return outcome.name == name; });
  EXPECT_NE(found, result.tensors.end()) << name;
  return *found;
}

// x ─ Conv ─ a ─ Relu ─ r ─ GlobalAveragePool ─ Flatten ─ f ┬ MatMul(wm) ─ m ─ Gemm(wg, bg) ─ y
//                                                           └ Gemm(wz) ─ z
ModelBuilder classifier() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4, 8, 8}).output("y", kFloat, {1, 16}).output("z", kFloat, {1, 16});
  add_weight(model, "wa", {32, 4, 3, 3}, 1);
  add_weight(model, "ba", {32}, 2);
  add_weight(model, "wm", {32, 32}, 3);
  add_weight(model, "wg", {16, 32}, 4);
  add_weight(model, "bg", {16}, 5);
  add_weight(model, "wz", {32, 16}, 6);
  model.node("Conv", {"x", "wa", "ba"}, {"a"}).node("Relu", {"a"}, {"r"});
  model.node("GlobalAveragePool", {"r"}, {"p"}).node("Flatten", {"p"}, {"f"});
  model.node("MatMul", {"f", "wm"}, {"m"});
  model.node("Gemm", {"m", "wg", "bg"}, {"y"}, {int_attribute("transB", 1)});
  model.node("Gemm", {"f", "wz"}, {"z"});
  return model;
}

TEST_F(Mixed, StaticConvolutionsWithDynamicProducts) {
  give_samples({1, 4, 8, 8});
  for (const Dialect dialect : {Dialect::kQdq, Dialect::kQOperator}) {
    options.recipe.integer.dialect = dialect;
    const Nodes nodes = {{"m", Format::kInt8Dynamic}, {"y", Format::kInt8Dynamic}};
    const Made made = make(classifier(), Format::kInt8, nodes);
    EXPECT_EQ(arithmetic_of(made.result, "Conv"), "static");
    EXPECT_EQ(arithmetic_of(made.result, "MatMul"), "dynamic");
    EXPECT_EQ(arithmetic_of(made.result, "Gemm"), "dynamic static");
    EXPECT_GT(made.sqnr_db, kLeastSqnr);
    EXPECT_GT(made.result.trial.sqnr_db, kLeastSqnr);
  }
}

TEST_F(Mixed, StaticProductsWithFloats) {
  give_samples({1, 4, 8, 8});
  const Nodes nodes = {{"r", Format::kFp32}, {"m", Format::kW16}, {"z", Format::kFp32}};
  const Made made = make(classifier(), Format::kInt8, nodes);
  EXPECT_EQ(arithmetic_of(made.result, "MatMul"), "float");
  EXPECT_EQ(arithmetic_of(made.result, "Gemm"), "static float");
  EXPECT_EQ(tensor(made.result, "wm").encoding, StoredAs::kFloat16);
  EXPECT_FALSE(tensor(made.result, "wz").stored);
  EXPECT_EQ(tensor(made.result, "wz").reason, "kept in FP32, as requested for its node");
  EXPECT_GT(made.sqnr_db, kLeastSqnr);
}

TEST_F(Mixed, OtherNodesHaveAnotherDigest) {
  give_samples({1, 4, 8, 8});
  const std::string none = make(classifier(), Format::kInt8, {}).result.plan_digest;
  const std::string dynamic =
      make(classifier(), Format::kInt8, {{"m", Format::kInt8Dynamic}}).result.plan_digest;
  EXPECT_NE(none, dynamic);
  EXPECT_NE(none, make(classifier(), Format::kInt8, {{"m", Format::kW8}}).result.plan_digest);
}

// The search keeps dynamic nodes dynamic or moves them to FP32.
TEST_F(Mixed, NodesAreKeptWhileTheRestIsChosenByMeasuring) {
  give_samples({1, 4, 8, 8});
  options.recipe.integer.search = true;
  const Made made = make(classifier(), Format::kInt8, {{"y", Format::kInt8Dynamic}, {"m", Format::kFp32}});
  EXPECT_EQ(arithmetic_of(made.result, "MatMul"), "float");
  EXPECT_THAT(arithmetic_of(made.result, "Gemm"), testing::Not(testing::StartsWith("static")));
  EXPECT_GT(made.sqnr_db, kLeastSqnr);
}

// Only newer runtimes have 4-bit types.
TEST_F(Mixed, FourBitsForStaticNodesEightForDynamicOnes) {
  give_samples({1, 4, 8, 8});
  test::write_file(folder / "model.onnx", classifier().bytes());
  options.recipe.format = Format::kInt8;
  options.recipe.integer.weights = WeightType::kS4;
  options.recipe.nodes = {{"m", Format::kInt8Dynamic}, {"y", Format::kInt8Dynamic}};
  const QuantizeResult result = quantize(folder / "model.onnx", folder / "mixed.onnx", options);
  EXPECT_EQ(tensor(result, "wa").encoding, StoredAs::kInt4);
  EXPECT_EQ(tensor(result, "wg").encoding, StoredAs::kUint8);
  EXPECT_GT(result.trial.sqnr_db, 15);  // with 4 bits
}

TEST_F(Mixed, AGemmAmongDynamicNodesCanBeFloats) {
  const Made made = make(classifier(), Format::kInt8Dynamic, {{"y", Format::kW16}, {"a", Format::kFp32}});
  EXPECT_EQ(arithmetic_of(made.result, "MatMul"), "dynamic dynamic");  // including z, whose Gemm was split
  EXPECT_EQ(arithmetic_of(made.result, "Gemm"), "float");
  EXPECT_EQ(tensor(made.result, "wg").encoding, StoredAs::kFloat16);
  EXPECT_FALSE(tensor(made.result, "wa").stored);
  EXPECT_GT(made.sqnr_db, kLeastSqnr);
}

// x ─ Conv1d ─ a ─ Transpose ─ t ─ LSTM ─ y
TEST_F(Mixed, ADynamicLstmBehindAStaticConvolution) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 12}).output("y", kFloat, {12, 1, 1, 16});
  add_weight(model, "wa", {16, 8, 3}, 1);
  add_weight(model, "w", {1, 64, 16}, 2);
  add_weight(model, "u", {1, 64, 16}, 3);
  add_weight(model, "b", {1, 128}, 4);
  std::string order;
  for (const std::int64_t axis : {2, 0, 1}) order += test::field(8, axis);
  model.node("Conv", {"x", "wa"}, {"a"}, {});
  model.node("Transpose", {"a"}, {"t"},
             {test::field(1, std::string("perm")) + order + test::field(20, std::int64_t{7})});
  model.node("LSTM", {"t", "w", "u", "b"}, {"y"}, {int_attribute("hidden_size", 16)});
  give_samples({1, 8, 12});
  for (const Dialect dialect : {Dialect::kQdq, Dialect::kQOperator}) {
    options.recipe.integer.dialect = dialect;
    const Made made = make(model, Format::kInt8, {{"y", Format::kInt8Dynamic}});
    EXPECT_EQ(arithmetic_of(made.result, "Conv"), "static");
    EXPECT_EQ(arithmetic_of(made.result, "LSTM"), "dynamic");
    EXPECT_GT(made.sqnr_db, 20);  // errors accumulate in its state
  }
}

// x ─ MatMul ─ h ─ Attention ─ y
TEST_F(Mixed, DynamicAttentionBehindAStaticProduct) {
  ModelBuilder model;
  model.add_to_model(8, test::field(1, std::string("com.microsoft")) + test::field(2, std::int64_t{1}));
  model.input("x", kFloat, {1, 6, 16}).output("y", kFloat, {1, 6, 32});
  add_weight(model, "wh", {16, 32}, 1);
  add_weight(model, "w", {32, 96}, 2);
  add_weight(model, "b", {96}, 3);
  model.node("MatMul", {"x", "wh"}, {"h"});
  model.add(1, test::node("Attention", {"h", "w", "b"}, {"y"}, {int_attribute("num_heads", 2)}, {},
                          "com.microsoft"));
  give_samples({1, 6, 16});
  const Made made = make(model, Format::kInt8, {{"y", Format::kInt8Dynamic}});
  EXPECT_EQ(arithmetic_of(made.result, "MatMul"), "static");
  EXPECT_EQ(arithmetic_of(made.result, "Attention"), "dynamic");
  EXPECT_GT(made.sqnr_db, 20);
}

// One weight for a static and for a dynamic node: y = x·w + b, z = y·w + c.
ModelBuilder twins(const std::string& op) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 32}).output("y", kFloat, {1, 32}).output("z", kFloat, {1, 32});
  add_weight(model, "w", {32, 32}, 1);
  add_weight(model, "b", {32}, 2);
  add_weight(model, "c", {32}, 3);
  if (op == "Gemm") {
    model.node("Gemm", {"x", "w", "b"}, {"y"}, {int_attribute("transB", 1)});
    model.node("Gemm", {"y", "w", "c"}, {"z"}, {int_attribute("transB", 1)});
  } else {
    model.node("MatMul", {"x", "w"}, {"y"}).node("MatMul", {"y", "w"}, {"z"});
  }
  return model;
}

TEST_F(Mixed, StaticAndDynamicNodesShareAWeight) {
  give_samples({1, 32});
  for (const char* op : {"Gemm", "MatMul"}) {
    for (const Dialect dialect : {Dialect::kQdq, Dialect::kQOperator}) {
      for (const WeightType weights : {WeightType::kS8, WeightType::kU8}) {
        for (const GranularityKind granularity : {GranularityKind::kChannel, GranularityKind::kTensor}) {
          options.recipe.integer.dialect = dialect;
          options.recipe.integer.weights = weights;
          options.recipe.granularity.kind = granularity;
          const Made made = make(twins(op), Format::kInt8, {{"z", Format::kInt8Dynamic}});
          EXPECT_EQ(arithmetic_of(made.result, op), "static dynamic");
          EXPECT_GT(made.sqnr_db, kLeastSqnr) << op;
        }
      }
    }
  }
}

TEST_F(Mixed, FourBitsWithSixteenForANode) {
  const Made four = make(classifier(), Format::kW4, {});
  const Made mixed = make(classifier(), Format::kW4, {{"a", Format::kW16}, {"m", Format::kW8}});
  EXPECT_EQ(tensor(mixed.result, "wa").encoding, StoredAs::kFloat16);
  EXPECT_EQ(tensor(mixed.result, "wm").encoding, StoredAs::kInt8);
  EXPECT_EQ(tensor(mixed.result, "wg").encoding, StoredAs::kInt4);
  EXPECT_GT(mixed.sqnr_db, 15);
  EXPECT_GT(mixed.sqnr_db, four.sqnr_db);
  EXPECT_GT(mixed.result.bytes_after, four.result.bytes_after);
}

// if c: z = x·w, else: z = x·u, each with a Conv before it, and the weights outside.
TEST_F(Mixed, NodesInABranchAreNamedByTheirPath) {
  const auto branch = [](const std::string& weight, std::uint32_t seed) {
    GraphBuilder graph;
    graph.output("z", kFloat, {1, 32});
    add_weight(graph, "v", {32, 32}, seed);
    graph.node("MatMul", {"h", "v"}, {"k"}).node("MatMul", {"k", weight}, {"z"});
    return graph.bytes();
  };
  ModelBuilder model;
  model.input("x", kFloat, {1, 32}).input("c", kBool, {}).output("y", kFloat, {1, 32});
  for (const auto& [name, seed] : {std::pair{"wh", 1U}, {"w", 2U}, {"u", 3U}})
    add_weight(model, name, {32, 32}, seed);
  model.node("MatMul", {"x", "wh"}, {"h"});
  model.node(
      "If", {"c"}, {"y"},
      {graph_attribute("then_branch", branch("w", 4)), graph_attribute("else_branch", branch("u", 5))});
  const Made stored = make(model, Format::kW8, {{"y/then_branch/z", Format::kW4}, {"h", Format::kFp32}});
  EXPECT_EQ(tensor(stored.result, "w").encoding, StoredAs::kInt4);
  EXPECT_EQ(tensor(stored.result, "u").encoding, StoredAs::kInt8);
  EXPECT_FALSE(tensor(stored.result, "wh").stored);
  EXPECT_GT(stored.sqnr_db, 15);
  const Made dynamic = make(model, Format::kInt8Dynamic, {{"y/else_branch/k", Format::kW8}});
  EXPECT_EQ(arithmetic_of(dynamic.result, "MatMul"), "dynamic dynamic dynamic float dynamic");
  EXPECT_GT(dynamic.sqnr_db, kLeastSqnr);

  // Static ranges need samples that take both branches.
  Recipe recipe = passes::test::integer_recipe(Format::kInt8);
  recipe.nodes = {{"y/else_branch/z", Format::kInt8Dynamic}, {"y/then_branch/k", Format::kFp32}};
  for (const Dialect dialect : {Dialect::kQdq, Dialect::kQOperator}) {
    recipe.integer.dialect = dialect;
    const passes::test::Rewritten rewritten(model.bytes(), recipe);
    EXPECT_THAT(rewritten.plan().text(), HasSubstr("node 2:1 dynamic -> z\n"));
    EXPECT_GT(least_sqnr(model.bytes(), rewritten.model()), kLeastSqnr) << rewritten.plan().text();
  }
}

// The output of a node is the input of a static and a dynamic node, and an output of the model.
TEST_F(Mixed, DynamicNodesReadTheFloatsOfCodes) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 4, 4}).output("y", kFloat, {1, 8, 4, 4}).output("z", kFloat, {1, 8, 4, 4});
  for (const auto& [name, seed] : {std::pair{"wa", 1U}, {"wy", 2U}, {"wz", 3U}})
    add_weight(model, name, {8, 8, 3, 3}, seed);
  std::string pads;
  for (int i = 0; i < 4; ++i) pads += test::field(8, std::int64_t{1});
  const Strings same = {test::field(1, std::string("pads")) + pads + test::field(20, std::int64_t{7})};
  model.node("Conv", {"x", "wa"}, {"a"}, same).node("Relu", {"a"}, {"r"});
  model.node("Conv", {"r", "wy"}, {"y"}, same).node("Conv", {"r", "wz"}, {"z"}, same);
  give_samples({1, 8, 4, 4});
  options.recipe.integer.dynamic_conv = true;
  for (const Dialect dialect : {Dialect::kQdq, Dialect::kQOperator}) {
    options.recipe.integer.dialect = dialect;
    for (const bool integer_io : {false, true}) {
      options.recipe.integer.integer_io = integer_io;
      const Nodes nodes = {{integer_io ? "a" : "z", Format::kInt8Dynamic}};
      const std::string bytes = model.bytes();
      test::write_file(folder / "model.onnx", bytes);
      options.recipe.format = Format::kInt8;
      options.recipe.nodes = nodes;
      const QuantizeResult result = quantize(folder / "model.onnx", folder / "mixed.onnx", options);
      EXPECT_EQ(arithmetic_of(result, "Conv"),
                integer_io ? "dynamic static static" : "static static dynamic");
      EXPECT_GT(result.trial.sqnr_db, kLeastSqnr);
    }
  }
}

TEST_F(Mixed, WhatMakesNoSenseIsRefused) {
  give_samples({1, 4, 8, 8});
  const auto refusal = [&](Format format, const Nodes& nodes) {
    const Error error = error_of([&] { make(classifier(), format, nodes); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_FALSE(std::filesystem::exists(folder / "mixed.onnx"));
    return std::string(error.what());
  };
  EXPECT_THAT(refusal(Format::kFp16, {{"m", Format::kW8}}),
              HasSubstr("single nodes can only be kept in fp32"));
  EXPECT_THAT(refusal(Format::kInt8, {{"n", Format::kW8}}),
              HasSubstr("'n': no node has this name or this output"));
  EXPECT_THAT(refusal(Format::kInt8Dynamic, {{"m", Format::kInt8}}), HasSubstr("use `format=int8`"));
  options.recipe.rounding = Rounding::kAdaptive;
  EXPECT_THAT(refusal(Format::kInt8, {{"m", Format::kInt8Dynamic}}), HasSubstr("`rounding=adaptive`"));
}

}  // namespace
}  // namespace ounce
