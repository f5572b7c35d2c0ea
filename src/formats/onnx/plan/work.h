// How much a model computes, estimated from shapes: a measure of time that is the same on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"

namespace ounce::plan {

// At how many places a node multiplies with each value of its input, for one sample. Nothing if the shapes
// are unknown, or if the op is not a convolution or matrix product with that weight.
std::optional<std::uint64_t> positions_of(const graph::InferredShapes& shapes, const onnx::Node& node,
                                          std::size_t input);

// Multiplications with weights in one run of the main graph. `inputs` are the shapes of one batch. A layer
// whose shapes are unknown counts as if it used its weights as often as any layer or input position could.
double multiplications(const onnx::Model& model, const graph::Index& index,
                       const std::map<std::string, graph::Dims>& inputs);

}  // namespace ounce::plan
