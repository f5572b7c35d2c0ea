// FP16 and BF16 in quantize(): the example in every installed version of ONNX Runtime, small models that need
// data, targets or types from the runtime, and models that must be refused.
#include <gmock/gmock.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/view/onnx_file.h"
#include "runtime/ort/library.h"
#include "support/commands_example.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/runtime_versions.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using passes::test::float_attribute;
using passes::test::noise;
using passes::test::text_of;
using test::error_of;
using test::int_attribute;
using test::kCalibration;
using test::kExample;
using test::kFloat;
using test::kInt64;
using test::ModelBuilder;
using test::sound;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string npy(const char* type, const test::Dims& dims, const std::string& values) {
  std::string header = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (";
  for (const auto dim : dims) header += std::to_string(dim) + ", ";
  header += "), }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {'\1', '\0', static_cast<char>(header.size() & 255U), static_cast<char>(header.size() >> 8U)};
  return bytes + header + values;
}
std::string integers(const std::vector<std::int64_t>& values) {
  std::string bytes(values.size() * sizeof(std::int64_t), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct Half : testing::Test {
  Half() { options.recipe.format = Format::kFp16; }
  QuantizeResult convert(const ModelBuilder& model) {
    test::write_file(folder / "model.onnx", model.bytes());
    return quantize(folder / "model.onnx", folder / "half.onnx", options);
  }
  onnx::Model written(const std::string& name = "half.onnx") const { return onnx::read_model(folder / name); }
  // Writes samples for an input.
  void give(const std::string& input, const char* type, const test::Dims& dims, const std::string& values) {
    test::write_file(folder / (input + ".npy"), npy(type, dims, values));
    options.trial.data.paths[input] = folder / (input + ".npy");
  }
  test::TemporaryFolder folder;
  QuantizeOptions options;
};

// Returns "float16" or "float: reason" for the node with this name.
std::string node_of(const QuantizeResult& result, const std::string& name) {
  for (const NodeOutcome& node : result.nodes) {
    if (node.name == name) return name_of(node.arithmetic) + (node.reason.empty() ? "" : ": " + node.reason);
  }
  return "no such node";
}

struct HalfVersions : Half, testing::WithParamInterface<std::filesystem::path> {
  HalfVersions() { options.trial.runtime.library = GetParam().string(); }
};

TEST_P(HalfVersions, TheExampleStaysCloseWithAndWithoutDataAndPorts) {
  const QuantizeResult generated = quantize(kExample, folder / "a.onnx", options);
  EXPECT_LT(generated.ratio(), 0.55);
  EXPECT_GT(generated.trial.sqnr_db, 40);
  EXPECT_TRUE(onnx::quantized_ports_of(written("a.onnx")).empty());
  options.trial.data.path = kCalibration;
  options.trial.data.contract = sound();
  options.trial.data.samples = 16;
  options.recipe.half.half_io = true;
  const QuantizeResult seen = quantize(kExample, folder / "b.onnx", options);
  EXPECT_GT(seen.trial.sqnr_db, 40);
  const auto ports = onnx::quantized_ports_of(written("b.onnx"));
  ASSERT_EQ(ports.size(), 2U);
  for (const auto& port : ports) EXPECT_EQ(port.type, ElementType::kFloat16) << port.name;
  VerifyOptions how;
  how.runtime.library = GetParam().string();
  how.data = options.trial.data;
  how.edge_cases = false;
  EXPECT_TRUE(verify(kExample, folder / "b.onnx", how).passed);
}

INSTANTIATE_TEST_SUITE_P(Versions, HalfVersions, testing::ValuesIn(runtime::Library::installed()),
                         test::version_name);

// x ─ Relu ─ r ─ MatMul ─ h ─ Mul k ─ m ─ Tanh ─ y, with an h of the size of `largest`
ModelBuilder swelling(float largest) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 4});
  model.initializer("w", {4, 4}, std::vector<float>(16, largest / 4)).initializer("k", {1}, {1 / largest});
  model.node("Relu", {"x"}, {"r"}, {}, "r").node("MatMul", {"r", "w"}, {"h"}, {}, "h");
  model.node("Mul", {"h", "k"}, {"m"}, {}, "m").node("Tanh", {"m"}, {"y"}, {}, "y");
  return model;
}

