#include "quantize/integer_nodes.h"

#include <algorithm>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::quantization {
namespace {

const onnx::Tensor& weight_tensor(const graph::Index& index, const graph::Index::Found& weight) {
  const graph::Body& body = index.bodies()[weight.body];
  if (weight.value->initializer != graph::kNone) return *body.graph->initializers[weight.value->initializer];
  return *plan::constant_tensor(*body.nodes()[weight.value->producer]);
}

double values_of_sample(const PreparedModel& prepared, std::size_t body, onnx::Bytes name) {
  const graph::Index& index = prepared.index();
  const calibration::Ranges& ranges = *prepared.ranges();
  const auto found = ranges.values.find(graph::value_path(index, index.find(body, name).body, name));
  if (found == ranges.values.end()) return 0;
  return static_cast<double>(found->second.count()) /
         static_cast<double>(std::max<std::uint64_t>(1, ranges.samples));
}

// Every weight, as often as there are rows of inputs or positions of outputs.
double work_of(const PreparedModel& prepared, const plan::NodeDecision& decision, const onnx::Node& node) {
  const graph::Index& index = prepared.index();
  const onnx::Tensor& tensor = weight_tensor(index, index.find(decision.body, node.inputs[1]));
  const bool is_conv = node.op_type == "Conv";
  const bool is_row_major = is_conv || integer_setting(node, "transB", 0) == 1;
  const auto outputs = static_cast<double>(tensor.dims[is_row_major ? 0 : 1]);
  const auto inputs = static_cast<double>(tensor.dims[is_row_major ? 1 : 0]);
  const double values = values_of_sample(prepared, decision.body, is_conv ? decision.output : node.inputs[0]);
  return values / (is_conv ? outputs : inputs) * static_cast<double>(tensor.element_count());
}

}  // namespace

std::vector<IntegerNode> integer_nodes(const PreparedModel& prepared, const Recipe& recipe,
                                       ThreadPool& pool) {
  const graph::Index& index = prepared.index();
  const plan::Plan plan = plan::make_plan(prepared.model(), index, recipe, pool, prepared.ranges());
  std::vector<IntegerNode> nodes;
  for (const plan::NodeDecision& decision : plan.integer.nodes) {
    if (!decision.is_integer() || !decision.op->has_weight()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    const auto path = [&](onnx::Bytes name) {
      return graph::value_path(index, index.find(decision.body, name).body, name);
    };
    IntegerNode& found = nodes.emplace_back();
    found.output = graph::value_path(index, decision.body, node.outputs[0]);
    found.label = graph::node_label(node, decision.node);
    found.values.push_back(path(node.inputs[0]));
    if (decision.gives_codes) found.values.push_back(path(decision.output));
    found.work = work_of(prepared, decision, node);
  }
  return nodes;
}

}  // namespace ounce::quantization
