// How much of a model is quantized already, and by which means.
//
//   const QuantizedState state = describe_quantization(model, index);
//   if (state.is_qoperator()) print(state.sentence);   // "already quantized with integer ops (52
//   QLinearConv): …"
//
// Q/DQ models: floats are coded and decoded around ops that are written as float ops, and runtimes fuse them.
// QOperator models: the ops take codes themselves.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

// An op with a weight that computes in float although others around it do not.
struct FloatOp {
  std::string label;  // "conv1", with the subgraph or function it stands in
  std::string op_type;
  bool has_float_weight = false, has_float_input = false;  // at least one
};

struct QuantizedState {
  std::size_t quantize_nodes = 0, dequantize_nodes = 0;
  std::map<std::string, std::size_t> integer_ops;  // by type, how many
  // Ops that simulate quantization without QuantizeLinear: a Round beside a Clip, or Quant of Brevitas and
  // QONNX. Their scales are not read; the model is treated as a float model.
  std::size_t simulated = 0;
  std::size_t uncoded_weights = 0;  // floats behind QuantizeLinear, which may be stored as codes
  std::vector<FloatOp> float_ops;   // of a Q/DQ model
  std::string sentence;             // for people

  bool is_qoperator() const { return !integer_ops.empty(); }
  bool is_qdq() const { return !is_qoperator() && (quantize_nodes != 0); }
  // Nothing is left to quantize, and no weight is left to store as codes.
  bool is_complete() const {
    return is_qoperator() || (is_qdq() && uncoded_weights == 0 && float_ops.empty());
  }
};

// At every depth, functions included. A weight behind QuantizeLinear counts as quantized, though the file may
// hold floats still (trained_scales.h).
QuantizedState describe_quantization(const onnx::Model& model, const graph::Index& index);

}  // namespace ounce::passes
