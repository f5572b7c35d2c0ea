#include "formats/onnx/prepare/raise_opset.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/file/reader.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::error_of;
using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::Strings;
using test::expect_same_outputs;
using test::float_attribute;
using test::floats_attribute;
using test::ints_attribute;
using test::ints_tensor;
using test::noise;
using test::string_attribute;
using test::text_of;
using testing::HasSubstr;

// A model with one op on x, which computes y.
ModelBuilder one_op(std::int64_t opset, const std::string& op, const Dims& x, const Dims& y,
                    const Strings& attributes, const Strings& more_inputs = {}) {
  ModelBuilder model(opset);
  model.input("x", kFloat, x).output("y", kFloat, y);
  Strings inputs = {"x"};
  inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
  model.node(op, inputs, {"y"}, attributes, "it");
  return model;
}

// Returns the nodes at the new opset, after comparing their outputs.
std::string raised(const ModelBuilder& model, std::int64_t wanted) {
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(raise_opset(changed, wanted), 1U);
  EXPECT_EQ(onnx::opset_version(changed.proto->opset_imports, ""), wanted);
  expect_same_outputs(model.bytes(), changed, 0);
  return text_of(changed);
}

std::string refusal(const ModelBuilder& model, std::int64_t wanted) {
  onnx::Model changed = read(model.bytes());
  const Error error = error_of([&] { raise_opset(changed, wanted); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_FALSE(changed.proto.is_edited());
  return error.what();
}

TEST(RaiseOpset, LeavesWhatMeansTheSameByteForByte) {
  ModelBuilder model(9);
  model.input("x", kFloat, {1, 2, 4}).output("y", kFloat, {1, 2, 4}).initializer("w", {2, 2, 1}, noise({4}));
  model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"y"});
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(raise_opset(changed, 17), 0U);
  EXPECT_EQ(onnx::opset_version(changed.proto->opset_imports, ""), 17);
  EXPECT_FALSE(changed.proto->graph.is_edited());
  expect_same_outputs(model.bytes(), changed, 0);
}

TEST(RaiseOpset, LeavesAModelThatIsThere) {
  onnx::Model model = read(one_op(17, "Relu", {2}, {2}, {}).bytes());
  EXPECT_EQ(raise_opset(model, 13), 0U);
  EXPECT_EQ(raise_opset(model, 17), 0U);
  EXPECT_FALSE(model.proto.is_edited());
}

TEST(RaiseOpset, KnowsItsRange) {
  onnx::Model model = read(one_op(9, "Relu", {2}, {2}, {}).bytes());
  EXPECT_EQ(error_of([&] { raise_opset(model, 12); }).code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of([&] { raise_opset(model, 22); }).code(), ErrorCode::kUsage);
  EXPECT_THAT(refusal(one_op(6, "Relu", {2}, {2}, {}), 17), HasSubstr("opset 6 is older than 7"));
}

TEST(RaiseOpset, MakesAxesAnInput) {
  EXPECT_EQ(raised(one_op(11, "Squeeze", {1, 3, 1}, {3, 1}, {ints_attribute("axes", {0})}), 13),
            "q0 = int64[1]\nSqueeze(x, q0) -> y\n");
  EXPECT_EQ(raised(one_op(11, "Unsqueeze", {3}, {1, 3, 1}, {ints_attribute("axes", {0, 2})}), 13),
            "q0 = int64[2]\nUnsqueeze(x, q0) -> y\n");
  EXPECT_EQ(raised(one_op(11, "ReduceSum", {2, 3}, {2},
                          {ints_attribute("axes", {1}), int_attribute("keepdims", 0)}),
                   13),
            "q0 = int64[1]\nReduceSum(x, q0){keepdims=0} -> y\n");
  EXPECT_EQ(raised(one_op(13, "ReduceMean", {2, 3}, {2, 1}, {ints_attribute("axes", {-1})}), 18),
            "q0 = int64[1]\nReduceMean(x, q0) -> y\n");
}

TEST(RaiseOpset, LeavesReductionsUntilTheyChange) {
  onnx::Model mean = read(one_op(11, "ReduceMean", {2, 3}, {2, 1}, {ints_attribute("axes", {1})}).bytes());
  EXPECT_EQ(raise_opset(mean, 17), 0U);
  onnx::Model all = read(one_op(11, "ReduceMax", {2, 3}, {1, 1}, {}).bytes());
  EXPECT_EQ(raise_opset(all, 18), 0U);
}

