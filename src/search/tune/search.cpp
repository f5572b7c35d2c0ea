#include "search/tune/search.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "formats/onnx/plan/op_rules.h"
#include "quantize/recipe_json.h"
#include "recipe/format_info.h"
#include "search/tune/evaluator.h"
#include "search/tune/repair.h"

namespace ounce::search {
namespace {

using nlohmann::json;

constexpr double kLeastTiming = 0.2, kMostTiming = 1;  // seconds to time a model
constexpr double kTimingShare = 1.0 / 400;             // of the budget, to time a model
constexpr double kLastTimingSeconds = 2;               // at most per model in the last timed comparison
constexpr double kStaticShare = 0.4;    // of the remaining time, to choose calibration and activation ranges
constexpr double kReserveShare = 0.15;  // of the budget, at most, for the last steps
constexpr double kCloseCost =
    1.1;  // models up to this multiple of the best cost take part in the last comparison
constexpr std::size_t kMostInLastTiming = 5;
constexpr double kWorthRepairing = 0.95;  // share of the best cost that a candidate may have to be repaired
constexpr double kRoom = 1;               // margin in dB above the gate, because other data differs
constexpr double kUsualGoal = 28;         // dB, without a gate in dB
constexpr double kMoreRoom = 1.5;         // additional margin in dB after a failure on held-out data
constexpr int kMostRounds = 3;            // of repairs with additional margin
constexpr double kNoLimit = 1e9;
constexpr double kSmallStep = 1.03;  // multiple of the least cost so far
constexpr double kOverrun = 0.05;    // share of the budget that the last steps may exceed it by
constexpr double kDecodeShares[] = {0.4, 0.2, 0.1, 0.05};  // of a run's time, to save memory
constexpr double kTrimShare = 0.4;  // of the remaining time, to find layers that are faster in FP32
constexpr double kHopeless =
    0.9;  // speed below which FP32 layers cannot make a candidate as fast as the original

Recipe recipe_of(Format format) {
  Recipe recipe;
  recipe.format = format;
  return quantization::as_it_is(recipe);
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Search::Search(const TuneOptions& options, Evaluator& evaluator, Clock& clock,
               std::function<bool(const Candidate&)> adopt)
    : options_(options), evaluator_(evaluator), clock_(clock), adopt_(std::move(adopt)) {
  if (!clock.counts_models()) reserve_ = kReserveShare * clock.budget();
}

void Search::run() {
  const auto is_time_up = [](const Error& error) {
    return error.code() == ErrorCode::kCancelled && !is_cancelled();
  };
  try {
    try_safe_formats();
    if (!has_too_few_samples_) {
      try_usual_formats();
      repair();
      trim();
      try_rare_formats();
      repair();
      shrink();
    }
  } catch (const Error& error) {
    if (!is_time_up(error)) throw;
    is_complete_ = false;
  }
  prove_something();
  try {
    evaluator_.keep_back(-kOverrun * clock_.budget());
    compare_best();
  } catch (const Error& error) {
    if (!is_time_up(error)) throw;  // without the comparison the earlier timings decide
    is_complete_ = false;
  }
  note_untimed();
}

void Search::note_untimed() {
  if (clock_.counts_models()) return;
  std::size_t made = 0, untimed = 0;
  for (const Candidate& candidate : candidates_) {
    made += candidate.trial.problem.empty() ? 1U : 0U;
    untimed += candidate.trial.problem.empty() && !candidate.trial.is_timed ? 1U : 0U;
  }
  if (untimed == 0) return;
  notes_.push_back(
      fmt::format("the machine was too busy to time {} of {} models, so their speed was ignored; run again "
                  "when it is idle",
                  untimed, made));
}

// Judges passing candidates on the holdout set even after the time is up, if there is no best candidate yet:
// otherwise the search would end without a model.
void Search::prove_something() {
  if (best_) return;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (is_eligible(candidates_[i].trial) && !candidates_[i].trial.held_out) open.push_back(i);
  }
  std::stable_sort(open.begin(), open.end(), [this](std::size_t a, std::size_t b) {
    return promise_of(candidates_[a]) < promise_of(candidates_[b]);
  });
  evaluator_.keep_back(-kNoLimit);
  for (std::size_t i = 0; i < open.size() && !best_; ++i) consider(open[i]);
}

void Search::show_progress() const {
  if (options_.progress == nullptr) return;
  constexpr double kParts = 1000;  // steps per second, or per model
  options_.progress->stage = "searching";
  options_.progress->step = static_cast<unsigned>(candidates_.size() + 1);
  if (best_) {
    options_.progress->best = 100 * candidates_[*best_].trial.ratio;
    options_.progress->best_unit = " % of the size";
  }
  options_.progress->total = static_cast<std::uint64_t>(kParts * clock_.budget());
  options_.progress->done = static_cast<std::uint64_t>(kParts * std::min(clock_.elapsed(), clock_.budget()));
}

bool Search::has_time(double wanted) {
  show_progress();
  evaluator_.keep_back(reserve_);
  const double left = clock_.left() - reserve_;
  const bool fits = clock_.counts_models() ? left >= wanted : left > wanted;
  if (!fits) is_complete_ = false;
  return fits;
}

void Search::attempt(const Recipe& recipe, const std::string& name) {
  if (!tried_.insert(json_text(quantization::to_json(recipe))).second) return;
  if (recipe.is_integer() && !evaluator_.computes_on_integers(recipe)) return;  // the same as w8
  Candidate candidate{recipe, evaluator_.judge(recipe, name)};
  if (candidate.trial.problem.empty()) {
    const double seconds = std::clamp(kTimingShare * clock_.budget(), kLeastTiming, kMostTiming);
    candidate.trial.speed_up = evaluator_.time({recipe}, seconds).front();
    candidate.trial.is_timed = !clock_.counts_models() && candidate.trial.speed_up.is_reliable;
    if (options_.objective == Objective::kMemory) {
      if (const auto measured = evaluator_.memory(recipe)) {
        candidate.trial.memory = measured->memory;
        candidate.trial.memory_ratio = measured->ratio;
      }
    }
    candidate.trial.is_slower = is_slower(candidate.trial.speed_up, options_.objective);
  }
  const std::size_t place = candidate.number = candidates_.size();
  candidates_.push_back(std::move(candidate));
  consider(place);
  tell(place);
}

void Search::tell(std::size_t place) {
  TuneTrial& trial = candidates_[place].trial;
  trial.reason = rejection_of(trial, options_.objective);
  options_.on_trial(trial);
}

void Search::consider(std::size_t place) {
  TuneTrial& trial = candidates_[place].trial;
  if (!is_eligible(trial)) return;
  if (best_ && !is_better(trial, candidates_[*best_].trial, options_.objective)) return;
  // Small increases of cost in exchange for quality must not add up.
  const double cost = cost_of(trial, options_.objective);
  if (best_ && cost > kSmallStep * least_cost_) return;
  const double begin = clock_.elapsed();
  trial.held_out = adopt_(candidates_[place]);
  if (*trial.held_out) {
    least_cost_ = best_ ? std::min(least_cost_, cost) : cost;
    best_ = place;
  }
  // The last steps judge a candidate once more.
  if (!clock_.counts_models())
    reserve_ = std::clamp(2 * (clock_.elapsed() - begin), reserve_ / 2, kReserveShare * clock_.budget());
}

void Search::try_format(const Recipe& recipe, const char* name) {
  if (evaluator_.can_make(recipe) && has_time(1)) attempt(recipe, name);
}

void Search::try_safe_formats() {
  try_format(recipe_of(weight_only(8)), "w8");
  if (options_.objective == Objective::kMemory) try_memory_curve(weight_only(8), "w8");
  if (!best_) try_format(recipe_of(weight_only(16)), "w16");
}

// True if most of the weights gain by dynamic INT8, which is then tried before static INT8.
bool Search::is_for_dynamic(const Recipe& dynamic) {
  if (!evaluator_.computes_on_integers(dynamic)) return false;
  std::uint64_t values = 0, gaining = 0;
  for (const TreatedLayer& treated : evaluator_.layers(dynamic)) {
    values += treated.layer.values;
    if (is_dynamic(treated.format)) gaining += treated.layer.values;
  }
  return 2 * gaining >= values;
}

void Search::try_usual_formats() {
  const Recipe dynamic = recipe_of(format_with(Arithmetic::kDynamic));
  const bool is_dynamic_first = is_for_dynamic(dynamic);
  if (is_dynamic_first) try_format(dynamic, name_of(dynamic.format));
  try_static();
  try_dynamic_layers();
  if (!is_dynamic_first) try_format(dynamic, name_of(dynamic.format));
  if (options_.objective == Objective::kSize) try_format(recipe_of(weight_only(4)), "w4");
}

// Tries settings from the least memory to the highest speed. The first that is fast enough is the best of its
// format.
void Search::try_memory_curve(Format format, const char* name) {
  Recipe recipe = recipe_of(format);
  const auto is_fast_enough = [&] { return !candidates_.empty() && !candidates_.back().trial.is_slower; };
  recipe.memory = MemoryUse::kLow;
  const std::size_t before = candidates_.size();
  try_format(recipe, fmt::format("{}, low memory", name).c_str());
  recipe.memory = MemoryUse::kBalanced;
  for (const double share : kDecodeShares) {
    if (candidates_.size() > before && !clock_.counts_models() && is_fast_enough()) return;
    recipe.decode_share = share;
    try_format(recipe, fmt::format("{}, {:.0f} % for dequantizing", name, 100 * share).c_str());
  }
}

// Tries formats that rarely win on a CPU.
void Search::try_rare_formats() {
  try_format(recipe_of(weight_only(16)), "w16");
  try_format(recipe_of(weight_only(4)), "w4");
  if (options_.objective == Objective::kMemory) try_memory_curve(weight_only(4), "w4");
  try_format(recipe_of(format_with(Arithmetic::kFloat16)), "fp16");
  Recipe wide = recipe_of(format_with(Arithmetic::kStatic));
  wide.integer.activations = ActivationType::kS16;
  try_format(wide, "int8, 16-bit activations");
  if (options_.objective != Objective::kSize) try_nbits();  // w4 is smaller
}

// Tries low-bit weights (MatMulNBits). For a model without such products the result would be the same as w8.
void Search::try_nbits() {
  for (const Format format : formats_of(Family::kNbits)) {
    if (info_of(format).stage != SearchStage::kRare) continue;
    Recipe recipe = recipe_of(format);
    recipe.nbits.method = WeightMethod::kRtn;
    recipe.nbits.accuracy_level = AccuracyLevel::k4;
    if (!evaluator_.can_make(recipe)) continue;
    const std::vector<TreatedLayer> layers = evaluator_.layers(recipe);
    const auto is_few = [](const TreatedLayer& layer) { return is_nbits(layer.format); };
    if (std::any_of(layers.begin(), layers.end(), is_few)) try_format(recipe, name_of(format));
  }
}

// Tries static INT8. Calibration, equalization and FP32 layers that cost little are chosen by measuring.
void Search::try_static() {
  if (!has_time(1)) return;
  const double close_enough = options_.gates.min_sqnr ? *options_.gates.min_sqnr + kRoom : kUsualGoal;
  const Resolution found = evaluator_.resolve_static(close_enough, kStaticShare * (clock_.left() - reserve_));
  if (!found.problem.empty()) {
    Candidate& failed = candidates_.emplace_back();
    failed.recipe.format = format_with(Arithmetic::kStatic);
    failed.trial.name = name_of(failed.recipe.format);
    failed.trial.problem = found.problem;
    failed.number = candidates_.size() - 1;
    return tell(failed.number);
  }
  if (!evaluator_.computes_on_integers(found.recipe)) return;
  const std::string name = name_of(found.recipe.format);
  for (const std::string& note : found.notes) notes_.push_back(fmt::format("{}: {}", name, note));
  attempt(found.recipe, name);
}

// Tries static INT8 with dynamic layers: LSTMs have only dynamic kernels, matrix products have both kinds.
void Search::try_dynamic_layers() {
  const auto base = std::find_if(candidates_.begin(), candidates_.end(), [](const Candidate& candidate) {
    return is_static(candidate.recipe.format) && candidate.trial.problem.empty();
  });
  if (base == candidates_.end() || !has_time(1)) return;
  Recipe recipe = base->recipe;
  std::size_t moved = 0, integer = 0;
  for (const TreatedLayer& treated : evaluator_.layers(recipe)) {
    integer += is_static(treated.format) ? 1U : 0U;
    if (!plan::gains_by_dynamic(treated.layer.op_type)) continue;
    if (recipe.nodes.contains(treated.layer.output)) continue;  // chosen to run in FP32
    recipe.nodes[treated.layer.output] = format_with(Arithmetic::kDynamic);
    moved += 1;
  }
  if (moved == 0 || integer == 0) return;
  attempt(recipe, fmt::format("{}, {} dynamic", base->trial.name, plural(moved, "layer")));
}

// The cost of a candidate if it passed.
double Search::promise_of(const Candidate& candidate) const {
  return cost_of(candidate.trial, options_.objective);
}

void Search::repair() {
  std::vector<std::size_t> broken;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    const Format format = candidate.recipe.format;
    const bool can_repair =
        candidate.recipe.is_integer() || format == weight_only(4) || format == weight_only(8);
    const bool is_usable = candidate.trial.problem.empty() && !candidate.trial.has_too_few_samples &&
                           !is_16_bit(candidate.recipe.integer.activations);
    const bool is_broken = !candidate.trial.passed || !candidate.trial.held_out.value_or(true);
    const bool is_hopeless = candidate.trial.speed_up.ratio < kHopeless;
    if (can_repair && is_usable && is_broken && !is_hopeless && repaired_.insert(i).second)
      broken.push_back(i);
  }
  // 4-bit candidates come last, because they need the most repairs.
  const auto rank = [&](std::size_t i) {
    return std::pair(candidates_[i].recipe.format == weight_only(4), promise_of(candidates_[i]));
  };
  std::stable_sort(broken.begin(), broken.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  for (const std::size_t i : broken) {
    const Candidate base = candidates_[i];
    // A candidate that barely passes here may fail on other data.
    const double gate = options_.gates.min_sqnr ? *options_.gates.min_sqnr + kRoom : -kNoLimit;
    double least = base.trial.passed ? sqnr_rank(base.trial) + kMoreRoom : gate;
    for (int round = 0; round < kMostRounds; ++round) {
      const double limit = best_ ? kWorthRepairing * promise_of(candidates_[*best_]) : kNoLimit;
      if (promise_of(base) > limit || !has_time(1)) break;
      const std::size_t before = candidates_.size();
      repair(base, least);
      const bool is_vetoed = candidates_.size() > before && !candidates_.back().trial.held_out.value_or(true);
      if (!is_vetoed) break;
      least = sqnr_rank(candidates_.back().trial) + kMoreRoom;
    }
  }
}

void Search::repair(const Candidate& base, double least_sqnr) {
  const Repaired repaired =
      search::repair(evaluator_, base.recipe, least_sqnr, [&](double seconds) { return has_time(seconds); });
  if (repaired.recipe) attempt(*repaired.recipe, fmt::format("{}, {}", base.trial.name, repaired.what));
}

// Moves layers whose Q/DQ cost more than their INT8 kernels gain to FP32: in the best candidate, and in the
// static one, which may become the best that way or after a repair.
void Search::trim() {
  if (clock_.counts_models()) return;  // needs timings
  std::set<std::size_t> bases;
  if (best_ && candidates_[*best_].recipe.is_integer()) bases.insert(*best_);
  const auto first = std::find_if(candidates_.begin(), candidates_.end(), [](const Candidate& candidate) {
    return is_static(candidate.recipe.format) && candidate.trial.problem.empty() &&
           !is_16_bit(candidate.recipe.integer.activations);
  });
  if (first != candidates_.end() && !first->trial.has_too_few_samples) bases.insert(first->number);
  for (const std::size_t base : bases) trim(Candidate(candidates_[base]));
}

void Search::trim(const Candidate& base) {
  const double end = clock_.elapsed() + kTrimShare * (clock_.left() - reserve_);
  const std::vector<LayerCost> groups = faster_in_floats(evaluator_, base.recipe, [&](double seconds) {
    const bool fits = has_time(seconds) && clock_.elapsed() + seconds < end;
    if (!fits) is_complete_ = false;
    return fits;
  });
  if (groups.empty() || !has_time(1)) return;
  attempt(with(base.recipe, groups, weight_only(8)),
          fmt::format("{}, {} faster in FP32", base.trial.name, plural(groups.size(), "group")));
}

// Stores weights of FP32 layers in 4 bits where the outputs tolerate it.
void Search::shrink() {
  if (!best_ || options_.objective == Objective::kLatency || !has_time(1)) return;
  const Candidate base = candidates_[*best_];
  if (base.recipe.is_half() || base.recipe.format == weight_only(4)) return;
  std::vector<LayerCost> floats = group_by_format(evaluator_, base.recipe, {weight_only(8), weight_only(16)});
  if (clock_.counts_models() && !has_time(static_cast<double>(floats.size()))) return;
  std::vector<Recipe> alone;
  for (const LayerCost& layer_cost : floats) alone.push_back(with(base.recipe, {layer_cost}, weight_only(4)));
  const std::vector<double> noises = evaluator_.noises(alone);
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i].gain = -noises[i];
  std::stable_sort(floats.begin(), floats.end(),
                   [](const LayerCost& a, const LayerCost& b) { return a.gain > b.gain; });
  // If all of them are too many, the half with the least noise is tried.
  for (; !floats.empty() && has_time(1); floats.resize(floats.size() / 2)) {
    const std::optional<std::size_t> before = best_;
    const std::size_t tried = candidates_.size();
    attempt(with(base.recipe, floats, weight_only(4)),
            fmt::format("{}, {} in 4 bits", base.trial.name, plural(floats.size(), "group")));
    const bool is_larger = candidates_.size() > tried && candidates_.back().trial.bytes >= base.trial.bytes;
    if (best_ != before || is_larger) return;
  }
}

// Times the best few candidates once more in one comparison, because the load of the machine changes over
// time.
void Search::compare_best() {
  if (!best_ || clock_.counts_models()) return;
  std::vector<std::size_t> players;
  const double limit = kCloseCost * promise_of(candidates_[*best_]);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (is_eligible(candidates_[i].trial) && (i == *best_ || promise_of(candidates_[i]) <= limit))
      players.push_back(i);
  }
  std::stable_sort(players.begin(), players.end(), [&](std::size_t a, std::size_t b) {
    return promise_of(candidates_[a]) < promise_of(candidates_[b]);
  });
  if (players.size() > kMostInLastTiming) {
    players.resize(kMostInLastTiming);
    if (std::find(players.begin(), players.end(), *best_) == players.end()) players.back() = *best_;
  }
  std::vector<Recipe> recipes;
  for (const std::size_t i : players) recipes.push_back(candidates_[i].recipe);
  const double seconds = std::clamp(clock_.budget() / 100, kLeastTiming, kLastTimingSeconds);
  const std::vector<SpeedUp> speeds = evaluator_.time(recipes, seconds);
  for (std::size_t i = 0; i < players.size(); ++i) {
    if (!speeds[i].is_reliable) continue;
    TuneTrial& trial = candidates_[players[i]].trial;
    trial.speed_up = speeds[i];
    trial.is_timed = true;
    trial.is_slower = is_slower(speeds[i], options_.objective);
  }
  if (!is_eligible(candidates_[*best_].trial)) best_.reset();  // slower than the original after all
  for (const std::size_t i : players) consider(i);
  for (std::size_t i = 0; i < candidates_.size() && !best_; ++i) consider(i);
}

}  // namespace ounce::search
