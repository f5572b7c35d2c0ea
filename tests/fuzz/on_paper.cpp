#include "fuzz/on_paper.h"

#include "formats/onnx/edit/constants.h"
#include "formats/onnx/emit/expose_values.h"
#include "formats/onnx/emit/half_graph.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/serializer.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/prepare/equalize.h"
#include "formats/onnx/prepare/prepare.h"
#include "formats/onnx/qat/quantized_state.h"
#include "formats/onnx/qat/trained_scales.h"
#include "quantize/onnx_emitter.h"
#include "support/ramp.h"

namespace ounce::test {
namespace {

std::string text_of(const onnx::Model& model) {
  std::string all;
  const onnx::Serialized serialized = serialize(model, onnx::Placement::kKeep, {}, true);
  for (const auto& piece : serialized.model.pieces()) {
    if (const auto* copied = std::get_if<std::string>(&piece)) all += *copied;
    if (const auto* view = std::get_if<onnx::Bytes>(&piece)) all += *view;
  }
  return all;
}

calibration::Ranges ranges_of(const onnx::Model& model, const graph::Index& index) {
  calibration::Ranges ranges;
  for (const auto& [body, name] : plan::static_needs(model, index).values)
    ranges.values[graph::value_path(index, body, name)].add(ramp(64), 4, 2);
  ranges.samples = 1;
  return ranges;
}

}  // namespace

void integers_on_paper(const std::string& bytes, const Recipe& recipe, ThreadPool& pool) {
  onnx::Model prepared = onnx::read_model_from_memory(bytes, "model");
  graph::validate(prepared);
  passes::describe_quantization(prepared, graph::Index(prepared));
  passes::prepare(prepared, recipe);
  const graph::Index before = graph::validate(prepared);
  passes::equalize(prepared, ranges_of(prepared, before));
  const std::string between = text_of(prepared);
  const onnx::Model source = onnx::read_model_from_memory(between, "prepared");
  const graph::Index index = graph::validate(source);
  const calibration::Ranges ranges = ranges_of(source, index);
  const plan::Plan plan = plan::make_plan(source, index, recipe, pool, &ranges);
  onnx::Model model = onnx::read_model_from_memory(between, "again");
  quantization::rewrite(model, source, index, plan, {});
  graph::validate(model);
  onnx::Model exposed = onnx::read_model_from_memory(between, "exposed");
  const graph::Index exposed_index(exposed);
  passes::expose_values(exposed, exposed_index, passes::values_to_observe(exposed, exposed_index));
  graph::validate(exposed);
  onnx::Model trained = onnx::read_model_from_memory(bytes, "trained");
  passes::store_trained_weights(trained);
  graph::validate(trained);
}

void halves_on_paper(const std::string& bytes, const Recipe& recipe, ThreadPool& pool) {
  onnx::Model prepared = onnx::read_model_from_memory(bytes, "model");
  graph::validate(prepared);
  passes::expand_constants(prepared);
  const std::string between = text_of(prepared);
  const onnx::Model source = onnx::read_model_from_memory(between, "prepared");
  const graph::Index index = graph::validate(source);
  calibration::Ranges ranges;
  ranges.values["h"].add(ramp(16), 4, 1);
  const plan::Plan plan =
      plan::make_plan(source, index, recipe, pool, recipe.half.half_io ? &ranges : nullptr);
  onnx::Model model = onnx::read_model_from_memory(between, "again");
  passes::Editors editors(model, index);
  passes::make_half_graph(editors, source, index, plan);
  editors.finish();
  passes::declare_ports(model, plan.half.ports);
  graph::validate(model);
}

}  // namespace ounce::test
