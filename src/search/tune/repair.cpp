#include "search/tune/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recipe/format_info.h"
#include "search/tune/layer_cost.h"
#include "search/tune/objective.h"

namespace ounce::search {
namespace {

constexpr double kLeastCost = 0.002;      // share of the original's time: what timing can tell at best
constexpr std::size_t kMostReturns = 24;  // layers that are tried in eight bits alone

class Repairer {
 public:
  Repairer(Evaluator& evaluator, const Recipe& recipe, double least_sqnr,
           const std::function<bool(double)>& has_time)
      : evaluator_(evaluator), recipe_(recipe), least_sqnr_(least_sqnr), has_time_(has_time) {}

  Repaired run() {
    const bool is_storage = !recipe_.is_integer();
    const std::vector<Format> rough = is_storage ? std::vector{recipe_.format} : formats_of(Family::kInteger);
    layer_costs_ = measure_layer_costs(evaluator_, recipe_, rough, !is_storage, has_time_);
    std::vector<Option> options;
    for (const LayerCost& cost : layer_costs_)
      options.push_back({cost.gain, std::max(cost.cost, kLeastCost)});
    const double noise = evaluator_.noises({recipe_}).front(), limit = std::pow(10, -least_sqnr_ / 10);
    Repaired repaired;
    // Storage that has to grow again in most places is not worth the way.
    if (is_storage && 2 * expected_count(options, noise, limit) > options.size() + 1) return repaired;
    const auto may_go_on = [this] { return has_time_(step_); };
    const auto found = cheapest_passing(
        options, noise, limit,
        {[&](const Indices& groups) { return passes(chosen_of(layer_costs_, groups)); }, may_go_on});
    if (!found) return repaired;
    // Nor may all layers of a block be needed.
    const std::vector<LayerCost> layers = single_layers(*found);
    Indices all(layers.size());
    std::iota(all.begin(), all.end(), 0);
    chosen_ = chosen_of(
        layers, drop_unneeded(
                    all, {[&](const Indices& some) { return passes(chosen_of(layers, some)); }, may_go_on}));
    store_smaller();
    repaired.recipe = mixed(chosen_);
    repaired.what = describe(is_storage);
    return repaired;
  }

 private:
  struct Chosen {
    LayerCost layer_cost;
    Format format = weight_only(16);
  };

  static std::vector<Chosen> chosen_of(const std::vector<LayerCost>& costs, const Indices& numbers) {
    std::vector<Chosen> chosen;
    for (const std::size_t i : numbers) chosen.push_back({costs[i]});
    return chosen;
  }
  // Of these groups, the cheapest first.
  std::vector<LayerCost> single_layers(const Indices& groups) const {
    std::vector<LayerCost> single;
    for (const std::size_t i : groups) {
      for (const std::string& output : layer_costs_[i].outputs) {
        LayerCost& part = single.emplace_back(layer_costs_[i]);
        part.outputs = {output};
        part.cost /= static_cast<double>(layer_costs_[i].outputs.size());
      }
    }
    std::stable_sort(single.begin(), single.end(),
                     [](const LayerCost& a, const LayerCost& b) { return a.cost < b.cost; });
    return single;
  }

  Recipe mixed(const std::vector<Chosen>& all) const {
    Recipe made = recipe_;
    for (const Chosen& chosen : all) made = with(made, {chosen.layer_cost}, chosen.format);
    return made;
  }
  bool passes(const std::vector<Chosen>& all) {
    const double begin = evaluator_.clock().elapsed();
    const TuneTrial trial = evaluator_.judge(mixed(all), "");
    step_ = std::max(step_, evaluator_.clock().elapsed() - begin);
    return trial.problem.empty() && trial.passed && sqnr_rank(trial) >= least_sqnr_;
  }

  // Eight bits where they do; all at once, or one after the other.
  void store_smaller() {
    const std::vector<Chosen> careful = chosen_;
    if (recipe_.format == weight_only(8) || !has_time_(step_)) return;
    for (Chosen& chosen : chosen_) chosen.format = weight_only(8);
    if (passes(chosen_)) return;
    chosen_ = careful;
    for (std::size_t i = 0; i < std::min(chosen_.size(), kMostReturns) && has_time_(step_); ++i) {
      chosen_[i].format = weight_only(8);
      if (!passes(chosen_)) chosen_[i].format = weight_only(16);
    }
  }

