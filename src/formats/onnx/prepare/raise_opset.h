// Converts a model to a newer opset, to make newer ops available.
//
//   opset 9:    x ─ Clip(min=0, max=6) ─ y         opset 17:    x ─ Clip ─ y
//                                                               0, 6 ┘
//
// Nodes that mean the same in both opsets do not change; opset_changes() lists the others. Subgraphs and
// functions, which have their own imports, are converted, too. The IR version does not change: it describes
// the file format, not the ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/element_type.h"
#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

// `wanted` is 13 to 21; a model with this opset or a newer one is not changed. Returns the number of changed
// nodes. Throws Error{kUnsupported} that names the node that cannot be converted and suggests a solution; the
// model is then unchanged.
std::size_t raise_opset(onnx::Model& model, std::int64_t wanted);

// The types of values as declared in the file, and those of constants.
//
// An undeclared float type can be derived: ops produce float32 unless another type is specified, so in a
// model that mentions no other float type every float is float32.

class ValueTypes {
 public:
  explicit ValueTypes(const graph::Index& index);

  // The type of a value that is known to be a float; empty if it could be one of several.
  std::optional<ElementType> float_type(std::size_t body, onnx::Bytes name) const;
  std::optional<std::size_t> rank(std::size_t body, onnx::Bytes name) const;

 private:
  struct Declared {
    ElementType element = ElementType::kUndefined;
    std::optional<std::size_t> rank;
  };

  void declare(std::size_t body, const std::vector<onnx::Kept<onnx::ValueInfo>>& infos);
  void declare(std::size_t body, onnx::Bytes name, Declared declared);
  void note_float(ElementType type);
  void note_attributes(const onnx::Node& node);
  const Declared* find(std::size_t body, onnx::Bytes name) const;

  const graph::Index& index_;
  std::vector<std::unordered_map<onnx::Bytes, Declared>> declared_;  // by body
  bool has_other_floats_ = false;                                    // than float32, anywhere in the model
};

// The incompatible changes between the opsets 7 and 21: ops whose older form means something else, or is
// invalid, in the newer opset. All other changes of ONNX's ops in that range are compatible.
//
//   for (const OpsetChange& change : opset_changes())
//     if (node.op() == change.op && from < change.version && change.version <= to) change.convert(upgrade);

// Builds the new form of one node step by step (opset_changes()), while the model does not change. Steps
// refuse nodes that they cannot convert.

class NodeUpgrade {
 public:
  // Keeps references: `types` and the editor's index must outlive it.
  NodeUpgrade(BodyEditor& editor, const graph::Index& index, const ValueTypes& types, std::size_t body,
              std::size_t position);

  const onnx::Node& node() const { return made_; }
  bool is_changed() const { return is_changed_; }
  // Throws Error{kUnsupported} that names the node: "… ; <why>".
  [[noreturn]] void refuse(const std::string& why) const;

  // Attributes, or their defaults. Refuse references to a function's attributes.
  bool has(Bytes attribute) const;
  std::int64_t integer(Bytes attribute, std::int64_t otherwise) const;
  float number(Bytes attribute, float otherwise) const;
  std::string text(Bytes attribute, const char* otherwise) const;
  std::vector<std::int64_t> integers(Bytes attribute) const;
  std::vector<float> numbers(Bytes attribute) const;

  std::optional<std::size_t> rank_of(Bytes value) const { return types_.rank(body_, value); }
  const onnx::Tensor* constant(Bytes value) const;  // null if it is computed
  bool is_used(std::size_t output) const;

  void set_op(Op op);
  void drop(Bytes attribute);
  void set_integer(Bytes attribute, std::int64_t value);
  void set_text(Bytes attribute, const std::string& value);
  void set_input(std::size_t input, Bytes name);
  void drop_outputs_from(std::size_t output);

  // Add constants that may become inputs.
  Bytes add_integers(const std::vector<std::int64_t>& values);
  Bytes add_integer(std::int64_t value);  // of rank 0
  Bytes add_numbers(const std::vector<float>& values);
  Bytes add_number_like(Bytes value, float number);  // of rank 0, of the type of that value

  // Adds a node with one input in front of this one. Returns the name of its output.
  Bytes add_in_front(Op op, Bytes input, const std::vector<std::pair<Bytes, std::int64_t>>& attributes);
  // Passes this node's output through another node, which also takes `second`.
  void add_behind(Op op, Bytes second);

  // Applies all changes to the editor. Must not be followed by refuse().
  void finish();

 private:
  std::size_t index_of(Bytes attribute) const;

  BodyEditor& editor_;
  const graph::Index& index_;
  const ValueTypes& types_;
  std::size_t body_, position_;
  onnx::Node made_;
  std::vector<onnx::Node> in_front_, behind_;
  bool is_changed_ = false;
  bool has_body_ = false;  // such a node can be checked and refused, but not rebuilt
};

inline constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 21;

struct OpsetChange {
  Op op;
  std::int64_t version;           // that introduced it
  void (*convert)(NodeUpgrade&);  // from the version before
};

// Sorted by version for each op, so that the steps of a node build on each other. A renamed op is listed
// under its old name, and its last step leads to the form of opset 13.
std::span<const OpsetChange> opset_changes();

}  // namespace ounce::passes
