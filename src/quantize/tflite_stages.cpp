#include "quantize/tflite_stages.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/version.h>

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "formats/tflite/emit/emitted.h"
#include "formats/tflite/prepare/prepare.h"
#include "quantize/digests.h"
#include "quantize/observation.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "quantize/pipeline.h"
#include "quantize/recipe_json.h"

namespace ounce::quantization {
namespace {

NodeOutcome outcome_of(const tflite::TfliteFile& file, const tflite::NodePlan& node) {
  const model::GraphView& graph = file.graphs()[node.graph];
  return {file.label({node.graph, node.op}), graph.path, std::string(graph.nodes[node.op].op),
          node.arithmetic, node.reason};
}

// Why nothing can be done, of the largest weight.
void require_work(const TfliteWork& work, const std::filesystem::path& path) {
  const std::vector<tflite::Decision>& decisions = work.plan.decisions;
  if (work.plan.stored_count() != 0) return;
  const std::size_t quantized = tflite::quantized_constants(work.prepared->model());
  std::string why = quantized == 0 ? "it has no float weights"
                                   : fmt::format("{} of its constants are quantized already", quantized);
  if (!decisions.empty()) {
    const auto largest =
        std::max_element(decisions.begin(), decisions.end(),
                         [](const auto& a, const auto& b) { return a.weight.bytes() < b.weight.bytes(); });
    why = fmt::format("of its largest float tensor '{}' the plan says: {}", largest->weight.name,
                      largest->reason);
    if (quantized != 0) why += fmt::format("; {} constants are quantized already", quantized);
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("nothing to store smaller: {}; nothing was written", why),
              path.string());
}

}  // namespace

TfliteWork::TfliteWork(const tflite::TfliteFile& source) {
  tflite::Model model = source.model();
  if (!model.unwritable.empty())
    throw Error(ErrorCode::kUnsupported, fmt::format("cannot be written again: {}", model.unwritable),
                source.path().string());
  notes = tflite::prepare(model, {});
  prepared = std::make_shared<const tflite::TfliteFile>(std::move(model));
}

std::vector<TensorOutcome> outcomes_of(const TfliteWork& work) {
  std::vector<TensorOutcome> outcomes;
  for (const tflite::Decision& decision : work.plan.decisions)
    outcomes.push_back(outcome_of(decision, work.prepared->graphs()[decision.weight.graph].path));
  return outcomes;
}

std::vector<std::pair<std::string, std::string>> tflite_metadata(const std::string& plan_digest,
                                                                 const std::string& source_digest) {
  return {{"ounce.version", version()}, {"ounce.plan", plan_digest}, {"ounce.source", source_digest}};
}

void prepare_tflite(Quantization& q) {
  require_original(*q.file, q.recipe.format);
  q.tflite = std::make_unique<TfliteWork>(tflite::as_tflite(*q.file));
  // It computes what the source computes, in operators that have kernels in the format.
}

void observe_tflite(Quantization&) {}  // the formats that need no ranges of activations

void search_tflite(Quantization& q) { q.recipe = as_it_is(q.options.recipe); }

void decide_tflite(Quantization& q) {
  begin_stage(q.options, "reading weights", 0);
  TfliteWork& work = *q.tflite;
  work.plan = tflite::make_plan(*work.prepared, q.recipe, q.pool);
  QuantizeResult& result = q.result;
  result.notes.insert(result.notes.begin(), work.notes.begin(), work.notes.end());
  result.notes.insert(result.notes.end(), work.plan.notes.begin(), work.plan.notes.end());
  result.unmatched.insert(result.unmatched.end(), work.plan.unmatched.begin(), work.plan.unmatched.end());
  for (const tflite::NodePlan& node : work.plan.nodes)
    result.nodes.push_back(outcome_of(*work.prepared, node));
  result.tensors = outcomes_of(work);
  for (std::size_t i = 0; q.options.pictures && i < result.tensors.size(); ++i) {
    const tflite::Decision& decision = work.plan.decisions[i];
    if (!decision.is_stored()) continue;
    const auto values = work.prepared->read({decision.weight.graph, decision.tensor});
    result.tensors[i].histogram = histogram_of(values->floats());
  }
  result.plan_digest =
      hex(digest_of(fmt::format("{}{} {} {}", work.plan.text(), static_cast<int>(q.recipe.scale),
                                static_cast<int>(q.recipe.rounding), version())));
  require_work(work, q.path());
  // Every float tensor has a decision with its reason, and something is gained.
}

void emit_tflite(Quantization& q) {
  q.result.source_digest = source_digest(*q.file, q.pool);
  q.emitted = std::make_unique<tflite::TfliteEmitted>(
      q.tflite->prepared, q.tflite->plan, tflite_metadata(q.result.plan_digest, q.result.source_digest));
  // The emitted model carries out the plan. Its new weights have sizes, and are encoded while they are
  // written.
}

}  // namespace ounce::quantization
