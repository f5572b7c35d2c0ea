#include "quantize/nbits_search.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "formats/onnx/file/writer.h"
#include "formats/onnx/plan/by_structure.h"
#include "quantize/onnx_emitter.h"
#include "quantize/weight_fit.h"
#include "recipe/format_info.h"

namespace ounce::quantization {
namespace {

constexpr std::uint64_t kSearchSamples = 48;
constexpr std::uint64_t kFewestHeldOut = 2;
// A more expensive method must reduce the error to this share, more than chance would.
constexpr double kWorthIt = 0.98;
// Largest growth of the error by INT8 activations.
constexpr double kLevelNoise = 1.05;
constexpr std::size_t kMostSingle = 256;  // largest number of layers that are measured one by one

// Every second sample.
DataOptions half_of(const DataOptions& data, std::uint64_t which) {
  DataOptions half = data;
  half.parts = 2 * data.parts;
  half.part = data.part + which * data.parts;
  return half;
}

std::vector<NbitsLayer> layers_of(const PreparedModel& prepared, const Recipe& recipe) {
  const graph::Index& index = prepared.index();
  const plan::Plan plan = plan::plan_by_shapes(prepared.model(), index, recipe);
  const auto opset = onnx::opset_version(prepared.model().proto->opset_imports, "");
  std::vector<NbitsLayer> layers;
  for (const plan::Decision& decision : plan.decisions) {
    if (!decision.is_nbits() || !decision.rows.is_padded) continue;
    NbitsLayer layer;
    layer.weights = decision.weight.values();
    const plan::NbitsUses uses = plan::find_nbits_uses(index, *decision.place.value, opset);
    for (const auto* places : {&uses.products, &uses.lookups}) {
      for (const plan::NodePlace& place : *places)
        layer.nodes.push_back(
            graph::value_path(index, place.body, index.bodies()[place.body].nodes()[place.node]->outputs[0]));
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

Recipe with_bits(Recipe recipe, const NbitsLayer& layer, Format format) {
  for (const std::string& node : layer.nodes) recipe.nodes[node] = format;
  return recipe;
}

std::uint64_t nbits_bytes(const plan::Plan& plan) {
  std::uint64_t bytes = 0;
  for (const plan::Decision& decision : plan.decisions)
    bytes += decision.is_nbits() ? decision.stored_bytes : 0;
  return bytes;
}

double mean_bits_of(const plan::Plan& plan) {
  double weights = 0;
  for (const plan::Decision& decision : plan.decisions)
    weights += decision.is_nbits() ? static_cast<double>(decision.weight.values()) : 0;
  return weights == 0 ? 0 : 8 * static_cast<double>(nbits_bytes(plan)) / weights;
}

// Computes file sizes: lays out the file of one recipe; others differ only in the size of their weights.
class SizeCount {
 public:
  SizeCount(const PreparedModel& prepared, const Recipe& recipe) : prepared_(prepared) {
    const plan::Plan plan = plan_of(recipe);
    onnx::Model model = onnx::clone(prepared.model());
    rewrite(model, prepared.model(), prepared.index(), plan, {});
    const std::uint64_t weights = nbits_bytes(plan);
    rest_ = onnx::written_size(model, "model.onnx", {}) - weights + kStatementBytes;
    for (const plan::Decision& decision : plan.decisions) rest_ += decision.is_nbits() ? kStatedLayer : 0;
  }

  ModelSize operator()(const Recipe& recipe) const {
    const plan::Plan plan = plan_of(recipe);
    return {mean_bits_of(plan), rest_ + nbits_bytes(plan)};
  }

 private:
  // Upper bounds for the provenance record, which lists layers with other formats.
  static constexpr std::uint64_t kStatementBytes = 4 << 10, kStatedLayer = 128;

  plan::Plan plan_of(const Recipe& recipe) const {
    return plan::plan_by_shapes(prepared_.model(), prepared_.index(), recipe);
  }

  const PreparedModel& prepared_;
  std::uint64_t rest_ = 0;
};

bool is_within(const ModelSize& size, const NbitsRecipe& budget) {
  return (budget.bits == 0 || size.bits <= budget.bits) &&
         (budget.target_size == 0 || size.bytes <= budget.target_size);
}

void require_within(const ModelSize& size, const Recipe& recipe) {
  const NbitsRecipe& budget = recipe.nbits;
  if (is_within(size, budget)) return;
  const char* const format = name_of(recipe.format);
  if (budget.target_size != 0)
    throw Error(ErrorCode::kUsage,
                fmt::format("`nbits.target_size` {}: {} already takes {} bytes; use larger blocks",
                            budget.target_size, format, size.bytes));
  throw Error(ErrorCode::kUsage, fmt::format("`nbits.bits` {:g}: {} already takes {:.3g} bits per weight; "
                                             "use larger blocks",
                                             budget.bits, format, size.bits));
}

// Resolves open options to their defaults if nothing can be measured. Throws if there is a budget.
void resolve_unmeasured(Recipe& recipe, const char* why) {
  NbitsRecipe& nbits = recipe.nbits;
  if (nbits.has_budget())
    throw Error(ErrorCode::kUsage,
                fmt::format("{} needs measurements: {}",
                            nbits.bits != 0 ? "`nbits.bits`" : "`nbits.target_size`", why));
  if (nbits.method == WeightMethod::kAuto) nbits.method = WeightMethod::kRtn;
  if (nbits.accuracy_level == AccuracyLevel::kAuto) nbits.accuracy_level = AccuracyLevel::k4;
}

// Spends the budget by the measurements in an importance file.
void spend_kept(const QuantizeOptions& given, const PreparedModel& prepared, Recipe& recipe,
                std::vector<std::string>& notes) {
  const Importance importance = read_importance(given.importance);
  spend_bits(importance, layers_of(prepared, recipe), SizeCount(prepared, recipe), recipe, notes);
}

}  // namespace

bool needs_data(WeightMethod method) {
  return method == WeightMethod::kScale || method == WeightMethod::kGptq;
}

void choose_method(CandidateError& meter, const PreparedModel& prepared, Recipe& recipe,
                   std::vector<std::string>& notes) {
  Recipe tried = recipe;
  tried.nbits.accuracy_level = AccuracyLevel::k1;  // noise of INT8 activations would hide the differences
  double best = 0;
  std::string others;
  for (const WeightMethod method : {WeightMethod::kRtn, WeightMethod::kScale, WeightMethod::kGptq}) {
    tried.nbits.method = method;
    const double error = meter.error(prepared, tried);
    others += fmt::format("{}{} {:.1f} dB", others.empty() ? "" : ", ", name_of(method), decibels(error));
    if (method != WeightMethod::kRtn && !(error < kWorthIt * best)) continue;
    best = error;
    recipe.nbits.method = method;
  }
  notes.push_back(fmt::format("method {}: on {} held-out samples {}", name_of(recipe.nbits.method),
                              meter.samples(), others));
}

Importance measure_importance(CandidateError& meter, const PreparedModel& prepared,
                              const std::vector<NbitsLayer>& layers, const Recipe& recipe) {
  Importance importance;
  importance.format = recipe.format;
  importance.samples = meter.samples();
  importance.error = meter.error(prepared, recipe);
  for (const NbitsLayer& layer : layers) {
    const double error = meter.error(prepared, with_bits(recipe, layer, wider(recipe.format)));
    importance.layers[layer.nodes.front()] = {layer.weights, importance.error - error};
  }
  return importance;
}

void spend_bits(const Importance& importance, const std::vector<NbitsLayer>& layers, const SizeOf& size_of,
                Recipe& recipe, std::vector<std::string>& notes) {
  require_within(size_of(recipe), recipe);
  std::vector<double> gain;
  for (const NbitsLayer& layer : layers) {
    const auto found = importance.layers.find(layer.nodes.front());
    if (importance.format != recipe.format || found == importance.layers.end() ||
        found->second.weights != layer.weights)
      throw Error(ErrorCode::kUsage, "the importance file belongs to another model or format");
    gain.push_back(found->second.gain / static_cast<double>(layer.weights));
  }
  std::vector<std::size_t> order(layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return gain[a] > gain[b]; });
  std::size_t spent = 0;
  for (const std::size_t i : order) {
    if (gain[i] <= 0) break;
    Recipe next = with_bits(recipe, layers[i], wider(recipe.format));
    if (!is_within(size_of(next), recipe.nbits)) continue;
    recipe = std::move(next);
    ++spent;
  }
  notes.push_back(fmt::format("{} of {} layers are {}: {:.3g} bits per weight", spent, layers.size(),
                              name_of(wider(recipe.format)), size_of(recipe).bits));
  recipe.nbits.bits = 0;  // spent
  recipe.nbits.target_size = 0;
}

void choose_levels(CandidateError& meter, const PreparedModel& prepared,
                   const std::vector<NbitsLayer>& layers, Recipe& recipe, std::vector<std::string>& notes) {
  NbitsRecipe& nbits = recipe.nbits;
  nbits.accuracy_level = AccuracyLevel::k1;
  const double exact = meter.error(prepared, recipe);
  nbits.accuracy_level = AccuracyLevel::k4;
  const double fast = meter.error(prepared, recipe);
  if (fast <= kLevelNoise * exact) return;
  // Keep the activations with the largest errors in FP32 until the others add little.
  std::vector<std::pair<double, std::size_t>> noise;
  for (std::size_t i = 0; i < layers.size() && layers.size() <= kMostSingle; ++i) {
    Recipe single = recipe;
    for (const std::string& node : layers[i].nodes) single.nbits.levels[node] = AccuracyLevel::k1;
    noise.emplace_back(fast - meter.error(prepared, single), i);
  }
  std::stable_sort(noise.begin(), noise.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::size_t floats = 0;
  double reached = fast;
  for (const auto& [error, i] : noise) {
    if (reached <= kLevelNoise * exact || error <= 0) break;
    for (const std::string& node : layers[i].nodes) nbits.levels[node] = AccuracyLevel::k1;
    ++floats;
    // Assume that errors add up, and measure only when the limit seems to be reached.
    reached -= error;
    if (reached <= kLevelNoise * exact) reached = meter.error(prepared, recipe);
  }
  if (reached > kLevelNoise * exact) {
    nbits.levels.clear();
    nbits.accuracy_level = AccuracyLevel::k1;
    notes.push_back(fmt::format("activations are kept in FP32 (accuracy level 1): INT8 would cost {:.1f} dB",
                                decibels(exact) - decibels(fast)));
    return;
  }
  notes.push_back(
      fmt::format("activations of {} of {} products are kept in FP32 (accuracy level 1), the others are INT8",
                  floats, layers.size()));
}

void search_nbits(const std::filesystem::path& path, const QuantizeOptions& given,
                  const PreparedModel& prepared, Recipe& recipe, std::vector<std::string>& notes) {
  NbitsRecipe& nbits = recipe.nbits;
  const DataOptions& data = given.trial.data;
  if (data.is_generated() && needs_data(nbits.method))
    throw Error(ErrorCode::kUsage,
                fmt::format("`nbits.method={}` needs data: give `data`", name_of(nbits.method)));
  if (wider(recipe.format) == recipe.format && nbits.has_budget()) {  // no wider format exists
    require_within(SizeCount(prepared, recipe)(recipe), recipe);
    nbits.bits = 0;
    nbits.target_size = 0;
  }
  const bool has_importance = !given.importance.empty() && std::filesystem::exists(given.importance);
  if (has_importance && nbits.has_budget()) spend_kept(given, prepared, recipe, notes);
  if (data.is_generated()) return resolve_unmeasured(recipe, "give `data`");
  const bool is_open = nbits.method == WeightMethod::kAuto || nbits.has_budget() ||
                       nbits.accuracy_level == AccuracyLevel::kAuto;
  if (!is_open) return;
  if (!data.carry.empty()) return resolve_unmeasured(recipe, "data with a recurrent state cannot be split");
  if (nbits.dialect == NbitsDialect::kQdq) return resolve_unmeasured(recipe, "`nbits.dialect=nbits`");

  QuantizeOptions fitted = given, held_out = given;
  fitted.trial.data = half_of(data, 0);
  held_out.trial.data = half_of(data, 1);
  NbitsFitter fitter(prepared, fitted);
  const auto adapt = [&](plan::Plan& plan, ThreadPool& pool) { fitter.fit(plan, pool); };
  const auto write = [&](const Recipe& tried, const std::filesystem::path& file, ThreadPool& pool) {
    return write_candidate(prepared, tried, file, pool, adapt);
  };
  std::unique_ptr<CandidateError> meter;
  try {
    meter = measure_candidates(path, held_out, kSearchSamples, MeasuredOn::kAll, write);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUsage && error.code() != ErrorCode::kBadInput) throw;
    measure_candidates(path, given, 1,
                       MeasuredOn::kAll);  // throws if the error is not due to the split
  }
  if (meter == nullptr || meter->samples() < kFewestHeldOut)
    return resolve_unmeasured(recipe, "too few samples for a held-out half");

  const std::vector<NbitsLayer> layers = layers_of(prepared, recipe);
  const bool has_open_level = nbits.accuracy_level == AccuracyLevel::kAuto;
  if (has_open_level) nbits.accuracy_level = AccuracyLevel::k1;
  if (nbits.method == WeightMethod::kAuto) choose_method(*meter, prepared, recipe, notes);
  if (nbits.has_budget()) {
    const SizeCount size_of(prepared, recipe);
    require_within(size_of(recipe), recipe);  // before the long measurement
    const Importance importance = measure_importance(*meter, prepared, layers, recipe);
    if (!given.importance.empty()) write_importance(importance, given.importance);
    spend_bits(importance, layers, size_of, recipe, notes);
    notes.back() += fmt::format(", SQNR {:.1f} → {:.1f} dB", decibels(importance.error),
                                decibels(meter->error(prepared, recipe)));
  }
  if (has_open_level) choose_levels(*meter, prepared, layers, recipe, notes);
}

}  // namespace ounce::quantization
