#include "formats/tflite/plan/flow.h"

#include <fmt/format.h>

#include <set>

namespace ounce::tflite {

Flow::Flow(const Model& model, std::size_t subgraph) {
  const SubGraph& graph = model.subgraphs[subgraph];
  const std::size_t count = graph.tensors.size();
  producer.assign(count, kNone);
  uses.resize(count);
  is_input.resize(count);
  is_output.resize(count);
  is_constant.resize(count);
  for (const std::int32_t input : graph.inputs) is_input[static_cast<std::size_t>(input)] = true;
  for (const std::int32_t output : graph.outputs) is_output[static_cast<std::size_t>(output)] = true;
  for (std::size_t op = 0; op < graph.operators.size(); ++op) {
    const Operator& each = graph.operators[op];
    for (std::size_t i = 0; i < each.inputs.size(); ++i) {
      if (each.inputs[i] >= 0) uses[static_cast<std::size_t>(each.inputs[i])].push_back({op, i});
    }
    for (const std::int32_t output : each.outputs) {
      if (output >= 0) producer[static_cast<std::size_t>(output)] = op;
    }
  }
  std::set<Bytes> taken;
  for (std::size_t t = 0; t < count; ++t) {
    const Tensor& tensor = graph.tensors[t];
    is_constant[t] = producer[t] == kNone && !is_input[t] && tflite::is_constant(model, tensor);
    const bool is_own = !tensor.name.empty() && taken.insert(tensor.name).second;  // as in TfliteFile
    names.push_back(is_own ? std::string(tensor.name) : fmt::format("{}#{}", tensor.name, t));
  }
}

}  // namespace ounce::tflite
