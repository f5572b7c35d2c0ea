#include "passes/node_upgrade.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <cstring>

#include "kernels/half.h"
#include "onnx/attributes.h"
#include "onnx/settings.h"
#include "passes/constants.h"

namespace ounce::passes {
namespace {

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

using Narrow = void (*)(const std::byte*, std::size_t, std::uint16_t*, kernels::HalfStats&);

std::string narrow_bytes(float number, Narrow narrow) {
  std::uint16_t bits = 0;
  kernels::HalfStats stats;
  narrow(reinterpret_cast<const std::byte*>(&number), 1, &bits, stats);
  return bytes_of(bits);
}

std::optional<std::string> bytes_as(ElementType type, float number) {
  switch (type) {
    case ElementType::kFloat: return bytes_of(number);
    case ElementType::kDouble: return bytes_of(double{number});
    case ElementType::kFloat16: return narrow_bytes(number, kernels::f32_to_f16);
    case ElementType::kBfloat16: return narrow_bytes(number, kernels::f32_to_bf16);
    default: return std::nullopt;
  }
}

}  // namespace

NodeUpgrade::NodeUpgrade(BodyEditor& editor, const graph::Index& index, const ValueTypes& types,
                         std::size_t body, std::size_t position)
    : editor_(editor), index_(index), types_(types), body_(body), position_(position) {
  const onnx::Node& old = editor.node(position);
  made_.name = old.name;
  made_.op_type = old.op_type;
  made_.domain = old.domain;
  made_.inputs = old.inputs;
  made_.outputs = old.outputs;
  made_.carried = old.carried;
  for (const auto& attribute : old.attributes) {
    has_body_ |= !attribute->graphs.empty();
    if (attribute->graphs.empty()) made_.attributes.push_back(copy_of(attribute));
  }
}

void NodeUpgrade::refuse(const std::string& why) const {
  throw Error(ErrorCode::kUnsupported, "the model cannot be brought to a newer opset: " + why,
              fmt::format("{} ({})", place_of(index_, body_, position_), editor_.node(position_).op_type));
}

bool NodeUpgrade::has(Bytes attribute) const { return onnx::find_attribute(made_, attribute) != nullptr; }

namespace {

template <class T>
T known(const NodeUpgrade& upgrade, Bytes attribute, std::optional<T> value) {
  if (!value) upgrade.refuse(fmt::format("its attribute '{}' has no value here; export it anew", attribute));
  return *std::move(value);
}

}  // namespace

std::int64_t NodeUpgrade::integer(Bytes attribute, std::int64_t otherwise) const {
  return known(*this, attribute, integer_setting(made_, attribute, otherwise));
}
float NodeUpgrade::number(Bytes attribute, float otherwise) const {
  return known(*this, attribute, float_setting(made_, attribute, otherwise));
}
std::string NodeUpgrade::text(Bytes attribute, const char* otherwise) const {
  return std::string(known(*this, attribute, string_setting(made_, attribute, otherwise)));
}
std::vector<std::int64_t> NodeUpgrade::integers(Bytes attribute) const {
  return known(*this, attribute, onnx::integers_attribute(made_, attribute));
}
std::vector<float> NodeUpgrade::numbers(Bytes attribute) const {
  return known(*this, attribute, floats_setting(made_, attribute));
}

const onnx::Tensor* NodeUpgrade::constant(Bytes value) const {
  const auto found = find_constant(editor_.model(), index_, body_, value);
  return found ? found->tensor : nullptr;
}

bool NodeUpgrade::is_used(std::size_t output) const {
  if (output >= made_.outputs.size() || made_.outputs[output].empty()) return false;
  const graph::Value* value = index_.find(body_, made_.outputs[output]).value;
  return value != nullptr && (value->is_output || !value->uses.empty());
}

void NodeUpgrade::set_op(Bytes op_type) {
  made_.op_type = op_type;
  is_changed_ = true;
}

void NodeUpgrade::drop(Bytes attribute) {
  is_changed_ |=
      std::erase_if(made_.attributes, [&](const auto& entry) { return entry->name == attribute; }) != 0;
}

void NodeUpgrade::set_integer(Bytes attribute, std::int64_t value) {
  drop(attribute);
  made_.attributes.emplace_back(onnx::make_integer_attribute(editor_.model(), attribute, value));
  is_changed_ = true;
}

void NodeUpgrade::set_text(Bytes attribute, const std::string& value) {
  drop(attribute);
  made_.attributes.emplace_back(onnx::make_string_attribute(editor_.model(), attribute, value));
  is_changed_ = true;
}

void NodeUpgrade::set_input(std::size_t input, Bytes name) {
  if (made_.inputs.size() <= input) made_.inputs.resize(input + 1, Bytes(""));
  made_.inputs[input] = name;
  is_changed_ = true;
}

void NodeUpgrade::drop_outputs_from(std::size_t output) {
  if (made_.outputs.size() <= output) return;
  made_.outputs.resize(output);
  is_changed_ = true;
}

Bytes NodeUpgrade::add_integers(const std::vector<std::int64_t>& values) {
  return editor_.add_integers(position_, values);
}

Bytes NodeUpgrade::add_integer(std::int64_t value) {
  return editor_.add_tensor(position_, make_tensor(ElementType::kInt64, {}, bytes_of(value)));
}

Bytes NodeUpgrade::add_numbers(const std::vector<float>& values) {
  return editor_.add_tensor(position_, float_tensor({static_cast<std::int64_t>(values.size())}, values));
}

Bytes NodeUpgrade::add_number_like(Bytes value, float number) {
  const auto type = types_.float_type(body_, value);
  if (!type) {
    refuse(fmt::format("the type of '{}' is not declared and the model has several; infer its types first",
                       value));
  }
  auto bytes = bytes_as(*type, number);
  if (!bytes) refuse(fmt::format("'{}' is not of a float type", value));
  return editor_.add_tensor(position_, make_tensor(*type, {}, *std::move(bytes)));
}

Bytes NodeUpgrade::add_in_front(Bytes op_type, Bytes input,
                                const std::vector<std::pair<Bytes, std::int64_t>>& attributes) {
  onnx::Node node;
  node.op_type = op_type;
  node.inputs = {input};
  node.outputs = {editor_.names().fresh("v")};
  for (const auto& [name, value] : attributes)
    node.attributes.emplace_back(onnx::make_integer_attribute(editor_.model(), name, value));
  return in_front_.emplace_back(std::move(node)).outputs[0];
}

void NodeUpgrade::add_behind(Bytes op_type, Bytes second) {
  const Bytes between = editor_.names().fresh("v");
  onnx::Node node;
  node.op_type = op_type;
  node.inputs = {between, second};
  node.outputs = made_.outputs;
  made_.outputs = {between};
  behind_.insert(behind_.begin(), std::move(node));
  is_changed_ = true;
}

void NodeUpgrade::finish() {
  if (has_body_) refuse("it holds a subgraph, which is no part of this op; export the model anew");
  editor_.replace_node(position_);
  for (onnx::Node& node : in_front_) editor_.add_node(position_, std::move(node));
  editor_.add_node(position_, std::move(made_));
  for (onnx::Node& node : behind_) editor_.add_node(position_, std::move(node));
}

}  // namespace ounce::passes
