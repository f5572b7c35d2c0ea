// Decides which nodes run in FP16 or BF16, which values become 16-bit floats, and why the rest is kept in
// FP32.
//
//   x ─ Conv ─ Exp ─ ReduceSum ─ Div ─ y       Exp, ReduceSum and Div are kept in FP32: sums of powers may
//                └───────────────┘             overflow, and their dividend must have the same type
//
// The node that produces a value determines its type. One Cast (formats/onnx/emit/half_graph.h) converts it
// for all users that need another type.
//
// A node is kept in FP32 because of its op (ops/op_info.h, op_schemas.h), an override of the recipe, or its
// values: constants that 16 bits cannot represent, integers converted to floats (positions, lengths), and
// powers and sums without a known bound. Such values are tracked through the graph until an op bounds them.
// Observed ranges replace these rules: then a value is kept in FP32 only if it exceeded the 16-bit range.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/plan/half_tensors.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::plan {

// A node with float32 inputs or outputs.
struct HalfNode {
  std::size_t body = 0, position = 0;
  std::vector<bool> inputs, outputs;  // which of them change from float32 to 16-bit floats
  std::string why_float;              // empty for a node that runs in 16 bits
  bool is_of_integers = false;        // kept in FP32 in the file, but runs in INT8 after fusion

  bool is_half() const { return why_float.empty(); }
};

struct HalfPlan {
  ElementType type = ElementType::kUndefined;      // float16 or bfloat16; undefined: no plan
  std::vector<HalfNode> nodes;                     // in the order of the file
  std::unordered_set<const graph::Value*> halves;  // values that become 16-bit floats
  std::unordered_set<const graph::Value*> floats;  // all values that were float32
  // Outputs of bodies that are 16-bit floats, independent of the type of the value behind them.
  std::set<std::pair<std::size_t, onnx::Bytes>> half_outputs;
  // Constants and the limit to which their magnitudes are clipped so that they fit 16 bits.
  std::map<const graph::Value*, float> limits;
  std::vector<IntegerPort> ports;  // inputs and outputs of the model that become 16-bit floats
  std::vector<std::string> notes;
  std::vector<std::string> unmatched;  // expressions that matched no node, if the recipe ignores them

  bool exists() const { return type != ElementType::kUndefined; }
  std::string text(const graph::Index& index) const;  // one line per node
};

// Decides about all nodes, and about all float tensors in `decisions`. `ranges` are the observed ranges; null
// without calibration data.
HalfPlan make_half_plan(const onnx::Model& model, const graph::Index& index, const graph::ElementTypes& types,
                        const Recipe& recipe, const calibration::Ranges* ranges,
                        std::vector<Decision>& decisions, ThreadPool& pool);

}  // namespace ounce::plan
