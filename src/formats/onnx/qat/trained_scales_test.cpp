#include "formats/onnx/qat/trained_scales.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/prepare/remove_nodes.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::field;
using ounce::test::float_tensor;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::kFloat16;
using ounce::test::kInt16;
using ounce::test::kInt32;
using ounce::test::kInt4;
using ounce::test::kInt8;
using ounce::test::kUint4;
using ounce::test::kUint8;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::Strings;
using ounce::test::tensor;
using ounce::test::tensor_attribute;
using test::expect_same_outputs;
using test::ints_attribute;
using test::ints_tensor;
using test::noise;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string codes_tensor(const std::string& name, int type, const Dims& dims, const std::vector<int>& codes) {
  std::string raw;
  for (const int code : codes) raw += static_cast<char>(code);
  return tensor(name, type, dims, raw);
}

// Values on, between and exactly halfway between quantized values, for scales near 1/64.
std::vector<float> awkward(const Dims& dims) {
  std::vector<float> values = noise(dims, 9);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 3 == 0) values[i] = std::floor(values[i] * 64) / 64 + 1.0F / 128;
    if (i % 7 == 0) values[i] *= 50;
  }
  return values;
}

// x [2,3] times w [3,4] through a Q/DQ pair. The test adds the parameters s and z.
ModelBuilder matmul(std::int64_t opset = 17, const Strings& attributes = {},
                    const Strings& inputs = {"s", "z"}, std::int64_t ir_version = 8) {
  ModelBuilder model(opset, ir_version);
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 4});
  model.initializer("w", {3, 4}, awkward({3, 4}));
  Strings all{"w"};
  all.insert(all.end(), inputs.begin(), inputs.end());
  model.node("QuantizeLinear", all, {"c"}, attributes, "quant");
  all[0] = "c";
  Strings same = attributes;
  std::erase_if(
      same, [](const std::string& attribute) { return attribute.find("output_dtype") != std::string::npos; });
  model.node("DequantizeLinear", all, {"d"}, same, "dequant").node("MatMul", {"x", "d"}, {"y"});
  return model;
}

std::string why_not_stored(const ModelBuilder& model) {
  onnx::Model stored = read(model.bytes());
  const Changes changes = store_trained_weights(stored);
  EXPECT_EQ(changes.count, 0U);
  EXPECT_FALSE(stored.proto.is_edited());
  return changes.left_alone.size() == 1 ? changes.left_alone[0] : "";
}

// Stores the weights, checks their number and that outputs are identical, and returns the text of the model.
std::string stored_text(const ModelBuilder& model, std::size_t count = 1) {
  onnx::Model stored = read(model.bytes());
  const Changes changes = store_trained_weights(stored);
  EXPECT_EQ(changes.count, count);
  EXPECT_THAT(changes.left_alone, IsEmpty());
  expect_same_outputs(model.bytes(), stored, 0);
  remove_dead_nodes(stored);
  expect_same_outputs(model.bytes(), stored, 0);
  return text_of(stored);
}

TEST(TrainedScales, StoresTheCodes) {
  ModelBuilder model = matmul();
  model.initializer("s", {}, {1.0F / 64}).initializer(codes_tensor("z", kInt8, {}, {0}));
  EXPECT_EQ(
      stored_text(model),
      "s = float32[]\nz = int8[]\nq0 = int8[3,4]\nDequantizeLinear(q0, s, z) -> d\nMatMul(x, d) -> y\n");
}

