// Plans that are carried out, and run in every version of LiteRT that is here.
#include "formats/tflite/emit/integer_graph.h"

#include <gmock/gmock.h>

#include <cmath>

#include "formats/tflite/file/reader.h"
#include "io/rope.h"
#include "runtime/litert/session.h"
#include "support/litert.h"
#include "support/tensor_of.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

using data::test::numbers_of;
using data::test::tensor_of;
using testing::HasSubstr;
using testing::Not;

float wave_at(std::size_t i) { return std::sin(0.7F * static_cast<float>(i)); }
std::vector<float> waves(std::size_t count, float scale = 1) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(scale * wave_at(i * i + i));
  return values;
}

struct TfliteIntegerGraph : test::LitertTest {
  TfliteIntegerGraph() {
    recipe.format = Format::kInt8;
    recipe.integer.calibration = CalibrationMethod::kMinMax;
    recipe.integer.use_cost_model = false;
    ranges.samples = 1;
  }

  std::vector<std::vector<float>> run(const Model& which, const std::vector<float>& values) {
    const auto path = folder / "model.tflite";
    ThreadPool pool{1};
    write_temporary(which, path, pool);
    runtime::litert::Session session(runtime::litert::Library::open(GetParam()), path, {});
    const SubGraph& graph = which.subgraphs[0];
    const std::vector<std::int32_t>& shape = graph.tensors[static_cast<std::size_t>(graph.inputs[0])].shape;
    const data::Tensor tensor = tensor_of<float>({shape.begin(), shape.end()}, values);
    const std::vector<data::TensorView> views = {tensor};
    session.bind(views);
    session.run();
    std::vector<std::vector<float>> outputs;
    for (const data::TensorView& view : session.results()) outputs.push_back(numbers_of<float>(view));
    return outputs;
  }

  // x ─ CONV_2D ─ c ─ MAX_POOL_2D ─ p ─ RESHAPE ─ r ─ FULLY_CONNECTED ─ f ─ SOFTMAX ─ y
  void make_classifier() {
    const auto x = model.tensor("x", {1, 6, 6, 3}), c = model.tensor("c", {1, 6, 6, 8});
    const auto p = model.tensor("p", {1, 3, 3, 8}), r = model.tensor("r", {1, 72});
    const auto f = model.tensor("f", {1, 5}), y = model.tensor("y", {1, 5});
    const auto w = model.weights("w", {8, 3, 3, 3}, waves(216)), b = model.weights("b", {8}, waves(8));
    const auto v = model.weights("v", {5, 72}, waves(360, 0.2F)), to = model.integers("to", {2}, {1, 72});
    const auto d = model.weights("d", {5}, waves(5));
    model.op(Builtin::kConv2D, {x, w, b}, {c}, "Conv2DOptions");
    model.options().set("stride_w", std::int64_t{1});
    model.options().set("stride_h", std::int64_t{1});
    model.options().set("fused_activation_function", std::int64_t{1});
    model.op(Builtin::kMaxPool2D, {c}, {p}, "Pool2DOptions");
    for (const char* name : {"stride_w", "stride_h", "filter_width", "filter_height"})
      model.options().set(name, std::int64_t{2});
    model.op(Builtin::kReshape, {p, to}, {r}, "ReshapeOptions");
    model.op(Builtin::kFullyConnected, {r, v, d}, {f}, "FullyConnectedOptions");
    model.op(Builtin::kSoftmax, {f}, {y}, "SoftmaxOptions");
    model.options().set("beta", 1.0F);
    model.inputs({x}).outputs({y, f}).signature("serving_default");
    // The values on one sample.
    input = waves(108);
    Model exposed = model.model;
    exposed.subgraphs[0].outputs = {c, p, r, f, y};
    exposed.signatures.clear();
    const auto seen = run(exposed, input);
    const char* names[] = {"c", "p", "r", "f", "y"};
    for (std::size_t i = 0; i < seen.size(); ++i) ranges.values[names[i]].add(seen[i]);
    ranges.values["x"].add(input);
  }

  Model integers() {
    ThreadPool pool{1};
    prepared = std::make_shared<const IntegerModel>(std::make_shared<const Model>(model.model), recipe, pool);
    Model copy = model.model;
    apply_integers(copy, prepared, make_integer_plan(*prepared, ranges, recipe));
    return copy;
  }

