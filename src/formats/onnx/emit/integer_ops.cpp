#include "formats/onnx/emit/integer_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "base/json_text.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/emit/decoder.h"
#include "formats/onnx/emit/dynamic_ops.h"
#include "formats/onnx/emit/static_ops.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/plan/op_rules.h"
#include "formats/onnx/view/onnx_file.h"
#include "recipe/format_info.h"

namespace ounce::passes {
namespace {

// The declared rank. The plan uses per-channel scales only for inputs with channels.
std::size_t rank_of_input(const graph::Index& index, Bytes name) {
  for (const auto& input : index.main().graph->inputs) {
    if (input->name == name) return std::max<std::size_t>(2, onnx::read_type(input->type).shape.size());
  }
  return 2;
}

}  // namespace

using graph::kNone;

QuantizedValues::QuantizedValues(Editors& editors, const graph::Index& index, const plan::IntegerPlan& plan,
                                 bool makes_codes)
    : editors_(editors), index_(index), plan_(plan) {
  for (const plan::IntegerPort& port : plan.ports) ports_.emplace(port.value, &port);
  for (const auto& [key, quantization] : plan.activations) values_[key].quantization = &quantization;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const plan::NodeDecision& decision = plan.nodes[i];
    if (decision.arithmetic != plan::Arithmetic::kStatic) continue;  // dynamic nodes have FP32 ports
    integer_nodes_.emplace(std::pair{decision.body, decision.node}, &decision);
    if (!decision.gives_codes) continue;
    Coded& coded = values_.at({decision.body, decision.output});
    coded.maker = i;
    if (!decision.is_rescale_only) continue;
    for (const Bytes input : index.bodies()[decision.body].nodes()[decision.node]->inputs) {
      const auto found = values_.find(key_of(decision.body, input));
      if (found != values_.end()) coded.read_from = &found->second;
    }
  }
  for (auto& [key, coded] : values_) {
    if (coded.read_from == nullptr) add_coding(key, coded, makes_codes);
  }
  for (auto& [key, coded] : values_) {
    if (coded.read_from != nullptr) add_reading(key, coded);
  }
}

// Reuses quantized values: no node computes them; FP32 users dequantize them with this scale and zero point.
void QuantizedValues::add_reading(const plan::ValueKey& key, Coded& coded) {
  Coded* from = coded.read_from;
  while (from->read_from != nullptr) from = from->read_from;
  // Path compression, for later lookups along this chain.
  for (Coded* at = &coded; at != from;) at = std::exchange(at->read_from, from);
  coded.codes = from->codes;
  if (has_float_uses(key))
    add(key.first, plan_.nodes[coded.maker].node, Op::kDequantizeLinear, coded.codes, *coded.quantization,
        key.second);
}

const plan::ScalarOperand* QuantizedValues::number(std::size_t body, Bytes name) const {
  const auto found = plan_.numbers.find(key_of(body, name));
  return found == plan_.numbers.end() ? nullptr : &found->second;
}

Bytes QuantizedValues::codes(std::size_t body, Bytes name, const plan::ScalarOperand& number) {
  // The operand keeps its shape, because broadcasting may depend on it.
  const auto [value, home] = index_.find(body, name);
  const graph::Body& where = index_.bodies()[home];
  const onnx::Tensor& old = value->initializer != kNone
                                ? *where.graph->initializers[value->initializer]
                                : *graph::constant_tensor(*where.nodes()[value->producer]);
  const bool is_byte = info_of(number.quantization.type).bits == 8;
  onnx::Tensor tensor = is_byte ? scalar(number.quantization.type, static_cast<std::uint8_t>(number.code))
                                : scalar(number.quantization.type, static_cast<std::uint16_t>(number.code));
  tensor.dims = old.dims;
  return editors_.of(body).add_shared(fmt::format("number {} {} {}", name_of(number.quantization.type),
                                                  number.code, fmt::join(old.dims, ",")),
                                      std::move(tensor));
}

