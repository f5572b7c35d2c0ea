#include "search/tune/repair.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recipe/format_info.h"
#include "search/tune/evaluator.h"

namespace ounce::search {
namespace {

constexpr double kLeastCost = 0.002;      // share of the original's time: the resolution of timing
constexpr std::size_t kMostReturns = 24;  // layers that are tried in 8 bits one by one

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
    // Give up if most of the weights would need more bits.
    if (is_storage && 2 * expected_count(options, noise, limit) > options.size() + 1) return repaired;
    const auto may_go_on = [this] { return has_time_(step_); };
    const auto found = cheapest_passing(
        options, noise, limit,
        {[&](const Indices& groups) { return passes(chosen_of(layer_costs_, groups)); }, may_go_on});
    if (!found) return repaired;
    // Not all layers of a block may be needed.
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
  // The layers of these groups, cheapest first.
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

  // Stores the chosen layers in 8 bits where that passes: all at once, or else one by one.
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
    std::string text = count(layers) + (is_storage ? " in 8 bits" : " in FP32");
    if (halves != 0) text += fmt::format(", {} of them in 16 bits", halves);
    return text;
  }

  Evaluator& evaluator_;
  const Recipe& recipe_;
  double least_sqnr_;
  const std::function<bool(double)>& has_time_;
  std::vector<LayerCost> layer_costs_;
  std::vector<Chosen> chosen_;
  double step_ = 0.5;  // seconds to judge one candidate
};

}  // namespace

Repaired repair(Evaluator& evaluator, const Recipe& recipe, double least_sqnr,
                const std::function<bool(double)>& has_time) {
  return Repairer(evaluator, recipe, least_sqnr, has_time).run();
}

namespace {

constexpr std::size_t kMostRemovals = 24;  // tests in drop_unneeded()

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
  // Removes this range if the rest passes, or else tries each half of it.
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
  // Scale the noises to their measured total, which is more exact than their sum.
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

namespace {

constexpr std::size_t kMostGroups = 32;  // more layers than this are grouped in blocks
constexpr std::size_t kMostTogether =
    6;                                   // models per comparison, not counting the two they are compared with
constexpr double kTimingSeconds = 0.25;  // per model
constexpr double kGuess = 1;             // expected seconds of the first measurement

}  // namespace

std::vector<LayerCost> group_by_format(Evaluator& evaluator, const Recipe& recipe,
                                       const std::vector<Format>& formats) {
  std::vector<Layer> layers;
  for (TreatedLayer& treated : evaluator.layers(recipe)) {
    if (std::find(formats.begin(), formats.end(), treated.format) != formats.end())
      layers.push_back(std::move(treated.layer));
  }
  const Grouping grouping = layers.size() > kMostGroups ? Grouping::kBlock : Grouping::kLayer;
  std::vector<LayerCost> layer_costs;
  for (const Group& group : group_layers(layers, grouping, kMostGroups)) {
    LayerCost& layer_cost = layer_costs.emplace_back();
    layer_cost.name = group.name;
    for (const std::size_t i : group.layers) {
      layer_cost.outputs.push_back(layers[i].output);
      layer_cost.values += layers[i].values;
    }
  }
  return layer_costs;
}

Recipe with(const Recipe& recipe, const std::vector<LayerCost>& layer_costs, Format format) {
  Recipe changed = recipe;
  for (const LayerCost& layer_cost : layer_costs) {
    for (const std::string& output : layer_cost.outputs) changed.nodes[output] = format;
  }
  return changed;
}

std::vector<LayerCost> measure_layer_costs(Evaluator& evaluator, const Recipe& recipe,
                                           const std::vector<Format>& formats, bool is_timed,
                                           const std::function<bool(double)>& has_time) {
  std::vector<LayerCost> layer_costs = group_by_format(evaluator, recipe, formats);
  const double all = evaluator.noises({recipe}).front();
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(evaluator.original_bytes(), 1));
  double each = kGuess;
  const std::uint64_t fit = sessions_in_memory(evaluator.original_bytes());
  const std::size_t together = std::clamp<std::uint64_t>(fit, 3, kMostTogether + 2) - 2;
  for (std::size_t first = 0; first < layer_costs.size(); first += together) {
    const std::size_t count = std::min(together, layer_costs.size() - first);
    if (!has_time(each * static_cast<double>(count))) {
      layer_costs.resize(first);
      break;
    }
    const double begin = evaluator.clock().elapsed();
    std::vector<Recipe> recipes;
    for (std::size_t i = 0; i < count; ++i)
      recipes.push_back(with(recipe, {layer_costs[first + i]}, weight_only(16)));
    const std::vector<double> noises = evaluator.noises(recipes);
    for (std::size_t i = 0; i < count; ++i) layer_costs[first + i].gain = std::max(0.0, all - noises[i]);
    const bool are_all_made =
        std::all_of(noises.begin(), noises.end(), [](double noise) { return std::isfinite(noise); });
    std::vector<SpeedUp> speeds;
    if (is_timed && are_all_made) {
      recipes.push_back(recipe);
      speeds = evaluator.timed_comparison(recipes, kTimingSeconds);
    }
    const bool is_known =
        !speeds.empty() &&
        std::all_of(speeds.begin(), speeds.end(), [](const SpeedUp& speed) { return speed.is_reliable; });
    for (std::size_t i = 0; i < count; ++i)
      layer_costs[first + i].cost = is_known ? 1 / speeds[i].ratio - 1 / speeds.back().ratio
                                             : static_cast<double>(layer_costs[first + i].values) / bytes;
    each = (evaluator.clock().elapsed() - begin) / static_cast<double>(count);
  }
  return layer_costs;
}

