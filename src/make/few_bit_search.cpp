#include "make/few_bit_search.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "make/few_bit_fit.h"
#include "plan/few_bit_uses.h"

namespace ounce::make {
namespace {

constexpr std::uint64_t kSearchSamples = 48;
constexpr std::uint64_t kFewestHeldOut = 2;
// A method that costs more has to bring more than chance does.
constexpr double kWorthIt = 0.98;
// What integers for activations may add to the error.
constexpr double kLevelNoise = 1.05;
constexpr std::size_t kMostSingle = 256;  // layers that are measured one by one

// Every other sample; a sequence is not cut.
DataOptions half_of(const DataOptions& data, std::uint64_t which) {
  DataOptions half = data;
  half.parts = 2 * data.parts;
  half.part = data.part + which * data.parts;
  return half;
}

std::vector<FewBitLayer> layers_of(const PreparedModel& prepared, const plan::Plan& plan) {
  const graph::Index& index = prepared.index();
  const auto opset = onnx::opset_version(prepared.model().proto->opset_imports, "");
  std::vector<FewBitLayer> layers;
  for (const plan::Decision& decision : plan.decisions) {
    if (!decision.is_nbits() || !decision.rows.is_padded) continue;
    FewBitLayer layer;
    layer.weights = decision.weight.tensor->element_count();
    const plan::FewBitUses uses = plan::find_few_bit_uses(index, decision.weight, opset);
    for (const auto* places : {&uses.products, &uses.lookups}) {
      for (const plan::NodePlace& place : *places)
        layer.nodes.push_back(
            graph::value_path(index, place.body, index.bodies()[place.body].nodes()[place.node]->outputs[0]));
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

Recipe with_bits(Recipe recipe, const FewBitLayer& layer, Format format) {
  for (const std::string& node : layer.nodes) recipe.nodes[node] = format;
  return recipe;
}

double mean_bits_of(const plan::Plan& plan) {
  double bits = 0, weights = 0;
  for (const plan::Decision& decision : plan.decisions) {
    if (!decision.is_nbits()) continue;
    bits += 8 * static_cast<double>(decision.stored_bytes);
    weights += static_cast<double>(decision.weight.tensor->element_count());
  }
  return weights == 0 ? 0 : bits / weights;
}

// Nothing can be compared: what is open goes without.
void resolve_unmeasured(Recipe& recipe, const char* why) {
  FewBitsRecipe& few_bits = recipe.few_bits;
  if (few_bits.bits != 0)
    throw Error(ErrorCode::kUsage, fmt::format("`few_bits.bits` is spent by measuring: {}", why));
  if (few_bits.method == WeightMethod::kAuto) few_bits.method = WeightMethod::kRtn;
  if (few_bits.accuracy_level == AccuracyLevel::kAuto) few_bits.accuracy_level = AccuracyLevel::k4;
}

}  // namespace

bool needs_data(WeightMethod method) {
  return method == WeightMethod::kScale || method == WeightMethod::kGptq;
}

void choose_method(ErrorMeter& meter, const PreparedModel& prepared, Recipe& recipe,
                   std::vector<std::string>& notes) {
  Recipe tried = recipe;
  tried.few_bits.accuracy_level = AccuracyLevel::k1;  // whose noise would hide theirs
  double best = 0;
  std::string others;
  for (const WeightMethod method : {WeightMethod::kRtn, WeightMethod::kScale, WeightMethod::kGptq}) {
    tried.few_bits.method = method;
    const double error = meter.error(prepared, tried);
    others += fmt::format("{}{} {:.1f} dB", others.empty() ? "" : ", ", name_of(method), decibels(error));
    if (method != WeightMethod::kRtn && !(error < kWorthIt * best)) continue;
    best = error;
    recipe.few_bits.method = method;
  }
  notes.push_back(fmt::format("method {}: on {} samples that were held out {}",
                              name_of(recipe.few_bits.method), meter.samples(), others));
}

void spend_bits(ErrorMeter& meter, const PreparedModel& prepared, const std::vector<FewBitLayer>& layers,
                const std::function<double(const Recipe&)>& mean_bits, Recipe& recipe,
                std::vector<std::string>& notes) {
  const double budget = recipe.few_bits.bits, least = mean_bits(recipe);
  if (least > budget)
    throw Error(ErrorCode::kUsage, fmt::format("`few_bits.bits` {:g}: {} takes {:.3g} bits a weight already; "
                                               "larger blocks take less",
                                               budget, name_of(recipe.format), least));
  if (recipe.format == Format::kInt8) return;
  const Format more = recipe.format == Format::kInt2 ? Format::kInt4 : Format::kInt8;
  const double before = meter.error(prepared, recipe);
  std::vector<double> gain(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i)
    gain[i] = (before - meter.error(prepared, with_bits(recipe, layers[i], more))) /
              static_cast<double>(layers[i].weights);
  std::vector<std::size_t> order(layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return gain[a] > gain[b]; });
  std::size_t spent = 0;
  for (const std::size_t i : order) {
    if (gain[i] <= 0) break;
    Recipe next = with_bits(recipe, layers[i], more);
    if (mean_bits(next) > budget) continue;
    recipe = std::move(next);
    ++spent;
  }
  notes.push_back(fmt::format("{} of {} layers are {}: {:.3g} bits a weight, {:.1f} dB became {:.1f}", spent,
                              layers.size(), name_of(more), mean_bits(recipe), decibels(before),
                              decibels(meter.error(prepared, recipe))));
}

void choose_levels(ErrorMeter& meter, const PreparedModel& prepared, const std::vector<FewBitLayer>& layers,
                   Recipe& recipe, std::vector<std::string>& notes) {
  FewBitsRecipe& few_bits = recipe.few_bits;
  few_bits.accuracy_level = AccuracyLevel::k1;
  const double exact = meter.error(prepared, recipe);
  few_bits.accuracy_level = AccuracyLevel::k4;
  const double fast = meter.error(prepared, recipe);
  if (fast <= kLevelNoise * exact) return;
  // Those that add the most stay in floats, until the rest adds little enough.
  std::vector<std::pair<double, std::size_t>> noise;
  for (std::size_t i = 0; i < layers.size() && layers.size() <= kMostSingle; ++i) {
    Recipe single = recipe;
    for (const std::string& node : layers[i].nodes) single.few_bits.levels[node] = AccuracyLevel::k1;
    noise.emplace_back(fast - meter.error(prepared, single), i);
  }
  std::stable_sort(noise.begin(), noise.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::size_t floats = 0;
  double reached = fast;
  for (const auto& [error, i] : noise) {
    if (reached <= kLevelNoise * exact || error <= 0) break;
    for (const std::string& node : layers[i].nodes) few_bits.levels[node] = AccuracyLevel::k1;
    ++floats;
    // Measured one by one at the end, where it matters; before that they add up.
    reached -= error;
    if (reached <= kLevelNoise * exact) reached = meter.error(prepared, recipe);
  }
  if (reached > kLevelNoise * exact) {
    few_bits.levels.clear();
    few_bits.accuracy_level = AccuracyLevel::k1;
    notes.push_back(fmt::format("activations stay FP32 (accuracy level 1): 8-bit ones would cost {:.1f} dB",
                                decibels(exact) - decibels(fast)));
    return;
  }
  notes.push_back(fmt::format(
      "activations of {} of {} products stay FP32 (accuracy level 1), those of the others become 8 bits",
      floats, layers.size()));
}

void search_few_bits(const std::filesystem::path& path, const QuantizeOptions& given,
                     const PreparedModel& prepared, Recipe& recipe, std::vector<std::string>& notes) {
  FewBitsRecipe& few_bits = recipe.few_bits;
  const DataOptions& data = given.trial.data;
  if (data.is_generated() && needs_data(few_bits.method))
    throw Error(ErrorCode::kUsage,
                fmt::format("`few_bits.method={}` looks at data: give `data`", name_of(few_bits.method)));
  if (data.is_generated()) return resolve_unmeasured(recipe, "give `data`");
  const bool is_open = few_bits.method == WeightMethod::kAuto || few_bits.bits != 0 ||
                       few_bits.accuracy_level == AccuracyLevel::kAuto;
  if (!is_open) return;
  if (!data.carry.empty()) return resolve_unmeasured(recipe, "data with a carried state cannot be halved");
  if (few_bits.dialect == FewBitsDialect::kQdq) return resolve_unmeasured(recipe, "`few_bits.dialect=nbits`");

  QuantizeOptions fitted = given, held_out = given;
  fitted.trial.data = half_of(data, 0);
  held_out.trial.data = half_of(data, 1);
  FewBitFitter fitter(prepared, fitted);
  const auto adapt = [&](plan::Plan& plan, ThreadPool& pool) { fitter.fit(plan, pool); };
  std::unique_ptr<ErrorMeter> meter;
  try {
    meter = measure_variants(path, held_out, kSearchSamples, MeasuredOn::kAll, adapt);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUsage && error.code() != ErrorCode::kBadInput) throw;
    measure_variants(path, given, 1,
                     MeasuredOn::kAll);  // what is wrong with all of the data is wrong with its halves
  }
  if (meter == nullptr || meter->samples() < kFewestHeldOut)
    return resolve_unmeasured(recipe, "there are too few samples to hold some out");

  ThreadPool pool(given.threads);
  const auto plan_of = [&](const Recipe& wanted) {
    return plan::make_plan(prepared.model(), prepared.index(), wanted, pool, prepared.ranges());
  };
  const std::vector<FewBitLayer> layers = layers_of(prepared, plan_of(recipe));
  const bool has_open_level = few_bits.accuracy_level == AccuracyLevel::kAuto;
  if (has_open_level) few_bits.accuracy_level = AccuracyLevel::k1;
  if (few_bits.method == WeightMethod::kAuto) choose_method(*meter, prepared, recipe, notes);
  if (few_bits.bits != 0)
    spend_bits(
        *meter, prepared, layers, [&](const Recipe& wanted) { return mean_bits_of(plan_of(wanted)); }, recipe,
        notes);
  if (has_open_level) choose_levels(*meter, prepared, layers, recipe, notes);
}

}  // namespace ounce::make