TEST(RaiseOpset, MakesTheBoundsOfClipInputs) {
  EXPECT_EQ(
      raised(one_op(9, "Clip", {3}, {3}, {float_attribute("min", -0.25F), float_attribute("max", 0.5F)}), 13),
      "q0 = float32[]\nq1 = float32[]\nClip(x, q0, q1) -> y\n");
  EXPECT_EQ(raised(one_op(10, "Clip", {3}, {3}, {float_attribute("max", 0.5F)}), 17),
            "q0 = float32[]\nClip(x, , q0) -> y\n");
}

// x is declared, its square is not. The model has two float types, so the square could have either.
TEST(RaiseOpset, NeedsTheTypeOfWhatIsClipped) {
  ModelBuilder model(9);
  model.input("x", 11, {2}).output("y", kFloat, {2}).node("Mul", {"x", "x"}, {"s"});
  model.node("Clip", {"s"}, {"c"}, {float_attribute("min", 0)}, "clip")
      .node("Cast", {"c"}, {"y"}, {int_attribute("to", 1)});
  EXPECT_THAT(refusal(model, 13), HasSubstr("node 'clip' (Clip)"));
  EXPECT_THAT(refusal(model, 13), HasSubstr("the type of 's' is not declared"));
  model.add(13, ounce::test::value_info("s", 11, {2}));
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(raise_opset(changed, 13), 1U);
  EXPECT_THAT(text_of(changed), HasSubstr("q0 = float64[]\n"));
}

TEST(RaiseOpset, MakesPadsAndTheirValueInputs) {
  EXPECT_EQ(raised(one_op(9, "Pad", {2, 2}, {2, 4}, {ints_attribute("pads", {0, 1, 0, 1})}), 13),
            "q0 = int64[4]\nPad(x, q0) -> y\n");
  EXPECT_EQ(raised(one_op(9, "Pad", {2}, {4},
                          {ints_attribute("pads", {1, 1}), float_attribute("value", 3),
                           string_attribute("mode", "constant")}),
                   19),
            "q0 = int64[2]\nq1 = float32[]\nPad(x, q0, q1){mode=constant} -> y\n");
}

TEST(RaiseOpset, MakesTheRangesOfSliceInputs) {
  EXPECT_EQ(raised(one_op(9, "Slice", {2, 6}, {2, 3},
                          {ints_attribute("axes", {1}), ints_attribute("starts", {1}),
                           ints_attribute("ends", {4})}),
                   17),
            "q0 = int64[1]\nq1 = int64[1]\nq2 = int64[1]\nSlice(x, q0, q1, q2) -> y\n");
  EXPECT_EQ(
      raised(one_op(9, "Slice", {4}, {3}, {ints_attribute("starts", {1}), ints_attribute("ends", {9})}), 17),
      "q0 = int64[1]\nq1 = int64[1]\nSlice(x, q0, q1) -> y\n");
}

TEST(RaiseOpset, SaysHowToSplit) {
  const auto split = [](std::int64_t opset, const Strings& attributes, const Dims& first,
                        const Dims& second) {
    ModelBuilder model(opset);
    model.input("x", kFloat, {6}).output("a", kFloat, first).output("b", kFloat, second);
    model.node("Split", {"x"}, {"a", "b"}, attributes);
    return model;
  };
  EXPECT_EQ(raised(split(11, {ints_attribute("split", {2, 4})}, {2}, {4}), 18),
            "q0 = int64[2]\nSplit(x, q0) -> a, b\n");
  EXPECT_EQ(raised(split(13, {}, {3}, {3}), 18), "Split(x){num_outputs=2} -> a, b\n");
  onnx::Model even = read(split(11, {}, {3}, {3}).bytes());
  EXPECT_EQ(raise_opset(even, 17), 0U);
}

TEST(RaiseOpset, MakesTheCountOfTopKAnInput) {
  ModelBuilder model(9);
  model.input("x", kFloat, {6}).output("v", kFloat, {2}).output("i", kInt64, {2});
  model.node("TopK", {"x"}, {"v", "i"}, {int_attribute("k", 2)});
  EXPECT_EQ(raised(model, 17), "q0 = int64[1]\nTopK(x, q0) -> v, i\n");
}

