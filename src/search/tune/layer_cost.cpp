#include "search/tune/layer_cost.h"

#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "recipe/format_info.h"
#include "search/tune/evaluator.h"

namespace ounce::search {
namespace {

constexpr std::size_t kMostGroups = 32;   // more layers than this are taken in blocks
constexpr std::size_t kMostTogether = 6;  // models, besides two that they are compared with
constexpr double kTimingSeconds = 0.25;   // for each of them
constexpr double kGuess = 1;              // seconds of a first measurement

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

constexpr double kWorthIt = 1.02;         // times as fast, or it may be chance
constexpr double kSegmentSeconds = 0.25;  // for each model
constexpr double kLoading = 0.25;         // seconds besides, as a first guess
constexpr std::size_t kMostSegments = 4;

struct Segment {
  std::size_t first = 0, count = 0;
  bool to_floats = true;        // or back
  double expected_speedup = 1;  // how fast the model was when the whole changed that this is a part of
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
      for (const Segment& segment : tried) split(segment);  // one of them cannot be made
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
    // A part of it may have been better where it was; the others are asked again, as beside a segment that
    // changed they may have become cheaper.
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
