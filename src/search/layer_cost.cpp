#include "search/layer_cost.h"

#include <algorithm>
#include <cmath>

#include "search/side_by_side.h"

namespace ounce::search {
namespace {

constexpr std::size_t kMostTrades = 32;    // more layers than this are taken in blocks
constexpr std::size_t kMostInContest = 6;  // models, besides two that they are compared with
constexpr double kContestSeconds = 0.25;   // for each of them
constexpr double kGuess = 1;               // seconds of a first measurement

}  // namespace

std::vector<Trade> group_by_format(Laboratory& laboratory, const Mix& mix,
                                   const std::vector<Format>& formats) {
  std::vector<Layer> layers;
  for (TreatedLayer& treated : laboratory.workshop().layers(mix)) {
    if (std::find(formats.begin(), formats.end(), treated.format) != formats.end())
      layers.push_back(std::move(treated.layer));
  }
  const Grouping grouping = layers.size() > kMostTrades ? Grouping::kBlock : Grouping::kLayer;
  std::vector<Trade> trades;
  for (const Group& group : group_layers(layers, grouping, kMostTrades)) {
    Trade& trade = trades.emplace_back();
    trade.name = group.name;
    for (const std::size_t i : group.layers) {
      trade.outputs.push_back(layers[i].output);
      trade.values += layers[i].values;
    }
  }
  return trades;
}

Mix with(const Mix& mix, const std::vector<Trade>& trades, Format format) {
  Mix changed = mix;
  for (const Trade& trade : trades) {
    for (const std::string& output : trade.outputs) changed.recipe.nodes[output] = format;
  }
  return changed;
}

std::vector<Trade> find_trades(Laboratory& laboratory, const Mix& mix, const std::vector<Format>& formats,
                               bool is_timed, const std::function<bool(double)>& has_time) {
  std::vector<Trade> trades = group_by_format(laboratory, mix, formats);
  const double all = laboratory.noises({mix}).front();
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(laboratory.original_bytes(), 1));
  double each = kGuess;
  const std::uint64_t fit = sessions_in_memory(laboratory.original_bytes());
  const std::size_t together = std::clamp<std::uint64_t>(fit, 3, kMostInContest + 2) - 2;
  for (std::size_t first = 0; first < trades.size(); first += together) {
    const std::size_t count = std::min(together, trades.size() - first);
    if (!has_time(each * static_cast<double>(count))) {
      trades.resize(first);
      break;
    }
    const double begin = laboratory.elapsed();
    std::vector<Mix> mixes;
    for (std::size_t i = 0; i < count; ++i) mixes.push_back(with(mix, {trades[first + i]}, Format::kW16));
    const std::vector<double> noises = laboratory.noises(mixes);
    for (std::size_t i = 0; i < count; ++i) trades[first + i].gain = std::max(0.0, all - noises[i]);
    const bool are_all_made =
        std::all_of(noises.begin(), noises.end(), [](double noise) { return std::isfinite(noise); });
    if (!is_timed || !are_all_made) {
      for (std::size_t i = 0; i < count; ++i)
        trades[first + i].cost = static_cast<double>(trades[first + i].values) / bytes;
    } else {
      mixes.push_back(mix);
      const std::vector<SpeedUp> speeds = laboratory.contest(mixes, kContestSeconds);
      for (std::size_t i = 0; i < count; ++i)
        trades[first + i].cost = 1 / speeds[i].ratio - 1 / speeds.back().ratio;
    }
    each = (laboratory.elapsed() - begin) / static_cast<double>(count);
  }
  return trades;
}

}  // namespace ounce::search
