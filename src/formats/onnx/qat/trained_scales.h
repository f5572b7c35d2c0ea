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

// Processes all bodies, functions included. Counts the stored weights.
Changes store_trained_weights(onnx::Model& model);

// Computes QuantizeLinear of a constant.
//
//   code = saturate(round_half_even(x / scale) + zero)
//
// Scales are per-tensor, per-axis (opset 13) or per-block (opset 21). The output type is that of the zero
// point, else output_dtype, else uint8. The division is in binary32 also for 16-bit floats, as in ONNX
// Runtime.

class FrozenReader;
class FrozenValues;

struct CodeRange {
  int lo = 0, hi = 0;
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};
// Empty for types that cannot be quantized types.
std::optional<CodeRange> code_range(ElementType type);

// True for the ops of ONNX's own domain and of com.microsoft, which had 16-bit types earlier.
bool is_quantize(const onnx::Node& node);
bool is_dequantize(const onnx::Node& node);

// The scales and zero points of a QuantizeLinear or DequantizeLinear, mapped to the values: `outer` groups of
// `length` rows of `inner` values.
struct Grid {
  ElementType type = ElementType::kUndefined;  // of the quantized values
  std::vector<float> scales, zeros;            // of the same length
  std::size_t outer = 1, length = 1, inner = 1;
  std::size_t block = 0;  // rows that share scales, with one per column; 0: each row has its own scale

  friend bool operator==(const Grid&, const Grid&) = default;
};

// Reads the grid for values with dimensions `dims`. `codes` is their type if already quantized
// (DequantizeLinear).
std::variant<Grid, Reason> read_grid(FrozenReader& reader, const onnx::Model& model,
                                     const graph::Index& index, std::size_t body, const onnx::Node& node,
                                     const std::vector<std::int64_t>& dims,
                                     std::optional<ElementType> codes = std::nullopt);

// `range` must be within the range of the type. Returns a Reason if a value is NaN.
std::variant<onnx::Tensor, Reason> make_codes(const FrozenValues& values, const Grid& grid, CodeRange range);

}  // namespace ounce::passes
