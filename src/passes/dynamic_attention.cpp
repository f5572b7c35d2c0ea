#include "passes/dynamic_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "onnx/attributes.h"
#include "onnx/settings.h"
#include "passes/constants.h"

namespace ounce::passes {
namespace {

constexpr std::int64_t kDynamicOpset = 11;

// Inputs of Attention, by their place.
enum Input : std::size_t { kWeight = 1, kBias = 2, kMask = 3, kPast = 4, kOthers = 5 };

constexpr std::array<std::string_view, 4> kAttributes = {"mask_filter_value", "num_heads", "scale",
                                                         "unidirectional"};
// They say nothing as long as they are 0, or absent.
constexpr std::array<std::string_view, 2> kOff = {"do_rotary", "past_present_share_buffer"};
// Of no use without do_rotary; where the sizes are all the same, the weight says them.
constexpr std::array<std::string_view, 2> kNeedless = {"rotary_embedding_dim", "qkv_hidden_sizes"};

template <class List>
bool has(const List& list, Bytes name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string why_not_attributes(const onnx::Node& node) {
  for (const auto& attribute : node.attributes) {
    const Bytes name = attribute->name;
    if (!has(kAttributes, name) && !has(kOff, name) && !has(kNeedless, name))
      return fmt::format("its attribute '{}' is not known to QAttention", name);
    if (has(kOff, name) && integer_setting(node, name, 0) != 0)
      return fmt::format("QAttention has no {}", name);
  }
  if (onnx::find_attribute(node, "qkv_hidden_sizes") == nullptr) return {};
  const auto sizes = onnx::integers_attribute(node, "qkv_hidden_sizes");
  const bool are_alike = sizes && std::all_of(sizes->begin(), sizes->end(),
                                              [&](std::int64_t size) { return size == sizes->front(); });
  return are_alike ? "" : "its queries, keys and values differ in size (qkv_hidden_sizes)";
}

std::string why_not_inputs(const onnx::Node& node) {
  if (input_of(node, kBias).empty()) return "it has no bias, which QAttention needs";
  for (std::size_t i = kOthers; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].empty()) return fmt::format("QAttention has no place for its input {}", i);
  }
  return {};
}

std::string why_not_weight(const onnx::Node& node, const std::optional<Constant>& weight) {
  if (!weight) return "its weight is computed while the model runs";
  const onnx::Tensor& tensor = *weight->tensor;
  if (tensor.type != onnx::ElementType::kFloat) return "its weight is not float32";
  if (tensor.dims.size() != 2 || tensor.element_count() == 0) return "its weight is not a matrix";
  if (weight->is_shared()) return "its weight is used elsewhere too";
  const auto heads = onnx::integer_attribute(node, "num_heads");
  if (!heads || *heads <= 0) return "its num_heads is not known here";
  return tensor.dims[1] % 3 == 0 && tensor.dims[1] / 3 % *heads == 0 ? ""
                                                                     : "its weight does not fit its heads";
}

}  // namespace

bool is_fused_attention(const onnx::Node& node) {
  return node.op_type == "Attention" && node.domain == "com.microsoft";
}

std::string why_not_dynamic_attention(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      const onnx::Node& node) {
  if (opset_of(model, index, body) < kDynamicOpset)
    return fmt::format("its opset is older than {}", kDynamicOpset);
  if (std::string reason = why_not_attributes(node); !reason.empty()) return reason;
  if (std::string reason = why_not_inputs(node); !reason.empty()) return reason;
  return why_not_weight(node, find_constant(model, index, body, input_of(node, kWeight)));
}

void put_dynamic_attention(BodyEditor& editor, std::size_t position, const CodedInput& input,
                           const StoredNames& weight) {
  const onnx::Node& old = editor.node(position);
  onnx::Node node;
  node.name = old.name;
  node.op_type = "QAttention";
  node.domain = "com.microsoft";
  node.inputs = {input.codes,          weight.codes, input_of(old, kBias), input.scale,         weight.scales,
                 input_of(old, kMask), input.zero,   weight.zeros,         input_of(old, kPast)};
  while (node.inputs.back().empty()) node.inputs.pop_back();
  node.outputs = old.outputs;
  for (const auto& attribute : old.attributes) {
    if (has(kAttributes, attribute->name)) node.attributes.push_back(onnx::copy_of(attribute));
  }
  editor.replace_node(position);
  editor.add_node(position, std::move(node));
}

}  // namespace ounce::passes
