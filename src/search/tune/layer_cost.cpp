#include "search/tune/layer_cost.h"

#include <algorithm>
#include <cmath>

#include "search/tune/side_by_side.h"

namespace ounce::search {
namespace {

constexpr std::size_t kMostGroups = 32;    // more layers than this are taken in blocks
constexpr std::size_t kMostInContest = 6;  // models, besides two that they are compared with
constexpr double kContestSeconds = 0.25;   // for each of them
constexpr double kGuess = 1;               // seconds of a first measurement

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
  const std::size_t together = std::clamp<std::uint64_t>(fit, 3, kMostInContest + 2) - 2;
  for (std::size_t first = 0; first < layer_costs.size(); first += together) {
    const std::size_t count = std::min(together, layer_costs.size() - first);
    if (!has_time(each * static_cast<double>(count))) {
      layer_costs.resize(first);
      break;
    }
    const double begin = evaluator.clock().elapsed();
    std::vector<Recipe> recipes;
    for (std::size_t i = 0; i < count; ++i)
      recipes.push_back(with(recipe, {layer_costs[first + i]}, Format::kW16));
    const std::vector<double> noises = evaluator.noises(recipes);
    for (std::size_t i = 0; i < count; ++i) layer_costs[first + i].gain = std::max(0.0, all - noises[i]);
    const bool are_all_made =
        std::all_of(noises.begin(), noises.end(), [](double noise) { return std::isfinite(noise); });
    std::vector<SpeedUp> speeds;
    if (is_timed && are_all_made) {
      recipes.push_back(recipe);
      speeds = evaluator.contest(recipes, kContestSeconds);
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

}  // namespace ounce::search