TEST(RaiseOpset, DropsWhatMeansNothingAtInference) {
  EXPECT_EQ(raised(one_op(9, "Dropout", {3}, {3}, {float_attribute("ratio", 0.1F)}), 13),
            "Dropout(x) -> y\n");
  ModelBuilder norm = one_op(8, "BatchNormalization", {1, 2, 3}, {1, 2, 3}, {int_attribute("spatial", 1)},
                             {"p", "p", "p", "p"});
  norm.initializer("p", {2}, {1, 2});
  EXPECT_EQ(raised(norm, 17), "p = float32[2]\nBatchNormalization(x, p, p, p, p) -> y\n");
}

TEST(RaiseOpset, RefusesWhatTrains) {
  ModelBuilder norm = one_op(8, "BatchNormalization", {1, 2, 3}, {1, 2, 3}, {int_attribute("spatial", 0)},
                             {"p", "p", "p", "p"});
  norm.initializer("p", {2}, {1, 2});
  EXPECT_THAT(refusal(norm, 17), HasSubstr("spatial=0"));
  ModelBuilder mask(9);
  mask.input("x", kFloat, {3}).output("y", kFloat, {3}).output("m", kFloat, {3});
  mask.node("Dropout", {"x"}, {"y", "m"});
  EXPECT_THAT(refusal(mask, 13), HasSubstr("its mask is used"));
  ModelBuilder training = one_op(9, "Relu", {2}, {2}, {});
  training.add_to_model(20, "");
  EXPECT_THAT(refusal(training, 13), HasSubstr("training graphs"));
}

TEST(RaiseOpset, KeepsTheAxisOfSoftmaxWhereItIsTheLast) {
  EXPECT_EQ(raised(one_op(11, "Softmax", {2, 3}, {2, 3}, {}), 13), "Softmax(x){axis=-1} -> y\n");
  onnx::Model last = read(one_op(9, "Softmax", {2, 3, 4}, {2, 3, 4}, {int_attribute("axis", 2)}).bytes());
  EXPECT_EQ(raise_opset(last, 13), 0U);
}

TEST(RaiseOpset, LetsSoftmaxSeeAMatrixWhereItDid) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    EXPECT_EQ(raised(one_op(11, op, {2, 3, 4}, {2, 3, 4}, {int_attribute("axis", 1)}), 13),
              "Flatten(x){axis=1} -> v0\nShape(x) -> v1\n" + std::string(op) +
                  "(v0){axis=-1} -> v2\n"
                  "Reshape(v2, v1) -> y\n");
    raised(one_op(11, op, {2, 3, 4}, {2, 3, 4}, {int_attribute("axis", -2)}), 13);
    raised(one_op(9, op, {2, 3, 4}, {2, 3, 4}, {int_attribute("axis", 0)}), 17);
  }
}

TEST(RaiseOpset, MakesUpsampleAResize) {
  EXPECT_EQ(
      raised(one_op(8, "Upsample", {1, 1, 2, 3}, {1, 1, 4, 9}, {floats_attribute("scales", {1, 1, 2, 3})}),
             13),
      "q0 = float32[4]\nResize(x, , q0){coordinate_transformation_mode=asymmetric, nearest_mode=floor} -> "
      "y\n");
  ModelBuilder linear =
      one_op(9, "Upsample", {1, 1, 2, 3}, {1, 1, 4, 6}, {string_attribute("mode", "linear")}, {"s"});
  linear.initializer("s", {4}, {1, 1, 2, 2});
  EXPECT_EQ(raised(linear, 17),
            "s = float32[4]\nResize(x, , s){mode=linear, coordinate_transformation_mode=asymmetric} -> y\n");
}

TEST(RaiseOpset, KeepsTheRoundingOfResize) {
  const auto resize = [](const std::vector<float>& scales, const Dims& y) {
    ModelBuilder model = one_op(10, "Resize", {1, 1, 6, 6}, y, {}, {"s"});
    model.initializer("s", {4}, scales);
    return model;
  };
  EXPECT_THAT(raised(resize({1, 1, 2.5F, 2}, {1, 1, 15, 12}), 13), HasSubstr("nearest_mode=floor"));
  EXPECT_THAT(raised(resize({1, 1, 0.5F, 0.7F}, {1, 1, 3, 4}), 13), HasSubstr("nearest_mode=ceil"));
  EXPECT_THAT(refusal(resize({1, 1, 2, 0.5F}, {1, 1, 12, 3}), 13), HasSubstr("enlarges one axis"));
  ModelBuilder computed = one_op(10, "Resize", {1, 1, 2, 2}, {1, 1, 4, 4}, {}, {"s"});
  computed.input("s", kFloat, {4});
  EXPECT_THAT(refusal(computed, 13), HasSubstr("depends on computed scales"));
}

