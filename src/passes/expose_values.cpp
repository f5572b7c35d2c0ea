#include "passes/expose_values.h"

#include <algorithm>
#include <array>
#include <set>

namespace ounce::passes {
namespace {

using onnx::Bytes;

bool has_range(const onnx::Node& node) {
  static constexpr std::array<std::string_view, 30> kOps = {
      "Add",         "AveragePool", "Clip",   "Concat",    "Conv",     "ConvTranspose",
      "Div",         "Flatten",     "Gather", "Gemm",      "GRU",      "GlobalAveragePool",
      "HardSigmoid", "HardSwish",   "LSTM",   "LeakyRelu", "MatMul",   "MaxPool",
      "Mul",         "PRelu",       "Pad",    "Relu",      "Resize",   "Sigmoid",
      "Softmax",     "Split",       "Sub",    "Tanh",      "Upsample", "Where"};
  return onnx::is_default_domain(node.domain) &&
         std::find(kOps.begin(), kOps.end(), node.op_type) != kOps.end();
}

// Weights and everything else that stands in the file, and what a Constant gives.
bool is_constant(const graph::Body& main, Bytes name) {
  const auto found = main.values.find(name);
  if (found == main.values.end()) return true;  // an absent optional input
  const graph::Value& value = found->second;
  if (value.initializer != graph::kNone || value.is_sparse) return true;
  return value.producer != graph::kNone && main.nodes()[value.producer]->op_type == "Constant";
}

}  // namespace

std::vector<std::string> values_to_observe(const onnx::Model& model, const graph::Index& index) {
  std::set<std::string> names;
  const graph::Body& main = index.main();
  for (const auto& node : model.proto->graph->nodes) {
    if (!has_range(*node)) continue;
    for (const auto* values : {&node->inputs, &node->outputs}) {
      for (const Bytes name : *values) {
        if (!name.empty() && !is_constant(main, name)) names.emplace(name);
      }
    }
  }
  return {names.begin(), names.end()};
}

void expose_values(onnx::Model& model, const std::vector<std::string>& names) {
  onnx::Graph& graph = model.proto.edit().graph.edit();
  std::set<std::string_view> present;
  for (const auto& output : graph.outputs) present.insert(output->name);
  for (const auto& input : graph.inputs) present.insert(input->name);  // whoever runs the model knows them
  for (const std::string& name : names) {
    if (present.contains(name)) continue;
    onnx::ValueInfo output;
    output.name = model.intern(name);
    graph.outputs.emplace_back(std::move(output));
  }
}

}  // namespace ounce::passes