Bytes QuantizedValues::decode(std::size_t body, Bytes name, const plan::ScalarOperand& number,
                              std::size_t place) {
  const Bytes floats = editors_.of(body).names().fresh("v");
  add(body, place, Op::kDequantizeLinear, codes(body, name, number), number.quantization, floats);
  return floats;
}

plan::ValueKey QuantizedValues::key_of(std::size_t body, Bytes name) const {
  return {index_.find(body, name).body, name};
}

bool QuantizedValues::has_float_uses(const plan::ValueKey& key) const {
  const graph::Value& value = *index_.find(key.first, key.second).value;
  if (value.is_output) return true;
  return std::any_of(value.uses.begin(), value.uses.end(), [&](const graph::Use& use) {
    const auto found = integer_nodes_.find({use.body, use.node});
    return found == integer_nodes_.end() ||
           use.input >= found->second->op->activations(index_.node(use).inputs.size());
  });
}

void QuantizedValues::add_coding(const plan::ValueKey& key, Coded& coded, bool makes_codes) {
  const auto& [body, name] = key;
  graph::Names& names = editors_.of(body).names();
  const bool has_maker = coded.maker != kNone;
  const auto port_of_value = ports_.find(key);
  const plan::IntegerPort* port = port_of_value == ports_.end() ? nullptr : port_of_value->second;
  const bool is_port = port != nullptr && port->is_activation;  // the quantized values have the port's name
  coded.codes = is_port ? name : names.fresh("q");
  if (is_port && port->is_input) return;
  const std::size_t producer =
      has_maker ? plan_.nodes[coded.maker].node : index_.find(body, name).value->producer;
  const std::size_t place = producer == kNone ? BodyEditor::kFront : producer + 1;
  coded.floats = has_maker ? names.fresh("v") : name;
  if (port != nullptr && port->is_input) coded.floats = floats_of_raw(*port);
  if (!has_maker || !makes_codes)
    add(body, place, Op::kQuantizeLinear, coded.floats, *coded.quantization, coded.codes);
  if (has_maker && !is_port && has_float_uses(key))
    add(body, place, Op::kDequantizeLinear, coded.codes, *coded.quantization, name);
}

// raw ─ Cast ─ Mul(scales) ─ Add(offsets)
Bytes QuantizedValues::floats_of_raw(const plan::IntegerPort& port) {
  BodyEditor& editor = editors_.of(port.value.first);
  std::vector<float> offsets;
  for (std::size_t c = 0; c < port.scales.size(); ++c) offsets.push_back(-port.zeros[c] * port.scales[c]);
  const auto constant = [&](const std::vector<float>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    std::vector<std::int64_t> dims;
    if (count > 1) {
      dims.assign(rank_of_input(index_, port.value.second), 1);
      dims[1] = count;
    }
    return editor.add_tensor(BodyEditor::kFront, float_tensor(dims, values));
  };
  Chain chain(editor, BodyEditor::kFront, port.value.second);
  chain.cast(ElementType::kFloat).node(Op::kMul, {constant(port.scales)});
  return chain.node(Op::kAdd, {constant(offsets)}).value();
}

Bytes QuantizedValues::floats_behind(const plan::NodeDecision& decision) const {
  return values_.at({decision.body, decision.output}).floats;
}

Bytes QuantizedValues::codes(std::size_t body, Bytes name) const {
  return values_.at(key_of(body, name)).codes;
}

const plan::ActivationQuantization& QuantizedValues::quantization(std::size_t body, Bytes name) const {
  return *values_.at(key_of(body, name)).quantization;
}

Bytes QuantizedValues::decode(std::size_t body, Bytes name, std::size_t place) {
  const Coded& coded = values_.at(key_of(body, name));
  const Bytes floats = editors_.of(body).names().fresh("v");
  add(body, place, Op::kDequantizeLinear, coded.codes, *coded.quantization, floats);
  return floats;
}

