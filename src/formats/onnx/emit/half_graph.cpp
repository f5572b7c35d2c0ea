#include "formats/onnx/emit/half_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"
#include "formats/onnx/graph/shapes.h"
#include "kernels/half.h"

namespace ounce::passes {
namespace {

using graph::kNone;
using graph::Value;
using plan::HalfNode;
using plan::HalfPlan;

class HalfGraph {
 public:
  HalfGraph(Editors& editors, const onnx::Model& source, const graph::Index& index, const plan::Plan& plan)
      : editors_(editors), source_(source), index_(index), plan_(plan), half_(plan.half) {}

  std::vector<Stored> make() {
    std::vector<Stored> stored = change_constants();
    rename_outputs();
    for (const HalfNode& node : half_.nodes) change_node(node);
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) change_outputs(body);
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) change_types(body);
    return stored;
  }

 private:
  bool is_half(const Value* value) const { return half_.halves.contains(value); }

  std::vector<Stored> change_constants() {
    std::vector<Stored> stored;
    for (std::size_t i = 0; i < plan_.decisions.size(); ++i) {
      const plan::Decision& decision = plan_.decisions[i];
      if (!decision.is_stored()) continue;
      onnx::Tensor tensor = std::move(stored_tensors(source_, decision).front().tensor);
      tensor.dims = decision.weight.dims;
      editors_.of(decision.weight.graph).change_tensor(*decision.place.value, std::move(tensor));
      stored.push_back({i, {decision.weight.name, {}, {}}});
    }
    return stored;
  }

  // An output of the model keeps its name and type. If its value changes its type, the value gets a new name
  // and the output becomes its Cast.
  void rename_outputs() {
    for (const auto& output : index_.main().graph->outputs) {
      const auto found = index_.main().values.find(output->name);
      if (found == index_.main().values.end()) continue;
      const Value& value = found->second;
      const bool wants_half = half_.half_outputs.contains({0, output->name});
      const bool is_changed = half_.floats.contains(&value) && is_half(&value) != wants_half;
      if (!is_changed || value.producer == kNone || own_names_.contains(&value)) continue;
      BodyEditor& editor = editors_.of(0);
      const Bytes own = editor.names().fresh("v");
      auto& outputs = editor.edit_node(value.producer).outputs;
      std::replace(outputs.begin(), outputs.end(), Bytes(output->name), own);
      own_names_[&value] = own;
      casts_[&value] = output->name;
      add_cast(0, value, own, output->name);
    }
  }

