#include "formats/onnx/graph/index.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/graph/ports.h"

namespace ounce::graph {
namespace {

[[noreturn]] void fail(const Body& body, const std::string& what) {
  throw Error(ErrorCode::kBadInput, what, body.path.empty() ? std::string() : body.path);
}

// Paths appear only in messages. Shortened, because a hostile file could otherwise repeat a long name in each
// body.
std::string shortened(std::string path) {
  constexpr std::size_t kEnd = 120;
  if (path.size() <= 2 * kEnd) return path;
  const auto is_inside_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(path[at]) & 0xc0U) == 0x80U;
  };
  std::size_t from = kEnd, to = path.size() - kEnd;
  while (from > 0 && is_inside_character(from)) --from;
  while (to < path.size() && is_inside_character(to)) ++to;
  return path.replace(from, to - from, "...");
}

}  // namespace

std::string value_path(const Index& index, std::size_t body, Bytes name) {
  std::string path(name);
  std::size_t at = body;
  for (; index.bodies()[at].parent != kNone; at = index.bodies()[at].parent) {
    const Body& inner = index.bodies()[at];
    const onnx::Node& owner = *index.bodies()[inner.parent].nodes()[inner.owner];
    std::string around(owner.outputs.empty() ? Bytes() : owner.outputs[0]);
    path = around + "/" + std::string(owner.attributes[inner.attribute]->name) + "/" + path;
  }
  if (index.bodies()[at].function != nullptr) path = index.bodies()[at].path + "/" + path;
  return path;
}

std::string node_label(const onnx::Node& node, std::size_t position) {
  if (!node.name.empty()) return std::string(node.name);
  return fmt::format("{}#{}", node.op_type(), position);
}

Index::Index(const onnx::Model& model) {
  const onnx::ModelProto& proto = *model.proto;
  Body main;
  main.graph = &*proto.graph;
  add_body(std::move(main));
  for (std::size_t i = 0; i < proto.functions.size(); ++i) {
    Body body;
    body.function = &*proto.functions[i];
    body.position = i;
    body.path = fmt::format("function {}", body.function->name);
    add_body(std::move(body));
  }
  // add_children() appends to bodies_, so this loop reaches all depths. Parents are complete before their
  // children.
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    define(i);
    add_children(i);
  }
  for (std::size_t i = 0; i < bodies_.size(); ++i) resolve(i);
}

void Index::add_body(Body body) { bodies_.push_back(std::move(body)); }

Value& Index::define_name(std::size_t id, Bytes name, const char* as) {
  count_step();
  Body& body = bodies_[id];
  if (name.empty()) fail(body, fmt::format("an {} has no name", as));
  if (body.parent != kNone && find(body.parent, name).value != nullptr) {
    fail(body, fmt::format("{} '{}' hides a value of the same name in an enclosing graph", as, name));
  }
  const auto [entry, is_new] = body.values.try_emplace(name);
  if (!is_new) fail(body, fmt::format("'{}' is defined twice (again as {})", name, as));
  return entry->second;
}

void Index::define(std::size_t id) {
  Body& body = bodies_[id];
  if (body.function != nullptr) {
    for (const Bytes name : body.function->inputs) define_name(id, name, "input").is_input = true;
  } else {
    const onnx::Graph& graph = *body.graph;
    body.values.reserve(graph.inputs.size() + graph.initializers.size() + graph.nodes.size());
    for (const auto& input : graph.inputs) define_name(id, input->name, "input").is_input = true;
    // An initializer with the name of an input is that input's default value.
    const auto define_initializer = [&](Bytes name) -> Value& {
      const auto found = body.values.find(name);
      if (found == body.values.end()) return define_name(id, name, "initializer");
      if (found->second.initializer != kNone || found->second.is_sparse) {
        fail(body, fmt::format("initializer '{}' is defined twice", name));
      }
      return found->second;
    };
    for (std::size_t i = 0; i < graph.initializers.size(); ++i) {
      define_initializer(graph.initializers[i]->name).initializer = i;
    }
    for (const auto& sparse : graph.sparse_initializers)
      define_initializer(sparse->values->name).is_sparse = true;
  }
  const auto& nodes = body.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Bytes name : nodes[i]->outputs) {
      if (!name.empty()) define_name(id, name, "node output").producer = i;
    }
  }
}

