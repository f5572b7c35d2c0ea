#include "search/tune/onnx_candidates.h"

#include <ounce/error.h>

#include <cmath>
#include <utility>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/plan/plan.h"
#include "quantize/candidate_error.h"
#include "quantize/pipeline.h"
#include "quantize/target_fit.h"
#include "recipe/format_info.h"
#include "search/tune/layer_noise.h"
#include "target/target.h"

namespace ounce::search {
namespace {

// Weight-only formats need no prepared model.
Format prepared_format(Format format) { return is_storage(format) ? Recipe().format : format; }

Format format_of(const plan::Decision& decision) {
  if (decision.is_nbits()) return nbits(decision.bits());
  const bool is_decoded = decision.is_stored() && decision.encoding != plan::Encoding::kBfloat16;
  return is_decoded ? weight_only(decision.bits()) : kUnchanged;
}

// Noise / signal of the inputs and outputs of each INT8 node, by the path of its first output.
std::map<std::string, double> activation_noise(const graph::Index& index, const plan::IntegerPlan& plan) {
  const auto noise_of = [&](std::size_t body, onnx::Bytes name) {
    const auto quantization = plan.activations.find({index.find(body, name).body, name});
    return quantization == plan.activations.end() ? 0 : std::pow(10, -quantization->second.sqnr_db / 10);
  };
  std::map<std::string, double> noise;
  for (const plan::NodeDecision& decision : plan.nodes) {
    if (!decision.is_integer()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    double sum = noise_of(decision.body, node.inputs[0]);
    if (decision.gives_codes) sum += noise_of(decision.body, decision.output);
    noise[graph::value_path(index, decision.body, node.outputs[0])] = sum;
  }
  return noise;
}

// `layers` must belong to the prepared model.
std::vector<double> estimate_noise(const quantization::PreparedModel& prepared, const Recipe& recipe,
                                   const std::vector<Layer>& layers) {
  const graph::Index& index = prepared.index();
  ThreadPool pool;
  const plan::Plan plan = plan::make_plan(prepared.model(), index, recipe, pool, prepared.ranges());
  std::vector<kernels::ErrorNorms> errors(plan.decisions.size());
  run_jobs(
      pool, errors.size(), [&](std::size_t i) { return plan.decisions[i].weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        const plan::Decision& decision = plan.decisions[i];
        if (!decision.weight.fits_nbits()) return;
        const plan::TensorSource tensor(prepared.model(), *decision.place.tensor);
        errors[i] = weight_error(decision, decision.affine, tensor.floats(), for_each);
      });
  std::map<std::string, kernels::ErrorNorms> weights;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const model::WeightSite& weight = plan.decisions[i].weight;
    weights[graph::value_path(index, weight.graph, weight.name)] = errors[i];
  }
  return noise_of_layers(layers, weights, activation_noise(index, plan.integer));
}

}  // namespace

bool OnnxCandidates::can_make(const Recipe& recipe) const {
  return why_not_for(model::ModelKind::kOnnx, recipe.format).empty();
}

std::shared_ptr<const quantization::PreparedModel> OnnxCandidates::prepared(const Recipe& recipe) {
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
  if (flat == nullptr) flat = quantization::prepare_model(model(), options);
  auto& whole = prepared_models_[{format, is_wide, is_even, false}];
  if (whole == nullptr) whole = flat->equalized(options);
  if (!is_halved || whole == nullptr) return whole;
  return prepared_models_[{format, is_wide, is_even, true}] = whole->fit_split();
}

Recipe OnnxCandidates::fitted(const Recipe& resolved, const quantization::PreparedModel& prepared) const {
  const Recipe recipe = options_for(resolved).recipe;
  const target::Target target = target::parse_target(recipe.target);
  if (recipe.target.empty() || !target.is_place()) return recipe;
  ThreadPool pool(1);
  std::vector<std::string> notes;
  return quantization::fit_to_target(onnx::read_model(model()), prepared, recipe, target, pool, notes);
}

void OnnxCandidates::keep(quantization::Quantization& q) {
  const std::scoped_lock lock(mutex_);
  const IntegerRecipe& found = q.recipe.integer;
  prepared_models_.try_emplace({prepared_format(q.recipe.format), is_16_bit(found.activations),
                                found.equalize, found.fit_on_even_samples},
                               q.prepared);
}

void OnnxCandidates::lend(quantization::Quantization& q) { q.prepared = prepared(q.recipe); }

Survey OnnxCandidates::survey(const Recipe& recipe) {
  const auto prepared = this->prepared(recipe);
  if (prepared->is_trained())
    throw Error(ErrorCode::kUnsupported, prepared->notes().front() + ": its formats are fixed",
                model().string());
  Survey survey{find_layers(prepared->index()), {}, prepared->notes()};
  survey.noise = estimate_noise(*prepared, recipe, survey.layers);
  return survey;
}

std::vector<TreatedLayer> OnnxCandidates::layers(const Recipe& recipe) {
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
    tensors[graph::value_path(index, decision.weight.graph, decision.weight.name)] = format_of(decision);
  std::vector<TreatedLayer> layers;
  for (Layer& layer : find_layers(index, 0)) {
    const auto integer = integers.find(layer.output);
    Format format = kUnchanged;
    if (integer != integers.end())
      format = integer->second;
    else if (const auto stored = tensors.find(layer.weights.empty() ? "" : layer.weights.front());
             stored != tensors.end())
      format = stored->second;
    const bool is_small = layer.values * sizeof(float) < recipe.min_bytes;  // not worth compressing
    if (is_small && integer == integers.end()) continue;
    layers.push_back({std::move(layer), format});
  }
  return layers;
}

std::uint64_t OnnxCandidates::make(const Recipe& recipe, const std::filesystem::path& file) {
  ThreadPool pool(1);
  const auto prepared = this->prepared(recipe);
  return quantization::write_candidate(*prepared, fitted(recipe, *prepared), file, pool);
}

}  // namespace ounce::search