Bytes QuantizedValues::scale(std::size_t body, const plan::ActivationQuantization& quantization) {
  return editors_.of(body).add_shared(
      fmt::format("scale {}", std::bit_cast<std::uint32_t>(quantization.scale)),
      scalar(ElementType::kFloat, quantization.scale));
}

Bytes QuantizedValues::zero(std::size_t body, const plan::ActivationQuantization& quantization) {
  const auto type = quantization.type;
  onnx::Tensor tensor = info_of(type).bits == 8 ? scalar(type, static_cast<std::uint8_t>(quantization.zero))
                                                : scalar(type, static_cast<std::uint16_t>(quantization.zero));
  return editors_.of(body).add_shared(fmt::format("zero {} {}", name_of(type), quantization.zero),
                                      std::move(tensor));
}

void QuantizedValues::add(std::size_t body, std::size_t place, Op op, Bytes from,
                          const plan::ActivationQuantization& quantization, Bytes to) {
  onnx::Node node;
  node.set_op(op);
  node.inputs = {from, scale(body, quantization), zero(body, quantization)};
  node.outputs = {to};
  editors_.of(body).add_node(place, std::move(node));
}

void put_integer_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     const std::vector<Stored>& stored) {
  if (!plan.recipe.is_integer()) return;
  IntegerParameters parameters(editors, index, plan, stored);
  if (is_static(plan.recipe.format)) {
    const bool is_qdq = plan.recipe.integer.dialect == Dialect::kQdq;
    (is_qdq ? put_static_qdq : put_static_qoperator)(editors, index, plan, parameters);
  }
  // After the static nodes, because dynamic nodes may read their outputs.
  put_dynamic_ops(editors, index, plan, parameters);
}

IntegerParameters::IntegerParameters(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                                     const std::vector<Stored>& stored)
    : editors_(editors), index_(index) {
  for (const Stored& weight : stored) {
    const plan::Decision& decision = plan.decisions[weight.decision];
    if (!decision.is_of_integer_op()) continue;
    Parameter& parameter = parameters_[{decision.weight.graph, decision.weight.name}];
    parameter = {&decision, weight.names.codes, {}};
    if (!weight.names.scales.empty())
      parameter.scales =
          float_scales(editors.of(decision.weight.graph), place(decision), decision, weight.names);
  }
}

std::size_t IntegerParameters::place(const plan::Decision& decision) {
  return decision.place.constant != graph::kNone ? decision.place.constant : BodyEditor::kFront;
}

Bytes IntegerParameters::zeros(std::size_t body, const Parameter& weight, Zeros how) {
  const plan::Decision& decision = *weight.decision;
  const std::vector<std::int64_t> dims =
      how == Zeros::kSingle ? std::vector<std::int64_t>() : decision.scale_dims;
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  const bool is_packed = decision.is_packed();  // packed weights have zero point 0
  const bool is_signed = decision.format.sign == kernels::CodeSign::kSigned;
  const auto type = is_packed ? ElementType::kInt4 : is_signed ? ElementType::kInt8 : ElementType::kUint8;
  std::string bytes(is_packed ? (count + 1) / 2 : count,
                    static_cast<char>(static_cast<std::uint8_t>(decision.format.zero)));
  return editors_.of(body).add_shared(fmt::format("zeros {} {}", name_of(type), fmt::join(dims, ",")),
                                      make_tensor(type, dims, std::move(bytes)));
}

const Parameter* IntegerParameters::find(std::size_t body, Bytes name) const {
  if (name.empty()) return nullptr;
  const auto found = parameters_.find({index_.find(body, name).body, name});
  return found == parameters_.end() ? nullptr : &found->second;
}