void Index::add_children(std::size_t id) {
  const auto& nodes = bodies_[id].nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::string owner_path;
    for (std::size_t a = 0; a < nodes[i]->attributes.size(); ++a) {
      const auto& attribute = nodes[i]->attributes[a];
      if (attribute->graphs.empty()) continue;
      if (owner_path.empty()) {
        const std::string& around = bodies_[id].path;
        owner_path =
            shortened(fmt::format("{}{}{}", around, around.empty() ? "" : "/", node_label(*nodes[i], i)));
      }
      const std::string path = shortened(fmt::format("{}/{}", owner_path, attribute->name));
      for (std::size_t g = 0; g < attribute->graphs.size(); ++g) {
        Body child;
        child.graph = &**attribute->graphs[g];
        child.parent = id;
        child.owner = i;
        child.attribute = a;
        child.position = g;
        child.path = attribute->graphs.size() > 1 ? fmt::format("{}[{}]", path, g) : path;
        add_body(std::move(child));
      }
    }
  }
}

Index::Found Index::find(std::size_t body, Bytes name) const {
  count_step();
  for (; body != kNone; body = bodies_[body].parent) {
    const auto found = bodies_[body].values.find(name);
    if (found != bodies_[body].values.end()) return {&found->second, body};
  }
  return {};
}

std::size_t Index::root(std::size_t body) const {
  while (bodies_[body].parent != kNone) body = bodies_[body].parent;
  return body;
}

void Index::resolve(std::size_t id) {
  const Body& body = bodies_[id];
  const auto definition = [&](Bytes name, auto user) -> Value& {
    const Found found = find(id, name);
    if (found.value == nullptr) fail(body, fmt::format("{} uses '{}', which nothing defines", user(), name));
    return bodies_[found.body].values.find(name)->second;
  };
  const auto& nodes = body.nodes();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const onnx::Node& node = *nodes[n];
    const auto user = [&] { return fmt::format("node '{}'", node_label(node, n)); };
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].empty()) definition(node.inputs[i], user).uses.push_back({id, n, i});
    }
  }
  const auto output_list = [] { return "the list of outputs"; };
  if (body.function != nullptr) {
    for (const Bytes name : body.function->outputs) definition(name, output_list).is_output = true;
  } else {
    for (const auto& output : body.graph->outputs) definition(output->name, output_list).is_output = true;
  }
}

const onnx::Tensor* constant_tensor(const onnx::Node& node) {
  if (node.op() != Op::kConstant || !onnx::is_default_domain(node.domain())) return nullptr;
  const onnx::Attribute* attribute = onnx::find_attribute(node, "value");
  return attribute != nullptr && attribute->tensors.size() == 1 ? &*attribute->tensors[0] : nullptr;
}

std::optional<Constant> find_constant(const onnx::Model& model, const Index& index, std::size_t body,
                                      Bytes name) {
  if (name.empty()) return std::nullopt;
  const auto [value, home] = index.find(body, name);
  if (value == nullptr) return std::nullopt;
  const Body& owner = index.bodies()[home];
  if (value->initializer != kNone) {
    // Before IR 4 every initializer is listed as an input and cannot be overridden.
    if (value->is_input && model.proto->ir_version >= 4) return std::nullopt;
    if (!model.proto->training.empty()) return std::nullopt;
    return Constant{&*owner.graph->initializers[value->initializer], value, home};
  }
  if (value->producer == kNone) return std::nullopt;
  const onnx::Tensor* tensor = constant_tensor(*owner.nodes()[value->producer]);
  if (tensor == nullptr) return std::nullopt;
  return Constant{tensor, value, home};
}

