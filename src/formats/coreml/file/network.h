// Reads the layers and weights of a neural network (.mlmodel before ML Programs): FP32, FP16, and 1 to 8 bits
// with linear scales or a lookup table. Such models are never changed. The models of a pipeline are shown as
// layers without weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "formats/coreml/file/model.h"

namespace ounce::coreml {

// Quantized values are unsigned. The first one is in the highest bits of the first byte, unlike in weight
// files.
struct LayerWeight {
  std::string name;                        // "weights", "bias"; a field number for others
  ElementType type = ElementType::kFloat;  // of `bytes`: float32, float16, or uint8 for quantized values
  std::vector<std::int64_t> dims;          // number of values; the shape depends on the layer
  Bytes bytes;
  unsigned bits = 0;                  // of a quantized value; 0: floating point
  std::vector<float> scales, biases;  // value = code * scale + bias; per tensor or per output channel
  std::vector<float> table;           // value = table[code]
};

struct Layer {
  Bytes name;
  std::string kind;  // "convolution", "innerProduct" …
  std::vector<Bytes> inputs, outputs;
  std::vector<LayerWeight> weights;
};

// Throws Error{kBadInput}. Empty for models that have no layers.
std::vector<Layer> read_layers(const Model& model);

// Dequantizes a weight; with several scales, its rows have equal size. Throws Error{kBadInput} if scales or
// tables do not match the values.
std::vector<float> decode(const LayerWeight& weight);

}  // namespace ounce::coreml
