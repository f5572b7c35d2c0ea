// The operators that models need, as a configuration for ONNX Runtime's build: `--include_ops_by_config FILE`
// builds a runtime with kernels for these operators only.
//
//   ai.onnx;17;Conv,MatMul,Relu
//   com.microsoft;1;FusedConv
//
// A line contains a domain, the version that a model imports, and the sorted ops. The runtime's optimizers
// add ops that are not in the file: pass the optimized model as well as the original, because a minimal build
// may or may not optimize. Types of ops are not written, so kernels for all types are included.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::target {

// Returns the operators of all models, independent of their order: ops of graphs, subgraphs and functions,
// but not calls of functions. Throws the errors of graph::Index, and Error{kBadInput} for names that the
// syntax of the file cannot represent.
std::string required_ops(std::span<const onnx::Model* const> models);

// Bytes of the weights after loading: weights that are dequantized by constant ops become FP32 at load,
// weights behind DequantizeLinear that stays in the graph do not.
std::uint64_t weights_after_loading(const graph::Index& index);

}  // namespace ounce::target
