// Which nodes are kept in FP32 and why, and the conversion of constants: on small graphs from real models,
// and on adversarial ones.
#include "formats/onnx/plan/half_plan.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <ctime>
#include <limits>

#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"

namespace ounce::plan {
namespace {

using passes::test::float_attribute;
using passes::test::ints_tensor;
using passes::test::noise;
using test::Dims;
using test::field;
using test::int_attribute;
using test::kBool;
using test::kDouble;
using test::kFloat;
using test::kInt64;
using test::kUint8;
using test::ModelBuilder;
using test::Strings;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kHalf = 10;
constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr const char* kCounts = "its integer values may need more than 11 bits";

// h is the output of a layer on the input x; tests add nodes from h to y.
struct Net : ModelBuilder {
  explicit Net(std::int64_t opset = 17) : ModelBuilder(opset) {
    input("x", kFloat, {2, 8}).output("y", kFloat, {2, 8});
    initializer("w", {8, 8}, noise({8, 8})).node("MatMul", {"x", "w"}, {"h"});
  }
  Net& does(const std::string& op, const Strings& inputs, const Strings& outputs,
            const Strings& attributes = {}) {
    node(op, inputs, outputs, attributes);
    return *this;
  }
  Net& number(const std::string& name, float value) {
    initializer(name, {}, {value});
    return *this;
  }
  Net& numbers(const std::string& name, const Dims& dims, const std::vector<float>& values) {
    initializer(name, dims, values);
    return *this;
  }
  Net& initializer_of_codes(const std::string& name) {
    initializer(test::tensor(name, kUint8, {8, 8}, std::string(64, '\3')));
    return *this;
  }
  Net& takes(const std::string& name, int type, const Dims& dims = {2, 8}) {
    input(name, type, dims);
    return *this;
  }
};

struct HalfPlanned {
  explicit HalfPlanned(const test::GraphBuilder& built, Recipe asked = {},
                       const calibration::Ranges* ranges = nullptr)
      : bytes(built.bytes()) {
    if (!asked.is_half()) asked.format = Format::kFp16;
    onnx::Model model = onnx::read_model_from_memory(bytes, "model");
    passes::expand_constants(model);
    const graph::Index index = graph::validate(model);
    ThreadPool pool(2);
    const Plan plan = make_plan(model, index, asked, pool, ranges);
    notes = plan.notes;
    for (const HalfNode& half : plan.half.nodes) {
      const onnx::Node& node = *index.bodies()[half.body].nodes()[half.position];
      const std::string line = graph::value_path(index, half.body, node.outputs.at(0));
      half.is_half() ? halves.push_back(line) : stays.push_back(line + ": " + half.why_float);
    }
    for (const Decision& decision : plan.decisions) {
      std::string line(decision.weight.name);
      (decision.is_stored() ? stored : kept).push_back(line + ": " + decision.reason);
    }
  }
  std::string bytes;
  std::vector<std::string> stays, halves, stored, kept, notes;
};

// "value: reason" for all nodes kept in FP32 for a shared reason.
Strings because(const std::string& reason, const Strings& values) {
  Strings lines;
  for (const std::string& value : values) lines.push_back(value + ": " + reason);
  return lines;
}
std::string may_grow(const std::string& op, const std::string& value) {
  return op + " '" + value + "' may be too large for 16-bit floats";
}

TEST(HalfPlan, LayersComputeOn16Bits) {
  Net net;
  net.numbers("b", {8}, noise({8})).does("Add", {"h", "b"}, {"a"}).does("Relu", {"a"}, {"y"});
  const HalfPlanned plan(net);
  EXPECT_THAT(plan.stays, IsEmpty());
  EXPECT_THAT(plan.halves, ElementsAre("h", "a", "y"));
  EXPECT_THAT(plan.stored, ElementsAre("w: weight of MatMul", "b: parameter of Add"));
  EXPECT_THAT(plan.notes, IsEmpty());
}

// Squares, their mean, the epsilon and the root are kept in FP32, up to the division.
TEST(HalfPlan, NormalisationsThatAreWrittenOutStayUpToTheirDivision) {
  for (const float epsilon : {1e-5F, 1e-8F, 1e-12F}) {
    for (const bool is_power : {false, true}) {
      Net net;
      net.number("e", epsilon).number("two", 2).numbers("g", {8}, noise({8}));
      is_power ? net.does("Pow", {"h", "two"}, {"s"}) : net.does("Mul", {"h", "h"}, {"s"});
      net.does("ReduceMean", {"s"}, {"m"}).does("Add", {"m", "e"}, {"a"}).does("Sqrt", {"a"}, {"r"});
      net.does("Div", {"h", "r"}, {"d"}).does("Mul", {"d", "g"}, {"y"});
      const HalfPlanned plan(net);
      EXPECT_EQ(plan.stays, because(may_grow(is_power ? "Pow" : "Mul", "s"), {"s", "m", "a", "r", "d"}));
      EXPECT_THAT(plan.halves, ElementsAre("h", "y"));
    }
    Net net;  // LayerNorm with a reciprocal square root
    net.number("e", epsilon).does("ReduceMean", {"h"}, {"u"}).does("Sub", {"h", "u"}, {"c"});
    net.does("Mul", {"c", "c"}, {"s"}).does("ReduceMean", {"s"}, {"m"}).does("Add", {"m", "e"}, {"a"});
    net.does("Sqrt", {"a"}, {"r"}).does("Reciprocal", {"r"}, {"i"}).does("Mul", {"c", "i"}, {"y"});
    const HalfPlanned plan(net);
    EXPECT_EQ(plan.stays, because(may_grow("Mul", "s"), {"s", "m", "a", "r", "i", "y"}));
  }
}

TEST(HalfPlan, NormalisationsStayWhenTheirEpsilonVanishes) {
  for (const auto& [epsilon, stays] : std::vector<std::pair<float, bool>>{{1e-12F, true}, {1e-5F, false}}) {
    Net net;
    net.numbers("g", {8}, noise({8}));
    net.does("LayerNormalization", {"h", "g"}, {"y"}, {float_attribute("epsilon", epsilon)});
    const Strings why = because("its epsilon 1e-12 vanishes in FP16", {"y"});
    EXPECT_EQ(HalfPlanned(net).stays, stays ? why : Strings{});
  }
}

struct Case {
  const char* what;
  Net net;
  Strings stays;
};

TEST(HalfPlan, FollowsNumbersUpToTheOpThatBoundsThem) {
  const std::vector<Case> cases = {
      {"a Softmax that is written out",
       Net()
           .does("ReduceMax", {"h"}, {"m"})
           .does("Sub", {"h", "m"}, {"s"})
           .does("Exp", {"s"}, {"e"})
           .does("ReduceSum", {"e"}, {"z"})
           .does("Div", {"e", "z"}, {"d"})
           .does("Relu", {"d"}, {"y"}),
       because(may_grow("Exp", "e"), {"e", "z", "d"})},
      {"GELU by tanh",
       Net()
           .number("three", 3)
           .number("c", 0.044715F)
           .number("k", 0.79788F)
           .number("one", 1)
           .does("Pow", {"h", "three"}, {"p"})
           .does("Mul", {"p", "c"}, {"q"})
           .does("Add", {"h", "q"}, {"r"})
           .does("Mul", {"r", "k"}, {"s"})
           .does("Tanh", {"s"}, {"t"})
           .does("Add", {"t", "one"}, {"u"})
           .does("Mul", {"h", "u"}, {"y"}),
       because(may_grow("Pow", "p"), {"p", "q", "r", "s", "t"})},
      {"L2 normalization",
       Net()
           .number("e", 1e-12F)
           .takes("shape", kInt64, {2})
           .does("ReduceL2", {"h"}, {"n"})
           .does("Max", {"n", "e"}, {"m"})
           .does("Expand", {"m", "shape"}, {"x2"})
           .does("Div", {"h", "x2"}, {"d"})
           .does("Relu", {"d"}, {"y"}),
       because(may_grow("ReduceL2", "n"), {"n", "m", "x2", "d"})},
      {"a power spectrum",
       Net()
           .number("two", 2)
           .does("Pow", {"h", "two"}, {"a"})
           .does("Pow", {"x", "two"}, {"b"})
           .does("Add", {"a", "b"}, {"c"})
           .does("Sqrt", {"c"}, {"s"})
           .does("Relu", {"s"}, {"y"}),
       {"a: " + may_grow("Pow", "a"), "b: " + may_grow("Pow", "b"), "c: " + may_grow("Pow", "a"),
        "s: " + may_grow("Pow", "a")}},
      {"a root by Pow ends what a square began",
       Net()
           .number("half", 0.5F)
           .does("Mul", {"h", "h"}, {"s"})
           .does("Pow", {"s", "half"}, {"r"})
           .does("Relu", {"r"}, {"y"}),
       because(may_grow("Mul", "s"), {"s", "r"})},
      {"a Clip bounds whatever there was",
       Net()
           .number("lo", -100)
           .number("hi", 100)
           .does("Exp", {"h"}, {"e"})
           .does("Clip", {"e", "lo", "hi"}, {"c"})
           .does("Relu", {"c"}, {"y"}),
       because(may_grow("Exp", "e"), {"e", "c"})},
      {"a weight beyond the range",
       Net()
           .numbers("v", {8, 8}, std::vector<float>(64, 1e5F))
           .does("MatMul", {"h", "v"}, {"m"})
           .does("Relu", {"m"}, {"r"})
           .does("Softmax", {"r"}, {"s"})
           .does("Relu", {"s"}, {"y"}),
       because("'v' (100000) is too large for 16-bit floats", {"m", "r", "s"})},
      {"a weight that loses its bits stays, and nothing behind it",
       Net()
           .numbers("v", {8, 8}, std::vector<float>(64, 1e-5F))
           .does("MatMul", {"h", "v"}, {"m"})
           .does("Relu", {"m"}, {"y"}),
       because("'v' (1e-05) is too small for 16-bit floats", {"m"})},
      {"LayerScale of a deep network",
       Net()
           .numbers("v", {8}, std::vector<float>(8, 1e-6F))
           .does("Mul", {"h", "v"}, {"m"})
           .does("Add", {"m", "x"}, {"y"}),
       because("'v' (1e-06) is too small for 16-bit floats", {"m"})},
      {"a bias drowns in its sum",
       Net().numbers("b", {8}, std::vector<float>(8, 1e-7F)).does("Add", {"h", "b"}, {"y"}),
       {}},
      {"a variance is divided by",
       Net()
           .numbers("one", {8}, std::vector<float>(8, 1))
           .numbers("v", {8}, std::vector<float>(8, 1e-9F))
           .does("BatchNormalization", {"h", "one", "one", "one", "v"}, {"n"})
           .does("Relu", {"n"}, {"y"}),
       because("'v' (1e-09) is too small for 16-bit floats", {"n"})},
      {"a large variance makes nothing large",
       Net()
           .numbers("one", {8}, std::vector<float>(8, 1))
           .numbers("v", {8}, std::vector<float>(8, 1e6F))
           .does("BatchNormalization", {"h", "one", "one", "one", "v"}, {"n"})
           .does("Relu", {"n"}, {"y"}),
       because("'v' (1e+06) is too large for 16-bit floats", {"n"})},
      {"a large divisor makes nothing large",
       Net().number("v", 1e6F).does("Div", {"h", "v"}, {"n"}).does("Relu", {"n"}, {"y"}),
       because("'v' (1e+06) is too large for 16-bit floats", {"n"})},
      {"a reciprocal root by Pow",
       Net()
           .number("e", 1e-8F)
           .number("k", -0.5F)
           .does("Mul", {"h", "h"}, {"s"})
           .does("ReduceMean", {"s"}, {"m"})
           .does("Add", {"m", "e"}, {"a"})
           .does("Pow", {"a", "k"}, {"i"})
           .does("Mul", {"h", "i"}, {"n"})
           .does("Relu", {"n"}, {"y"}),
       because(may_grow("Mul", "s"), {"s", "m", "a", "i", "n"})},
  };
  for (const Case& each : cases) EXPECT_EQ(HalfPlanned(each.net).stays, each.stays) << each.what;
}

// The quotient of a division by a tiny number is large.
TEST(HalfPlan, AQuotientOfATinyConstantIsLarge) {
  Net net;
  net.number("e", 1e-8F).does("Div", {"h", "e"}, {"d"}).does("Relu", {"d"}, {"r"});
  net.does("Softmax", {"r"}, {"s"}).does("Relu", {"s"}, {"y"});
  EXPECT_EQ(HalfPlanned(net).stays, because("'e' (1e-08) is too small for 16-bit floats", {"d", "r", "s"}));
}

TEST(HalfPlan, IntegersKeepTheirBits) {
  const std::vector<Case> cases = {
      {"positions by Mul",
       Net()
           .takes("p", kInt64, {2, 1})
           .numbers("f", {1, 8}, noise({1, 8}))
           .does("Cast", {"p"}, {"c"}, {int_attribute("to", kFloat)})
           .does("Mul", {"c", "f"}, {"m"})
           .does("Sin", {"m"}, {"s"})
           .does("Cos", {"m"}, {"k"})
           .does("Concat", {"s", "k"}, {"t"}, {int_attribute("axis", 1)})
           .does("Add", {"h", "t"}, {"y"}),
       [] {
         Strings lines = because(kCounts, {"c", "m", "s", "k"});
         lines.emplace_back("t: moves a value that is kept in FP32");
         return lines;
       }()},
      {"positions by MatMul",
       Net()
           .takes("p", kInt64, {2, 1})
           .numbers("f", {1, 8}, noise({1, 8}))
           .does("Cast", {"p"}, {"c"}, {int_attribute("to", kFloat)})
           .does("MatMul", {"c", "f"}, {"m"})
           .does("Sin", {"m"}, {"s"})
           .does("Mul", {"h", "s"}, {"y"}),
       because(kCounts, {"c", "m", "s"})},
      {"a range of constants",
       Net()
           .number("from", 0)
           .number("to", 5000)
           .number("step", 1)
           .numbers("f", {1}, {0.5F})
           .does("Range", {"from", "to", "step"}, {"c"})
           .does("Mul", {"c", "f"}, {"m"})
           .does("Sin", {"m"}, {"s"})
           .does("Add", {"h", "s"}, {"y"}),
       because(kCounts, {"c", "m", "s"})},
      {"sums of products of INT8 values, which reach millions",
       Net()
           .takes("q", kUint8, {2, 8})
           .initializer_of_codes("k")
           .number("scale", 1e-3F)
           .does("MatMulInteger", {"q", "k"}, {"i"})
           .does("Cast", {"i"}, {"c"}, {int_attribute("to", kFloat)})
           .does("ReduceMax", {"h"}, {"r"})
           .does("Mul", {"c", "r"}, {"m"})
           .does("Add", {"h", "m"}, {"y"}),
       because(kCounts, {"c", "m"})},
      {"sizes",
       Net()
           .number("two", 2)
           .does("Shape", {"h"}, {"n"})
           .does("Cast", {"n"}, {"c"}, {int_attribute("to", kFloat)})
           .does("Mul", {"c", "two"}, {"m"})
           .does("Floor", {"m"}, {"f"})
           .does("Cast", {"f"}, {"i"}, {int_attribute("to", kInt64)})
           .does("Expand", {"h", "i"}, {"y"}),
       because(kCounts, {"c", "m", "f"})},
      {"pixels",
       Net()
           .takes("p", kUint8, {1, 8})
           .number("k", 255)
           .numbers("v", {8, 8}, noise({8, 8}))
           .does("Cast", {"p"}, {"c"}, {int_attribute("to", kFloat)})
           .does("Div", {"c", "k"}, {"d"})
           .does("MatMul", {"d", "v"}, {"m"})
           .does("Add", {"h", "m"}, {"y"}),
       {}},
  };
  for (const Case& each : cases) {
    Strings stays = HalfPlanned(each.net).stays;
    std::erase_if(stays, [](const std::string& line) { return line.starts_with("i: "); });  // a cast
    EXPECT_EQ(stays, each.stays) << each.what;
  }
}

std::string mask_note(const std::string& name, const std::string& value) {
  return "'" + name + "' is -8188 instead of " + value +
         ", which exceeds the 16-bit range: as a mask before Softmax it has the same effect, unless it "
         "masks a whole row";
}

// The scores h lead to y; `neg` is the constant.
TEST(HalfPlan, MasksAreLimitedWhereTheyOnlyHide) {
  const auto where = [](float value) {
    return Net().takes("m", kBool).number("neg", value).does("Where", {"m", "neg", "h"}, {"s"});
  };
  const auto product = [](int type, float value) {
    return Net()
        .takes("m", type)
        .number("neg", value)
        .number("one", 1)
        .does("Cast", {"m"}, {"c"}, {int_attribute("to", kFloat)})
        .does("Sub", {"one", "c"}, {"o"})
        .does("Mul", {"o", "neg"}, {"p"})
        .does("Add", {"h", "p"}, {"s"});
  };
  const auto fill = [](float value) {
    return Net()
        .takes("n", kInt64, {2})
        .does("ConstantOfShape", {"n"}, {"neg"},
              {test::tensor_attribute("value", test::float_tensor("", {1}, {value}))})
        .does("Trilu", {"neg"}, {"t"})
        .does("Add", {"h", "t"}, {"s"});
  };
  struct Mask {
    const char* what;
    Net net;
    Strings stays, notes;
  };
  const std::vector<Mask> masks = {
      {"Where", where(-1e9F), {}, {mask_note("neg", "-1e+09")}},
      {"Where, the lowest", where(kLowest), {}, {mask_note("neg", "-3.40282e+38")}},
      {"infinite", where(-kInfinity), {}, {}},
      {"fits", product(kBool, -10000), {}, {}},
      {"of booleans", product(kBool, -1e9F), {}, {mask_note("neg", "-1e+09")}},
      {"of integers, fits", product(kInt64, -10000), because(kCounts, {"c", "o", "p"}), {}},
      {"filled", fill(kLowest), {}, {mask_note("neg", "-3.40282e+38")}},
  };
  for (Mask mask : masks) {
    mask.net.does("Softmax", {"s"}, {"y"});
    const HalfPlanned plan(mask.net);
    EXPECT_EQ(plan.stays, mask.stays) << mask.what;
    EXPECT_EQ(plan.notes, mask.notes) << mask.what;
  }
}

// A mask computed in FP32 must be clipped, too: a Cast of -1e9 is -inf, and a row of only -inf is NaN after
// Softmax.
TEST(HalfPlan, AMaskMadeOfIntegersIsLimitedOrStaysUpToItsSoftmax) {
  Net net;
  net.takes("m", kInt64).number("neg", -1e9F).number("one", 1);
  net.does("Cast", {"m"}, {"c"}, {int_attribute("to", kFloat)}).does("Sub", {"one", "c"}, {"o"});
  net.does("Mul", {"o", "neg"}, {"p"}).does("Add", {"h", "p"}, {"s"}).does("Softmax", {"s"}, {"y"});
  const HalfPlanned plan(net);
  const bool is_cut =
      std::find(plan.stored.begin(), plan.stored.end(), "neg: constant of Mul") != plan.stored.end();
  const bool is_followed = std::any_of(plan.stays.begin(), plan.stays.end(),
                                       [](const auto& line) { return line.starts_with("y: "); });
  EXPECT_TRUE(is_cut || is_followed) << testing::PrintToString(plan.stays);
}

TEST(HalfPlan, OtherLargeConstantsAreNotLimited) {
  const Strings why = because("'neg' (-1e+09) is too large for 16-bit floats", {"s", "y"});
  Net output;  // no Softmax after it
  output.number("neg", -1e9F)
      .takes("m", kBool)
      .does("Where", {"m", "neg", "h"}, {"s"})
      .does("Relu", {"s"}, {"y"});
  EXPECT_EQ(HalfPlanned(output).stays, why);
  Net both;  // a Softmax, and another op
  both.number("neg", -1e9F).takes("m", kBool).output("z", kFloat, {2, 8});
  both.does("Where", {"m", "neg", "h"}, {"s"}).does("Softmax", {"s"}, {"y"}).does("Mul", {"h", "neg"}, {"z"});
  EXPECT_EQ(HalfPlanned(both).stays,
            because("'neg' (-1e+09) is too large for 16-bit floats", {"s", "y", "z"}));
  EXPECT_THAT(HalfPlanned(both).notes, IsEmpty());
  Net scaled;  // scores multiplied by the number are not a mask
  scaled.number("neg", -1e9F).does("Mul", {"h", "neg"}, {"s"}).does("Softmax", {"s"}, {"y"});
  EXPECT_EQ(HalfPlanned(scaled).stays, why);
}

TEST(HalfPlan, LimitsBeyondTheRangeAreNone) {
  Net net;
  net.number("lo", kLowest).number("hi", -kLowest).does("Clip", {"h", "lo", "hi"}, {"c"});
  net.does("Max", {"c", "lo"}, {"m"}).does("Min", {"m", "hi"}, {"y"});
  const HalfPlanned plan(net);
  EXPECT_THAT(plan.stays, IsEmpty());
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("'hi' is 65504 instead of 3.40282e+38"),
                                      HasSubstr("'lo' is -65504 instead of -3.40282e+38")));
}

