// The producer and the users of each tensor of a graph, and a unique name for each tensor.
//
//   const Flow flow(model);                       // of subgraph 0, which is the model
//   flow.producer[t] == Flow::kNone                     // an input, or a constant
//   for (const Flow::Use& use : flow.uses[t]) graph.operators[use.op].inputs[use.input] …
//
// Valid as long as the graph does not change.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

struct Flow {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Use {
    std::size_t op = 0, input = 0;
  };

  explicit Flow(const Model& model, std::size_t subgraph = 0);

  // All by tensor.
  std::vector<std::size_t> producer;  // an operator, or kNone
  std::vector<std::vector<Use>> uses;
  std::vector<bool> is_input, is_output, is_constant;
  // Names of values in ranges, recipes and messages: the tensor's own, if it has one that none before it has.
  std::vector<std::string> names;
};

}  // namespace ounce::tflite
