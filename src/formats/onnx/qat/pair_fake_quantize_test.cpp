#include "formats/onnx/qat/trained_scales.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "formats/onnx/file/reader.h"
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
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::Strings;
using ounce::test::tensor_attribute;
using test::expect_same_outputs;
using test::noise;
using test::string_attribute;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One code of 127. The values of these tests lie on no middle between two codes but by accident, so nearly
// all come out the same; where x · (1/s) and x / s round to different sides, an output moves by this much.
constexpr double kOneCode = 1.0 / 127;

// x [2,3,4] → y, by the ops that the test adds between. A scale of 1/50, whose inverse is rounded.
ModelBuilder activation(std::int64_t opset = 17) {
  ModelBuilder model(opset);
  model.input("x", kFloat, {2, 3, 4}).output("y", kFloat, {2, 3, 4});
  model.initializer("s", {}, {0.02F}).initializer("f", {}, {50}).initializer("z", {}, {100});
  model.initializer("-128", {}, {-128}).initializer("127", {}, {127}).initializer("0", {}, {0});
  model.initializer("255", {}, {255}).initializer("-127", {}, {-127}).initializer("15", {}, {15});
  return model;
}

// Rewrites one place and checks the outputs; what is left of the model, without its constants.
std::string nodes_after(const ModelBuilder& model, double tolerance = kOneCode) {
  onnx::Model paired = read(model.bytes());
  const Changes changes = pair_fake_quantize(paired);
  EXPECT_EQ(changes.count, 1U);
  EXPECT_THAT(changes.left_alone, IsEmpty());
  expect_same_outputs(model.bytes(), paired, tolerance);
  remove_dead_nodes(paired);
  const std::string text = text_of(paired);
  std::string nodes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end + 1 - at);
    if (line.find(" = ") == std::string::npos) nodes += line;
    at = end + 1;
  }
  return nodes;
}

const char* const kPair = "QuantizeLinear(x, q0, q1) -> v0\nDequantizeLinear(v0, q0, q1) -> y\n";

TEST(PairFakeQuantize, WritesSignedCodes) {
  ModelBuilder model = activation();
  model.node("Div", {"x", "s"}, {"a"}).node("Round", {"a"}, {"b"}).node("Clip", {"b", "-128", "127"}, {"c"});
  model.node("Mul", {"c", "s"}, {"y"});
  EXPECT_EQ(nodes_after(model, 0), kPair);
}

TEST(PairFakeQuantize, KeepsTheScaleAndSharesIt) {
  ModelBuilder model = activation();
  model.output("u", kFloat, {2, 3, 4});
  for (const std::string y : {"y", "u"}) {
    model.node("Div", {"x", "s"}, {"a" + y}).node("Round", {"a" + y}, {"b" + y});
    model.node("Clip", {"b" + y, "-128", "127"}, {"c" + y}).node("Mul", {"c" + y, "s"}, {y});
  }
  onnx::Model paired = read(model.bytes());
  EXPECT_EQ(pair_fake_quantize(paired).count, 2U);
  EXPECT_THAT(text_of(paired),
              HasSubstr("q0 = float32[]\nq1 = int8[]\nQuantizeLinear(x, q0, q1) -> v0\n"
                        "DequantizeLinear(v0, q0, q1) -> y\nQuantizeLinear(x, q0, q1) -> v1\n"));
  expect_same_outputs(model.bytes(), paired, 0);
}

TEST(PairFakeQuantize, TakesTheInverseAndAZeroPointOnEitherSideOfTheRound) {
  ModelBuilder before = activation();
  before.node("Mul", {"f", "x"}, {"a"}).node("Add", {"a", "z"}, {"b"}).node("Round", {"b"}, {"c"});
  before.node("Clip", {"c", "0", "255"}, {"d"}).node("Sub", {"d", "z"}, {"e"}).node("Mul", {"s", "e"}, {"y"});
  EXPECT_EQ(nodes_after(before), kPair);
  ModelBuilder behind = activation();
  behind.node("Div", {"x", "s"}, {"a"}).node("Round", {"a"}, {"b"}).node("Add", {"z", "b"}, {"c"});
  behind.node("Max", {"c", "0"}, {"d"}).node("Min", {"255", "d"}, {"e"}).node("Sub", {"e", "z"}, {"g"});
  behind.node("Mul", {"g", "s"}, {"y"});
  EXPECT_EQ(nodes_after(behind, 0), kPair);
}