TEST(TrainedScales, RoundsHalvesToEvenAndSaturates) {
  ModelBuilder model;
  model.input("x", kFloat, {7}).output("y", kFloat, {7});
  model.initializer("w", {7}, {0.25F, 0.75F, 1.25F, -0.25F, 1000, -kInfinity, 0.5F});
  model.initializer("s", {1}, {0.5F}).initializer(codes_tensor("z", kInt8, {1}, {1}));
  model.node("QuantizeLinear", {"w", "s", "z"}, {"c"}).node("DequantizeLinear", {"c", "s", "z"}, {"d"});
  model.node("Add", {"x", "d"}, {"y"});
  onnx::Model stored = read(model.bytes());
  EXPECT_EQ(store_trained_weights(stored).count, 1U);
  const onnx::Bytes bytes = onnx::RawValues(*stored.proto->graph->initializers.back()).bytes();
  std::vector<int> codes;
  for (const char byte : bytes) codes.push_back(static_cast<signed char>(byte));
  EXPECT_THAT(codes, ElementsAre(1, 3, 3, 1, 127, -128, 2));
  expect_same_outputs(model.bytes(), stored, 0);
}

TEST(TrainedScales, TakesTheTypeOfTheZeroPointOrUint8) {
  ModelBuilder unsigned_codes = matmul();
  unsigned_codes.initializer("s", {}, {0.02F}).initializer(codes_tensor("z", kUint8, {}, {131}));
  EXPECT_THAT(stored_text(unsigned_codes), HasSubstr("q0 = uint8[3,4]\n"));
  ModelBuilder no_zero = matmul(17, {}, {"s"});
  no_zero.initializer("s", {}, {0.02F});
  EXPECT_THAT(stored_text(no_zero), HasSubstr("q0 = uint8[3,4]\nDequantizeLinear(q0, s) -> d\n"));
}

TEST(TrainedScales, TakesOneScaleForEachPlaceOfAnAxis) {
  for (const std::int64_t axis : {0, 1, -1, -2}) {
    const std::int64_t channels = axis == 0 || axis == -2 ? 3 : 4;
    ModelBuilder model = matmul(13, {int_attribute("axis", axis)});
    std::vector<float> scales(static_cast<std::size_t>(channels));
    std::vector<int> zeros;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      scales[i] = 0.01F * static_cast<float>(i + 1);
      zeros.push_back(static_cast<int>(i) - 2);
    }
    model.initializer("s", {channels}, scales).initializer(codes_tensor("z", kInt8, {channels}, zeros));
    EXPECT_THAT(stored_text(model), HasSubstr("q0 = int8[3,4]\n"));
  }
}

TEST(TrainedScales, TakesOneScaleForEachBlock) {
  for (const std::int64_t axis : {0, 1}) {
    const Dims dims = axis == 0 ? Dims{2, 4} : Dims{3, 2};
    ModelBuilder model =
        matmul(21, {int_attribute("axis", axis), int_attribute("block_size", 2)}, {"s", "z"}, 10);
    std::vector<float> scales = noise(dims, 4);
    std::vector<int> zeros;
    for (float& scale : scales) {
      scale = scale * scale + 0.01F;
      zeros.push_back(static_cast<int>(zeros.size()));
    }
    model.initializer("s", dims, scales).initializer(codes_tensor("z", kInt8, dims, zeros));
    onnx::Model stored = read(model.bytes());
    EXPECT_EQ(store_trained_weights(stored).count, 1U);
    EXPECT_THAT(text_of(stored), HasSubstr("q0 = int8[3,4]\n"));
  }
}

TEST(TrainedScales, PacksFourBitsAndTakesOutputDtype) {
  for (const int type : {kInt4, kUint4}) {
    ModelBuilder zero = matmul(21, {}, {"s", "z"}, 10);
    zero.initializer("s", {}, {0.2F}).initializer(codes_tensor("z", type, {}, {3}));
    onnx::Model stored = read(zero.bytes());
    EXPECT_EQ(store_trained_weights(stored).count, 1U);
    EXPECT_THAT(text_of(stored), HasSubstr(type == kInt4 ? "q0 = int4[3,4]\n" : "q0 = uint4[3,4]\n"));
    const onnx::Tensor& codes = *stored.proto->graph->initializers.back();
    EXPECT_EQ(onnx::RawValues(codes).bytes().size(), 6U);
  }
  ModelBuilder written = matmul(21, {int_attribute("output_dtype", kInt16)}, {"s"}, 10);
  written.initializer("s", {}, {0.001F});
  onnx::Model stored = read(written.bytes());
  EXPECT_EQ(store_trained_weights(stored).count, 1U);
  EXPECT_THAT(text_of(stored), HasSubstr("q0 = int16[3,4]\n"));
}

