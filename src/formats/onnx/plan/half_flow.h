// Tracks values that 16-bit floats cannot represent through a graph, from their origin to the op that bounds
// them.
//
//   x ─ Mul(x) ─ ReduceMean ─ Add 1e-8 ─ Sqrt ─┐       squares after the first Mul, an epsilon against
//   └──────────────────────────────────────── Div ─ y  division by zero after the Add; both end at the Div
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/plan/half_tensors.h"

namespace ounce::plan {

// kWide: bfloat16 has the range of float32; only large integers are inexact.
enum class HalfRange { kNarrow, kWide };

class HalfFlow {
 public:
  // Facts about a value, as bits.
  enum Kind : unsigned {
    kLarge = 1,        // beyond 65504
    kPower = 2,        // a power or a sum, possibly beyond 65504
    kTiny = 4,         // prevents a division by zero
    kSteep = 8,        // the reciprocal of a tiny value: large until multiplied by its counterpart
    kCount = 16,       // computed from integers and constants only, with more than 11 bits
    kSmallCount = 32,  // the same, from integers of at most 8 bits
    kTrouble = kLarge | kPower | kTiny | kSteep,
  };

  HalfFlow(const onnx::Model& model, const graph::Index& index, const graph::ElementTypes& types,
           HalfRange range, const calibration::Ranges* ranges);

  // Adds observed ranges: values that exceeded the 16-bit range are kept in FP32, all other observed values
  // are known to fit. For values of masks only their upper limit counts.
  void add_observed(const std::unordered_set<const graph::Value*>& masks);
  // Adds a constant that does not fit. Messages name it as the origin of the problem.
  void add_constant(const graph::Value* value, onnx::Bytes name, const HalfTensor& tensor);
  // Propagates all added facts through the graph.
  void run();

  unsigned kinds(const graph::Value* value) const;
  // Why a node needs FP32 because of its values; empty if it does not.
  std::string why_float(std::size_t body, const onnx::Node& node) const;

  // All values computed from this constant on its way into a Softmax; empty unless all its uses end there, as
  // those of mask constants do.
  std::optional<std::unordered_set<const graph::Value*>> mask_of(const graph::Value* value) const;

 private:
  struct Numbers {
    unsigned kinds = 0;
    std::string origin;  // of the values that do not fit
  };
  struct Input {
    const graph::Value* value;
    bool is_constant;
    unsigned kinds;
  };
  struct Use {
    std::size_t body, node;
  };

  std::vector<Input> float_inputs(std::size_t body, const onnx::Node& node) const;
  bool is_float(std::size_t body, onnx::Bytes name) const;
  bool is_constant(const graph::Value& value, std::size_t body) const;
  unsigned result_of(std::size_t body, const onnx::Node& node, const std::vector<Input>& inputs) const;
  unsigned count_of(std::size_t body, const onnx::Node& node) const;
  bool grows(const onnx::Node& node, const std::vector<Input>& inputs) const;
  bool may_vanish(std::size_t body, const onnx::Node& node) const;
  void visit(std::size_t body, std::size_t position);
  void add(const graph::Value* value, unsigned kinds, const std::string& origin);
  void note(const graph::Value* value, unsigned kinds, const std::string& origin);

  const onnx::Model& model_;
  const graph::Index& index_;
  const graph::ElementTypes& types_;
  HalfRange range_;
  std::unordered_map<const graph::Value*, Numbers> numbers_;
  struct Observed {
    onnx::Bytes name;
    float low, high;
  };
  std::unordered_map<const graph::Value*, Observed> observed_;
  std::unordered_multimap<const graph::Value*, const graph::Value*> onward_;  // connections through bodies
  void wait_for(Use node);
  std::vector<std::vector<bool>> is_waiting_;  // by body and node
  std::deque<Use> waiting_;                    // nodes still to visit
  std::deque<std::pair<const graph::Value*, const graph::Value*>>
      arriving_;  // values, and the values that they come from
};

}  // namespace ounce::plan