TEST_F(Half, ValuesThatLeaveTheRangeInTheDataStay) {
  give("x", "<f4", {8, 4}, test::raw_floats(std::vector<float>(32, 1)));
  const QuantizeResult large = convert(swelling(200000));
  EXPECT_EQ(node_of(large, "h"), "float: 'h' reaches 200000 in the data");
  EXPECT_EQ(node_of(large, "r"), "float16");
  EXPECT_EQ(node_of(large, "y"), "float16");
  EXPECT_GT(large.trial.sqnr_db, 40);
  const QuantizeResult small = convert(swelling(1e-8F));
  EXPECT_THAT(node_of(small, "h"), HasSubstr("float: "));
  EXPECT_EQ(node_of(small, "r"), "float16");
  EXPECT_GT(small.trial.sqnr_db, 40);
}

TEST_F(Half, AnOverflowThatNobodySawIsNotWritten) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 4});
  model.initializer("w", {4, 4}, std::vector<float>(16, 60000))
      .initializer("v", {4, 4}, std::vector<float>(16, 60000));
  model.node("Relu", {"x"}, {"r"}).node("MatMul", {"r", "w"}, {"h"}).node("MatMul", {"h", "v"}, {"y"});
  const Error error = error_of([&] { convert(model); });
  EXPECT_THAT(error.what(), HasSubstr("nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(folder / "half.onnx"));
}

// All scores of these rows are masked.
TEST_F(Half, RowsThatAreMaskedAltogetherStayFinite) {
  for (const float hidden : {-10000.0F, -1e9F, -3.4e38F}) {
    ModelBuilder model;
    model.input("x", kFloat, {1, 4}).input("mask", kInt64, {1, 4}).output("y", kFloat, {1, 4});
    model.initializer("w", {4, 4}, noise({4, 4}))
        .initializer("one", {}, {1})
        .initializer("neg", {}, {hidden});
    model.node("MatMul", {"x", "w"}, {"h"}).node("Cast", {"mask"}, {"c"}, {int_attribute("to", kFloat)});
    model.node("Sub", {"one", "c"}, {"o"}).node("Mul", {"o", "neg"}, {"p"}).node("Add", {"h", "p"}, {"s"});
    model.node("Softmax", {"s"}, {"y"});
    give("x", "<f4", {2, 4}, test::raw_floats(noise({2, 4})));
    give("mask", "<i8", {2, 4}, integers({1, 1, 0, 0, 0, 0, 0, 0}));
    EXPECT_NO_THROW(convert(model)) << hidden;
  }
}

TEST_F(Half, PositionsKeepTheirPhase) {
  ModelBuilder model;
  model.input("p", kInt64, {1, 1}).output("y", kFloat, {1, 4});
  model.initializer("f", {1, 4}, {1, 0.1F, 0.01F, 0.001F}).initializer("w", {4, 4}, noise({4, 4}));
  model.node("Cast", {"p"}, {"c"}, {int_attribute("to", kFloat)}).node("Mul", {"c", "f"}, {"m"});
  model.node("Sin", {"m"}, {"s"}).node("MatMul", {"s", "w"}, {"y"});
  give("p", "<i8", {8, 1, 1}, integers({1, 17, 255, 1023, 2049, 4095, 5001, 30011}));
  EXPECT_GT(convert(model).trial.sqnr_db, 40);
}

TEST_F(Half, TypesThatTheFileDoesNotTellAreAskedFor) {
  ModelBuilder model;
  model.input("x", kFloat, {4, 4}).output("y", kFloat, {2, 4}).initializer("w", {4, 4}, noise({4, 4}));
  model.initializer(test::tensor("two", kInt64, {}, integers({2})))
      .initializer(test::tensor("first", kInt64, {}, integers({0})));
  model.node("MatMul", {"x", "w"}, {"h"}, {}, "h")
      .node("SplitToSequence", {"h", "two"}, {"parts"}, {}, "split");
  model.node("SequenceAt", {"parts", "first"}, {"a"}, {}, "at").node("Shape", {"a"}, {"n"});
  model.node("Expand", {"a", "n"}, {"e"}, {}, "e").node("Relu", {"e"}, {"y"}, {}, "y");
  const QuantizeResult result = convert(model);
  EXPECT_EQ(node_of(result, "h"), "float16");
  EXPECT_EQ(node_of(result, "y"), "float16");
  EXPECT_THAT(node_of(result, "at"), HasSubstr("sequences and maps"));
}

TEST_F(Half, NothingToConvertIsSaid) {
  ModelBuilder sums;
  sums.input("x", kFloat, {4})
      .output("y", kFloat, {4})
      .initializer(test::tensor("axis", kInt64, {}, integers({0})));
  sums.node("CumSum", {"x", "axis"}, {"y"});
  ModelBuilder whole;
  whole.input("x", kInt64, {4}).output("y", kInt64, {4}).node("Neg", {"x"}, {"y"});
  for (const auto& [model, words] :
       {std::pair(sums, "its sums grow along the axis"), std::pair(whole, "no FP32 ops")}) {
    const Error error = error_of([&] { convert(model); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST_F(Half, TargetsDecideWhatIsPossible) {
  const auto refused = [&] { return error_of([&] { quantize(kExample, folder / "x.onnx", options); }); };
  options.recipe.target = "abacus";
  EXPECT_EQ(refused().code(), ErrorCode::kUsage);
  EXPECT_THAT(refused().what(), AllOf(HasSubstr("'abacus'"), HasSubstr("cuda")));
  options.recipe.format = Format::kBf16;
  for (const char* target : {"", "cpu", "coreml"}) {
    options.recipe.target = target;
    EXPECT_EQ(refused().code(), ErrorCode::kUnsupported) << target;
  }
  options.recipe.format = Format::kFp16;
  options.recipe.target = "";
  EXPECT_THAT(quantize(kExample, folder / "cpu.onnx", options).notes,
              Contains(HasSubstr("slower than FP32")));
  options.recipe.target = "cuda";
  EXPECT_THAT(quantize(kExample, folder / "cuda.onnx", options).notes,
              Not(Contains(HasSubstr("slower than FP32"))));
}

TEST_F(Half, TheRestOfAnIntegerModelIsStoredOrComputed) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 32}).output("y", kFloat, {1, 32}).initializer("g", {32}, noise({32}, 3));
  model.initializer("w", {32, 32}, noise({32, 32})).initializer("t", {32, 32}, noise({32, 32}, 2));
  model.initializer(test::tensor("rows", kInt64, {1}, integers({3})));
  model.node("MatMul", {"x", "w"}, {"h"}, {}, "h").node("LayerNormalization", {"h", "g"}, {"n"}, {}, "n");
  model.node("Gather", {"t", "rows"}, {"e"}, {}, "e").node("Mul", {"n", "e"}, {"m"}, {}, "m");
  model.node("Tanh", {"m"}, {"y"}, {}, "y");
  give("x", "<f4", {16, 32}, test::raw_floats(noise({16, 32}, 7)));
  options.recipe.format = Format::kInt8;
  options.recipe.integer.fp16_remainder = true;
  options.recipe.integer.search = options.recipe.integer.equalize = false;
  const auto type_of = [&](const std::string& name) {
    const onnx::Model read = written();
    for (const auto& tensor : read.proto->graph->initializers) {
      if (tensor->name == name) return tensor->type;
    }
    return ElementType::kUndefined;
  };
  const QuantizeResult stored = convert(model);
  EXPECT_GT(stored.trial.sqnr_db, 20);
  EXPECT_EQ(node_of(stored, "h"), "static");
  const auto is_stored_half = [](const TensorOutcome& t) {
    return t.name == "t" && t.encoding == StoredAs::kFloat16;
  };
  EXPECT_TRUE(std::any_of(stored.tensors.begin(), stored.tensors.end(), is_stored_half));
  options.recipe.target = "cuda";
  options.recipe.integer.reduce_range = true;  // so that any x86 CPU gives exact sums
  const QuantizeResult computed = convert(model);
  EXPECT_GT(computed.trial.sqnr_db, 20);
  EXPECT_THAT(text_of(written()), HasSubstr("QuantizeLinear("));
  EXPECT_THAT(text_of(written()), HasSubstr(" = float16[32,32]\n"));
  const onnx::Model read = written();
  for (const auto& node : read.proto->graph->nodes) {
    const bool is_coding = node->op_type() == "QuantizeLinear" || node->op_type() == "DequantizeLinear";
    EXPECT_TRUE(!is_coding || type_of(std::string(node->inputs[1])) != ElementType::kFloat16)
        << node->outputs[0];
  }
}

// Unscaled INT32 sums reach millions, beyond the FP16 range.
TEST_F(Half, DynamicIntegersAreScaledBeforeTheyAre16Bits) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 512}).output("y", kFloat, {1, 32});
  std::vector<float> weights = noise({512, 32});
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = (weights[i] + 1) * static_cast<float>(i % 32);
  model.initializer("w", {512, 32}, weights).initializer("g", {32}, noise({32}));
  model.node("MatMul", {"x", "w"}, {"h"})
      .node("LayerNormalization", {"h", "g"}, {"n"})
      .node("Add", {"h", "n"}, {"y"});
  give("x", "<f4", {2, 512}, test::raw_floats(std::vector<float>(1024, 1)));
  options.recipe.format = Format::kInt8Dynamic;
  options.recipe.target = "cuda";
  options.recipe.integer.fp16_remainder = true;
  options.recipe.integer.reduce_range = true;  // so that any x86 CPU gives exact sums
  EXPECT_GT(convert(model).trial.sqnr_db, 30);
}

