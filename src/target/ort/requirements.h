// The operators that models need, as ONNX Runtime's build takes them: `--include_ops_by_config FILE` makes a
// runtime that has kernels for these and no others.
//
//   ai.onnx;17;Conv,MatMul,Relu
//   com.microsoft;1;FusedConv
//
// A line has a domain, the version of it that a model imports, and the ops in their order. The optimisers of
// the runtime put ops in that no file names: give the optimised model as well as the original, since the
// smaller runtime may optimise or not. Types of ops are not written: all stay in.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::target {

// What all of these models need together, whatever order they come in: the ops of graphs, of the bodies
// inside of them and of functions, but not the calls of the functions. Throws what graph::Index throws, and
// Error{kBadInput} for names that the file's grammar cannot hold.
std::string required_ops(std::span<const onnx::Model* const> models);

// How much memory the weights of a model take once a runtime has loaded it: codes that ordinary ops decode
// are float32 then, unless DequantizeLinear decodes them at every run.

std::uint64_t weights_after_loading(const graph::Index& index);

}  // namespace ounce::target