TEST(RaiseOpset, SaysWhatIsNoLongerTheDefault) {
  ModelBuilder align =
      one_op(10, "RoiAlign", {1, 1, 4, 4}, {1, 1, 2, 2},
             {int_attribute("output_height", 2), int_attribute("output_width", 2)}, {"r", "b"});
  align.initializer("r", {1, 4}, {0, 0.3F, 3, 2.5F}).initializer(ints_tensor("b", {0}));
  EXPECT_THAT(raised(align, 17), HasSubstr("coordinate_transformation_mode=output_half_pixel"));
  ModelBuilder transform = one_op(17, "DFT", {1, 4, 2, 1}, {1, 4, 2, 2}, {});
  EXPECT_EQ(raised(transform, 20), "q0 = int64[]\nDFT(x, , q0) -> y\n");
}

TEST(RaiseOpset, RenamesTheModesOfGridSample) {
  ModelBuilder model =
      one_op(16, "GridSample", {1, 1, 3, 3}, {1, 1, 2, 2}, {string_attribute("mode", "bicubic")}, {"g"});
  model.initializer("g", {1, 2, 2, 2}, noise({8}));
  EXPECT_THAT(raised(model, 20), HasSubstr("{mode=cubic}"));
}

TEST(RaiseOpset, RefusesWhatNoNewerOpMeans) {
  ModelBuilder groups =
      one_op(18, "GroupNormalization", {1, 4, 2}, {1, 4, 2}, {int_attribute("num_groups", 2)}, {"s", "s"});
  groups.initializer("s", {2}, {1, 2});
  EXPECT_THAT(refusal(groups, 21), HasSubstr("use an opset below 21"));
  ModelBuilder resize =
      one_op(11, "Resize", {1, 1, 2, 2}, {1, 1, 4, 4},
             {string_attribute("coordinate_transformation_mode", "tf_half_pixel_for_nn")}, {"", "s"});
  resize.initializer("s", {4}, {1, 1, 2, 2});
  EXPECT_THAT(refusal(resize, 13), HasSubstr("tf_half_pixel_for_nn"));
  GraphBuilder body;
  body.input("a", kFloat, {2}).output("e", kFloat, {2}).node("Relu", {"a"}, {"e"});
  ModelBuilder scan(8);
  scan.input("x", kFloat, {1, 3, 2}).output("y", kFloat, {1, 3, 2});
  scan.node("Scan", {"", "x"}, {"y"},
            {graph_attribute("body", body.bytes()), int_attribute("num_scan_inputs", 1)});
  EXPECT_THAT(refusal(scan, 13), HasSubstr("the Scan of opset 8"));
}

TEST(RaiseOpset, RenamesScatter) {
  ModelBuilder model = one_op(9, "Scatter", {3}, {3}, {}, {"i", "u"});
  model.initializer(ints_tensor("i", {1})).initializer("u", {1}, {5});
  EXPECT_THAT(raised(model, 16), HasSubstr("ScatterElements(x, i, u) -> y\n"));
}

TEST(RaiseOpset, ConvertsSubgraphs) {
  const auto branch = [](std::int64_t axis) {
    GraphBuilder graph;
    graph.output("e", kFloat, {1, 3}).node("Unsqueeze", {"x"}, {"u"}, {ints_attribute("axes", {0})});
    graph.node("ReduceSum", {"u"}, {"r"}, {ints_attribute("axes", {axis})}).node("Add", {"u", "r"}, {"e"});
    return graph.bytes();
  };
  ModelBuilder model(11);
  model.input("x", kFloat, {3}).input("which", 9, {}).output("y", kFloat, {1, 3});
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", branch(0)), graph_attribute("else_branch", branch(1))});
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(raise_opset(changed, 17), 4U);
  expect_same_outputs(model.bytes(), changed);
}