// One limit for two ops: for the sums it must still mean no limit.
TEST(HalfPlan, ALimitOfAnOpThatStaysIsNotCut) {
  Net net;
  net.number("lo", 0).number("hi", -kLowest).does("Clip", {"h", "lo", "hi"}, {"c"}).does("Exp", {"c"}, {"e"});
  net.does("Clip", {"e", "lo", "hi"}, {"d"}).does("Log", {"d"}, {"y"});
  const HalfPlanned plan(net);
  for (const std::string& line : plan.stored) EXPECT_FALSE(line.starts_with("hi: ")) << line;
}

// Max with a large positive number returns that number, so it is not a limit.
TEST(HalfPlan, ALargeFloorIsNoLimit) {
  Net net;
  net.number("big", 1e9F).does("Max", {"h", "big"}, {"m"}).does("Softmax", {"m"}, {"y"});
  EXPECT_EQ(HalfPlanned(net).stays, because("'big' (1e+09) is too large for 16-bit floats", {"m", "y"}));
}

// A causal mask that is sliced to the length of the input is not an invalid weight.
TEST(HalfPlan, InfiniteMasksMayBeCut) {
  std::vector<float> mask(64, 0);
  for (std::size_t i = 0; i < 64; ++i) mask[i] = i % 8 > i / 8 ? -kInfinity : 0;
  Net net;
  net.takes("from", kInt64, {2}).takes("to", kInt64, {2}).numbers("mask", {8, 8}, mask);
  net.does("Slice", {"mask", "from", "to"}, {"s"})
      .does("Add", {"h", "s"}, {"a"})
      .does("Softmax", {"a"}, {"y"});
  EXPECT_THAT(HalfPlanned(net).stays, IsEmpty());
}

