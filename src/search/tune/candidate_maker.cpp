#include "search/tune/candidate_maker.h"

#include <utility>

#include "model/model_file.h"
#include "quantize/output_place.h"
#include "quantize/pipeline.h"
#include "search/tune/coreml_candidates.h"
#include "search/tune/onnx_candidates.h"
#include "search/tune/tflite_candidates.h"

namespace ounce::search {
namespace {

constexpr std::uint64_t kTrialSamples = 8;  // few, because the quality has been measured already

}  // namespace

CandidateMaker::CandidateMaker(std::filesystem::path model, const QuantizeOptions& options)
    : model_(std::move(model)), options_(options) {}

QuantizeOptions CandidateMaker::options_for(const Recipe& recipe) const {
  QuantizeOptions options = options_;
  options.recipe = recipe;
  options.recipe.target = options_.recipe.target;
  options.recipe.keep_inputs = options_.recipe.keep_inputs;
  return quantization::for_target(std::move(options));
}

Recipe CandidateMaker::resolve(const Recipe& recipe, const quantization::StaticLimits& limits,
                               std::vector<std::string>& notes) {
  quantization::Quantization q(model_, {}, options_for(recipe));
  q.limits = limits;
  quantization::open_source(q);
  quantization::prepare(q);
  quantization::observe(q);
  quantization::search(q);
  notes.insert(notes.end(), q.result.notes.begin(), q.result.notes.end());
  keep(q);
  return std::move(q.recipe);
}

QuantizeResult CandidateMaker::write(const Recipe& recipe, const std::filesystem::path& output,
                                     const std::optional<StatedGate>& gate) {
  QuantizeOptions options = options_for(recipe);
  options.trial.samples = kTrialSamples;
  options.trial.is_timed = false;  // timed during the search
  quantization::Quantization q(model_, output, options);
  quantization::open_source(q);
  quantization::Inputs().add(*q.file).add(options.trial.data).require_apart(output);
  lend(q);
  q.gate = gate;
  quantization::make(q);
  return std::move(q.result);
}

std::unique_ptr<CandidateMaker> make_candidate_maker(const std::filesystem::path& model,
                                                     const QuantizeOptions& options) {
  const auto kind = model::detect(model);
  if (kind == model::ModelKind::kTflite) return std::make_unique<TfliteCandidates>(model, options);
  if (kind == model::ModelKind::kCoreml) return std::make_unique<CoremlCandidates>(model, options);
  return std::make_unique<OnnxCandidates>(model, options);
}

}  // namespace ounce::search
