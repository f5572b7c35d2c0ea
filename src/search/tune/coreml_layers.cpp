// The layers of an ML Program: operations with constant weights, named after their first outputs.
#include <map>
#include <utility>

#include "base/text.h"
#include "formats/coreml/plan/weights.h"
#include "search/tune/layers.h"

namespace ounce::search {
namespace {

// Operations that change values one by one, or only move them.
constexpr std::string_view kKeepingMil[] = {
    "add",   "cast",    "concat",         "expand_dims",   "mul", "real_div", "reshape",
    "split", "squeeze", "slice_by_index", "slice_by_size", "sub", "transpose"};

RoleGraph::Node role_of_mil(std::string_view type) {
  const bool is_kept =
      std::find(std::begin(kKeepingMil), std::end(kKeepingMil), type) != std::end(kKeepingMil);
  return {.is_product = type == "matmul" || type == "einsum",
          .is_softmax = type == "softmax",
          .is_attention = type == "scaled_dot_product_attention",
          .keeps_values = is_kept,
          .computes_values = type == "add" || type == "sub" || type == "mul" || type == "real_div",
          .gives_shape = type == "shape"};
}

}  // namespace

std::vector<Layer> find_layers(const coreml::CoremlFile& file, std::uint64_t least_bytes) {
  std::map<NodePlace, Layer> found;
  for (const coreml::Weight& weight : coreml::find_weights(file)) {
    if (!weight.fits_nbits() || !weight.is_in_file || weight.bytes() < least_bytes) continue;
    const auto in_graph = [&](std::size_t graph, std::string_view name) {
      const std::string& path = file.graphs()[graph].path;
      return path.empty() ? std::string(name) : path + "/" + std::string(name);
    };
    bool is_counted = false;
    for (const model::NodeId user : weight.users) {
      const model::NodeView& node = file.node(user);
      if (node.outputs.empty()) continue;
      Layer& layer = found[{user.graph, user.node}];
      layer.output = in_graph(user.graph, file.value(node.outputs[0]).name);
      layer.name = node.name.empty() ? file.value(node.outputs[0]).name : node.name;
      layer.op_type = node.op;
      layer.expressions = {exact_expression(layer.name)};
      layer.weights.push_back(in_graph(weight.graph, weight.name));
      if (!is_counted) layer.values += weight.values();
      is_counted = true;
    }
  }
  // Attention is not followed into nested blocks.
  return with_roles(std::move(found), role_graph(file.graphs()[0], [&](std::size_t node) {
                      return role_of_mil(file.graphs()[0].nodes[node].op);
                    }));
}

}  // namespace ounce::search