TEST(PairFakeQuantize, TakesAClipInFrontOfTheRound) {
  ModelBuilder model = activation();
  model.node("Div", {"x", "s"}, {"a"}).node("Clip", {"a", "-128", "127"}, {"b"}).node("Round", {"b"}, {"c"});
  model.node("Mul", {"c", "s"}, {"y"});
  EXPECT_EQ(nodes_after(model, 0), kPair);
}

TEST(PairFakeQuantize, KeepsNarrowRangesByAClip) {
  ModelBuilder model = activation();
  model.node("Div", {"x", "s"}, {"a"}).node("Round", {"a"}, {"b"}).node("Clip", {"b", "0", "15"}, {"c"});
  model.node("Mul", {"c", "s"}, {"y"});
  EXPECT_EQ(nodes_after(model, 0),
            "Clip(x, q2, q3) -> v0\nQuantizeLinear(v0, q0, q1) -> v1\nDequantizeLinear(v1, q0, q1) -> y\n");
}

TEST(PairFakeQuantize, TakesOneScaleAChannel) {
  ModelBuilder model = activation();
  model.initializer("k", {1, 3, 1}, {0.01F, 0.003F, 0.02F}).initializer("m", {3, 1}, {0.01F, 0.003F, 0.02F});
  model.node("Div", {"x", "k"}, {"a"}).node("Round", {"a"}, {"b"}).node("Clip", {"b", "-127", "127"}, {"c"});
  model.node("Mul", {"c", "m"}, {"y"});
  EXPECT_EQ(nodes_after(model, 0),
            "Max(x, q2) -> v0\nMin(v0, q3) -> v1\nQuantizeLinear(v1, q0, q1){axis=1} -> v2\n"
            "DequantizeLinear(v2, q0, q1){axis=1} -> y\n");
}

TEST(PairFakeQuantize, MakesWeightsThatAreStored) {
  for (const bool by_channel : {false, true}) {
    const Dims dims = by_channel ? Dims{4, 1, 1, 1} : Dims{};
    std::vector<float> scales = {0.011F, 0.007F, 0.005F, 0.0123F}, inverses;
    if (!by_channel) scales.resize(1);
    for (const float scale : scales) inverses.push_back(1 / scale);
    ModelBuilder model;
    model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 4, 3, 3});
    model.initializer("w", {4, 2, 3, 3}, noise({4, 2, 3, 3})).initializer("s", dims, scales);
    model.initializer("f", dims, inverses).initializer("lo", {}, {-127}).initializer("hi", {}, {127});
    model.node("Mul", {"w", "f"}, {"a"}).node("Round", {"a"}, {"b"}).node("Clip", {"b", "lo", "hi"}, {"c"});
    model.node("Mul", {"c", "s"}, {"d"}).node("Conv", {"x", "d"}, {"y"});
    onnx::Model stored = read(model.bytes());
    const Changes changes = store_trained_weights(stored);
    EXPECT_EQ(changes.count, 2U);
    EXPECT_THAT(changes.left_alone, IsEmpty());
    remove_dead_nodes(stored);
    EXPECT_EQ(text_of(stored), by_channel ? "q0 = float32[4]\nq1 = int8[4]\nq4 = int8[4,2,3,3]\n"
                                            "DequantizeLinear(q4, q0, q1){axis=0} -> d\nConv(x, d) -> y\n"
                                          : "q0 = float32[]\nq1 = int8[]\nq4 = int8[4,2,3,3]\n"
                                            "DequantizeLinear(q4, q0, q1) -> d\nConv(x, d) -> y\n");
    expect_same_outputs(model.bytes(), stored, kOneCode);
  }
}

std::string why_unpaired(const ModelBuilder& model) {
  onnx::Model paired = read(model.bytes());
  const Changes changes = pair_fake_quantize(paired);
  EXPECT_EQ(changes.count, 0U);
  EXPECT_FALSE(paired.proto.is_edited());
  return changes.left_alone.size() == 1 ? changes.left_alone[0] : "";
}

// Divided by s, plus z, rounded, clipped, minus z2, times s2.
struct Numbers {
  std::vector<float> s{0.5F}, s2{0.5F};
  float z = 0, z2 = 0, lo = -128, hi = 127;
  Dims dims{}, dims2{}, zero_dims{};
  std::int64_t opset = 17;
  bool shows_middle = false;
};