  static double sqnr(const std::vector<float>& given, const std::vector<float>& found) {
    double signal = 0, noise = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
      signal += given[i] * given[i];
      noise += (given[i] - found[i]) * (given[i] - found[i]);
    }
    return 10 * std::log10(signal / noise);
  }

  TfliteBuilder model;
  calibration::Ranges ranges;
  Recipe recipe;
  std::shared_ptr<const IntegerModel> prepared;
  std::vector<float> input;
};
INSTANTIATE_TEST_SUITE_P(Versions, TfliteIntegerGraph, testing::ValuesIn(test::litert_versions()),
                         test::version_name);

TEST_P(TfliteIntegerGraph, ComputesNearlyTheSameOnIntegers) {
  make_classifier();
  const auto before = run(model.model, input);
  const Model made = integers();
  EXPECT_EQ(text_of(made),
            "x -> y, f\n"
            "QUANTIZE(x) -> x_codes\n"
            "CONV_2D.3(x_codes, w, b) stride_w=1 stride_h=1 fused_activation_function=1 -> c\n"
            "MAX_POOL_2D.2(c) stride_w=2 stride_h=2 filter_width=2 filter_height=2 -> p\n"
            "RESHAPE(p, to) -> r\n"
            "FULLY_CONNECTED.4(r, v, d) -> f_codes\n"
            "DEQUANTIZE.2(f_codes) -> f\n"
            "SOFTMAX.2(f_codes) beta=1 -> y_codes\n"
            "DEQUANTIZE.2(y_codes) -> y\n");
  const auto after = run(made, input);
  EXPECT_GT(sqnr(before[1], after[1]), 25);
  EXPECT_GT(sqnr(before[0], after[0]), 20);
}

TEST_P(TfliteIntegerGraph, ConvertsWhereFloatsAndCodesMeet) {
  make_classifier();
  recipe.nodes = {{"y", Format::kFp32}, {"p", Format::kFp32}};
  const auto before = run(model.model, input);
  const Model made = integers();
  EXPECT_THAT(text_of(made), HasSubstr("DEQUANTIZE.2(c_codes) -> c\nMAX_POOL_2D(c)"));
  EXPECT_THAT(text_of(made), HasSubstr("SOFTMAX(f)"));
  const auto after = run(made, input);
  EXPECT_GT(sqnr(before[1], after[1]), 25);
  EXPECT_GT(sqnr(before[0], after[0]), 25);
}

TEST_P(TfliteIntegerGraph, MakesInputsAndOutputsIntegersWhereThatIsAskedFor) {
  make_classifier();
  recipe.integer.integer_io = true;
  for (const ActivationType type : {ActivationType::kS8, ActivationType::kU8}) {
    recipe.integer.activations = type;
    const Model made = integers();
    const SubGraph& graph = made.subgraphs[0];
    const TensorType wanted = type == ActivationType::kS8 ? TensorType::kInt8 : TensorType::kUint8;
    EXPECT_EQ(graph.tensors[static_cast<std::size_t>(graph.inputs[0])].type, wanted);
    for (const std::int32_t output : graph.outputs)
      EXPECT_EQ(graph.tensors[static_cast<std::size_t>(output)].type, wanted);
    EXPECT_THAT(text_of(made), Not(HasSubstr("DEQUANTIZE")));
  }
}

// Two operators with inputs of other scales have one weight and one bias.
TEST_P(TfliteIntegerGraph, CopiesABiasThatTwoOperatorsWantInOtherUnits) {
  const auto x = model.tensor("x", {1, 4}), a = model.tensor("a", {1, 4}), y = model.tensor("y", {1, 4});
  const auto w = model.weights("w", {4, 4}, waves(16)), b = model.weights("b", {4}, waves(4, 3));
  model.op(Builtin::kFullyConnected, {x, w, b}, {a}, "FullyConnectedOptions");
  model.op(Builtin::kFullyConnected, {a, w, b}, {y}, "FullyConnectedOptions");
  model.inputs({x}).outputs({y}).signature("serving_default");
  input = waves(4, 0.1F);
  Model exposed = model.model;
  exposed.subgraphs[0].outputs = {a, y};
  exposed.signatures.clear();
  const auto seen = run(exposed, input);
  ranges.values["x"].add(input);
  ranges.values["a"].add(seen[0]);
  ranges.values["y"].add(seen[1]);
  const auto before = run(model.model, input);
  EXPECT_GT(sqnr(before[0], run(integers(), input)[0]), 25);
}

}  // namespace
}  // namespace ounce::tflite
