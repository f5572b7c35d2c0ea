#include "search/tune/tflite_candidates.h"

#include <algorithm>
#include <cmath>

#include "formats/tflite/emit/emitted.h"
#include "model/emitter.h"
#include "quantize/litert_fit.h"
#include "quantize/pipeline.h"
#include "recipe/format_info.h"
#include "search/tune/layer_noise.h"

namespace ounce::search {
namespace {

using quantization::TfliteStatic;
using quantization::TfliteWork;

Format format_of(const tflite::Decision& decision) {
  return decision.is_stored() ? weight_only(decision.bits()) : kUnchanged;
}

std::string path_of(const TfliteWork& work, const tflite::Decision& decision) {
  const std::string& graph = work.prepared->graphs()[decision.weight.graph].path;
  const std::string name(decision.weight.name);
  return graph.empty() ? name : graph + "/" + name;
}

std::shared_ptr<const TfliteStatic> half_of(const TfliteStatic& whole) {
  return std::static_pointer_cast<const TfliteStatic>(whole.with_half_the_ranges());
}

// Noise / signal of the values that INT8 operators take and give, by the name of the operator.
std::map<std::string, double> activation_noise(const TfliteWork& work) {
  std::map<std::string, double> noise;
  if (work.integers == nullptr) return noise;
  const tflite::IntegerModel& prepared = *work.integers->integers();
  for (std::size_t op = 0; op < work.integer_plan.ops.size(); ++op) {
    if (!work.integer_plan.ops[op].is_integer()) continue;
    const tflite::IntegerCandidate& candidate = prepared.candidates()[op];
    std::vector<std::size_t> values = candidate.outputs;
    for (const std::size_t i : candidate.data)
      values.push_back(static_cast<std::size_t>(prepared.graph().operators[op].inputs[i]));
    for (const std::size_t value : values) {
      if (const auto& codes = work.integer_plan.scales.codes[value])
        noise[prepared.name_of(op)] += std::pow(10, -codes->sqnr_db / 10);
    }
  }
  return noise;
}

}  // namespace

bool TfliteCandidates::can_make(const Recipe& recipe) const {
  // LiteRT runs 16-bit activations in reference kernels, which take 20 times as long as FP32 or more.
  return why_not_for(model::ModelKind::kTflite, recipe.format).empty() &&
         !is_16_bit(recipe.integer.activations);
}

TfliteCandidates::Prepared TfliteCandidates::prepared(const Recipe& recipe) {
  const std::scoped_lock lock(mutex_);
  const bool is_static = ounce::is_static(recipe.format);
  const bool is_halved = is_static && recipe.integer.fit_on_even_samples;
  const auto known = prepared_.find({is_static, is_halved});
  if (known != prepared_.end()) return known->second;
  Prepared& whole = prepared_[{is_static, false}];
  if (whole == nullptr) {
    Recipe plain;
    plain.format = recipe.format;
    quantization::Quantization q(model(), {}, options_for(plain));
    quantization::open_source(q);
    quantization::prepare(q);
    quantization::observe(q);
    whole = std::move(q.tflite);
  }
  if (!is_halved) return whole;
  auto half = std::make_shared<TfliteWork>(*whole);
  half->integers = half_of(*whole->integers);
  return prepared_[{true, true}] = std::move(half);
}

void TfliteCandidates::keep(quantization::Quantization& q) {
  const std::scoped_lock lock(mutex_);
  prepared_.try_emplace({is_static(q.recipe.format), q.recipe.integer.fit_on_even_samples},
                        std::make_shared<const TfliteWork>(*q.tflite));
}

void TfliteCandidates::lend(quantization::Quantization& q) {
  q.tflite = std::make_unique<TfliteWork>(*prepared(q.recipe));
}

const calibration::Ranges* TfliteCandidates::ranges(const Recipe& recipe) {
  const Prepared work = prepared(recipe);  // lives as long as this
  return work->integers == nullptr ? nullptr : work->integers->ranges();
}

TfliteWork TfliteCandidates::planned(const Recipe& recipe, ThreadPool& pool) {
  TfliteWork work = *prepared(recipe);
  const Recipe asked = options_for(recipe).recipe;
  std::vector<std::string> notes;  // write() has them in its result
  if (asked.target.empty())
    quantization::make_tflite_plan(work, asked, pool);
  else
    quantization::fit_to_litert(work, asked, pool, notes);
  return work;
}

Survey TfliteCandidates::survey(const Recipe& recipe) {
  ThreadPool pool;
  const TfliteWork work = planned(recipe, pool);
  std::vector<kernels::ErrorNorms> errors(work.plan.decisions.size());
  run_jobs(
      pool, errors.size(), [&](std::size_t i) { return work.plan.decisions[i].weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        const tflite::Decision& decision = work.plan.decisions[i];
        if (!decision.weight.fits_nbits() || !decision.is_stored()) return;
        const auto values = work.prepared->read({decision.weight.graph, decision.tensor});
        errors[i] = weight_error(decision, decision.affine, values->floats(), for_each);
      });
  std::map<std::string, kernels::ErrorNorms> weights;
  for (std::size_t i = 0; i < errors.size(); ++i) weights[path_of(work, work.plan.decisions[i])] = errors[i];
  Survey survey{find_layers(*work.prepared), {}, work.notes};
  survey.noise = noise_of_layers(survey.layers, weights, activation_noise(work));
  return survey;
}

std::vector<TreatedLayer> TfliteCandidates::layers(const Recipe& recipe) {
  ThreadPool pool(1);
  const TfliteWork work = planned(recipe, pool);
  std::map<std::string, Format> integers, tensors;
  for (const tflite::NodePlan& node : work.plan.nodes) {
    if (node.arithmetic == Arithmetic::kFloat) continue;
    const model::GraphView& graph = work.prepared->graphs()[node.graph];
    const std::string name(graph.nodes[node.op].name);
    integers[graph.path.empty() ? name : graph.path + "/" + name] = format_with(node.arithmetic);
  }
  for (const tflite::Decision& decision : work.plan.decisions)
    tensors[path_of(work, decision)] = format_of(decision);
  std::vector<TreatedLayer> layers;
  for (Layer& layer : find_layers(*work.prepared, 0)) {
    const auto integer = integers.find(layer.output);
    Format format = kUnchanged;
    if (integer != integers.end())
      format = integer->second;
    else if (const auto stored = tensors.find(layer.weights.front()); stored != tensors.end())
      format = stored->second;
    const bool is_small = layer.values * sizeof(float) < recipe.min_bytes;  // not worth compressing
    if (is_small && integer == integers.end()) continue;
    layers.push_back({std::move(layer), format});
  }
  return layers;
}

std::uint64_t TfliteCandidates::make(const Recipe& recipe, const std::filesystem::path& file) {
  ThreadPool pool(1);
  const TfliteWork work = planned(recipe, pool);
  const auto emitted = quantization::emit_tflite(work, {});
  model::Destination place;
  place.path = file;
  emitted->write(place, pool, nullptr);
  const std::uint64_t bytes = emitted->size(place);
  emitted->commit();
  return bytes;
}

}  // namespace ounce::search