TEST(TrainedScales, TakesEverythingFromConstantNodes) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 4});
  model.node("Constant", {}, {"w"}, {tensor_attribute("value", float_tensor("", {3, 4}, awkward({3, 4})))});
  model.node("Constant", {}, {"s"}, {test::float_attribute("value_float", 0.03F)});
  model.node("Constant", {}, {"z"}, {tensor_attribute("value", codes_tensor("", kInt8, {}, {-3}))});
  model.node("QuantizeLinear", {"w", "s", "z"}, {"c"}).node("DequantizeLinear", {"c", "s", "z"}, {"d"});
  model.node("MatMul", {"x", "d"}, {"y"});
  EXPECT_EQ(stored_text(model),
            "q0 = int8[3,4]\nConstant() -> s\nConstant() -> z\nDequantizeLinear(q0, s, z) -> d\nMatMul(x, d) "
            "-> y\n");
}

// PyTorch without constant folding: an Identity for a shared scale, a Cast for the zero point.
TEST(TrainedScales, ReadsParametersThroughIdentityAndCast) {
  ModelBuilder model = matmul();
  model.initializer("s0", {}, {0.03F})
      .initializer(tensor("z0", kInt32, {}, std::string("\xfd\xff\xff\xff", 4)));
  model.node("Identity", {"s0"}, {"s"}).node("Cast", {"z0"}, {"z"}, {int_attribute("to", kInt8)});
  EXPECT_THAT(stored_text(model), HasSubstr("\nDequantizeLinear(q0, s, z) -> d\n"));
}

TEST(TrainedScales, ServesSeveralDequantizersAndSubgraphs) {
  GraphBuilder branch;
  branch.output("t", kFloat, {2, 4})
      .node("DequantizeLinear", {"c", "s2"}, {"e"})
      .node("MatMul", {"x", "e"}, {"t"});
  GraphBuilder other;
  other.output("o", kFloat, {2, 4}).node("MatMul", {"x", "d"}, {"o"});
  ModelBuilder model = matmul();
  model.initializer("s", {}, {0.03F}).initializer("s2", {}, {0.03F});
  model.initializer(codes_tensor("z", kInt8, {}, {0}));
  model.input("which", 9, {}).output("u", kFloat, {2, 4});
  model.node("If", {"which"}, {"u"},
             {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", other.bytes())});
  const std::string text = stored_text(model);
  EXPECT_THAT(text, HasSubstr("\nDequantizeLinear(q0, s, z) -> d\n"));
  EXPECT_THAT(text, HasSubstr("    DequantizeLinear(q0, s2) -> e\n"));
}

TEST(TrainedScales, LeavesTheFloatsToOthersThatUseThem) {
  ModelBuilder model = matmul();
  model.initializer("s", {}, {0.03F}).initializer(codes_tensor("z", kInt8, {}, {0}));
  model.node("MatMul", {"x", "w"}, {"u"}).output("u", kFloat, {2, 4});
  EXPECT_EQ(stored_text(model),
            "w = float32[3,4]\ns = float32[]\nz = int8[]\nq0 = int8[3,4]\nDequantizeLinear(q0, s, z) -> d\n"
            "MatMul(x, d) -> y\nMatMul(x, w) -> u\n");
}

TEST(TrainedScales, FoldsTheClipOfANarrowRangeIntoTheCodes) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 4}).output("u", kFloat, {2, 4});
  model.initializer("w", {3, 4}, awkward({3, 4})).initializer("s", {4}, {0.01F, 0.02F, 0.03F, 0.04F});
  model.initializer(codes_tensor("z", kInt8, {4}, {0, 0, 0, 0}));
  model.initializer(codes_tensor("lo", kInt8, {}, {-127})).initializer(codes_tensor("hi", kInt8, {}, {127}));
  model.node("QuantizeLinear", {"w", "s", "z"}, {"c"}).node("Clip", {"c", "lo", "hi"}, {"n"});
  model.node("DequantizeLinear", {"n", "s", "z"}, {"d"}).node("MatMul", {"x", "d"}, {"y"});
  model.node("DequantizeLinear", {"c", "s", "z"}, {"e"}).node("MatMul", {"x", "e"}, {"u"});
  const std::string text = stored_text(model);
  EXPECT_THAT(text, HasSubstr("q0 = int8[3,4]\nq1 = int8[3,4]\nDequantizeLinear(q1, s, z) -> d\n"));
  EXPECT_THAT(text, HasSubstr("DequantizeLinear(q0, s, z) -> e\n"));
}