  void change_node(const HalfNode& half) {
    const onnx::Node& node = *index_.bodies()[half.body].nodes()[half.position];
    std::vector<Bytes> inputs = node.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].empty()) inputs[i] = name_in_type(half.body, inputs[i], half.inputs[i]);
    }
    BodyEditor& editor = editors_.of(half.body);
    if (inputs != node.inputs) editor.edit_node(half.position).inputs = std::move(inputs);
    if (!half.outputs.empty() && half.outputs[0]) change_own_type(half, node);
  }

  // Nodes with an attribute for their output type.
  void change_own_type(const HalfNode& half, const onnx::Node& node) {
    BodyEditor& editor = editors_.of(half.body);
    const std::size_t position = half.position;
    if (node.op() == Op::kCast) {
      for (auto& attribute : editor.edit_node(position).attributes) {
        if (attribute->name == "to")
          attribute.edit() =
              onnx::make_integer_attribute(editor.model(), "to", static_cast<std::int64_t>(half_.type));
      }
    } else if (node.op() == Op::kConstantOfShape) {
      for (auto& attribute : editor.edit_node(position).attributes) {
        if (attribute->name == "value" && attribute->tensors.size() == 1)
          attribute.edit() = onnx::make_tensor_attribute(
              editor.model(), "value",
              as_half(*attribute->tensors[0], index_.find(half.body, node.outputs[0]).value));
      }
    }
  }

  // The fill value of a ConstantOfShape.
  onnx::Tensor as_half(const onnx::Tensor& tensor, const Value* given) const {
    const onnx::RawValues values(tensor);
    float value = 0;
    std::memcpy(&value, values.bytes().data(), sizeof value);
    const auto limit = half_.limits.find(given);
    if (limit != half_.limits.end()) value = std::clamp(value, -limit->second, limit->second);
    std::uint16_t bits = 0;
    kernels::HalfStats stats;
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    (half_.type == ElementType::kBfloat16 ? kernels::f32_to_bf16 : kernels::f32_to_f16)(from, 1, &bits,
                                                                                        stats);
    return make_tensor(half_.type, tensor.dims,
                       std::string(reinterpret_cast<const char*>(&bits), sizeof bits));
  }

  // The name of a value in the requested type; adds a Cast on first use.
  Bytes name_in_type(std::size_t body, Bytes name, bool wants_half) {
    const auto [value, home] = index_.find(body, name);
    if (value == nullptr || !half_.floats.contains(value)) return name;
    const auto own = own_names_.find(value);
    const Bytes own_name = own == own_names_.end() ? name : own->second;
    if (is_half(value) == wants_half) return own_name;
    const auto [cast, is_new] = casts_.try_emplace(value);
    if (is_new) {
      cast->second = editors_.of(home).names().fresh("v");
      add_cast(home, *value, own_name, cast->second);
    }
    return cast->second;
  }

  // A function without ops of ONNX's own domain must import the domain for the Cast.
  void import_casts(std::size_t body) {
    const std::size_t root = index_.root(body);
    if (index_.bodies()[root].function == nullptr) return;
    const auto version = onnx::opset_version(source_.proto->opset_imports, "");
    auto& imports = editors_.of(root).edit_function().opset_imports;
    if (onnx::opset_version(imports, "") != 0) return;
    onnx::OpsetImport import;
    import.version = version;
    imports.emplace_back(std::move(import));
  }

  void add_cast(std::size_t body, const Value& value, Bytes from, Bytes to) {
    import_casts(body);
    const std::size_t place = value.producer == kNone ? BodyEditor::kFront : value.producer + 1;
    Chain(editors_.of(body), place, from).cast(is_half(&value) ? ElementType::kFloat : half_.type).finish(to);
  }

  // Outputs of bodies are matched by position, so they may be renamed.
  void change_outputs(std::size_t id) {
    const graph::Body& body = index_.bodies()[id];
    if (id == 0) return;
    const auto wanted = [&](Bytes name) {
      return name.empty() ? name : name_in_type(id, name, half_.half_outputs.contains({id, name}));
    };
    if (body.function != nullptr) {
      auto& outputs = editors_.of(id).edit_function().outputs;
      for (Bytes& name : outputs) name = wanted(name);
      return;
    }
    for (std::size_t i = 0; i < body.graph->outputs.size(); ++i) {
      const Bytes old = body.graph->outputs[i]->name, name = wanted(old);
      if (name != old) editors_.of(id).edit_graph().outputs[i].edit().name = name;
    }
  }

  // Updates the declared types of values that changed.
  void change_types(std::size_t id) {
    const graph::Body& body = index_.bodies()[id];
    if (body.graph == nullptr) return;
    BodyEditor& editor = editors_.of(id);
    const auto change = [&](const onnx::ValueInfo& info, auto infos, std::size_t i, bool becomes_half) {
      const onnx::ValueType type = onnx::read_type(info.type);
      if (!becomes_half || type.kind != "tensor" || type.element != ElementType::kFloat) return;
      onnx::ValueInfo& edited = (editor.edit_graph().*infos)[i].edit();
      edited.type = onnx::with_element(editor.model(), edited.type, half_.type);
    };
    const auto is_half_here = [&](Bytes name) {  // `name` may already be the name of a Cast
      const auto found = body.values.find(name);
      if (found == body.values.end()) return false;
      return is_half(&found->second) != own_names_.contains(&found->second);
    };
    for (std::size_t i = 0; i < body.graph->inputs.size(); ++i)
      change(*body.graph->inputs[i], &onnx::Graph::inputs, i, is_half_here(body.graph->inputs[i]->name));
    for (std::size_t i = 0; i < body.graph->value_infos.size(); ++i)
      change(*body.graph->value_infos[i], &onnx::Graph::value_infos, i,
             is_half_here(body.graph->value_infos[i]->name));
    for (std::size_t i = 0; i < body.graph->outputs.size(); ++i)
      change(*body.graph->outputs[i], &onnx::Graph::outputs, i,
             half_.half_outputs.contains({id, body.graph->outputs[i]->name}));
  }

  Editors& editors_;
  const onnx::Model& source_;
  const graph::Index& index_;
  const plan::Plan& plan_;
  const HalfPlan& half_;
  std::unordered_map<const Value*, Bytes> own_names_;  // new names of values whose name an output took
  std::unordered_map<const Value*, Bytes> casts_;      // values in their other type
};

}  // namespace

std::vector<Stored> make_half_graph(Editors& editors, const onnx::Model& source, const graph::Index& index,
                                    const plan::Plan& plan) {
  return HalfGraph(editors, source, index, plan).make();
}

