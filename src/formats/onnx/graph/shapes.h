// The shapes of values in the main graph, inferred from those that the file tells, through the ops that
// networks with weights are made of. The shapes behind other ops stay unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {

// The shapes of values as far as the file tells them: declared ones, those of constants, and what is cast of
// them.

using Dims = std::vector<std::int64_t>;  // -1 where a dimension is not fixed

class Shapes {
 public:
  explicit Shapes(const Index& index);
  // Null when even the rank is not known.
  const Dims* of(std::size_t body, Bytes name) const;

 private:
  const Index& index_;
  std::unordered_map<const Value*, Dims> shapes_;
};

class InferredShapes {
 public:
  // `known`: shapes that the file leaves open, of inputs above all. Its names must outlive this object.
  InferredShapes(const onnx::Model& model, const Index& index, std::unordered_map<Bytes, Dims> known = {});
  // A value of the main graph. Null when even the rank is not known.
  const Dims* of(Bytes name) const;

 private:
  void infer(const onnx::Node& node);
  Dims of_window(const onnx::Node& node, const Dims& input, const Dims& kernel, std::int64_t channels) const;
  Dims of_transposed_conv(const onnx::Node& node, const Dims& input, const Dims& weight) const;
  Dims of_concat(const onnx::Node& node) const;
  Dims of_matrix_product(const onnx::Node& node) const;
  Dims of_reshape(const onnx::Node& node, const Dims& input) const;
  Dims of_resize(const onnx::Node& node, const Dims& input) const;
  Dims broadcast(const onnx::Node& node) const;
  // Empty when it is not a constant of that type.
  std::vector<std::int64_t> integers(Bytes name) const;
  std::vector<float> floats(Bytes name) const;

  const onnx::Model& model_;
  const Index& index_;
  const Shapes declared_;
  std::unordered_map<Bytes, Dims> inferred_;
};

}  // namespace ounce::graph
