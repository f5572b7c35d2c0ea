// The layers of a TFLite model: operators with constant weights. Operators have no names, so a layer is named
// after its output.
#include <map>
#include <utility>

#include "base/text.h"
#include "formats/tflite/file/ops.h"
#include "formats/tflite/plan/weights.h"
#include "search/tune/layers.h"

namespace ounce::search {
namespace {

// Of subgraph 0; attention is not followed into others.
RoleGraph role_graph(const tflite::TfliteFile& file) {
  const model::GraphView& view = file.graphs()[0];
  const tflite::SubGraph& source = file.model().subgraphs[0];
  RoleGraph graph;
  graph.next.resize(view.nodes.size());
  graph.before.resize(view.nodes.size());
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    graph.nodes.push_back(role_of(tflite::info(tflite::code_of(file.model(), source.operators[i])).op));
    for (const model::ValueId input : view.nodes[i].inputs) {
      if (input.is_absent()) continue;
      const std::size_t maker = view.values[input.value].producer;
      if (maker == model::kNone) continue;
      graph.next[maker].push_back(i);
      graph.before[i].push_back(maker);
    }
  }
  return graph;
}

}  // namespace

std::vector<Layer> find_layers(const tflite::TfliteFile& file, std::uint64_t least_bytes) {
  std::map<NodePlace, Layer> found;
  for (const tflite::Weight& weight : tflite::find_weights(file)) {
    if (!weight.fits_nbits() || weight.feeds_quantized_op || weight.bytes() < least_bytes) continue;
    const model::GraphView& graph = file.graphs()[weight.graph];
    const auto in_graph = [&](std::string_view name) {
      return graph.path.empty() ? std::string(name) : graph.path + "/" + std::string(name);
    };
    bool is_counted = false;
    for (const tflite::WeightUse& use : weight.uses) {
      const model::NodeView& node = graph.nodes[use.op];
      if (node.name.empty()) continue;
      Layer& layer = found[{weight.graph, use.op}];
      layer.output = in_graph(node.name);
      layer.name = node.name;
      layer.op_type = node.op;
      layer.expressions = {exact_expression(layer.name)};
      layer.weights.push_back(in_graph(weight.name));
      if (!is_counted) layer.values += weight.values();
      is_counted = true;
    }
  }
  std::vector<std::size_t> nodes;
  std::vector<Layer> layers;
  for (auto& [place, layer] : found) {
    if (place.first == 0) nodes.push_back(place.second);
    layers.push_back(std::move(layer));
  }
  // Layers of subgraph 0 are the first ones.
  const std::vector<LayerRole> roles = find_roles(role_graph(file), nodes);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    layers[i].is_first = roles[i].is_first;
    layers[i].is_last = roles[i].is_last;
    layers[i].is_attention = roles[i].is_attention;
  }
  return layers;
}

}  // namespace ounce::search
