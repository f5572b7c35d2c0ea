#include "formats/onnx/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/thread_pool.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/integer_weights.h"
#include "formats/onnx/plan/weights.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

std::vector<std::string> notes_on(const onnx::Model& model, const graph::Index& index, const Recipe& recipe) {
  std::size_t quantized = 0, sparse = 0;
  for (const graph::Body& body : index.bodies()) {
    for (const auto& node : body.nodes()) quantized += node->info().is_quantized_or_converts() ? 1U : 0U;
    if (body.graph != nullptr) sparse += body.graph->sparse_initializers.size();
  }
  std::vector<std::string> notes;
  if (quantized != 0 && !recipe.is_integer())
    notes.push_back(
        fmt::format("partially quantized already ({} nodes): only the remaining float weights are compressed",
                    quantized));
  if (sparse != 0) notes.push_back(fmt::format("{} sparse tensors are not compressed", sparse));
  if (!model.proto->training.empty()) notes.emplace_back("training information is copied unchanged");
  return notes;
}

// Details of a decision that the rest of its text does not contain.
std::string digest_text(const Decision& decision) {
  std::string text;
  if (decision.pairs.exist()) text += " pairs";
  if (decision.uses_pair_table) text += " table";
  if (decision.is_split_nibbles) text += " rows";
  if (decision.is_nbits() && decision.rows.is_padded)
    text += fmt::format(" level {}", decision.accuracy_level);
  if (decision.codes != nullptr) {
    const auto* bytes = reinterpret_cast<const char*>(decision.codes->data());
    text += " codes " + hex(digest_of(std::string_view(bytes, decision.codes->size())));
  }
  if (decision.energy != nullptr) {
    const auto* bytes = reinterpret_cast<const char*>(decision.energy->data());
    text += " energy " + hex(digest_of(std::string_view(bytes, decision.energy->size() * sizeof(float))));
  }
  if (!decision.shift.empty()) {
    const auto* bytes = reinterpret_cast<const char*>(decision.shift.data());
    text += " corrected " + hex(digest_of(std::string_view(bytes, decision.shift.size() * sizeof(float))));
  }
  return text;
}

// Only for weights that are folded: with 16-bit weights, DequantizeLinear would lose its kernels.
void promote_folded(std::vector<Decision>& decisions, double share) {
  std::vector<TensorPlan*> folded;
  std::uint64_t total = 0;
  for (Decision& decision : decisions) {
    total += decision.weight.bytes();
    if (decision.decoder == Decoder::kFold) folded.push_back(&decision);
  }
  promote_smallest(std::move(folded), total, share);
  for (Decision& decision : decisions) decision.uses_pair_table &= decision.is_linear();
}

// The plan before values are read.
Plan plan_structure(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                    const calibration::Ranges* ranges) {
  Plan plan;
  plan.recipe = recipe;
  plan.notes = notes_on(model, index, recipe);
  Selection selection(recipe);
  const std::vector<Weight> weights = find_weights(index);
  const NodeOverrides overrides(index, recipe);
  overrides.require_nodes();
  require_levels(index, recipe);
  plan.integer = make_integer_plan(model, index, recipe, weights, ranges, overrides, selection);
  StructurePlanner planner(model, index, recipe, plan.integer, overrides, selection);
  for (const Weight& weight : weights) plan.decisions.push_back(planner.decide(weight));
  plan.unmatched = selection.unmatched(plan.notes);
  trade_memory(model, index, recipe, planner, plan.decisions);
  return plan;
}

}  // namespace

Plan plan_by_shapes(const onnx::Model& model, const graph::Index& index, const Recipe& recipe) {
  return plan_structure(model, index, recipe, nullptr);
}

Plan make_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe, ThreadPool& pool,
               const calibration::Ranges* ranges) {
  if (recipe.is_half()) {
    Plan plan;
    plan.recipe = recipe;
    plan.notes = notes_on(model, index, recipe);
    plan.decisions = std::move(unread_plan(index).decisions);
    const graph::ElementTypes types(model, index);
    plan.half = make_half_plan(model, index, types, recipe, ranges, plan.decisions, pool);
    plan.half_text = plan.half.text(index);
    plan.notes.insert(plan.notes.end(), plan.half.notes.begin(), plan.half.notes.end());
    plan.unmatched = plan.half.unmatched;
    return plan;
  }
  Plan plan = plan_structure(model, index, recipe, ranges);
  std::vector<std::size_t> stored;
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    if (plan.decisions[i].is_stored()) stored.push_back(i);
  }
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return plan.decisions[stored[i]].weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        decide_by_values(model, plan.decisions[stored[i]], for_each);
      });
  promote_folded(plan.decisions, recipe.fp16_budget);
  scale_integer_weights(model, index, plan, pool);
  if (is_static(recipe.format) && recipe.integer.correct_bias && ranges != nullptr)
    correct_biases(model, index, *ranges, plan, pool);
  return plan;
}

Plan unread_plan(const graph::Index& index) {
  Plan plan;
  for (const Weight& weight : find_weights(index)) plan.decisions.emplace_back(weight);
  return plan;
}

std::size_t Plan::stored_count() const {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(), [](const Decision& d) { return d.is_stored(); }));
}

std::string Plan::text() const {
  std::string text;
  for (const Decision& decision : decisions) text += text_of(decision, digest_text(decision)) + '\n';
  return text + integer.text() + half_text;
}

}  // namespace ounce::plan