TEST(HalfPlan, NamesAWeightThatIsNotFinite) {
  Net net;
  net.numbers("bad", {8, 8}, std::vector<float>(64, kInfinity)).does("MatMul", {"h", "bad"}, {"y"});
  const Error error = test::error_of([&] { const HalfPlanned plan(net); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_STREQ(
      error.what(),
      "tensor 'bad': a weight has NaN or infinite values; repair the model, or leave its node out with "
      "`half.keep`");
}

TEST(HalfPlan, WhatIsTooLargeStaysBesideWhatIsNotFinite) {
  Net net;
  std::vector<float> bias(8, kInfinity);
  bias[3] = 2.9e38F;
  net.numbers("bias", {8}, bias).does("Add", {"h", "bias"}, {"y"});
  const HalfPlanned plan(net);
  EXPECT_THAT(plan.stays, Not(IsEmpty()));
}

TEST(HalfPlan, IntegerOpsAndTheirScalesStay) {
  Net net;
  net.number("s", 1e-6F).initializer(test::tensor("z", kUint8, {}, std::string(1, '\0')));
  net.initializer(test::tensor("c", kUint8, {8, 8}, std::string(64, '\3')));
  net.does("QuantizeLinear", {"h", "s", "z"}, {"q"}).does("DequantizeLinear", {"q", "s", "z"}, {"d"});
  net.does("DequantizeLinear", {"c", "s", "z"}, {"k"}).does("MatMul", {"d", "k"}, {"m"});
  net.does("QuantizeLinear", {"m", "s", "z"}, {"p"}).does("DequantizeLinear", {"p", "s", "z"}, {"e"});
  net.does("Relu", {"e"}, {"y"});
  const HalfPlanned plan(net);
  EXPECT_EQ(plan.stays, because("runs in INT8", {"q", "d", "k", "m", "p", "e"}));
  EXPECT_THAT(plan.halves, ElementsAre("h", "y"));
  EXPECT_THAT(plan.kept, ElementsAre(HasSubstr("s: ")));
}

TEST(HalfPlan, AGruStays) {
  Net net;
  net.initializer("gates", {1, 24, 8}, std::vector<float>(192, .1F));
  net.initializer("r", {1, 24, 8}, std::vector<float>(192, .1F));
  net.does("GRU", {"h", "gates", "r"}, {"u"}, {int_attribute("hidden_size", 8)}).does("Relu", {"u"}, {"y"});
  EXPECT_THAT(HalfPlanned(net).stays, testing::Contains("u: ONNX Runtime crashes on it in FP16"));
}

TEST(HalfPlan, WhatNobodyKnowsStays) {
  Net net;
  net.output("z", kFloat, {2, 8});
  net.add(1, test::node("Mystery", {"h"}, {"u"}, {}, "", "custom"));
  net.does("Relu", {"u"}, {"v"}).does("Relu", {"h"}, {"z"});
  net.does("Cast", {"v"}, {"y"}, {int_attribute("to", kFloat)});
  const HalfPlanned plan(net);
  EXPECT_THAT(plan.stays, testing::Contains("u: unknown op Mystery"));
  EXPECT_THAT(plan.halves, testing::IsSupersetOf({"h", "z"}));
}

TEST(HalfPlan, OtherTypesAreLeftAlone) {
  Net net;
  net.takes("d", kDouble).takes("g", kHalf);
  net.initializer(test::tensor("k", kHalf, {}, std::string("\0\x3c", 2)));
  net.does("Cast", {"d"}, {"e"}, {int_attribute("to", kFloat)}).does("Add", {"h", "e"}, {"a"});
  net.does("Mul", {"g", "k"}, {"b"}).does("Cast", {"b"}, {"c"}, {int_attribute("to", kFloat)});
  net.does("Add", {"a", "c"}, {"y"});
  const HalfPlanned plan(net);
  EXPECT_THAT(plan.stays, IsEmpty());
  EXPECT_THAT(plan.halves, ElementsAre("h", "e", "a", "c", "y"));
  EXPECT_THAT(plan.kept, ElementsAre("k: already has 16 bits"));
}

TEST(HalfPlan, TheUserMayKeepNodes) {
  Net net;
  net.numbers("v", {8, 8}, noise({8, 8})).does("MatMul", {"h", "v"}, {"m"}).does("Relu", {"m"}, {"y"});
  Recipe recipe;
  recipe.format = Format::kFp16;
  recipe.half.keep = {"^m$", "Relu"};
  const HalfPlanned plan(net, recipe);
  EXPECT_THAT(plan.stays, ElementsAre("m: `half.keep` '^m$'", "y: `half.keep` 'Relu'"));
  EXPECT_THAT(plan.kept, ElementsAre("v: its node is kept in FP32 by the recipe"));
  for (const auto& [expression, words] :
       std::vector<std::pair<const char*, const char*>>{{"nothing", "matches no"}, {"(", "not a regular"}}) {
    recipe.half.keep = {expression};
    const Error error = test::error_of([&] { const HalfPlanned refused(net, recipe); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

// `include` and `exclude` select weights to store. A converted graph has none, so the options must not be
// ignored silently.
TEST(HalfPlan, NodesStayFloatWhereTheRecipeSaysSo) {
  Recipe recipe;
  recipe.format = Format::kFp16;
  recipe.nodes = {{"y", Format::kFp32}};
  const HalfPlanned planned(Net().does("Relu", {"h"}, {"y"}), recipe);
  EXPECT_THAT(planned.stays, Contains("y: kept in FP32 by the recipe"));
}

TEST(HalfPlan, Bfloat16ReachesAsFarAsFloat32) {
  Net net;
  net.number("e", 1e-12F).number("big", 1e9F).takes("p", kInt64).does("Exp", {"h"}, {"a"});
  net.does("Mul", {"a", "big"}, {"b"}).does("Add", {"b", "e"}, {"c"}).does("Div", {"h", "c"}, {"d"});
  net.does("Cast", {"p"}, {"i"}, {int_attribute("to", kFloat)}).does("Add", {"d", "i"}, {"y"});
  Recipe recipe;
  recipe.format = Format::kBf16;
  EXPECT_EQ(HalfPlanned(net, recipe).stays, because(kCounts, {"i"}));
}

// Observed ranges take precedence over rules.
TEST(HalfPlan, ObservedValuesDecide) {
  Net net;
  net.does("Exp", {"h"}, {"e"}).does("Relu", {"e"}, {"r"}).does("Neg", {"r"}, {"y"});
  calibration::Ranges ranges;
  const auto saw = [&](const char* name, float low, float high) {
    const std::vector<float> values = {low, high};
    ranges.values[name].add(values, 1, 1);
  };
  for (const char* name : {"x", "h", "e", "r", "y"}) saw(name, -1, 1);
  EXPECT_THAT(HalfPlanned(net, {}, &ranges).stays, IsEmpty());
  saw("r", 1, 1e6F);
  EXPECT_EQ(HalfPlanned(net, {}, &ranges).stays, because("'r' reaches 1e+06 in the data", {"r", "y"}));
  ranges.values.clear();
  saw("e", 1e-9F, 2e-9F);
  EXPECT_THAT(HalfPlanned(net, {}, &ranges).stays,
              testing::Contains("e: 'e' comes down to 1e-09 in the data"));
}

// Small files must not take long, whatever they contain.
TEST(HalfPlan, ManyUsesTakeNoLongerThanTheyAreMany) {
  constexpr std::size_t kMany = 8000;
  Net one, many, scale;  // one value used many times, many values, and many paths to a scale
  one.does("Exp", {"h"}, {"e"}).does("Sum", Strings(kMany, "e"), {"y"});
  Strings names;
  for (std::size_t i = 0; i < kMany; ++i) names.push_back("e" + std::to_string(i));
  for (const std::string& name : names) many.does("Exp", {"h"}, {name});
  many.does("Sum", names, {"y"});
  Strings before(1, "h");
  for (const char* level : {"a", "b", "c"}) {
    Strings now;
    for (int i = 0; i < 200; ++i) now.push_back(level + std::to_string(i));
    for (const std::string& name : now) scale.does("Sum", before, {name});
    before = now;
  }
  scale.does("Sum", before, {"s"})
      .does("QuantizeLinear", {"h", "s"}, {"q"})
      .does("DequantizeLinear", {"q", "s"}, {"y"});
  for (const Net* net : {&one, &many, &scale}) {
    const std::clock_t start = std::clock();  // CPU time, because other programs may use the machine
    const HalfPlanned plan(*net);
    EXPECT_LT(std::clock() - start, 6 * CLOCKS_PER_SEC);
  }
}

}  // namespace
}  // namespace ounce::plan
