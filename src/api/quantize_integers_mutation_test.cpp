// Models with bytes changed at random go through everything that integer arithmetic does to a model, short of
// running it: each is refused in one line, or becomes a model that graph::verify() accepts.
#include <gtest/gtest.h>
#include <ounce/error.h>

#include "base/random.h"
#include "graph/verify.h"
#include "make/rewrite.h"
#include "onnx/reader.h"
#include "onnx/serializer.h"
#include "passes/equalize.h"
#include "passes/expose_values.h"
#include "passes/prepare.h"
#include "passes/quantized_state.h"
#include "passes/trained_scales.h"
#include "support/model_builder.h"
#include "support/mutated_model.h"

namespace ounce::make {
namespace {

using test::GraphBuilder;
using test::int_attribute;
using test::kFloat;
using test::ModelBuilder;
using test::mutated;
using test::ramp;

constexpr int kIntegerMutations = 4000;

// Every kind of op that has an integer form, in the main graph and in a branch.
std::string sample(std::int64_t opset) {
  GraphBuilder branch;
  branch.initializer("bw", {4, 4}, ramp(16)).output("bo", kFloat, {1, 4}).node("MatMul", {"f", "bw"}, {"bo"});
  GraphBuilder other;
  other.output("oo", kFloat, {1, 4}).node("Identity", {"f"}, {"oo"});
  ModelBuilder model(opset);
  model.input("x", kFloat, {1, 4, 8}).output("y", kFloat, {1, 4}).output("z", kFloat, {1, 4});
  model.initializer("w1", {4, 4, 3}, ramp(48)).initializer("b1", {4}, ramp(4));
  model.initializer("w2", {4, 4}, ramp(16)).initializer("b2", {4}, ramp(4));
  model.initializer(test::tensor("c", 9, {}, std::string(1, '\1')));
  model.node("Conv", {"x", "w1", "b1"}, {"h"}).node("Relu", {"h"}, {"r"}).node("Conv", {"r", "w1"}, {"s"});
  model.node("BatchNormalization", {"s", "b1", "b2", "b2", "b1"}, {"n"}).node("LeakyRelu", {"n"}, {"l"});
  model.node("GlobalAveragePool", {"l"}, {"g"}).node("Flatten", {"g"}, {"f"});
  model.node("Gemm", {"f", "w2", "b2"}, {"y"}, {int_attribute("transB", 1)});
  model.node("If", {"c"}, {"z"},
             {test::graph_attribute("then_branch", branch.bytes()),
              test::graph_attribute("else_branch", other.bytes())});
  return model.bytes();
}

observe::Ranges ranges_of(const onnx::Model& model, const graph::Index& index) {
  observe::Ranges ranges;
  for (const auto& [body, name] : plan::static_needs(model, index).values)
    ranges.values[graph::value_path(index, body, name)].add(ramp(64), 4, 2);
  ranges.samples = 1;
  return ranges;
}

// Throws Error for what is refused.
void quantize_on_paper(const std::string& bytes, const Recipe& recipe, ThreadPool& pool) {
  onnx::Model prepared = onnx::read_model_from_memory(bytes, "model");
  graph::verify(prepared);
  passes::describe_quantization(prepared, graph::Index(prepared));
  passes::prepare(prepared, recipe);
  const graph::Index before = graph::verify(prepared);
  passes::equalize(prepared, ranges_of(prepared, before));
  const auto text = [](const onnx::Rope& rope) {
    std::string all;
    for (const auto& piece : rope.pieces()) {
      if (const auto* copied = std::get_if<std::string>(&piece)) all += *copied;
      if (const auto* view = std::get_if<onnx::Bytes>(&piece)) all += *view;
    }
    return all;
  };
  const std::string between = text(serialize(prepared, onnx::Placement::kKeep, {}, true).model);
  const onnx::Model source = onnx::read_model_from_memory(between, "prepared");
  const graph::Index index = graph::verify(source);
  const observe::Ranges ranges = ranges_of(source, index);
  const plan::Plan plan = plan::make_plan(source, index, recipe, pool, &ranges);
  onnx::Model model = onnx::read_model_from_memory(between, "again");
  rewrite(model, source, index, plan, {});
  graph::verify(model);
  onnx::Model exposed = onnx::read_model_from_memory(between, "exposed");
  const graph::Index exposed_index(exposed);
  passes::expose_values(exposed, exposed_index, passes::values_to_observe(exposed, exposed_index));
  graph::verify(exposed);
  onnx::Model trained = onnx::read_model_from_memory(bytes, "trained");
  passes::store_trained_weights(trained);
  graph::verify(trained);
}

TEST(IntegerMutation, AnyModelIsRefusedOrBecomesAModel) {
  Recipe dialects[3];
  dialects[0].format = dialects[1].format = Format::kStatic;
  dialects[1].integer.dialect = Dialect::kQOperator;
  dialects[1].integer.integer_io = true;
  dialects[2].format = Format::kDynamic;
  dialects[2].integer.force_conv = true;
  ThreadPool pool(1);
  Random random(7);
  int sound = 0;
  for (int i = 0; i < kIntegerMutations; ++i) {
    const std::string bytes = mutated(sample(i % 2 == 0 ? 17 : 9), random);
    try {
      quantize_on_paper(bytes, dialects[i % 3], pool);
      ++sound;
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << "mutation " << i << ": " << error.what();
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(sound, kIntegerMutations / 4);
}

}  // namespace
}  // namespace ounce::make