std::string function_of(const std::string& nodes, std::int64_t opset, const std::string& more = {}) {
  return field(1, std::string("f")) + field(4, std::string("a")) + field(5, std::string("r")) + more + nodes +
         field(9, field(1, std::string()) + field(2, opset)) + field(10, std::string("my"));
}

ModelBuilder calls(const std::string& function, std::int64_t opset) {
  ModelBuilder model(opset);
  model.input("x", kFloat, {3}).output("y", kFloat, {3});
  model.add(1, ounce::test::node("f", {"x"}, {"y"}, {}, {}, "my"));
  model.add_to_model(25, function).add_to_model(8, field(1, std::string("my")) + field(2, std::int64_t{1}));
  return model;
}

TEST(RaiseOpset, ConvertsFunctions) {
  const std::string node = field(7, ounce::test::node("Clip", {"a"}, {"r"}, {float_attribute("min", 0)}));
  onnx::Model changed = read(calls(function_of(node, 10), 10).bytes());
  EXPECT_EQ(raise_opset(changed, 17), 1U);
  EXPECT_EQ(text_of(changed), "f(x) -> y\nfunction f:\n  Constant() -> q0\n  Clip(a, q0) -> r\n");
  EXPECT_EQ(onnx::opset_version(changed.proto->functions[0]->opset_imports, ""), 17);
}

TEST(RaiseOpset, RefusesWhatAFunctionTakesFromItsCaller) {
  const std::string node = field(
      7, ounce::test::node("ReduceSum", {"a"}, {"r"}, {test::reference_attribute("axes", "dims", 7)}, "sum"));
  const std::string what = refusal(calls(function_of(node, 11, field(6, std::string("dims"))), 11), 13);
  EXPECT_THAT(what, HasSubstr("node 'sum' in function f (ReduceSum)"));
  EXPECT_THAT(what, HasSubstr("its attribute 'axes' cannot be read"));
}

TEST(RaiseOpset, RefusesOpsThatItDoesNotKnow) {
  EXPECT_THAT(refusal(one_op(11, "Frobnicate", {2}, {2}, {}), 17), HasSubstr("ONNX has no op 'Frobnicate'"));
  // Ops of other domains are ignored.
  ModelBuilder custom(11);
  custom.input("x", kFloat, {2}).output("y", kFloat, {2});
  custom.add(1, ounce::test::node("Frobnicate", {"x"}, {"y"}, {}, {}, "custom"));
  onnx::Model changed = read(custom.bytes());
  EXPECT_EQ(raise_opset(changed, 17), 0U);
}

// Ops that change between opsets have no subgraphs.
TEST(RaiseOpset, RefusesASubgraphWhereNoneBelongs) {
  GraphBuilder body;
  body.output("e", kFloat, {2}).node("Relu", {"x"}, {"e"});
  EXPECT_THAT(refusal(one_op(11, "Squeeze", {1, 2}, {2},
                             {ints_attribute("axes", {0}), graph_attribute("body", body.bytes())}),
                      13),
              HasSubstr("it has a subgraph"));
}

// The nodes before the refused one were processed, but must not be changed.
TEST(RaiseOpset, ChangesNothingWhenItRefuses) {
  ModelBuilder model(11);
  model.input("x", kFloat, {1, 2}).output("y", kFloat, {2});
  model.node("Squeeze", {"x"}, {"s"}, {ints_attribute("axes", {0})}).node("Frobnicate", {"s"}, {"y"});
  const onnx::Model before = read(model.bytes());
  onnx::Model changed = read(model.bytes());
  error_of([&] { raise_opset(changed, 13); });
  EXPECT_EQ(text_of(changed), text_of(before));
  EXPECT_FALSE(changed.proto.is_edited());
}

TEST(OpsetChanges, AreOfKnownOpsAndInOrder) {
  const OpsetChange* last = nullptr;
  for (const OpsetChange& change : opset_changes()) {
    const std::string_view name = ops::info(change.op).name;
    EXPECT_NE(onnx::find_op_schema("", name, kNewestOpset), nullptr) << name;
    EXPECT_GT(change.version, kOldestOpset);
    EXPECT_LE(change.version, kNewestOpset);
    if (last != nullptr) {
      EXPECT_LT(std::pair(last->op, last->version), std::pair(change.op, change.version));
    }
    last = &change;
  }
}

}  // namespace
}  // namespace ounce::passes