// The whole example runs in INT8, without an FP16 remainder.
TEST_F(Half, AnIntegerModelWithoutARestIsWritten) {
  options.recipe.format = Format::kInt8;
  options.recipe.target = "cuda";
  options.recipe.integer.fp16_remainder = true;
  options.recipe.integer.search = options.recipe.integer.equalize = false;
  options.trial.data.path = kCalibration;
  options.trial.data.contract = sound();
  options.trial.data.samples = 8;
  EXPECT_NO_THROW(quantize(kExample, folder / "cuda.onnx", options));
}

TEST_F(Half, GivesTheSameBytesForAnyNumberOfThreadsInAnyPlace) {
  for (const ExternalData place : {ExternalData::kNever, ExternalData::kAlways}) {
    options.external_data = place;
    options.threads = 1;
    quantize(kExample, folder / "one.onnx", options);
    const std::string one = test::read_file(folder / "one.onnx");
    options.threads = 8;
    quantize(kExample, folder / "one.onnx", options);
    EXPECT_EQ(one, test::read_file(folder / "one.onnx"));
  }
  // The same with external data.
  const std::vector<float> weights = noise({64, 64});
  test::write_file(folder / "weights.bin", test::raw_floats(weights));
  ModelBuilder model;
  model.input("x", kFloat, {1, 64}).output("y", kFloat, {1, 64});
  model.initializer(test::external_tensor("w", {64, 64}, "weights.bin", "0", "16384"));
  model.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_GT(convert(model).trial.sqnr_db, 40);
}

}  // namespace
}  // namespace ounce