Bytes input_of(const onnx::Node& node, std::size_t input) {
  return input < node.inputs.size() ? node.inputs[input] : Bytes();
}

std::int64_t opset_of(const onnx::Model& model, const Index& index, std::size_t body) {
  const Body& root = index.bodies()[index.root(body)];
  return onnx::opset_version(
      root.function != nullptr ? root.function->opset_imports : model.proto->opset_imports, "");
}

namespace {

// Ops that do not change the values of their first input.
bool passes_values(const onnx::Node& node) {
  return node.info().flow == ops::Flow::kMoves || node.op() == Op::kCast;
}

// The length of the axis that a Gather selects from, if its table is constant.
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

Names::Names(onnx::Model& model) : model_(model) {
  const onnx::ModelProto& proto = *model.proto;
  collect(*proto.graph);
  for (const auto& function : proto.functions) {
    taken_.insert(function->inputs.begin(), function->inputs.end());
    taken_.insert(function->outputs.begin(), function->outputs.end());
    collect(function->attribute_defaults);
    collect(function->nodes);
  }
  for (const auto& training : proto.training) {
    for (const auto& graph : training->initialization) collect(*graph);
    for (const auto& graph : training->algorithm) collect(*graph);
  }
}

void Names::collect(const onnx::Graph& graph) {
  for (const auto& tensor : graph.initializers) taken_.insert(tensor->name);
  for (const auto& sparse : graph.sparse_initializers) taken_.insert(sparse->values->name);
  for (const auto* list : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (const auto& info : *list) taken_.insert(info->name);
  }
  collect(graph.nodes);
}

void Names::collect(const std::vector<onnx::Kept<onnx::Node>>& nodes) {
  for (const auto& node : nodes) {
    taken_.insert(node->name);
    taken_.insert(node->inputs.begin(), node->inputs.end());
    taken_.insert(node->outputs.begin(), node->outputs.end());
    collect(node->attributes);
  }
}

void Names::collect(const std::vector<onnx::Kept<onnx::Attribute>>& attributes) {
  for (const auto& attribute : attributes) {
    for (const auto& graph : attribute->graphs) collect(**graph);
  }
}

onnx::Bytes Names::fresh(const std::string& prefix) {
  std::size_t& next = next_[prefix];
  while (true) {
    std::string name = prefix + std::to_string(next++);
    if (!taken_.contains(name)) {
      const onnx::Bytes kept = model_.intern(std::move(name));
      taken_.insert(kept);
      return kept;
    }
  }
}

namespace {

void check_parameters(const onnx::Node& node, std::size_t number, std::int64_t version,
                      const std::string& where) {
  if (!onnx::is_default_domain(node.domain())) return;
  const onnx::OpSchema* schema = onnx::find_op_schema({}, node.op_type(), version);
  if (schema == nullptr) return;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("node '{}' {}: it is no {} of opset {}", node_label(node, number), why,
                            node.op_type(), version),
                where);
  };
  for (std::size_t i = 0; i < schema->inputs.size(); ++i) {
    if (schema->needs(i) && (i >= node.inputs.size() || node.inputs[i].empty()))
      refuse(fmt::format("lacks its input {}", i));
  }
  if (!schema->takes(node.inputs.size())) refuse(fmt::format("has {} inputs", node.inputs.size()));
  if (node.outputs.size() < schema->least_outputs) refuse(fmt::format("has {} outputs", node.outputs.size()));
}

}  // namespace

void check_op_parameters(const onnx::Model& model, const Index& index) {
  const Functions functions(index);
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const Body& body = index.bodies()[id];
    const std::int64_t version = opset_of(model, index, id);
    for (std::size_t i = 0; i < body.nodes().size(); ++i) {
      const onnx::Node& node = *body.nodes()[i];
      if (functions.called_by(node) == kNone) check_parameters(node, i, version, body.path);
    }
  }
}

}  // namespace ounce::graph