namespace {

using graph::kNone;
using onnx::Bytes;
using plan::IntegerKind;

bool has_weight(const onnx::Node& node) {
  const plan::IntegerForm* op = plan::find_static_form(node);
  return (op != nullptr && op->has_weight()) || node.op() == Op::kConvTranspose;
}

// The number of a node's inputs that are activations; 0 if quantized values cannot pass.
std::size_t codes_through(const onnx::Node& node) {
  if (node.info().is_clamp() || node.info().static8.kind == IntegerKind::kComposite) return 1;
  const plan::IntegerForm* op = plan::find_static_form(node);
  return op == nullptr ? 0 : op->activations(node.inputs.size());
}

bool is_constant(const graph::Index& index, const graph::Index::Found& found) {
  if (found.value->initializer != kNone) return true;
  return found.value->producer != kNone &&
         index.bodies()[found.body].nodes()[found.value->producer]->op() == Op::kConstant;
}

bool gives_codes(const graph::Index& index, std::size_t body, Bytes name, int& steps_left) {
  const auto found = index.find(body, name);
  if (found.value == nullptr || found.value->producer == kNone || steps_left-- <= 0) return false;
  const onnx::Node& node = *index.bodies()[found.body].nodes()[found.value->producer];
  if (has_weight(node)) return node.op() != Op::kMatMul;
  const std::size_t count = std::min(codes_through(node), node.inputs.size());
  bool takes_codes = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto input = index.find(found.body, node.inputs[i]);
    if (input.value == nullptr) return false;
    if (is_constant(index, input)) continue;
    if (!gives_codes(index, found.body, node.inputs[i], steps_left)) return false;
    takes_codes = true;
  }
  return takes_codes;
}

bool wants_codes(const graph::Index& index, std::size_t body, Bytes name, int& steps_left) {
  const auto found = index.find(body, name);
  if (found.value == nullptr) return false;
  return std::any_of(found.value->uses.begin(), found.value->uses.end(), [&](const graph::Use& use) {
    const onnx::Node& node = index.node(use);
    if (has_weight(node)) return use.input == 0;
    const bool goes_on = use.input < codes_through(node) && node.outputs.size() == 1 && steps_left-- > 0;
    return goes_on && wants_codes(index, use.body, node.outputs[0], steps_left);
  });
}

}  // namespace

bool comes_from_codes(const graph::Index& index, std::size_t body, Bytes name) {
  int steps_left = plan::kLongestSearch;
  return gives_codes(index, body, name, steps_left);
}

bool leads_to_integers(const graph::Index& index, std::size_t body, Bytes name) {
  int steps_left = plan::kLongestSearch;
  return wants_codes(index, body, name, steps_left);
}

bool stands_between_integers(const graph::Index& index, std::size_t body, const onnx::Node& node) {
  return !node.inputs.empty() && node.outputs.size() == 1 && !node.outputs[0].empty() &&
         comes_from_codes(index, body, node.inputs[0]) && leads_to_integers(index, body, node.outputs[0]);
}

namespace {

using Json = nlohmann::ordered_json;

void declare(onnx::Model& model, std::vector<onnx::Kept<onnx::ValueInfo>>& values,
             const std::map<onnx::Bytes, ElementType>& types) {
  for (auto& value : values) {
    const auto found = types.find(value->name);
    if (found != types.end()) value.edit().type = onnx::with_element(model, value->type, found->second);
  }
}

}  // namespace

void declare_ports(onnx::Model& model, const std::vector<plan::IntegerPort>& ports) {
  if (ports.empty()) return;
  std::map<onnx::Bytes, ElementType> types;
  Json json = {{"inputs", Json::object()}, {"outputs", Json::object()}};
  for (const plan::IntegerPort& port : ports) {
    types.emplace(port.value.second, port.type);
    json[port.is_input ? "inputs" : "outputs"][std::string(port.value.second)] = {
        {"type", name_of(port.type)},
        {"scale", port.scales},
        {"zero_point", port.zeros},
        {"raw", port.is_raw}};
  }
  onnx::Graph& graph = model.proto.edit().graph.edit();
  declare(model, graph.inputs, types);
  declare(model, graph.outputs, types);
  onnx::set_metadata(model, onnx::kPortsKey, json_text(json));
}

}  // namespace ounce::passes
