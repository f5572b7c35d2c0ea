// Detects whether and how a model is already quantized.
//
//   const QuantizedState state = describe_quantization(model, index);
//   // "already quantized with integer ops (52 QLinearConv): …"
//   if (state.is_qoperator()) print(state.sentence);
//
// QDQ models: values are quantized and dequantized around FP32 ops, which runtimes fuse.
// QOperator models: the ops take quantized values directly.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

// An op with weights that runs in FP32 in a QDQ model.
struct FloatOp {
  std::string label;  // "conv1", with the subgraph or function that contains it
  std::string op_type;
  bool has_float_weight = false, has_float_input = false;  // at least one
};

struct QuantizedState {
  std::size_t quantize_nodes = 0, dequantize_nodes = 0;
  std::map<std::string, std::size_t> integer_ops;  // count by op type
  // Ops that simulate quantization without QuantizeLinear: Round with Clip, or Quant of Brevitas and QONNX.
  // Their scales are not read; the model is treated as an FP32 model.
  std::size_t simulated = 0;
  std::size_t uncoded_weights = 0;  // FP32 weights with a QuantizeLinear, which could be stored as integers
  std::vector<FloatOp> float_ops;   // of a Q/DQ model
  std::string sentence;             // for the user

  bool is_qoperator() const { return !integer_ops.empty(); }
  bool is_qdq() const { return !is_qoperator() && (quantize_nodes != 0); }
  // True if there is nothing left to quantize and all weights are stored as integers.
  bool is_complete() const {
    return is_qoperator() || (is_qdq() && uncoded_weights == 0 && float_ops.empty());
  }
};

// Covers all bodies, functions included. A weight with a QuantizeLinear counts as quantized even if the file
// stores it in FP32 (trained_scales.h).
QuantizedState describe_quantization(const onnx::Model& model, const graph::Index& index);

}  // namespace ounce::passes
