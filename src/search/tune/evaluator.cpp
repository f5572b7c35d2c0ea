#include "search/tune/evaluator.h"

#include <algorithm>
#include <array>

#include "base/machine.h"
#include "base/thread_pool.h"
#include "recipe/format_info.h"
#include "search/tune/objective.h"

namespace ounce::search {
namespace {

constexpr double kDoubtful = 0.9;  // of the original's speed: from here on a second look is worth it
constexpr int kRepetitions = 2;    // of a timing that was not reliable

// The ratio of an unreliable timing must not decide anything.
SpeedUp unknown_speed(const SpeedUp& measured) {
  SpeedUp speed;
  speed.rounds = measured.rounds;
  speed.load = measured.load;
  speed.is_reliable = false;
  return speed;
}

}  // namespace

std::vector<SpeedUp> Evaluator::timed_comparison(const std::vector<Recipe>& recipes, double seconds,
                                                 int repetition) {
  std::vector<SpeedUp> speeds;
  if (clock_.counts_models()) {
    for (const Recipe& recipe : recipes) speeds.push_back(assumed_speed(recipe));
    return speeds;
  }
  speeds = measure_times(recipes, seconds, repetition);
  for (SpeedUp& speed : speeds) {
    if (!speed.is_reliable) speed = unknown_speed(speed);
  }
  return speeds;
}

std::vector<SpeedUp> Evaluator::time(const std::vector<Recipe>& recipes, double seconds) {
  std::vector<SpeedUp> speeds = timed_comparison(recipes, seconds, 0);
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    // The machine may be less busy the next time.
    for (int again = 1; again <= kRepetitions && !speeds[i].is_reliable; ++again)
      speeds[i] = timed_comparison({recipes[i]}, seconds, again).front();
    if (!is_slower(speeds[i]) || speeds[i].ratio < kDoubtful) continue;
    std::array<SpeedUp, 3> all = {speeds[i], timed_comparison({recipes[i]}, seconds, 1).front(),
                                  timed_comparison({recipes[i]}, seconds, 2).front()};
    if (!all[1].is_reliable || !all[2].is_reliable) continue;
    std::sort(all.begin(), all.end(), [](const SpeedUp& a, const SpeedUp& b) { return a.ratio < b.ratio; });
    speeds[i] = all[1];
  }
  return speeds;
}

SpeedUp Evaluator::assumed_speed(const Recipe& recipe) {
  double before = 0, after = 0;
  for (const TreatedLayer& treated : layers(recipe)) {
    const auto values = static_cast<double>(treated.layer.values);
    before += values;
    after += values * info_of(treated.format).assumed_time;
  }
  SpeedUp speed;
  speed.ratio = speed.low = speed.high = after > 0 ? before / after : 1;
  return speed;
}

namespace {

constexpr std::uint64_t kSession = std::uint64_t{64} << 20;  // of a session, besides its weights

}  // namespace

std::uint64_t sessions_in_memory(std::uint64_t model_bytes) {
  return std::max<std::uint64_t>(1, available_memory() / 2 / (3 * model_bytes + kSession));
}

unsigned side_by_side(std::uint64_t model_bytes, const RuntimeOptions& runtime, unsigned cpus) {
  const unsigned all = cpus != 0 ? cpus : ThreadPool().size();
  const unsigned each_takes = std::max(1U, runtime.threads * runtime.threads_between);
  return static_cast<unsigned>(
      std::min<std::uint64_t>(std::max(1U, all / each_takes), sessions_in_memory(model_bytes)));
}

}  // namespace ounce::search
