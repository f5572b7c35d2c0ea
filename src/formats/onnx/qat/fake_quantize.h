// Finds quantization as training simulates it.
//
//   x ─ Div(s) ─ Add(z) ─ Round ─ Clip(lo, hi) ─ Sub(z) ─ Mul(s) ─ y
//   x ─ Quant(s, z, bits) ─ y                       the op of Brevitas and QONNX, in domains of their own
//
//   y = (clamp(round(x / s) + z, lo, hi) - z) · s
//
// The scale is that of the last Mul, bit for bit, one for all values or one a channel. In the first form the
// Div may be a Mul with 1/s, the zero point may be added behind the Round or be missing, and the Clip (or Max
// and Min) may stand in front of the Round.
//
// Conditions: s, z, lo and hi are constants, s float32, positive and finite; z, lo and hi are whole numbers
// for all channels; [lo, hi] fits int8 or uint8 (Quant: 8 bits, or 4 from opset 21 on); what stands in
// between is used by nobody else; no constant makes x larger than it is.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/qat/constant_subgraphs.h"
#include "formats/onnx/qat/linear_codes.h"

namespace ounce::passes {

struct FakeQuantize {
  std::vector<std::size_t> nodes;  // of one body, from the first to the last
  Bytes input, output;
  FrozenValues scale;
  int zero = 0;
  CodeRange range;
  ElementType type = ElementType::kUndefined;  // of the codes; its range may be wider
  std::int64_t axis = 0;                       // of the channels, when there is more than one scale
};

// A place that simulates quantization, and why it has to stay as it is where it has to.
struct FakeQuantizeFound {
  std::size_t body = 0, position = 0;  // the Round, or the Quant
  Bytes output;                        // the value that is quantized
  bool is_weight = false;              // what it makes it of is a constant
  std::variant<FakeQuantize, Reason> what;
};
// At every depth, functions included.
std::vector<FakeQuantizeFound> find_fake_quantize(const onnx::Model& model, const graph::Index& index);

}  // namespace ounce::passes
