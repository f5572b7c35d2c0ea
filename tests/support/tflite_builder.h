// Test support: builds TFLite models.
//
//   TfliteBuilder model;
//   const auto x = model.tensor("x", {1, 4}), y = model.tensor("y", {1, 2});
//   const auto w = model.weights("w", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
//   model.op(Builtin::kFullyConnected, {x, w, -1}, {y}, "FullyConnectedOptions");
//   model.inputs({x}).outputs({y});
//   write_file(path, model.bytes());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tflite/file/model.h"
#include "formats/tflite/file/ops.h"
#include "formats/tflite/file/writer.h"

namespace ounce::tflite {

class TfliteBuilder {
 public:
  using Shape = std::vector<std::int32_t>;
  using Tensors = std::vector<std::int32_t>;

  TfliteBuilder();

  // Adds a subgraph, to which the next calls apply. The first subgraph exists from the start.
  TfliteBuilder& subgraph(std::string_view name);
  SubGraph& graph() { return model.subgraphs.back(); }

  std::int32_t tensor(std::string_view name, Shape shape, TensorType type = TensorType::kFloat32);
  std::int32_t constant(std::string_view name, Shape shape, TensorType type, std::string bytes);
  std::int32_t weights(std::string_view name, Shape shape, const std::vector<float>& values);
  std::int32_t integers(std::string_view name, Shape shape, const std::vector<std::int32_t>& values);
  // Sets the scales of the last tensor.
  TfliteBuilder& quantized(std::vector<float> scales, std::vector<std::int64_t> zero_points,
                           std::int32_t axis = 0);

  // `options` names the table of options, which has no fields at first; "": no options.
  Operator& op(Builtin code, Tensors inputs, Tensors outputs, std::string_view options = "",
               std::int32_t version = 1);
  Operator& custom_op(std::string_view name, Tensors inputs, Tensors outputs, std::string options);
  Record& options() { return *graph().operators.back().options.table; }  // options of the last operator

  TfliteBuilder& inputs(Tensors tensors);
  TfliteBuilder& outputs(Tensors tensors);
  // Adds a signature of the current subgraph, with the names of its tensors.
  TfliteBuilder& signature(std::string_view key);
  TfliteBuilder& metadata(std::string_view name, std::string value);

  std::string bytes() const { return to_bytes(model); }

  Model model;

 private:
  std::uint32_t operator_code(Builtin code, std::string_view custom, std::int32_t version);
};

}  // namespace ounce::tflite
