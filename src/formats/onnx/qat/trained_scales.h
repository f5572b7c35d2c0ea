// Keeps the result of quantization-aware training: the scales do not change, and the weights are stored as
// the integers that they were trained for.
//
//   w ─ QuantizeLinear(s, z) ─ DequantizeLinear(s, z) ─ op     →     codes ─ DequantizeLinear(s, z) ─ op
//
//   w ─ Transpose ─ QuantizeLinear(s, z) ─ Clip(-127, 127) ─ DequantizeLinear(s, z) ─ op     →     the same
//
// The integers are those that QuantizeLinear computes, so no output changes.
//
// Conditions: w, s and z are constants, which Transpose, Reshape, Identity, Clip and Cast may have brought
// into shape (constant_subgraphs.h); every DequantizeLinear after the QuantizeLinear has the same scale and
// zero point. The FP32 weight is kept for other users of it; prepare/remove_nodes.h removes it if there are
// none. QuantizeLinear cannot output int32, so a bias behind such a pair is left alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/element_type.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

// At every depth, functions included. Counts the weights that were stored.
Changes store_trained_weights(onnx::Model& model);

// What QuantizeLinear makes of a constant.
//
//   code = saturate(round_half_even(x / scale) + zero)
//
// One scale for all values, for each place of an axis (opset 13), or for each block along an axis (opset 21).
// The type of the zero point is that of the codes, otherwise output_dtype is, otherwise they are uint8. The
// division is that of binary32, also for 16-bit floats, as runtimes have it.

class FrozenReader;
class FrozenValues;

struct CodeRange {
  int lo = 0, hi = 0;
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};
// Nothing for types that hold no codes.
std::optional<CodeRange> code_range(ElementType type);

// Of ONNX's own domain, or of the runtime's, which had the 16-bit types earlier.
bool is_quantize(const onnx::Node& node);
bool is_dequantize(const onnx::Node& node);

// The scales and zeros of a QuantizeLinear or DequantizeLinear, laid over the values: these are rows of
// `inner` values, `length` rows for each of `outer`.
struct Grid {
  ElementType type = ElementType::kUndefined;  // of the codes
  std::vector<float> scales, zeros;            // as many of these as of those
  std::size_t outer = 1, length = 1, inner = 1;
  std::size_t block = 0;  // rows that share scales, each column with its own; 0: a row has one scale

  friend bool operator==(const Grid&, const Grid&) = default;
};

// For values of these dimensions. `codes` is their type where they come with one (DequantizeLinear).
std::variant<Grid, Reason> read_grid(FrozenReader& reader, const onnx::Model& model,
                                     const graph::Index& index, std::size_t body, const onnx::Node& node,
                                     const std::vector<std::int64_t>& dims,
                                     std::optional<ElementType> codes = std::nullopt);

// `range` lies within that of the type. A reason when a value is not a number.
std::variant<onnx::Tensor, Reason> make_codes(const FrozenValues& values, const Grid& grid, CodeRange range);

}  // namespace ounce::passes