TEST(TrainedScales, FoldsWhatMovesOrClipsTheWeightFirst) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 4, 3, 3});
  model.initializer("w", {3, 6, 4}, awkward({3, 6, 4})).initializer(ints_tensor("shape", {3, 0, 2, -1}));
  model.initializer("lo", {}, {-0.8F}).initializer("hi", {}, {0.9F});
  // [3,6,4] as the kernel [3,3,2,4] of TensorFlow: height, width, in, out
  model.initializer(ints_tensor("kernel", {3, 3, 2, -1}));
  model.node("Reshape", {"w", "kernel"}, {"k"}).node("Identity", {"k"}, {"i"});
  model.node("Transpose", {"i"}, {"t"}, {ints_attribute("perm", {3, 2, 0, 1})});
  model.node("Clip", {"t", "lo", "hi"}, {"l"});
  model.initializer("s", {4}, {0.01F, 0.02F, 0.03F, 0.04F});
  model.node("QuantizeLinear", {"l", "s"}, {"c"}, {int_attribute("axis", 0)});
  model.node("DequantizeLinear", {"c", "s"}, {"d"}, {int_attribute("axis", 0)})
      .node("Conv", {"x", "d"}, {"y"});
  EXPECT_EQ(stored_text(model),
            "s = float32[4]\nq0 = uint8[4,2,3,3]\nDequantizeLinear(q0, s){axis=0} -> d\nConv(x, d) -> y\n");
}

TEST(TrainedScales, TransposesWithoutAxesToo) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3}).initializer("w", {3, 4}, awkward({3, 4}));
  model.initializer("s", {}, {0.02F}).initializer(codes_tensor("z", kInt8, {}, {7}));
  model.node("Transpose", {"w"}, {"t"}).node("QuantizeLinear", {"t", "s", "z"}, {"c"});
  model.node("DequantizeLinear", {"c", "s", "z"}, {"d"}).node("MatMul", {"x", "d"}, {"y"});
  EXPECT_THAT(stored_text(model), HasSubstr("q0 = int8[4,3]\n"));
}

TEST(TrainedScales, ServesIntegerOpsThatTakeTheCodes) {
  ModelBuilder model;
  model.input("x", kUint8, {2, 3}).output("y", kInt32, {2, 4}).initializer("w", {3, 4}, awkward({3, 4}));
  model.initializer("s", {}, {0.02F}).initializer(codes_tensor("z", kInt8, {}, {0}));
  model.node("QuantizeLinear", {"w", "s", "z"}, {"c"}).node("MatMulInteger", {"x", "c"}, {"y"});
  EXPECT_THAT(stored_text(model), HasSubstr("MatMulInteger(x, q0) -> y\n"));
}

TEST(TrainedScales, LeavesActivationsAlone) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 3});
  model.initializer("s", {}, {0.02F}).initializer(codes_tensor("z", kInt8, {}, {0}));
  model.node("QuantizeLinear", {"x", "s", "z"}, {"c"}).node("DequantizeLinear", {"c", "s", "z"}, {"y"});
  onnx::Model stored = read(model.bytes());
  const Changes changes = store_trained_weights(stored);
  EXPECT_EQ(changes.count, 0U);
  EXPECT_THAT(changes.left_alone, IsEmpty());
  EXPECT_FALSE(stored.proto.is_edited());
}

