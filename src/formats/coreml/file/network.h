// The layers of a neural network (.mlmodel before ML Programs), and their weights: floats, 16-bit floats, and
// codes of 1 to 8 bits with linear scales or a lookup table. Nothing of it is changed; a model with a
// pipeline shows the models in it as layers without weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "formats/coreml/file/model.h"

namespace ounce::coreml {

// Codes are unsigned and the first one is in the highest bits of the first byte, the opposite of weight
// files.
struct LayerWeight {
  std::string name;                        // "weights", "bias"; a number for what is not named here
  ElementType type = ElementType::kFloat;  // of `bytes`: float32, float16, uint8 for codes
  std::vector<std::int64_t> dims;          // the number of values: shapes are known to the layer alone
  Bytes bytes;
  unsigned bits = 0;                  // of a code; 0 for floats
  std::vector<float> scales, biases;  // value = code * scale + bias; one, or one for each output channel
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

// The values that codes stand for, for `channels` rows of equal size where there are several scales.
// Throws Error{kBadInput} where codes and scales do not fit together.
std::vector<float> decode(const LayerWeight& weight);

}  // namespace ounce::coreml
