#include "formats/onnx/graph/index_bounds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/ports.h"

namespace ounce::graph {
namespace {

// Ops that pass the values of their first input on.
bool passes_values(const onnx::Node& node) {
  return node.info().flow == ops::Flow::kMoves || node.op() == Op::kCast;
}

// The length of the axis that a Gather selects from, if its table is in the file.
std::optional<std::int64_t> table_rows(const Index& index, const Use& use) {
  const onnx::Node& node = index.node(use);
  if (node.op() != Op::kGather || use.input != 1) return std::nullopt;
  const Index::Found found = index.find(use.body, node.inputs[0]);
  if (found.value == nullptr || found.value->initializer == kNone || found.value->is_sparse)
    return std::nullopt;
  const onnx::Tensor& table = *index.bodies()[found.body].graph->initializers[found.value->initializer];
  const std::int64_t axis = onnx::integer_attribute(node, "axis").value_or(0);
  const auto rank = static_cast<std::int64_t>(table.dims.size());
  const std::int64_t place = axis < 0 ? axis + rank : axis;
  if (place < 0 || place >= rank) return std::nullopt;
  return table.dims[static_cast<std::size_t>(place)];
}

std::optional<std::int64_t> bound_of(const Index& index, Bytes input) {
  std::optional<std::int64_t> bound;
  std::set<Place> seen;
  std::vector<Place> open = {{0, input}};
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    if (!seen.insert(place).second) continue;
    const Value* value = index.find(place.body, place.name).value;
    if (value == nullptr) continue;
    for (const Use& use : value->uses) {
      if (const auto rows = table_rows(index, use)) bound = std::min(bound.value_or(*rows), *rows);
      const onnx::Node& node = index.node(use);
      if (use.input != 0 || !passes_values(node)) continue;
      for (const Bytes output : node.outputs) {
        if (!output.empty()) open.push_back({use.body, output});
      }
    }
  }
  return bound;
}

}  // namespace

std::map<std::string, std::int64_t> index_bounds(const onnx::Model& model, const Index& index) {
  std::map<std::string, std::int64_t> bounds;
  for (const auto& input : model.proto->graph->inputs) {
    if (const auto bound = bound_of(index, input->name)) bounds[std::string(input->name)] = *bound;
  }
  return bounds;
}

}  // namespace ounce::graph
