// The types of values as far as the file tells them: declared ones, and those of constants.
//
// An undeclared float can still be known: ops make float32 unless something tells them another type, so in a
// model that mentions no other float type every float is float32.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/element_type.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

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