TEST(TrainedScales, StoresHalves) {
  ModelBuilder model(19, 9);
  model.input("x", kFloat16, {3}).output("y", kFloat16, {3});
  model.initializer(tensor("w", kFloat16, {3}, std::string("\x00\x3c\x00\xb8\x00\x42", 6)));  // 1, -0.5, 3
  model.initializer(tensor("s", kFloat16, {}, std::string("\x00\x38", 2)));                   // 0.5
  model.initializer(codes_tensor("z", kInt8, {}, {0}));
  model.node("QuantizeLinear", {"w", "s", "z"}, {"c"}).node("DequantizeLinear", {"c", "s", "z"}, {"d"});
  model.node("Add", {"x", "d"}, {"y"});
  onnx::Model stored = read(model.bytes());
  EXPECT_EQ(store_trained_weights(stored).count, 1U);
  EXPECT_EQ(onnx::RawValues(*stored.proto->graph->initializers.back()).bytes(), "\x02\xff\x06");
}

TEST(TrainedScales, LeavesPairsWhoseScalesDiffer) {
  const auto reason = [](float scale, int zero, const Dims& dims) {
    ModelBuilder model;
    model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 4}).initializer("w", {3, 4}, noise({3, 4}));
    model.initializer("s", {}, {0.5F}).initializer(codes_tensor("z", kInt8, {}, {1}));
    model.initializer("t", dims, std::vector<float>(dims.empty() ? 1 : 4, scale));
    model.initializer(codes_tensor("u", kInt8, dims, std::vector<int>(dims.empty() ? 1 : 4, zero)));
    model.node("QuantizeLinear", {"w", "s", "z"}, {"c"}, {}, "quant");
    model.node("DequantizeLinear", {"c", "t", "u"}, {"d"}, {}, "dequant").node("MatMul", {"x", "d"}, {"y"});
    return why_not_stored(model);
  };
  const std::string no = "node 'quant': node 'dequant' behind it has another scale or zero point";
  EXPECT_EQ(reason(0.25F, 1, {}), no);
  EXPECT_EQ(reason(0.5F, 2, {}), no);
  EXPECT_EQ(reason(0.5F, 1, {4}), no);
}

TEST(TrainedScales, LeavesScalesThatAreNone) {
  const auto reason = [](float scale) {
    ModelBuilder model = matmul();
    model.initializer("s", {}, {scale}).initializer(codes_tensor("z", kInt8, {}, {0}));
    return why_not_stored(model);
  };
  EXPECT_EQ(reason(0), "node 'quant': its scale 0 (number 0) is not positive and finite");
  EXPECT_EQ(reason(-1), "node 'quant': its scale -1 (number 0) is not positive and finite");
  EXPECT_EQ(reason(test::kNan), "node 'quant': its scale nan (number 0) is not positive and finite");
  EXPECT_EQ(reason(kInfinity), "node 'quant': its scale inf (number 0) is not positive and finite");
}

