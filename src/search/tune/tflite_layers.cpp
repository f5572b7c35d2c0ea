// The layers of a TFLite model: operators with constant weights. Operators have no names, so a layer is named
// after its output.
#include <map>
#include <utility>

#include "base/text.h"
#include "formats/tflite/file/ops.h"
#include "formats/tflite/plan/weights.h"
#include "search/tune/layers.h"

namespace ounce::search {

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
  return with_roles(std::move(found), role_graph(file.graphs()[0], [&](std::size_t node) {
                      const tflite::Operator& op = file.model().subgraphs[0].operators[node];
                      return role_of(tflite::info(tflite::code_of(file.model(), op)).op);
                    }));
}

}  // namespace ounce::search
