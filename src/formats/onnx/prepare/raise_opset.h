// Brings a model to a newer opset, so that ops may be used which its own does not have.
//
//   opset 9:    x ─ Clip(min=0, max=6) ─ y         opset 17:    x ─ Clip ─ y
//                                                               0, 6 ┘
//
// Nodes that mean the same in both stay byte for byte; opset_changes() lists what does not. Subgraphs and
// functions, which have imports of their own, are brought along. The IR version stays: it says how the file
// is read, not what its ops mean.
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

// `wanted` is 13 to 21; a model that is there already, or beyond, is left alone. Returns how many nodes it
// changed. Throws Error{kUnsupported} that names the node which cannot be converted and says what to do; the
// model is as it was then.
std::size_t raise_opset(onnx::Model& model, std::int64_t wanted);

// The types of values as far as the file tells them: declared ones, and those of constants.
//
// An undeclared float can still be known: ops make float32 unless something tells them another type, so in a
// model that mentions no other float type every float is float32.

class ValueTypes {
 public:
  explicit ValueTypes(const graph::Index& index);

  // Of a value that is known to be some float; nothing when it could be one of several.
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

// What changed between the opsets 7 and 21 so that a node of the older one means something else, or nothing,
// in the newer one; every other change of ONNX's ops in that range is compatible.
//
//   for (const OpsetChange& change : opset_changes())
//     if (node.op() == change.op && from < change.version && change.version <= to)
//     change.convert(upgrade);

// One node on its way to a newer opset: its new form, put together step by step (opset_changes()), while the
// model stays as it is. What a step cannot know it refuses.

class NodeUpgrade {
 public:
  // Nothing of this is copied: `types` and the index that the editor works on must outlive it.
  NodeUpgrade(BodyEditor& editor, const graph::Index& index, const ValueTypes& types, std::size_t body,
              std::size_t position);

  const onnx::Node& node() const { return made_; }
  bool is_changed() const { return is_changed_; }
  // Throws Error{kUnsupported} that names the node: "… ; <why>".
  [[noreturn]] void refuse(const std::string& why) const;

  // Attributes, or their defaults; refuse what a function takes from its caller.
  bool has(Bytes attribute) const;
  std::int64_t integer(Bytes attribute, std::int64_t otherwise) const;
  float number(Bytes attribute, float otherwise) const;
  std::string text(Bytes attribute, const char* otherwise) const;
  std::vector<std::int64_t> integers(Bytes attribute) const;
  std::vector<float> numbers(Bytes attribute) const;

  std::optional<std::size_t> rank_of(Bytes value) const { return types_.rank(body_, value); }
  const onnx::Tensor* constant(Bytes value) const;  // null when it is computed
  bool is_used(std::size_t output) const;

  void set_op(Op op);
  void drop(Bytes attribute);
  void set_integer(Bytes attribute, std::int64_t value);
  void set_text(Bytes attribute, const std::string& value);
  void set_input(std::size_t input, Bytes name);
  void drop_outputs_from(std::size_t output);

  // Constants that may become inputs.
  Bytes add_integers(const std::vector<std::int64_t>& values);
  Bytes add_integer(std::int64_t value);  // of rank 0
  Bytes add_numbers(const std::vector<float>& values);
  Bytes add_number_like(Bytes value, float number);  // of rank 0, of the type of that value

  // A node of one input in front of this one. Returns the name of what it makes.
  Bytes add_in_front(Op op, Bytes input, const std::vector<std::pair<Bytes, std::int64_t>>& attributes);
  // What this node makes goes through another one, which takes `second` too.
  void add_behind(Op op, Bytes second);

  // Puts it all into the editor. Nothing can be refused after that.
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
  bool has_body_ = false;  // such a node can be looked at and refused, but not made anew
};

inline constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 21;

struct OpsetChange {
  Op op;
  std::int64_t version;           // that brought it
  void (*convert)(NodeUpgrade&);  // from the version before
};

// Of each op in ascending order, so that the steps of a node build on one another. An op that was renamed is
// found under its old name, and its last step leads to the form of opset 13.
std::span<const OpsetChange> opset_changes();

}  // namespace ounce::passes