TEST(TrainedScales, LeavesParametersOfWrongShapes) {
  const auto reason = [](const Dims& scale, const Dims& zero, const Strings& attributes,
                         std::int64_t opset = 21) {
    ModelBuilder model = matmul(opset, attributes);
    model.initializer("s", scale, std::vector<float>(noise(scale).size(), 0.5F));
    model.initializer(codes_tensor("z", kInt8, zero, std::vector<int>(noise(zero).size(), 0)));
    return why_not_stored(model);
  };
  const std::string node = "node 'quant': ";
  EXPECT_EQ(reason({5}, {5}, {}), node + "its scale has 5 values in 1 axes where its axis of 4 needs 4 in 1");
  EXPECT_EQ(reason({1, 4}, {1, 4}, {}),
            node + "its scale has 4 values in 2 axes where its axis of 4 needs 4 in 1");
  EXPECT_EQ(reason({1, 1}, {1, 1}, {}),
            node + "its scale has 1 values in 2 axes where its axis of 4 needs 4 in 1");
  EXPECT_EQ(reason({4}, {}, {}), node + "its zero point has 1 values where its scale has 4");
  EXPECT_EQ(reason({}, {4}, {}), node + "its zero point has 4 values where its scale has 1");
  EXPECT_EQ(reason({0}, {0}, {}), node + "its scale: 's' has no values");
  EXPECT_EQ(reason({4}, {4}, {int_attribute("axis", 2)}),
            node + "its axis 2 is not within the 2 of its values");
  EXPECT_EQ(reason({4}, {4}, {int_attribute("axis", -3)}),
            node + "its axis -3 is not within the 2 of its values");
  EXPECT_EQ(reason({4}, {4}, {int_attribute("axis", std::numeric_limits<std::int64_t>::min())}),
            node + "its axis -9223372036854775808 is not within the 2 of its values");
  EXPECT_EQ(reason({3, 3}, {3, 3}, {int_attribute("block_size", 2)}),
            node + "its scale has 9 values in 2 axes where its axis of 4 needs 6 in 2");
  EXPECT_EQ(reason({3, 4}, {3, 4}, {int_attribute("block_size", -1)}),
            node + "its axis or block size cannot be read");
  EXPECT_EQ(
      reason({3, 1}, {3, 1}, {int_attribute("block_size", std::numeric_limits<std::int64_t>::max())}, 20),
      node + "opset 20 supports only one scale for all values or per axis");
  EXPECT_EQ(reason({4}, {4}, {}, 12), node + "opset 12 supports only one scale for all values");
}

TEST(TrainedScales, LeavesTypesThatHoldNoCodes) {
  const auto reason = [](int type, const std::string& zero, std::int64_t opset,
                         const Strings& attributes = {}) {
    ModelBuilder model = matmul(opset, attributes);
    model.initializer("s", {}, {0.5F}).initializer(tensor("z", type, {}, zero));
    return why_not_stored(model);
  };
  const std::string node = "node 'quant': ";
  const std::string four(4, '\0');
  EXPECT_EQ(reason(kInt32, four, 21), node + "QuantizeLinear of opset 21 does not support type int32");
  EXPECT_EQ(reason(kFloat, four, 21), node + "QuantizeLinear of opset 21 does not support type float32");
  EXPECT_EQ(reason(17, "\x01", 21), node + "its zero point: 'z' has an unsupported type");
  EXPECT_EQ(reason(kInt16, "\x01\x01", 17), node + "QuantizeLinear of opset 17 does not support type int16");
  EXPECT_EQ(reason(kInt4, "\x01", 17), node + "QuantizeLinear of opset 17 does not support type int4");
  EXPECT_EQ(reason(kInt8, "\x01", 21, {int_attribute("output_dtype", kUint8)}),
            node + "its zero point is of type int8, unlike its quantized values");
  EXPECT_EQ(reason(kInt8, "\x01", 21, {int_attribute("output_dtype", 9999)}),
            node + "its output_dtype cannot be read");
  EXPECT_EQ(reason(kInt8, "\x01", 23, {int_attribute("precision", kFloat16)}),
            node + "its precision is not float32");
}

