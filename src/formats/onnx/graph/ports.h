// Connections between nodes and their bodies: the branches of If, the bodies of Loop and Scan, and the calls
// of the model's functions. Both ends of a connection have the same type.
//
//   Loop(times, go_on, a) -> y             a ─ enters ─ s          s' ─ leaves ─ y
//     body: i, go_on, s → go_on, s'        s' ─ returns ─ s
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {

enum class Way {
  kEnters,   // from an input of the node to an input of its body
  kLeaves,   // from an output of the body to an output of the node
  kReturns,  // from an output of the body to its input in the next iteration
};

struct Place {
  std::size_t body = kNone;
  Bytes name;

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Passage {
  Way way = Way::kEnters;
  Place from, to;
};

// All connections of a model, except in bodies of other ops (SequenceMap …).
std::vector<Passage> passages(const Index& index);

// The model's own functions.
class Functions {
 public:
  explicit Functions(const Index& index);
  bool are_called_by(const onnx::Node& node) const;
  // The index of the called function's body; kNone for other nodes and for ambiguous names.
  std::size_t called_by(const onnx::Node& node) const;

 private:
  std::unordered_map<std::string, std::size_t> bodies_;
};

}  // namespace ounce::graph
