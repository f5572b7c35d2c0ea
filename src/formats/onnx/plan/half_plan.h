// Which nodes of a model compute on 16-bit floats, which values are 16-bit floats, and why the rest stays in
// FP32.
//
//   x ─ Conv ─ Exp ─ ReduceSum ─ Div ─ y       Exp, ReduceSum and Div stay: sums of powers may overflow, and
//                └───────────────┘             what is divided by them has to be of their kind
//
// A value has the type in which its node gives it; between a value and a node that wants another type there
// will be one Cast (formats/onnx/emit/half_graph.h), shared by all that want it.
//
// Nodes stay for what they are (ops/op_info.h, op_schemas.h), for the user's wish, and for the numbers that
// go through them: a constant that 16 bits cannot hold, integers that became floats (positions, lengths),
// powers and sums of which nobody knows how large they get. Each of these is followed through the graph until
// an op bounds it. Data that was observed says more than such a rule: then a value stays when it left the
// range.
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

// A node that takes or gives float32.
struct HalfNode {
  std::size_t body = 0, position = 0;
  std::vector<bool> inputs, outputs;  // which of them are 16-bit floats that were float32
  std::string why_float;              // empty for a node that computes on 16 bits
  bool is_of_integers = false;        // … in FP32 as far as the file says, and on integers where it runs

  bool is_half() const { return why_float.empty(); }
};

struct HalfPlan {
  ElementType type = ElementType::kUndefined;      // float16 or bfloat16; undefined: no such plan
  std::vector<HalfNode> nodes;                     // in the order of the file
  std::unordered_set<const graph::Value*> halves;  // values that become 16-bit floats
  std::unordered_set<const graph::Value*> floats;  // all that were float32
  // Outputs of bodies that are 16-bit floats, whatever the value behind them is.
  std::set<std::pair<std::size_t, onnx::Bytes>> half_outputs;
  // Constants whose values beyond the 16-bit range become this, with the sign they have.
  std::map<const graph::Value*, float> limits;
  std::vector<IntegerPort> ports;  // inputs and outputs of the model that become 16-bit floats
  std::vector<std::string> notes;
  std::vector<std::string> unmatched;  // expressions that matched no node, where the recipe ignores them

  bool exists() const { return type != ElementType::kUndefined; }
  std::string text(const graph::Index& index) const;  // a line a node
};

// Decides about the nodes, and in `decisions` about all float tensors. `ranges` are those of observed values,
// if there was data.
HalfPlan make_half_plan(const onnx::Model& model, const graph::Index& index, const graph::ElementTypes& types,
                        const Recipe& recipe, const calibration::Ranges* ranges,
                        std::vector<Decision>& decisions, ThreadPool& pool);

}  // namespace ounce::plan