namespace {

constexpr double kWorthIt = 1.02;         // speed ratio; smaller gains may be noise
constexpr double kSegmentSeconds = 0.25;  // per model
constexpr double kLoading = 0.25;         // seconds to load a model, as a first guess
constexpr std::size_t kMostSegments = 4;

struct Segment {
  std::size_t first = 0, count = 0;
  bool to_floats = true;        // false: back to INT8
  double expected_speedup = 1;  // measured for the larger segment that this is a part of
};

class TimedBisection {
 public:
  TimedBisection(Evaluator& evaluator, const Recipe& recipe, const std::function<bool(double)>& has_time)
      : evaluator_(evaluator),
        recipe_(recipe),
        has_time_(has_time),
        groups_(group_by_format(evaluator, recipe, formats_of(Family::kInteger))),
        is_float_(groups_.size(), false) {
    const std::uint64_t fit = sessions_in_memory(evaluator.original_bytes());
    most_ = std::clamp<std::uint64_t>(fit, 3, kMostSegments + 2) - 2;
    split({0, groups_.size()});
  }

  std::vector<LayerCost> run() {
    double each = kSegmentSeconds + kLoading;
    while (!open_.empty()) {
      std::stable_sort(open_.begin(), open_.end(), [](const Segment& a, const Segment& b) {
        return a.expected_speedup > b.expected_speedup;
      });
      const std::size_t count = std::min(most_, open_.size());
      if (!has_time_(each * static_cast<double>(count + 2))) break;
      const double begin = evaluator_.clock().elapsed();
      const std::vector<Segment> tried(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count));
      open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count));
      compare(tried);
      each = (evaluator_.clock().elapsed() - begin) / static_cast<double>(count + 2);
    }
    return in_floats(is_float_);
  }

 private:
  void compare(std::vector<Segment> tried) {
    std::vector<Recipe> recipes;
    for (const Segment& segment : tried)
      recipes.push_back(with(recipe_, in_floats(changed(segment)), weight_only(8)));
    recipes.push_back(with(recipe_, in_floats(is_float_), weight_only(8)));
    std::vector<SpeedUp> speeds;
    try {
      speeds = evaluator_.timed_comparison(recipes, kSegmentSeconds);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kIo) throw;
      for (const Segment& segment : tried) split(segment);  // one of the candidates cannot be made
      return;
    }
    const bool is_known =
        std::all_of(speeds.begin(), speeds.end(), [](const SpeedUp& speed) { return speed.is_reliable; });
    if (!is_known) return open_.clear();  // the machine is too busy to find what is faster
    for (std::size_t i = 0; i < tried.size(); ++i)
      tried[i].expected_speedup = speeds[i].ratio / speeds.back().ratio;
    const auto best = std::max_element(tried.begin(), tried.end(), [](const Segment& a, const Segment& b) {
      return a.expected_speedup < b.expected_speedup;
    });
    if (best->expected_speedup < kWorthIt) {
      for (const Segment& segment : tried) split(segment);
      return;
    }
    is_float_ = changed(*best);
    // Parts of it may be better in INT8. The other segments are tried again, because they may have become
    // cheaper next to the changed one.
    split({best->first, best->count, !best->to_floats});
    tried.erase(best);
    open_.insert(open_.end(), tried.begin(), tried.end());
  }

  void split(const Segment& segment) {
    if (segment.count < 2) return;
    const std::size_t half = segment.count / 2;
    open_.push_back({segment.first, half, segment.to_floats, segment.expected_speedup});
    open_.push_back(
        {segment.first + half, segment.count - half, segment.to_floats, segment.expected_speedup});
  }

  std::vector<bool> changed(const Segment& segment) const {
    std::vector<bool> is_float = is_float_;
    std::fill_n(is_float.begin() + static_cast<std::ptrdiff_t>(segment.first), segment.count,
                segment.to_floats);
    return is_float;
  }

  std::vector<LayerCost> in_floats(const std::vector<bool>& is_float) const {
    std::vector<LayerCost> groups;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (is_float[i]) groups.push_back(groups_[i]);
    }
    return groups;
  }

  Evaluator& evaluator_;
  const Recipe& recipe_;
  const std::function<bool(double)>& has_time_;
  std::vector<LayerCost> groups_;
  std::vector<bool> is_float_;
  std::vector<Segment> open_;
  std::size_t most_ = 1;
};

}  // namespace

std::vector<LayerCost> faster_in_floats(Evaluator& evaluator, const Recipe& recipe,
                                        const std::function<bool(double)>& has_time) {
  return TimedBisection(evaluator, recipe, has_time).run();
}

}  // namespace ounce::search