TEST(TrainedScales, LeavesWeightsThatAreNotNumbersOrNotFloats) {
  ModelBuilder nan;
  nan.input("x", kFloat, {2})
      .output("y", kFloat, {2})
      .initializer("w", {2}, {1, test::kNan})
      .initializer("s", {}, {1});
  nan.node("QuantizeLinear", {"w", "s"}, {"c"}, {}, "quant").node("DequantizeLinear", {"c", "s"}, {"d"});
  nan.node("Add", {"x", "d"}, {"y"});
  EXPECT_EQ(why_not_stored(nan), "node 'quant': one of its values is NaN");
  ModelBuilder integers;
  integers.output("y", kFloat, {1}).initializer("s", {}, {1});
  integers.initializer(tensor("w", kInt32, {1}, std::string(4, '\1')));
  integers.node("QuantizeLinear", {"w", "s"}, {"c"}, {}, "quant").node("DequantizeLinear", {"c", "s"}, {"y"});
  EXPECT_EQ(why_not_stored(integers), "node 'quant': its input has type int32");
  ModelBuilder nothing;
  nothing.output("y", kFloat, {0}).initializer("s", {}, {1});
  nothing.initializer(float_tensor("w", {0, std::int64_t{1} << 62U}, {}));
  nothing.node("QuantizeLinear", {"w", "s"}, {"c"}, {}, "quant").node("DequantizeLinear", {"c", "s"}, {"y"});
  EXPECT_EQ(why_not_stored(nothing), "node 'quant': 'w' has no values");
}

TEST(TrainedScales, LeavesWhatIsNoConstantForSure) {
  ModelBuilder input = matmul();
  input.input("w", kFloat, {3, 4});
  input.initializer("s", {}, {1}).initializer(codes_tensor("z", kInt8, {}, {0}));
  const std::string no = "node 'quant': 'w' may be replaced when the model runs or is trained";
  EXPECT_EQ(why_not_stored(input), no);
  ModelBuilder trained = matmul();
  trained.initializer("s", {}, {1}).initializer(codes_tensor("z", kInt8, {}, {0}));
  trained.add_to_model(20, "");
  EXPECT_EQ(why_not_stored(trained), no);
  ModelBuilder scale = matmul();
  scale.input("s", kFloat, {}).initializer(codes_tensor("z", kInt8, {}, {0}));
  EXPECT_EQ(why_not_stored(scale), "node 'quant': its scale is not a constant");
  ModelBuilder codes = matmul();
  codes.initializer("s", {}, {1}).initializer(codes_tensor("z", kInt8, {}, {0})).output("c", kInt8, {3, 4});
  EXPECT_EQ(why_not_stored(codes), "node 'quant': 'c' is an output");
}