std::string why_unpaired(const Numbers& numbers) {
  ModelBuilder model(numbers.opset);
  model.input("x", kFloat, {2, 3, 4}).output("y", kFloat, {2, 3, 4});
  model.initializer("s", numbers.dims, numbers.s).initializer("s2", numbers.dims2, numbers.s2);
  std::vector<float> zeros(noise(numbers.zero_dims).size(), numbers.z);
  model.initializer("z", numbers.zero_dims, zeros).initializer("z2", {}, {numbers.z2});
  model.initializer("lo", {}, {numbers.lo}).initializer("hi", {}, {numbers.hi});
  model.node("Div", {"x", "s"}, {"a"})
      .node("Add", {"a", "z"}, {"b"})
      .node("Round", {"b"}, {"c"}, {}, "round");
  model.node("Max", {"c", "lo"}, {"d"}).node("Min", {"d", "hi"}, {"e"}).node("Sub", {"e", "z2"}, {"g"});
  model.node("Mul", {"g", "s2"}, {"y"});
  if (numbers.shows_middle) model.output("d", kFloat, {2, 3, 4});
  return why_unpaired(model);
}

TEST(PairFakeQuantize, LeavesWhatIsNoQuantization) {
  const std::string node = "node 'round': ";
  EXPECT_EQ(why_unpaired(Numbers{.s = {0.25F}}),
            node + "it is divided by another scale than it is multiplied with");
  EXPECT_EQ(why_unpaired(Numbers{.s2 = {0}}), node + "its scale 0 is not positive and finite");
  EXPECT_EQ(why_unpaired(Numbers{.s2 = {test::kNan}}), node + "its scale nan is not positive and finite");
  EXPECT_EQ(why_unpaired(Numbers{.s = {test::kNan}}),
            node + "it is divided by another scale than it is multiplied with");
  EXPECT_EQ(why_unpaired(Numbers{.z = 3}), node + "it adds 3 that it does not take off again");
  EXPECT_EQ(why_unpaired(Numbers{.z = 0.5F, .z2 = 0.5F}),
            node + "its zero point 0.5 is no code of type int8");
  EXPECT_EQ(why_unpaired(Numbers{.z = 300, .z2 = 300}), node + "its zero point 300 is no code of type int8");
  EXPECT_EQ(why_unpaired(Numbers{.z = test::kNan, .z2 = test::kNan}), "");
  EXPECT_EQ(why_unpaired(Numbers{.lo = -32768, .hi = 32767}),
            node + "its codes from -32768 to 32767 do not fit 8 bits");
  EXPECT_EQ(why_unpaired(Numbers{.lo = 0, .hi = 256}), node + "its codes from 0 to 256 do not fit 8 bits");
  EXPECT_EQ(why_unpaired(Numbers{.lo = 0.5F}),
            node + "it is clipped to [0.5, 127], which is no range of codes");
  EXPECT_EQ(why_unpaired(Numbers{.lo = 5, .hi = 3}),
            node + "it is clipped to [5, 3], which is no range of codes");
  EXPECT_EQ(why_unpaired(Numbers{.lo = -1e30F}),
            node + "it is clipped to [-1.0000000150474662e+30, 127], which is no range of codes");
  EXPECT_EQ(why_unpaired(Numbers{.opset = 9}),
            node + "QuantizeLinear can say this from opset 10 on; the model has 9");
  EXPECT_EQ(why_unpaired(Numbers{.shows_middle = true}), "");
}

TEST(PairFakeQuantize, LeavesConstantsThatDoNotFitTheValues) {
  const std::string node = "node 'round': ";
  const std::string no = node + "the declared shape of 'x' does not show that its constants fit";
  const auto channels = [](const Dims& dims) {
    const std::vector<float> values(noise(dims).size(), 0.5F);
    return Numbers{.s = values, .s2 = values, .dims = dims, .dims2 = dims};
  };
  EXPECT_EQ(why_unpaired(channels({5})), no);
  EXPECT_EQ(why_unpaired(channels({1, 1, 1, 4})), no);
  EXPECT_EQ(why_unpaired(channels({1, 1, 1, 1})), no);
  EXPECT_EQ(why_unpaired(channels({3, 4})), node + "its scale differs along more than one axis");
  EXPECT_EQ(why_unpaired(channels({0})), node + "its scale: 's2' has no values");
  EXPECT_EQ(why_unpaired(Numbers{.zero_dims = {1, 1, 1, 1}}), no);
  EXPECT_EQ(
      why_unpaired(Numbers{.s = {0.5F, 0.5F, 0.5F}, .s2 = {0.5F, 0.5F, 0.5F}, .dims = {3}, .dims2 = {3, 1}}),
      node + "it is divided by another scale than it is multiplied with");
  Numbers old = channels({4});
  old.opset = 12;
  EXPECT_EQ(why_unpaired(old), node + "QuantizeLinear can say this from opset 13 on; the model has 12");
}

