// The words of conditions, and what they ask of a node.
//
//   unmet_word("2-D windows, constant weights", view)       // "constant weights", or "" when all is well
//
// A condition has several words, with ", " between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/graph/index.h"
#include "target/ort/provider_ops.h"

namespace ounce::target {

// A node as the conditions of provider_conditions.h see it. Questions about what nobody says have no answer.

class NodeView {
 public:
  static constexpr std::size_t kMostInputs = 16;  // no op with a condition has more; a hostile node may

  NodeView(const ProviderDocs& docs, std::size_t body, const onnx::Node& node)
      : docs_(docs), body_(body), node_(node) {}

  const onnx::Node& node() const { return node_; }
  bool has(std::size_t input) const { return !graph::input_of(node_, input).empty(); }
  bool is_constant(std::size_t input) const {
    return !has(input) || docs_.is_constant(body_, graph::input_of(node_, input));
  }
  bool are_constant(std::size_t first) const {
    for (std::size_t i = first; i < kMostInputs; ++i)
      if (!is_constant(i)) return false;
    return true;
  }
  const std::optional<std::vector<std::int64_t>>& shape(std::size_t input) const {
    return docs_.fact(body_, graph::input_of(node_, input)).shape;
  }
  bool has_rank(std::size_t input, std::size_t least, std::size_t most) const {
    const auto& dims = shape(input);
    return !dims || (dims->size() >= least && dims->size() <= most);
  }
  bool is_varying(graph::Bytes name) const { return docs_.fact(body_, name).is_varying; }
  // kUndefined when nobody says it.
  ElementType type(std::size_t input) const { return type_of(graph::input_of(node_, input)); }
  ElementType type_of(graph::Bytes name) const {
    return name.empty() ? ElementType::kUndefined : docs_.types_.type(body_, name);
  }
  bool has_type(std::size_t input, std::string_view letters) const {
    const ElementType known = type(input);
    return known == ElementType::kUndefined || is_among(known, letters);
  }
  static bool is_among(ElementType type, std::string_view letters) {
    return std::any_of(letters.begin(), letters.end(),
                       [&](char letter) { return letter == '*' || onnx::type_of_letter(letter) == type; });
  }
  bool has_attribute(graph::Bytes name) const { return onnx::find_attribute(node_, name) != nullptr; }
  bool is_set(graph::Bytes name, std::int64_t value, std::int64_t otherwise) const {
    return onnx::integer_setting(node_, name, otherwise).value_or(value) == value;
  }
  bool is_set(graph::Bytes name, graph::Bytes value, graph::Bytes otherwise) const {
    return onnx::string_setting(node_, name, otherwise).value_or(value) == value;
  }
  std::int64_t opset() const { return graph::opset_of(docs_.model_, docs_.index_, body_); }
  // The node that computes an input; null for inputs of the graph and initializers.
  const onnx::Node* producer(std::size_t input) const {
    const auto [value, home] = docs_.index_.find(body_, graph::input_of(node_, input));
    if (value == nullptr || value->producer == graph::kNone) return nullptr;
    return &*docs_.index_.bodies()[home].nodes()[value->producer];
  }
  // The type that an input has before a DequantizeLinear in front of the node; kUndefined without one.
  ElementType quantized_type(std::size_t input) const {
    const onnx::Node* const source = producer(input);
    if (source == nullptr || !ops::is_dequantize_linear(source->op())) return ElementType::kUndefined;
    return type_of(graph::input_of(*source, 0));
  }
  const graph::Value* output() const {
    return node_.outputs.empty() ? nullptr : docs_.index_.find(body_, node_.outputs[0]).value;
  }
  const graph::Index& index() const { return docs_.index_; }
  // The values of a small constant of whole numbers.
  std::optional<std::vector<std::int64_t>> integers(std::size_t input) const;

 private:
  const ProviderDocs& docs_;
  std::size_t body_;
  const onnx::Node& node_;
};

// The first word that a node does not meet; empty when it meets all. The condition has known words.
std::string_view unmet_word(std::string_view condition, const NodeView& view);

bool has_known_words(std::string_view condition);

}  // namespace ounce::target
