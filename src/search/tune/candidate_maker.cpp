#include "search/tune/candidate_maker.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/plan/plan.h"
#include "quantize/candidate_error.h"
#include "quantize/output_place.h"
#include "quantize/pipeline.h"
#include "quantize/target_fit.h"
#include "recipe/format_info.h"
#include "target/target.h"

namespace ounce::search {
namespace {

// Storage formats work on the model as it is.
Format prepared_format(Format format) { return is_storage(format) ? Recipe().format : format; }

constexpr std::uint64_t kTrialSamples = 8;  // quality has been measured on more

Format format_of(const plan::Decision& decision) {
  if (decision.is_nbits()) return nbits(decision.bits());
  const bool is_decoded = decision.is_stored() && decision.encoding != plan::Encoding::kBfloat16;
  return is_decoded ? weight_only(decision.bits()) : kUnchanged;
}

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

std::shared_ptr<const quantization::PreparedModel> CandidateMaker::prepared(const Recipe& recipe) {
  const std::scoped_lock lock(mutex_);
  const Format format = prepared_format(recipe.format);
  Recipe plain;
  plain.format = format;
  plain.integer.activations = recipe.integer.activations;
  const bool is_wide = is_16_bit(plain.integer.activations);
  const QuantizeOptions options = options_for(plain);
  const bool is_even = recipe.integer.equalize, is_halved = recipe.integer.fit_on_even_samples;
  const auto known = prepared_models_.find({format, is_wide, is_even, is_halved});
  if (known != prepared_models_.end()) return known->second;
  auto& flat = prepared_models_[{format, is_wide, false, false}];
  if (flat == nullptr) flat = quantization::prepare_model(model_, options);
  auto& whole = prepared_models_[{format, is_wide, is_even, false}];
  if (whole == nullptr) whole = flat->equalized(options);
  if (!is_halved || whole == nullptr) return whole;
  return prepared_models_[{format, is_wide, is_even, true}] = whole->fit_split();
}

Recipe CandidateMaker::fitted(const Recipe& resolved, const quantization::PreparedModel& prepared) const {
  const Recipe recipe = options_for(resolved).recipe;
  const target::Target target = target::parse_target(recipe.target);
  if (recipe.target.empty() || !target.is_place()) return recipe;
  ThreadPool pool(1);
  std::vector<std::string> notes;
  return quantization::fit_to_target(onnx::read_model(model_), prepared, recipe, target, pool, notes);
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
  const std::scoped_lock lock(mutex_);
  const bool is_wide = is_16_bit(recipe.integer.activations);
  const IntegerRecipe& found = q.recipe.integer;
  prepared_models_.try_emplace(
      {prepared_format(recipe.format), is_wide, found.equalize, found.fit_on_even_samples}, q.prepared);
  return std::move(q.recipe);
}

std::vector<TreatedLayer> CandidateMaker::layers(const Recipe& recipe) {
  const auto prepared = this->prepared(recipe);
  const graph::Index& index = prepared->index();
  ThreadPool pool(1);
  const plan::Plan plan =
      plan::make_plan(prepared->model(), index, fitted(recipe, *prepared), pool, prepared->ranges());
  std::map<std::string, Format> integers, tensors;
  for (const plan::NodeDecision& node : plan.integer.nodes) {
    if (!node.is_integer()) continue;
    const auto& outputs = index.bodies()[node.body].nodes()[node.node]->outputs;
    integers[graph::value_path(index, node.body, outputs[0])] = format_with(node.arithmetic);
  }
  for (const plan::Decision& decision : plan.decisions)
    tensors[graph::value_path(index, decision.weight.body, decision.weight.name)] = format_of(decision);
  std::vector<TreatedLayer> layers;
  for (Layer& layer : find_layers(index, 0)) {
    const auto integer = integers.find(layer.output);
    Format format = kUnchanged;
    if (integer != integers.end())
      format = integer->second;
    else if (const auto stored = tensors.find(layer.weights.empty() ? "" : layer.weights.front());
             stored != tensors.end())
      format = stored->second;
    const bool is_small = layer.values * sizeof(float) < recipe.min_bytes;  // left alone by all formats …
    if (is_small && integer == integers.end()) continue;                    // … that do not compute on it
    layers.push_back({std::move(layer), format});
  }
  return layers;
}

std::uint64_t CandidateMaker::make(const Recipe& recipe, const std::filesystem::path& file) {
  ThreadPool pool(1);
  const auto prepared = this->prepared(recipe);
  return quantization::write_candidate(*prepared, fitted(recipe, *prepared), file, pool);
}

QuantizeResult CandidateMaker::write(const Recipe& recipe, const std::filesystem::path& output,
                                     const std::optional<StatedGate>& gate) {
  QuantizeOptions options = options_for(recipe);
  options.trial.samples = kTrialSamples;
  options.trial.is_timed = false;  // it has been
  quantization::Quantization q(model_, output, options);
  quantization::open_source(q);
  quantization::Inputs().add(*q.file).add(options.trial.data).require_apart(output);
  q.prepared = prepared(recipe);
  q.gate = gate;
  quantization::make(q);
  return std::move(q.result);
}

}  // namespace ounce::search
