// What becomes of quantized nodes between DequantizeLinear and QuantizeLinear: whether a release of ONNX
// Runtime makes one integer op of them, or computes in floats between conversions. From the second table of
// the support matrix:
//
//   aaaaaaabbb aaaaaaabbb DepthToSpace x=uint8 form=DQ-op-Q io=float opset=13 a:Q+DQ+DepthToSpace+Q+DQ
//   b:Q+DepthToSpace+DQ
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/element_types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"
#include "target/support_matrix.h"

namespace ounce::target {

class Fusions {
 public:
  // The table of the matrix that this program was built with.
  static const Fusions& measured();
  explicit Fusions(std::string_view text);

  enum class Fate { kFused, kInFloats, kDoesNotLoad, kFails };
  // Of a pattern in a release; nothing when it was not measured.
  std::optional<Fate> find(const std::string& pattern, const Release& release) const;

 private:
  std::unordered_map<std::string_view, std::string_view> lines_;  // answers and legend, by pattern
  std::unordered_map<std::string_view, std::string_view> letters_;
};

// The pattern that a node is the middle of, as the table spells it; nothing for nodes that no
// DequantizeLinear feeds.
std::optional<std::string> pattern_of(const onnx::Model& model, const graph::Index& index,
                                      const graph::ElementTypes& types, const graph::Shapes& shapes,
                                      std::size_t body, const onnx::Node& node);

}  // namespace ounce::target
