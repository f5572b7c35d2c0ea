#include "search/tune/coreml_candidates.h"

#include <map>
#include <utility>

#include "formats/coreml/emit/emitted.h"
#include "formats/coreml/plan/palettes.h"
#include "model/emitter.h"
#include "quantize/coreml_fit.h"
#include "quantize/pipeline.h"
#include "recipe/format_info.h"
#include "search/tune/layer_noise.h"

namespace ounce::search {
namespace {

std::string path_in(const coreml::CoremlFile& file, const coreml::Decision& decision) {
  const std::string& graph = file.graphs()[decision.weight.graph].path;
  const std::string name(decision.weight.name);
  return graph.empty() ? name : graph + "/" + name;
}

// The error of a weight in the form that the plan chose.
kernels::ErrorNorms error_in_form(const coreml::Decision& decision, const quant::FloatSource& floats,
                                  const ForEach& for_each) {
  if (decision.tables.empty()) return weight_error(decision, decision.affine, floats, for_each);
  std::vector<kernels::ErrorNorms> tiles(quant::tile_count(floats, quant::kTile));
  quant::for_each_tile(
      floats, quant::kTile, for_each, [&](std::size_t tile, std::size_t first, std::size_t count) {
        std::vector<std::uint8_t> codes(count);
        std::vector<float> values(count), scratch;
        coreml::encode_palette(decision, floats, first, count, codes.data());
        coreml::decode_palette(decision.tables, decision.row_scales, decision, codes.data(), first, count,
                               values.data());
        kernels::error_norms(floats.values(first, count, scratch), values.data(), count, tiles[tile]);
      });
  kernels::ErrorNorms total;
  for (const kernels::ErrorNorms& tile : tiles) {
    total.signal += tile.signal;
    total.noise += tile.noise;
  }
  return total;
}

}  // namespace

bool CoremlCandidates::can_make(const Recipe& recipe) const {
  return why_not_for(model::ModelKind::kCoreml, recipe.format).empty();
}

CoremlCandidates::Source CoremlCandidates::source(const Recipe& recipe) {
  const std::scoped_lock lock(mutex_);
  if (source_ != nullptr) return source_;
  Recipe plain;
  plain.format = recipe.format;
  quantization::Quantization q(model(), {}, options_for(plain));
  quantization::open_source(q);
  quantization::prepare(q);
  source_ = q.coreml->source;
  return source_;
}

void CoremlCandidates::keep(quantization::Quantization& q) {
  const std::scoped_lock lock(mutex_);
  if (source_ == nullptr) source_ = q.coreml->source;
}

void CoremlCandidates::lend(quantization::Quantization& q) {
  q.coreml = std::make_unique<quantization::CoremlWork>();
  q.coreml->source = source(q.recipe);
}

coreml::Plan CoremlCandidates::planned(const Recipe& recipe, ThreadPool& pool) {
  return coreml::make_plan(*source(recipe), options_for(recipe).recipe, pool);
}

Survey CoremlCandidates::survey(const Recipe& recipe) {
  ThreadPool pool;
  const Source file = source(recipe);
  const coreml::Plan plan = planned(recipe, pool);
  std::vector<kernels::ErrorNorms> errors(plan.decisions.size());
  run_jobs(
      pool, errors.size(), [&](std::size_t i) { return plan.decisions[i].weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        const coreml::Decision& decision = plan.decisions[i];
        if (!decision.weight.fits_nbits() || !decision.is_stored()) return;
        errors[i] = error_in_form(decision, file->read(decision.value)->floats(), for_each);
      });
  std::map<std::string, kernels::ErrorNorms> weights;
  for (std::size_t i = 0; i < errors.size(); ++i) weights[path_in(*file, plan.decisions[i])] = errors[i];
  Survey survey{find_layers(*file), {}, plan.notes};
  survey.noise = noise_of_layers(survey.layers, weights, {});
  return survey;
}

std::vector<TreatedLayer> CoremlCandidates::layers(const Recipe& recipe) {
  ThreadPool pool(1);
  const Source file = source(recipe);
  std::map<std::string, Format> tensors;
  for (const coreml::Decision& decision : planned(recipe, pool).decisions)
    tensors[path_in(*file, decision)] = decision.is_stored() ? weight_only(decision.bits()) : kUnchanged;
  std::vector<TreatedLayer> layers;
  for (Layer& layer : find_layers(*file)) {
    const auto stored = tensors.find(layer.weights.front());
    layers.push_back({std::move(layer), stored == tensors.end() ? kUnchanged : stored->second});
  }
  return layers;
}

std::uint64_t CoremlCandidates::make(const Recipe& recipe, const std::filesystem::path& file) {
  ThreadPool pool(1);
  coreml::Plan plan = planned(recipe, pool);
  if (recipe.rounding == Rounding::kAdaptive)
    quantization::fit_coreml(*source(recipe), options_for(recipe), plan, pool);
  coreml::CoremlEmitted emitted(source(recipe), plan, {});
  model::Destination place;
  place.path = file;
  emitted.write(place, pool, nullptr);
  const std::uint64_t bytes = emitted.size(place);
  emitted.commit();
  return bytes;
}

}  // namespace ounce::search
