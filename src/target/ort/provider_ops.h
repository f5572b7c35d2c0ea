// The nodes that execution providers support according to their documentation (not measured).
//
//   const ProviderDocs docs(*find_provider_page("qnn"), model, index, types);
//   std::string why_not;
//   if (!docs.documents(0, 12, why_not)) …                    // "only with constant weights"
//
// A condition excludes a node only if the file shows that it is not met. Unknown shapes and types are assumed
// to be supported, and so is everything that the documentation does not mention. A yes is a hint, a no is
// almost certain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"

namespace ounce::target {

// A line of provider_pages.txt, which describes the syntax.
struct ProviderOp {
  std::vector<std::string_view> op_types;
  std::string_view condition;  // separated by commas: "2-D windows, constant weights"
  std::string_view types;      // of the first input, in the letters of op_schemas.h; "": those of the page
  std::string_view domain;
};

// One page of documentation.
struct ProviderPage {
  std::string_view provider;
  std::string_view source;  // title and subject of the page, and its date
  std::string_view note;    // a remark on the whole model; may be empty
  std::string_view types;   // of first inputs; '*' is any type
  bool needs_fixed_shapes = false;
  bool enters_bodies = false;        // also takes nodes in If, Loop and Scan
  bool takes_quantized_ops = false;  // takes DequantizeLinear and QuantizeLinear with the op between them
  bool is_node_by_node = false;      // runs nodes one by one like the CPU; does not compile partitions
  std::vector<ProviderOp> ops;
};

// The result refers to `text`. Throws Error{kInternal} with the line that is invalid.
std::vector<ProviderPage> parse_provider_pages(std::string_view text);

// The pages that are built into this program. "coreml" creates models of type NeuralNetwork, the default of
// the runtime, and "coreml-mlprogram" creates ML Programs. "qnn" is the HTP backend.
const std::vector<ProviderPage>& provider_pages();
// Null for unknown providers.
const ProviderPage* find_provider_page(std::string_view provider);

// Applies a page to a model. All arguments must outlive it.
class ProviderDocs {
 public:
  ProviderDocs(const ProviderPage& page, const onnx::Model& model, const graph::Index& index,
               const graph::ElementTypes& types);

  const ProviderPage& page() const { return page_; }
  const graph::Index& index() const { return index_; }

  // True if the provider takes this node. Otherwise sets `why_not` to the first reason.
  bool documents(std::size_t body, std::size_t position, std::string& why_not) const;

  // True if the value is constant. The runtime computes constant nodes at load.
  bool is_constant(std::size_t body, graph::Bytes name) const;
  // True if the whole node is computed at load, so that no provider runs it. Always false for
  // DequantizeLinear, which belongs to the op after it.
  bool is_folded(std::size_t body, std::size_t position) const;

 private:
  friend class NodeView;
  struct Fact {
    bool is_constant = false;
    bool is_varying = false;  // the shape differs between runs
    bool is_declared = false;
    std::optional<std::vector<std::int64_t>> shape;  // -1: unknown dimension
  };

  void read_declarations(std::size_t body);
  void follow_nodes(std::size_t body);
  std::optional<std::vector<std::int64_t>> shape_after(std::size_t body, const onnx::Node& node) const;
  const Fact& fact(std::size_t body, graph::Bytes name) const;
  const ProviderOp* find(const onnx::Node& node) const;
  bool belongs_to_quantized_op(std::size_t body, std::size_t position) const;

  const ProviderPage& page_;
  const onnx::Model& model_;
  const graph::Index& index_;
  const graph::ElementTypes& types_;
  std::unordered_map<std::string, const ProviderOp*> ops_;
  std::unordered_map<const graph::Value*, Fact> facts_;
};

// A node for the evaluation of conditions. Unknown properties count as met.
class NodeView {
 public:
  static constexpr std::size_t kMostInputs = 16;  // no op with a condition has more; bounds hostile nodes

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
  // kUndefined if unknown.
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
  // The type of an input before its DequantizeLinear; kUndefined without one.
  ElementType quantized_type(std::size_t input) const {
    const onnx::Node* const source = producer(input);
    if (source == nullptr || !ops::is_dequantize_linear(source->op())) return ElementType::kUndefined;
    return type_of(graph::input_of(*source, 0));
  }
  const graph::Value* output() const {
    return node_.outputs.empty() ? nullptr : docs_.index_.find(body_, node_.outputs[0]).value;
  }
  const graph::Index& index() const { return docs_.index_; }
  // The values of a small integer constant; nullopt for other inputs.
  std::optional<std::vector<std::int64_t>> integers(std::size_t input) const;

 private:
  const ProviderDocs& docs_;
  std::size_t body_;
  const onnx::Node& node_;
};

// Returns the first part of a condition that a node does not meet; empty if it meets all. The parts are
// separated by ", ": unmet_word("2-D windows, constant weights", view) → "constant weights".
std::string_view unmet_word(std::string_view condition, const NodeView& view);

bool has_known_words(std::string_view condition);

}  // namespace ounce::target
