// Static INT8 inference of a TFLite model: which operators run in INT8, the scale and zero point of
// each value, the codes of weights and biases, and why the rest stays in FP32.
//
//   const IntegerModel prepared(model, recipe, pool);                 // once for all plans
//   const IntegerPlan plan = make_integer_plan(prepared, ranges, recipe);
//   apply(copy, prepared, plan);                                      // formats/tflite/emit/integer_graph.h
//
// The plan is about subgraph 0; the subgraphs of IF and WHILE do not change.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "calibration/ranges.h"
#include "formats/tflite/file/model.h"
#include "formats/tflite/plan/flow.h"
#include "formats/tflite/plan/integer_candidates.h"
#include "formats/tflite/plan/integer_scales.h"
#include "formats/tflite/plan/integer_weights.h"
#include "plan/float_choice/frontier.h"

namespace ounce::tflite {

// The data that all plans of a model share.
class IntegerModel {
 public:
  // Of `recipe` the storage of weights counts.
  IntegerModel(std::shared_ptr<const Model> model, const Recipe& recipe, ThreadPool& pool);

  const Model& model() const { return *model_; }
  const SubGraph& graph() const { return model_->subgraphs[0]; }
  const Flow& flow() const { return flow_; }
  const std::vector<IntegerCandidate>& candidates() const { return candidates_; }
  const WeightCodes& weights() const { return weights_; }

  // How a recipe calls an operator: by what it gives.
  std::string name_of(std::size_t op) const;
  // And people: "CONV_2D 'conv1'".
  std::string label_of(std::size_t op) const;

 private:
  std::shared_ptr<const Model> model_;
  Flow flow_;
  std::vector<IntegerCandidate> candidates_;
  WeightCodes weights_;
};

struct OpDecision {
  Arithmetic arithmetic = Arithmetic::kFloat;
  std::string reason;  // why it stays in FP32; empty for operators that compute on no floats

  bool is_integer() const { return arithmetic == Arithmetic::kStatic; }
};

struct IntegerPlan {
  std::vector<OpDecision> ops;  // of the operators, by position
  Scales scales;
  std::map<std::size_t, OpWeights> weights;  // by operator
  // The integer type of the model's inputs and outputs; kUndefined: they keep FP32.
  ElementType io = ElementType::kUndefined;

  bool is_wide() const;  // 16-bit activations
  std::size_t integer_count() const;
  // A line for each operator, value and weight.
  std::string text(const IntegerModel& prepared) const;
};

// `ranges` has statistics of what values_to_observe() names. Throws Error{kUsage} for a recipe that names an
// operator that is not there.
IntegerPlan make_integer_plan(const IntegerModel& prepared, const calibration::Ranges& ranges,
                              const Recipe& recipe);

// Do all operators that use a weight or a bias take it in the same codes? Then the tensor becomes these
// codes.
bool has_one_form(const IntegerModel& prepared, const IntegerPlan& plan, std::size_t tensor);

// The operators that could run in INT8: they have a kernel, their values were observed, their scales
// fit, and the recipe says nothing else.
std::vector<bool> possible_integers(const IntegerModel& prepared, const calibration::Ranges& ranges,
                                    const Recipe& recipe, std::vector<OpDecision>& decisions);

// The choices of a search: assignments of operators to FP32, from the fastest one to the one with all of
// them in FP32. `noise` by name_of().
std::vector<plan::Division> float_choices(const IntegerModel& prepared, const calibration::Ranges& ranges,
                                          const Recipe& recipe, const std::map<std::string, double>& noise);

}  // namespace ounce::tflite