namespace {

using graph::kNone;
using graph::Value;

// Attributes of ONNX's own ops that determine the type of computation or output.
constexpr auto kTypeAttributes = std::to_array<std::string_view>(
    {"dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type"});

bool states_type(const onnx::Node& node, Bytes attribute, ElementType type) {
  return std::find(kTypeAttributes.begin(), kTypeAttributes.end(), attribute) != kTypeAttributes.end() &&
         onnx::integer_attribute(node, attribute) == static_cast<std::int64_t>(type);
}

onnx::Tensor widened(const onnx::Tensor& tensor) {
  const onnx::RawValues values(tensor);
  std::vector<float> floats(values.bytes().size() / sizeof(std::uint16_t));
  (tensor.type == ElementType::kBfloat16 ? kernels::bf16_to_f32 : kernels::f16_to_f32)(
      reinterpret_cast<const std::byte*>(values.bytes().data()), floats.size(), floats.data());
  return float_tensor(tensor.dims, floats);
}

class Emulation {
 public:
  Emulation(onnx::Model& model, ElementType half)
      : model_(model),
        half_(half),
        index_(model),
        types_(model, index_),
        functions_(index_),
        editors_(model, index_) {}

  void run() {
    // Outputs first: a value must be rounded before it is widened at the same position.
    for_each_computing([&](auto... node) { round_outputs(node...); });
    for_each_computing([&](auto... node) { widen_inputs(node...); });
    for_each_computing([&](auto... node) { change_attributes(node...); });
    editors_.finish();
  }

 private:
  template <class Visit>
  void for_each_computing(Visit visit) const {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (!keeps_types(node)) visit(body, position, &node);
    });
  }

  bool keeps_types(const onnx::Node& node) const {
    return node.op() == Op::kCast || node.op() == Op::kConstant || functions_.are_called_by(node) ||
           std::any_of(node.attributes.begin(), node.attributes.end(),
                       [](const auto& attribute) { return !attribute->graphs.empty(); });
  }

  bool is_half(std::size_t body, Bytes name) const { return types_.type(body, name) == half_; }

  void round_outputs(std::size_t body, std::size_t position, const onnx::Node* node) {
    for (std::size_t i = 0; i < node->outputs.size(); ++i) {
      const Bytes name = node->outputs[i];
      if (!is_half(body, name)) continue;
      BodyEditor& editor = editors_.of(body);
      const Bytes exact = editor.names().fresh("v");
      editor.edit_node(position).outputs[i] = exact;
      Chain(editor, position + 1, exact).cast(half_).finish(name);
    }
  }

  void widen_inputs(std::size_t body, std::size_t position, const onnx::Node* node) {
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const Bytes name = node->inputs[i];
      if (is_half(body, name)) editors_.of(body).edit_node(position).inputs[i] = widened_name(body, name);
    }
  }

  // The name of a value in float32; adds a Cast on first use.
  Bytes widened_name(std::size_t body, Bytes name) {
    const auto [value, home] = index_.find(body, name);
    const auto [entry, is_new] = widened_.try_emplace(value);
    if (is_new) {
      const std::size_t place = value->producer == kNone ? BodyEditor::kFront : value->producer + 1;
      entry->second = Chain(editors_.of(home), place, name).cast(ElementType::kFloat).value();
    }
    return entry->second;
  }

  void change_attributes(std::size_t body, std::size_t position, const onnx::Node* node) {
    if (!onnx::is_default_domain(node->domain())) return;
    for (std::size_t a = 0; a < node->attributes.size(); ++a) {
      const onnx::Attribute& attribute = *node->attributes[a];
      const auto change = [&](onnx::Attribute changed) {
        editors_.of(body).edit_node(position).attributes[a].edit() = std::move(changed);
      };
      const bool is_value = node->op() == Op::kConstantOfShape && attribute.tensors.size() == 1;
      if (states_type(*node, attribute.name, half_)) {
        change(onnx::make_integer_attribute(model_, attribute.name,
                                            static_cast<std::int64_t>(ElementType::kFloat)));
      } else if (is_value && attribute.tensors[0]->type == half_) {
        change(onnx::make_tensor_attribute(model_, attribute.name, widened(*attribute.tensors[0])));
      }
    }
  }

  onnx::Model& model_;
  const ElementType half_;
  const graph::Index index_;
  const graph::ElementTypes types_;
  const graph::Functions functions_;
  Editors editors_;
  std::unordered_map<const Value*, Bytes> widened_;
};

}  // namespace

void emulate_halves(onnx::Model& model, ElementType half) { Emulation(model, half).run(); }

}  // namespace ounce::passes
