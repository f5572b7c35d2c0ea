#include "search/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "search/layer_cost.h"

namespace ounce::search {
namespace {

constexpr double kLeastCost = 0.002;      // share of the original's time: what timing can tell at best
constexpr std::size_t kMostReturns = 24;  // layers that are tried the other way again

class Repairer {
 public:
  Repairer(Evaluator& evaluator, const ResolvedRecipe& mix, double least_sqnr,
           const std::function<bool(double)>& has_time)
      : evaluator_(evaluator), mix_(mix), least_sqnr_(least_sqnr), has_time_(has_time) {}

  Repaired run() {
    const bool is_storage = !mix_.recipe.is_integer();
    const std::vector<Format> rough =
        is_storage ? std::vector{mix_.recipe.format} : std::vector{Format::kStatic, Format::kDynamic};
    layer_costs_ = measure_layer_costs(evaluator_, mix_, rough, !is_storage, has_time_);
    std::stable_sort(layer_costs_.begin(), layer_costs_.end(),
                     [](const LayerCost& a, const LayerCost& b) { return value_of(a) > value_of(b); });
    Repaired repaired;
    // Storage that has to grow again in most places is not worth the way.
    if (is_storage && 2 * first_guess() > layer_costs_.size() + 1) return repaired;
    if (!find_shortest()) return repaired;
    give_back();
    store_smaller();
    repaired.mix = mixed();
    repaired.what = describe(is_storage);
    return repaired;
  }

 private:
  struct Chosen {
    LayerCost layer_cost;
    Format format = Format::kW16;
  };

  static double value_of(const LayerCost& layer_cost) {
    return layer_cost.gain / std::max(layer_cost.cost, kLeastCost);
  }

  ResolvedRecipe mixed() const {
    ResolvedRecipe made = mix_;
    for (const Chosen& chosen : chosen_) made = with(made, {chosen.layer_cost}, chosen.format);
    return made;
  }
  bool passes() {
    const double begin = evaluator_.clock().elapsed();
    const TuneTrial trial = evaluator_.judge(mixed(), "");
    step_ = std::max(step_, evaluator_.clock().elapsed() - begin);
    return trial.problem.empty() && trial.passed && trial.sqnr_db >= least_sqnr_;
  }
  void take(std::size_t count) {
    chosen_.clear();
    for (std::size_t i = 0; i < count; ++i) chosen_.push_back({layer_costs_[i]});
  }

  // As many as the noise lets expect, since noises add.
  std::size_t first_guess() const {
    double noise = evaluator_.noises({mix_}).front();
    const double limit = std::pow(10, -least_sqnr_ / 10);
    std::size_t count = 0;
    while (count < layer_costs_.size() && noise > limit) noise -= layer_costs_[count++].gain;
    return std::max<std::size_t>(1, count);
  }

  // The shortest beginning of the list that passes.
  bool find_shortest() {
    std::size_t fails = 0, holds = 0;
    for (std::size_t count = first_guess(); holds == 0; count = std::min(2 * count, layer_costs_.size())) {
      if (layer_costs_.empty() || !has_time_(step_)) return false;
      take(count);
      if (passes())
        holds = count;
      else if (count == layer_costs_.size())
        return false;
      else
        fails = count;
    }
    while (holds - fails > 1 && has_time_(step_)) {
      const std::size_t middle = fails + (holds - fails) / 2;
      take(middle);
      (passes() ? holds : fails) = middle;
    }
    take(holds);
    return true;
  }

  // Those that cost the most may not be needed with all the others, nor all layers of a block.
  void give_back() {
    std::vector<Chosen> single;
    for (const Chosen& chosen : chosen_) {
      for (const std::string& output : chosen.layer_cost.outputs) {
        Chosen part = chosen;
        part.layer_cost.outputs = {output};
        part.layer_cost.cost /= static_cast<double>(chosen.layer_cost.outputs.size());
        single.push_back(std::move(part));
      }
    }
    chosen_ = std::move(single);
    std::stable_sort(chosen_.begin(), chosen_.end(),
                     [](const Chosen& a, const Chosen& b) { return a.layer_cost.cost < b.layer_cost.cost; });
    if (chosen_.size() < 2) return;
    const std::size_t half = chosen_.size() / 2;
    give_back(half, chosen_.size() - half);
    give_back(0, half);
  }

  // All of these, or else each half of them.
  void give_back(std::size_t first, std::size_t count) {
    if (count == 0 || returns_++ >= kMostReturns || !has_time_(step_)) return;
    const std::vector<Chosen> all = chosen_;
    const auto begin = chosen_.begin() + static_cast<std::ptrdiff_t>(first);
    chosen_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    if (!chosen_.empty() && passes()) return;
    chosen_ = all;
    if (count == 1) return;
    const std::size_t half = count / 2;
    give_back(first + half, count - half);
    give_back(first, half);
  }

  // Eight bits where they do; all at once, or one after the other.
  void store_smaller() {
    const std::vector<Chosen> careful = chosen_;
    if (mix_.recipe.format == Format::kW8 || !has_time_(step_)) return;
    for (Chosen& chosen : chosen_) chosen.format = Format::kW8;
    if (passes()) return;
    chosen_ = careful;
    for (std::size_t i = 0; i < std::min(chosen_.size(), kMostReturns) && has_time_(step_); ++i) {
      chosen_[i].format = Format::kW8;
      if (!passes()) chosen_[i].format = Format::kW16;
    }
  }

  std::string describe(bool is_storage) const {
    std::size_t layers = 0, halves = 0;
    for (const Chosen& chosen : chosen_) {
      layers += chosen.layer_cost.outputs.size();
      halves += chosen.format == Format::kW16 ? chosen.layer_cost.outputs.size() : 0;
    }
    const auto count = [](std::size_t n) { return fmt::format("{} layer{}", n, n == 1 ? "" : "s"); };
    if (is_storage && halves == layers) return count(layers) + " in 16 bits";
    std::string text = count(layers) + (is_storage ? " in 8 bits" : " in floats");
    if (halves != 0) text += fmt::format(", {} of them in 16 bits", halves);
    return text;
  }

  Evaluator& evaluator_;
  const ResolvedRecipe& mix_;
  double least_sqnr_;
  const std::function<bool(double)>& has_time_;
  std::vector<LayerCost> layer_costs_;
  std::vector<Chosen> chosen_;
  std::size_t returns_ = 0;
  double step_ = 0.5;  // seconds of one judgement
};

}  // namespace

Repaired repair(Evaluator& evaluator, const ResolvedRecipe& mix, double least_sqnr,
                const std::function<bool(double)>& has_time) {
  return Repairer(evaluator, mix, least_sqnr, has_time).run();
}

}  // namespace ounce::search
