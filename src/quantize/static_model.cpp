// PreparedModel's implementation of StaticModel.
#include "quantize/static_model.h"

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/plan/plan.h"
#include "quantize/candidate_error.h"
#include "quantize/onnx_emitter.h"
#include "quantize/prepared_model.h"

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

// Number of multiplications: weights × input rows (products) or output positions (convolutions).
double work_of(const PreparedModel& prepared, const plan::NodeDecision& decision, const onnx::Node& node) {
  const graph::Index& index = prepared.index();
  const onnx::Tensor& tensor = weight_tensor(index, index.find(decision.body, node.inputs[1]));
  const bool is_conv = node.op() == Op::kConv;
  const bool is_row_major = is_conv || integer_setting(node, "transB", 0) == 1;
  const auto outputs = static_cast<double>(tensor.dims[is_row_major ? 0 : 1]);
  const auto inputs = static_cast<double>(tensor.dims[is_row_major ? 1 : 0]);
  const double values = values_of_sample(prepared, decision.body, is_conv ? decision.output : node.inputs[0]);
  return values / (is_conv ? outputs : inputs) * static_cast<double>(tensor.element_count());
}

}  // namespace

std::size_t PreparedModel::node_count() const {
  std::size_t nodes = 0;
  for (const graph::Body& body : index().bodies()) nodes += body.nodes().size();
  return nodes;
}

std::vector<IntegerNode> PreparedModel::integer_nodes(const Recipe& recipe, ThreadPool& pool) const {
  const graph::Index& index = this->index();
  const plan::Plan plan = plan::make_plan(model(), index, recipe, pool, ranges());
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
    found.work = work_of(*this, decision, node);
  }
  return nodes;
}

std::vector<plan::NamedDivision> PreparedModel::float_choices(
    const Recipe& recipe, const std::map<std::string, double>& noise) const {
  std::vector<plan::NamedDivision> choices;
  for (plan::FloatAssignment& each : plan::float_assignments(model(), index(), recipe, *ranges(), noise))
    choices.push_back({std::move(each.floats), each.time});
  return choices;
}

std::uint64_t PreparedModel::write_candidate(const Recipe& recipe, const std::filesystem::path& file,
                                             ThreadPool& pool) const {
  return quantization::write_candidate(*this, recipe, file, pool);
}

}  // namespace ounce::quantization