// Rounding to hundredths is no quantization, and a scale that is computed is not known.
TEST(PairFakeQuantize, LeavesOtherRounding) {
  ModelBuilder hundredths = activation();
  hundredths.node("Mul", {"x", "f"}, {"a"}).node("Round", {"a"}, {"b"}).node("Mul", {"b", "s"}, {"y"});
  EXPECT_EQ(why_unpaired(hundredths), "");
  ModelBuilder computed = activation();
  computed.input("t", kFloat, {}).node("Div", {"x", "t"}, {"a"}).node("Round", {"a"}, {"b"}, {}, "round");
  computed.node("Clip", {"b", "-128", "127"}, {"c"}).node("Mul", {"c", "t"}, {"y"});
  EXPECT_EQ(why_unpaired(computed), "node 'round': its scale is not a constant");
}

TEST(PairFakeQuantize, LetsNoNodeBePartOfTwoPairs) {
  ModelBuilder model = activation();
  model.node("Div", {"x", "s"}, {"a"}).node("Round", {"a"}, {"b"}).node("Clip", {"b", "-128", "127"}, {"c"});
  model.node("Mul", {"c", "s"}, {"d"}).node("Round", {"d"}, {"e"}, {}, "again");
  model.node("Clip", {"e", "-128", "127"}, {"g"}).node("Mul", {"g", "f"}, {"y"});
  onnx::Model paired = read(model.bytes());
  const Changes changes = pair_fake_quantize(paired);
  EXPECT_EQ(changes.count, 1U);
  EXPECT_THAT(changes.left_alone, ElementsAre("node 'again': its ops are part of another quantization"));
  expect_same_outputs(model.bytes(), paired, 0);
}

// x through Brevitas's op with these numbers.
ModelBuilder quant(float scale, float zero, float bits, const Strings& attributes, std::int64_t opset = 17,
                   const std::string& domain = "onnx.brevitas", const std::string& op = "Quant") {
  ModelBuilder model = activation(opset);
  model.initializer("qs", {}, {scale}).initializer("qz", {}, {zero}).initializer("qb", {}, {bits});
  model.add(1, ounce::test::node(op, {"x", "qs", "qz", "qb"}, {"y"}, attributes, "quant", domain));
  model.add_to_model(8, field(1, domain) + field(2, std::int64_t{1}));
  return model;
}

// No runtime has the op: its meaning, in float ops.
std::string meaning(float scale, float zero, float lo, float hi) {
  ModelBuilder model = activation();
  model.initializer("qs", {}, {scale}).initializer("qz", {}, {zero});
  model.initializer("lo", {}, {lo}).initializer("hi", {}, {hi});
  model.node("Div", {"x", "qs"}, {"a"})
      .node("Add", {"a", "qz"}, {"b"})
      .node("Clip", {"b", "lo", "hi"}, {"c"});
  model.node("Round", {"c"}, {"d"}).node("Sub", {"d", "qz"}, {"e"}).node("Mul", {"e", "qs"}, {"y"});
  return model.bytes();
}

TEST(PairFakeQuantize, WritesTheOpOfBrevitas) {
  struct Case {
    std::int64_t is_signed, is_narrow;
    float zero, lo, hi;
  };
  for (const Case& c : {Case{1, 0, 0, -128, 127}, Case{1, 1, 0, -127, 127}, Case{0, 0, 128, 0, 255},
                        Case{0, 1, 100, 0, 254}}) {
    for (const char* domain : {"onnx.brevitas", "qonnx.custom_op.general"}) {
      const ModelBuilder model =
          quant(0.004F, c.zero, 8,
                {int_attribute("signed", c.is_signed), int_attribute("narrow", c.is_narrow),
                 string_attribute("rounding_mode", "ROUND")},
                17, domain);
      onnx::Model paired = read(model.bytes());
      EXPECT_EQ(pair_fake_quantize(paired).count, 1U);
      expect_same_outputs(meaning(0.004F, c.zero, c.lo, c.hi), paired, kOneCode);
    }
  }
}

