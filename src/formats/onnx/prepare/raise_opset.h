// Brings a model to a newer opset, so that ops may be used which its own does not have.
//
//   opset 9:    x ─ Clip(min=0, max=6) ─ y         opset 17:    x ─ Clip ─ y
//                                                               0, 6 ┘
//
// Nodes that mean the same in both stay byte for byte; opset_changes.h lists what does not. Subgraphs and
// functions, which have imports of their own, are brought along. The IR version stays: it says how the file
// is read, not what its ops mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/element_type.h"
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

}  // namespace ounce::passes
