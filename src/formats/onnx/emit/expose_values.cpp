#include "formats/onnx/emit/expose_values.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/shapes.h"

namespace ounce::passes {
namespace {

using graph::Body;
using graph::kNone;
using onnx::Bytes;

constexpr std::size_t kMain = 0;
// From this opset on, the branches of an If may return different shapes.
constexpr std::int64_t kFreeShapes = 11;

bool has_range(const onnx::Node& node) {
  static constexpr std::array<std::string_view, 30> kOps = {
      "Add",         "AveragePool", "Clip",   "Concat",    "Conv",     "ConvTranspose",
      "Div",         "Flatten",     "Gather", "Gemm",      "GRU",      "GlobalAveragePool",
      "HardSigmoid", "HardSwish",   "LSTM",   "LeakyRelu", "MatMul",   "MaxPool",
      "Mul",         "PRelu",       "Pad",    "Relu",      "Resize",   "Sigmoid",
      "Softmax",     "Split",       "Sub",    "Tanh",      "Upsample", "Where"};
  return onnx::is_default_domain(node.domain()) &&
         std::find(kOps.begin(), kOps.end(), node.op_type()) != kOps.end();
}

// Initializers and the outputs of Constant nodes.
bool is_constant(const Body& home, const graph::Value& value) {
  if (value.initializer != kNone || value.is_sparse) return true;
  return value.producer != kNone && home.nodes()[value.producer]->op() == Op::kConstant;
}

// Finds for each body whether values can be passed up to the main graph.
class Branches {
 public:
  Branches(const onnx::Model& model, const graph::Index& index)
      : index_(index), others_(index.bodies().size(), kNone) {
    if (opset_of(model, index, kMain) < kFreeShapes) return;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> by_owner;
    for (std::size_t i = 0; i < index.bodies().size(); ++i) {
      const Body& body = index.bodies()[i];
      if (body.parent != kNone) by_owner[{body.parent, body.owner}].push_back(i);
    }
    for (const auto& [owner, bodies] : by_owner) {
      if (!are_branches(bodies)) continue;
      others_[bodies[0]] = bodies[1];
      others_[bodies[1]] = bodies[0];
    }
  }

  // The other branch of the same If; kNone if the body is not a branch.
  std::size_t other(std::size_t body) const { return others_[body]; }

  // True for the main graph, and for bodies nested only in branches.
  bool can_leave(std::size_t body) const {
    while (others_[body] != kNone) body = index_.bodies()[body].parent;
    return body == kMain;
  }

 private:
  bool are_branches(const std::vector<std::size_t>& bodies) const {
    const Body& first = index_.bodies()[bodies[0]];
    const onnx::Node& owner = *index_.bodies()[first.parent].nodes()[first.owner];
    return bodies.size() == 2 && owner.op() == Op::kIf &&
           std::all_of(bodies.begin(), bodies.end(), [&](std::size_t body) {
             return index_.bodies()[body].graph->outputs.size() == owner.outputs.size();
           });
  }

  const graph::Index& index_;
  std::vector<std::size_t> others_;
};

class Exposure {
 public:
  Exposure(onnx::Model& model, const graph::Index& index)
      : model_(model), index_(index), branches_(model, index), types_(model, index), editors_(model, index) {
    const onnx::Graph& graph = *model.proto->graph;
    for (const auto& output : graph.outputs) present_.insert(output->name);
    for (const auto& input : graph.inputs) present_.insert(input->name);  // known to the caller
  }

  Exposed expose(const ObservedValue& value) {
    const Bytes output = value.body == kMain ? Bytes(value.name) : lift(value);
    if (!present_.contains(output)) add_output(kMain, output);
    return {std::string(output), value};
  }

  void finish() { editors_.finish(); }

 private:
  // Passes the value up to the main graph and returns its name there.
  Bytes lift(const ObservedValue& value) {
    const ElementType type = types_.type(value.body, value.name);
    if (!branches_.can_leave(value.body) || !is_float_weight_type(type)) {
      throw Error(ErrorCode::kUnsupported, fmt::format("'{}' cannot be observed", value.name),
                  index_.bodies()[value.body].path);
    }
    std::size_t body = value.body;
    Bytes name = value.name;
    // An output list must not contain a name twice.
    if (index_.find(body, name).value->is_output) name = add_copy(body, name);
    while (body != kMain) {
      add_output(body, name);
      const std::size_t other = branches_.other(body);
      add_output(other, editors_.of(other).add_tensor(BodyEditor::kFront, make_tensor(type, {0}, {})));
      const Body& branch = index_.bodies()[body];
      BodyEditor& around = editors_.of(branch.parent);
      name = around.names().fresh("v");
      around.edit_node(branch.owner).outputs.push_back(name);
      body = branch.parent;
    }
    return name;
  }

  Bytes add_copy(std::size_t body, Bytes name) {
    BodyEditor& editor = editors_.of(body);
    onnx::Node node;
    node.set_op(Op::kIdentity);
    node.inputs = {model_.intern(std::string(name))};
    node.outputs = {editor.names().fresh("v")};
    const Bytes copy = node.outputs[0];
    editor.add_node(index_.bodies()[body].nodes().size(), std::move(node));
    return copy;
  }

  void add_output(std::size_t body, Bytes name) {
    onnx::ValueInfo output;
    output.name = model_.intern(std::string(name));
    editors_.of(body).edit_graph().outputs.emplace_back(std::move(output));
  }

  onnx::Model& model_;
  const graph::Index& index_;
  Branches branches_;
  graph::ElementTypes types_;
  Editors editors_;
  std::set<Bytes> present_;
};

}  // namespace

std::vector<ObservedValue> values_to_observe(const onnx::Model& model, const graph::Index& index) {
  const Branches branches(model, index);
  const graph::ElementTypes types(model, index);
  std::set<ObservedValue> values;
  const auto observe = [&](std::size_t body, Bytes name) {
    const auto [value, home] = index.find(body, name);
    if (value == nullptr || is_constant(index.bodies()[home], *value)) return;
    if (home == kMain || is_float_weight_type(types.type(home, name)))
      values.insert({home, std::string(name)});
  };
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    if (!branches.can_leave(i)) continue;
    for (const auto& node : index.bodies()[i].nodes()) {
      if (!has_range(*node)) continue;
      for (const auto* names : {&node->inputs, &node->outputs}) {
        for (const Bytes name : *names) observe(i, name);
      }
    }
  }
  return {values.begin(), values.end()};
}

std::vector<ObservedValue> float_values(const onnx::Model& model, const graph::Index& index) {
  const Branches branches(model, index);
  const graph::ElementTypes types(model, index);
  std::vector<ObservedValue> values;
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    if (!branches.can_leave(i)) continue;
    for (const auto& [name, value] : index.bodies()[i].values) {
      if (types.type(i, name) == ElementType::kFloat && !is_constant(index.bodies()[i], value))
        values.push_back({i, std::string(name)});
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<Exposed> expose_values(onnx::Model& model, const graph::Index& index,
                                   const std::vector<ObservedValue>& values) {
  Exposure exposure(model, index);
  std::vector<Exposed> exposed;
  for (const ObservedValue& value : values) exposed.push_back(exposure.expose(value));
  exposure.finish();
  return exposed;
}

}  // namespace ounce::passes