TEST(PairFakeQuantize, WritesFourBitsFromOpset21On) {
  const Strings is_signed = {int_attribute("signed", 1)};
  onnx::Model paired = read(quant(0.1F, 0, 4, is_signed, 21).bytes());
  EXPECT_EQ(pair_fake_quantize(paired).count, 1U);
  EXPECT_THAT(text_of(paired), HasSubstr("q1 = int4[]\nQuantizeLinear(x, q0, q1) -> v0\n"));
  EXPECT_EQ(why_unpaired(quant(0.1F, 0, 4, is_signed, 20)),
            "node 'quant': 4 bits are not written as QuantizeLinear here before opset 21");
}

TEST(PairFakeQuantize, LeavesOtherOpsOfBrevitas) {
  const Strings usual = {int_attribute("signed", 1), int_attribute("narrow", 0)};
  const std::string node = "node 'quant': ";
  EXPECT_EQ(why_unpaired(quant(0.1F, 0, 3, usual)), node + "3 bits are not written as QuantizeLinear here");
  EXPECT_EQ(why_unpaired(quant(0.1F, 0, test::kNan, usual)),
            node + "its zero point or bit width is not one constant number");
  EXPECT_EQ(why_unpaired(quant(0.1F, 0.5F, 8, usual)), node + "its zero point 0.5 is no code of type int8");
  EXPECT_EQ(why_unpaired(quant(0.1F, 200, 8, usual)), node + "its zero point 200 is no code of type int8");
  EXPECT_EQ(why_unpaired(quant(0, 0, 8, usual)), node + "its scale 0 is not positive and finite");
  EXPECT_EQ(why_unpaired(quant(test::kNan, 0, 8, usual)), node + "its scale nan is not positive and finite");
  EXPECT_EQ(why_unpaired(quant(0.1F, 0, 8, {string_attribute("rounding_mode", "FLOOR")})),
            node + "it rounds as FLOOR says, not to the nearest");
  EXPECT_EQ(why_unpaired(quant(0.1F, 0, 8, {string_attribute("signed", "yes")})),
            node + "its attributes are not known here");
  EXPECT_EQ(why_unpaired(quant(0.1F, 0, 8, usual, 17, "onnx.brevitas", "BipolarQuant")),
            node + "BipolarQuant is not known here");
  ModelBuilder few = activation();
  few.add(1, ounce::test::node("Quant", {"x"}, {"y"}, {}, "quant", "onnx.brevitas"));
  EXPECT_EQ(why_unpaired(few), node + "it does not have four inputs");
}

TEST(PairFakeQuantize, WorksInBranchesAndFunctions) {
  const auto constant = [](const std::string& name, float value) {
    return ounce::test::node("Constant", {}, {name},
                             {tensor_attribute("value", float_tensor("", {}, {value}))});
  };
  const std::string function =
      field(1, std::string("f")) + field(4, std::string("a")) + field(5, std::string("r")) +
      field(7, constant("s", 0.01F)) + field(7, constant("lo", -128)) + field(7, constant("hi", 127)) +
      field(7, ounce::test::node("Div", {"a", "s"}, {"b"})) +
      field(7, ounce::test::node("Round", {"b"}, {"c"})) +
      field(7, ounce::test::node("Clip", {"c", "lo", "hi"}, {"d"})) +
      field(7, ounce::test::node("Mul", {"d", "s"}, {"r"})) +
      field(9, field(1, std::string()) + field(2, std::int64_t{17})) + field(10, std::string("my"));
  GraphBuilder branch;
  branch.output("t", kFloat, {2, 3, 4}).node("Div", {"x", "s"}, {"a"}).node("Round", {"a"}, {"b"});
  branch.node("Clip", {"b", "-128", "127"}, {"c"}).node("Mul", {"c", "s"}, {"t"});
  GraphBuilder other;
  other.output("o", kFloat, {2, 3, 4}).add(1, ounce::test::node("f", {"x"}, {"o"}, {}, {}, "my"));
  ModelBuilder model = activation();
  model.input("which", 9, {});
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", other.bytes())});
  model.add_to_model(25, function).add_to_model(8, field(1, std::string("my")) + field(2, std::int64_t{1}));
  onnx::Model paired = read(model.bytes());
  EXPECT_EQ(pair_fake_quantize(paired).count, 2U);
  EXPECT_THAT(text_of(paired),
              HasSubstr("    QuantizeLinear(x, q2, q3) -> v1\n    DequantizeLinear(v1, q2, q3) -> t\n"));
  EXPECT_THAT(text_of(paired),
              HasSubstr("  QuantizeLinear(a, q0, q1) -> v0\n  DequantizeLinear(v0, q0, q1) -> r\n"));
  expect_same_outputs(model.bytes(), paired, 0);
}

}  // namespace
}  // namespace ounce::passes