TEST(TrainedScales, LeavesWaysThatCannotBeFollowed) {
  const auto reason = [](const std::string& op, const Strings& more, const Strings& attributes) {
    ModelBuilder model;
    model.input("x", kFloat, {2, 3}).input("n", 7, {2}).output("y", kFloat, {2, 4}).initializer("s", {}, {1});
    model.initializer("w", {3, 4}, noise({3, 4})).initializer(ints_tensor("wrong", {5, -1}));
    model.initializer(ints_tensor("huge", {std::int64_t{1} << 62U, std::int64_t{1} << 62U}));
    model.initializer(ints_tensor("two", {-1, -1})).initializer("lo", {}, {2}).initializer("hi", {}, {1});
    Strings inputs{"w"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    model.node(op, inputs, {"m"}, attributes);
    model.node("QuantizeLinear", {"m", "s"}, {"c"}, {}, "quant").node("DequantizeLinear", {"c", "s"}, {"d"});
    model.node("MatMul", {"x", "d"}, {"y"});
    return why_not_stored(model);
  };
  const std::string node = "node 'quant': ";
  EXPECT_EQ(reason("Transpose", {}, {ints_attribute("perm", {0, 0})}),
            node + "Transpose uses 'w': its axes do not match the constant");
  EXPECT_EQ(reason("Transpose", {}, {ints_attribute("perm", {0, 2})}),
            node + "Transpose uses 'w': its axes do not match the constant");
  EXPECT_EQ(reason("Transpose", {}, {ints_attribute("perm", {0})}),
            node + "Transpose uses 'w': its axes do not match the constant");
  EXPECT_EQ(reason("Reshape", {"n"}, {}), node + "Reshape uses 'w': its shape is not a constant");
  for (const char* shape : {"wrong", "huge", "two"}) {
    EXPECT_EQ(reason("Reshape", {shape}, {}),
              node + "Reshape uses 'w': its shape does not match the number of values");
  }
  EXPECT_EQ(reason("Clip", {"lo", "hi"}, {}), node + "Clip uses 'w': its limits are not constant");
  EXPECT_EQ(reason("Cast", {}, {int_attribute("to", kFloat16)}),
            node + "Cast uses 'w': it would round the values");
  EXPECT_EQ(reason("Unsqueeze", {"n"}, {}), node + "Unsqueeze uses 'w': it is not supported here");
}

TEST(TrainedScales, LeavesClipsThatCannotBeFolded) {
  const auto reason = [](bool is_output, int lo, const Strings& limits) {
    ModelBuilder model;
    model.output("y", kFloat, {2}).initializer("w", {2}, {1, 2}).initializer("s", {}, {1});
    model.initializer(codes_tensor("lo", kUint8, {}, {lo})).input("free", kUint8, {});
    model.initializer(codes_tensor("hi", kUint8, {}, {100}));
    Strings inputs{"c"};
    inputs.insert(inputs.end(), limits.begin(), limits.end());
    model.node("QuantizeLinear", {"w", "s"}, {"c"}, {}, "quant").node("Clip", inputs, {"n"}, {}, "clip");
    model.node("DequantizeLinear", {"n", "s"}, {"y"});
    if (is_output) model.output("n", kUint8, {2});
    return why_not_stored(model);
  };
  EXPECT_EQ(reason(true, 0, {"lo", "hi"}), "node 'quant': node 'clip' behind it is an output of the graph");
  EXPECT_EQ(reason(false, 101, {"lo", "hi"}),
            "node 'quant': node 'clip' behind it has limits that are not constant");
  EXPECT_EQ(reason(false, 0, {"free"}),
            "node 'quant': node 'clip' behind it has limits that are not constant");
}

// A large weight with very many users must not be quantized for each of them.
TEST(TrainedScales, StopsCodingInProportionToTheModel) {
  ModelBuilder model;
  model.initializer("w", {64, 64}, noise({64, 64})).initializer("s", {}, {0.01F});
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    model.output("y" + n, kFloat, {64, 64}).node("QuantizeLinear", {"w", "s"}, {"c" + n}, {}, "q" + n);
    model.node("DequantizeLinear", {"c" + n, "s"}, {"y" + n});
  }
  onnx::Model stored = read(model.bytes());
  const Changes changes = store_trained_weights(stored);
  EXPECT_EQ(changes.count, 5U);
  EXPECT_EQ(changes.left_alone.size(), 15U);
  EXPECT_THAT(changes.left_alone[0],
              HasSubstr(": copies of shared weights would be many times larger than the model"));
  expect_same_outputs(model.bytes(), stored, 0);
}

TEST(TrainedScales, WorksInFunctions) {
  const auto constant = [](const std::string& name, const std::string& value) {
    return field(7, ounce::test::node("Constant", {}, {name}, {tensor_attribute("value", value)}));
  };
  const std::string function =
      field(1, std::string("f")) + field(4, std::string("a")) + field(5, std::string("r")) +
      constant("w", float_tensor("", {3, 4}, awkward({3, 4}))) + constant("s", float_tensor("", {}, {0.1F})) +
      field(7, ounce::test::node("QuantizeLinear", {"w", "s"}, {"c"})) +
      field(7, ounce::test::node("DequantizeLinear", {"c", "s"}, {"d"})) +
      field(7, ounce::test::node("MatMul", {"a", "d"}, {"r"})) +
      field(9, field(1, std::string()) + field(2, std::int64_t{17})) + field(10, std::string("my"));
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 4});
  model.add(1, ounce::test::node("f", {"x"}, {"y"}, {}, {}, "my"));
  model.add_to_model(25, function).add_to_model(8, field(1, std::string("my")) + field(2, std::int64_t{1}));
  EXPECT_EQ(stored_text(model),
            "f(x) -> y\nfunction f:\n  Constant() -> s\n  Constant() -> q0\n  DequantizeLinear(q0, s) -> d\n"
            "  MatMul(a, d) -> r\n");
}

}  // namespace
}  // namespace ounce::passes
