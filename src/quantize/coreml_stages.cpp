#include "quantize/coreml_stages.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "formats/coreml/emit/emitted.h"
#include "quantize/coreml_fit.h"
#include "quantize/digests.h"
#include "quantize/observation.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "quantize/pipeline.h"
#include "quantize/recipe_json.h"
#include "recipe/format_info.h"

namespace ounce::quantization {
namespace {

constexpr unsigned kFewBits = 4;

// Throws if no weight can be compressed, with the reason for the largest one.
void require_stored(const coreml::Plan& plan, const std::filesystem::path& path) {
  if (plan.stored_count() != 0) return;
  std::string why = "the model has no floating-point weights";
  if (!plan.decisions.empty()) {
    const auto largest =
        std::max_element(plan.decisions.begin(), plan.decisions.end(),
                         [](const auto& a, const auto& b) { return a.weight.bytes() < b.weight.bytes(); });
    why = fmt::format("largest floating-point tensor '{}': {}", largest->weight.name, largest->reason);
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("no weights to compress: {}; nothing was written", why),
              path.string());
}

}  // namespace

void prepare_coreml(Quantization& q) {
  require_original(*q.file, q.recipe.format);
  q.coreml = std::make_unique<CoremlWork>();
  q.coreml->source = std::make_shared<const coreml::CoremlFile>(coreml::as_coreml(*q.file).model());
  // Only weights change, so the program needs no preparation.
}

void observe_coreml(Quantization&) {}  // no supported format needs activation ranges

void search_coreml(Quantization& q) {
  q.recipe = q.options.recipe;
  const bool has_data = !q.options.trial.data.is_generated();
  if (q.recipe.rounding == Rounding::kAdaptive && !has_data)
    throw Error(ErrorCode::kUsage, "`rounding=adaptive` needs calibration data: give `data`",
                q.path().string());
  // Formats of 4 bits and below gain from data; 8 bits hardly do.
  if (has_data && q.recipe.rounding == Rounding::kZeroSum && info_of(q.recipe.format).weight_bits <= kFewBits)
    q.recipe.rounding = Rounding::kAdaptive;
}

void decide_coreml(Quantization& q) {
  begin_stage(q.options, "reading weights", 0);
  const coreml::CoremlFile& source = *q.coreml->source;
  coreml::Plan& plan = q.coreml->plan;
  plan = coreml::make_plan(source, q.recipe, q.pool);
  QuantizeResult& result = q.result;
  result.notes.insert(result.notes.end(), plan.notes.begin(), plan.notes.end());
  result.unmatched.insert(result.unmatched.end(), plan.unmatched.begin(), plan.unmatched.end());
  if (q.recipe.rounding == Rounding::kAdaptive) {
    begin_stage(q.options, "fitting layers", 0);
    const CoremlFit fit = fit_coreml(source, q.options, plan, q.pool);
    result.notes.push_back(
        fmt::format("adaptive rounding of {} layers: their outputs are {:.1f} dB more accurate than with "
                    "nearest rounding",
                    fit.layers, fit.gain_db));
    for (const std::string& reason : fit.left_alone) result.notes.push_back("rounded to nearest: " + reason);
  }
  for (const coreml::Decision& decision : plan.decisions) {
    result.tensors.push_back(outcome_of(decision, source.graphs()[decision.weight.graph].path));
    if (!q.options.pictures || !decision.is_stored()) continue;
    const auto values = source.read(decision.value);
    result.tensors.back().histogram = histogram_of(values->floats());
  }
  result.plan_digest = hex(digest_of(fmt::format("{}{} {} {}", plan.text(), static_cast<int>(q.recipe.scale),
                                                 static_cast<int>(q.recipe.rounding), version())));
  require_stored(plan, q.path());
  // Every floating-point tensor has a decision with its reason, and at least one is compressed.
}

void emit_coreml(Quantization& q) {
  q.result.source_digest = source_digest(*q.file, q.pool);
  const std::vector<std::pair<std::string, std::string>> metadata = {
      {"ounce.version", version()},
      {"ounce.plan", q.result.plan_digest},
      {"ounce.source", q.result.source_digest}};
  q.emitted = std::make_unique<coreml::CoremlEmitted>(q.coreml->source, q.coreml->plan, metadata);
  // The emitted model carries out the plan. The sizes of its new weights are known; their values are computed
  // while they are written.
}

}  // namespace ounce::quantization