  std::string describe(bool is_storage) const {
    std::size_t layers = 0, halves = 0;
    for (const Chosen& chosen : chosen_) {
      layers += chosen.layer_cost.outputs.size();
      halves += chosen.format == weight_only(16) ? chosen.layer_cost.outputs.size() : 0;
    }
    const auto count = [](std::size_t n) { return fmt::format("{} layer{}", n, n == 1 ? "" : "s"); };
    if (is_storage && halves == layers) return count(layers) + " in 16 bits";
    std::string text = count(layers) + (is_storage ? " in 8 bits" : " in floats");
    if (halves != 0) text += fmt::format(", {} of them in 16 bits", halves);
    return text;
  }

  Evaluator& evaluator_;
  const Recipe& recipe_;
  double least_sqnr_;
  const std::function<bool(double)>& has_time_;
  std::vector<LayerCost> layer_costs_;
  std::vector<Chosen> chosen_;
  double step_ = 0.5;  // seconds of one judgement
};

}  // namespace

Repaired repair(Evaluator& evaluator, const Recipe& recipe, double least_sqnr,
                const std::function<bool(double)>& has_time) {
  return Repairer(evaluator, recipe, least_sqnr, has_time).run();
}

namespace {

constexpr std::size_t kMostRemovals = 24;  // tries to do without some

double noise_of(const Option& option) { return option.noise < kDestroyed ? option.noise : kDestroyed; }

class Returns {
 public:
  Returns(Indices chosen, const PassingTest& ask) : chosen_(std::move(chosen)), ask_(ask) {}

  Indices run() {
    const std::size_t half = chosen_.size() / 2;
    if (chosen_.size() < 2) return chosen_;
    give_back(half, chosen_.size() - half);
    give_back(0, half);
    return chosen_;
  }

 private:
  // All of these, or else each half of them.
  void give_back(std::size_t first, std::size_t count) {
    if (count == 0 || tries_++ >= kMostRemovals || !ask_.may_go_on()) return;
    Indices fewer = chosen_;
    const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(first);
    fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    if (!fewer.empty() && ask_.passes(fewer)) {
      chosen_ = std::move(fewer);
      return;
    }
    if (count == 1) return;
    const std::size_t half = count / 2;
    give_back(first + half, count - half);
    give_back(first, half);
  }

  Indices chosen_;
  const PassingTest& ask_;
  std::size_t tries_ = 0;
};

}  // namespace

Indices by_worth(const std::vector<Option>& options) {
  Indices order(options.size());
  std::iota(order.begin(), order.end(), 0);
  const auto worth = [&](std::size_t i) { return noise_of(options[i]) / std::max(options[i].cost, 1e-30); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  return order;
}

std::size_t expected_count(const std::vector<Option>& options, double all, double limit) {
  double sum = 0;
  for (const Option& option : options) sum += noise_of(option);
  // What they bring together is known better than what each brings alone.
  const double scale = sum > 0 ? std::min(all, kDestroyed) / sum : 0;
  double left = std::min(all, kDestroyed);
  std::size_t count = 0;
  for (const std::size_t i : by_worth(options)) {
    if (count != 0 && left <= limit) break;
    left -= scale * noise_of(options[i]);
    ++count;
  }
  return count;
}

std::optional<Indices> cheapest_passing(const std::vector<Option>& options, double all, double limit,
                                        const PassingTest& ask) {
  const Indices order = by_worth(options);
  const auto first = [&](std::size_t count) {
    return Indices(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  };
  std::size_t fails = 0, holds = 0;
  for (std::size_t count = expected_count(options, all, limit); holds == 0;
       count = std::min(2 * count, order.size())) {
    if (order.empty() || !ask.may_go_on()) return std::nullopt;
    if (ask.passes(first(count)))
      holds = count;
    else if (count == order.size())
      return std::nullopt;
    else
      fails = count;
  }
  while (holds - fails > 1 && ask.may_go_on()) {
    const std::size_t middle = fails + (holds - fails) / 2;
    (ask.passes(first(middle)) ? holds : fails) = middle;
  }
  return first(holds);
}

Indices drop_unneeded(Indices chosen, const PassingTest& ask) {
  return Returns(std::move(chosen), ask).run();
}

}  // namespace ounce::search
