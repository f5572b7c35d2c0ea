#include "formats/onnx/edit/fix_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <utility>
#include <vector>

#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"

namespace ounce::passes {
namespace {

using onnx::Bytes;

std::string place_of(Bytes input, std::size_t axis) { return fmt::format("{}:{}", input, axis); }

// The dynamic axes of the inputs: parameter by place; the parameter is empty for an unnamed axis.
std::map<std::string, std::string> dynamic_axes(const onnx::Graph& graph) {
  std::map<std::string, std::string> axes;
  for (const auto& input : graph.inputs) {
    const onnx::ValueType type = onnx::read_type(input->type);
    for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
      if (type.shape[axis].value < 0)
        axes[place_of(input->name, axis)] = std::string(type.shape[axis].parameter);
    }
  }
  return axes;
}

struct Lengths {
  std::map<std::string, std::int64_t, std::less<>> parameters, places;

  static void add(std::map<std::string, std::int64_t, std::less<>>& to, const std::string& name, std::int64_t length) {
    const auto [found, is_new] = to.try_emplace(name, length);
    if (!is_new && found->second != length)
      throw Error(ErrorCode::kUsage, fmt::format("`shape`: the axis '{}' has two lengths, {} and {}", name,
                                                 found->second, length));
  }
};

Lengths resolve(const std::map<std::string, std::int64_t>& given,
                const std::map<std::string, std::string>& axes) {
  std::map<std::string, bool> known;  // names to list in a message
  for (const auto& [place, parameter] : axes) known[parameter.empty() ? place : parameter] = true;
  Lengths lengths;
  for (const auto& [name, length] : given) {
    if (length < 1)
      throw Error(ErrorCode::kUsage, fmt::format("`shape`: the length of '{}' must be 1 or more", name));
    const auto place = axes.find(name);
    if (place == axes.end() ? known.contains(name) : !place->second.empty()) {
      lengths.add(lengths.parameters, place == axes.end() ? name : place->second, length);
    } else if (place != axes.end()) {
      lengths.add(lengths.places, name, length);
    } else {
      std::vector<std::string> names;
      for (const auto& [one, is_known] : known) names.push_back(one);
      throw Error(ErrorCode::kUsage,
                  names.empty() ? fmt::format("`shape`: no input has the dynamic axis '{}'; all are fixed", name)
                                : fmt::format("`shape`: no input has the dynamic axis '{}'; dynamic axes: {}",
                                              name, fmt::join(names, ", ")));
    }
  }
  return lengths;
}

// Returns true if a dimension changed.
template <class LengthOf>
bool fix(std::vector<onnx::Dimension>& shape, const LengthOf& length_of) {
  bool is_changed = false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis].value >= 0) continue;
    const std::int64_t length = length_of(axis, shape[axis].parameter);
    if (length < 0) continue;
    shape[axis] = {length, {}};
    is_changed = true;
  }
  return is_changed;
}

template <class LengthOf>
void fix(onnx::Model& model, std::vector<onnx::Kept<onnx::ValueInfo>>& values, const LengthOf& length_of) {
  for (auto& value : values) {
    onnx::ValueType type = onnx::read_type(value->type);
    if (type.kind != "tensor" || !type.has_shape) continue;
    const Bytes name = value->name;
    if (fix(type.shape, [&](std::size_t axis, Bytes parameter) { return length_of(name, axis, parameter); }))
      value.edit().type = onnx::with_shape(model, value->type, type.shape);
  }
}

void fix_parameters(onnx::Model& model, onnx::Graph& graph, const Lengths& lengths) {
  const auto length_of = [&](Bytes name, std::size_t axis, Bytes parameter) -> std::int64_t {
    const auto by_name = lengths.parameters.find(parameter);
    if (!parameter.empty() && by_name != lengths.parameters.end()) return by_name->second;
    const auto by_place = lengths.places.find(place_of(name, axis));
    return by_place != lengths.places.end() ? by_place->second : -1;
  };
  fix(model, graph.inputs, length_of);
  fix(model, graph.outputs, length_of);
  fix(model, graph.value_infos, length_of);
}

// Subgraphs declare types, too, with the parameters of the main graph. They have no inputs of the model.
void fix_subgraphs(onnx::Model& model, const Lengths& lengths) {
  const auto visit = [&](const auto& self, std::vector<onnx::Kept<onnx::Node>>& nodes) -> void {
    for (auto& node : nodes) {
      for (std::size_t a = 0; a < node->attributes.size(); ++a) {
        for (std::size_t g = 0; g < node->attributes[a]->graphs.size(); ++g) {
          onnx::Graph& graph = node.edit().attributes[a].edit().graphs[g]->edit();
          fix_parameters(model, graph, {lengths.parameters, {}});
          self(self, graph.nodes);
        }
      }
    }
  };
  visit(visit, model.proto.edit().graph.edit().nodes);
}

// Fills dynamic axes of declared shapes from shape inference.
void infer(onnx::Model& model) {
  std::map<std::string, graph::Dims, std::less<>> known;
  {
    const graph::Index index(model);
    const graph::InferredShapes shapes(model, index);
    const onnx::Graph& graph = *model.proto->graph;
    for (const auto* values : {&graph.outputs, &graph.value_infos}) {
      for (const auto& value : *values) {
        if (const graph::Dims* dims = shapes.of(value->name)) known.try_emplace(std::string(value->name), *dims);
      }
    }
  }
  const auto length_of = [&](Bytes name, std::size_t axis, Bytes) -> std::int64_t {
    const auto found = known.find(name);
    return found != known.end() && axis < found->second.size() ? found->second[axis] : -1;
  };
  onnx::Graph& graph = model.proto.edit().graph.edit();
  fix(model, graph.outputs, length_of);
  fix(model, graph.value_infos, length_of);
}

}  // namespace

void fix_shapes(onnx::Model& model, const std::map<std::string, std::int64_t>& lengths) {
  if (lengths.empty()) return;
  const Lengths resolved = resolve(lengths, dynamic_axes(*model.proto->graph));
  fix_parameters(model, model.proto.edit().graph.edit(), resolved);
  fix_subgraphs(model, resolved);
  infer(model);
}

}  // namespace ounce::passes
