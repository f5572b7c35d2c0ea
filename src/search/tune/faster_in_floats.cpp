#include "search/tune/faster_in_floats.h"

#include <ounce/error.h>

#include <algorithm>

#include "search/tune/side_by_side.h"

namespace ounce::search {
namespace {

constexpr double kWorthIt = 1.02;         // times as fast, or it may be chance
constexpr double kStretchSeconds = 0.25;  // for each model
constexpr double kLoading = 0.25;         // seconds besides, as a first guess
constexpr std::size_t kMostStretches = 4;

struct Stretch {
  std::size_t first = 0, count = 0;
  bool to_floats = true;  // or back
  double hope = 1;        // how fast the model was when the whole changed that this is a part of
};

class Stretches {
 public:
  Stretches(Evaluator& evaluator, const Recipe& recipe, const std::function<bool(double)>& has_time)
      : evaluator_(evaluator),
        recipe_(recipe),
        has_time_(has_time),
        groups_(group_by_format(evaluator, recipe, {Format::kStatic, Format::kDynamic})),
        is_float_(groups_.size(), false) {
    const std::uint64_t fit = sessions_in_memory(evaluator.original_bytes());
    most_ = std::clamp<std::uint64_t>(fit, 3, kMostStretches + 2) - 2;
    split({0, groups_.size()});
  }

  std::vector<LayerCost> run() {
    double each = kStretchSeconds + kLoading;
    while (!open_.empty()) {
      std::stable_sort(open_.begin(), open_.end(),
                       [](const Stretch& a, const Stretch& b) { return a.hope > b.hope; });
      const std::size_t count = std::min(most_, open_.size());
      if (!has_time_(each * static_cast<double>(count + 2))) break;
      const double begin = evaluator_.clock().elapsed();
      const std::vector<Stretch> tried(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count));
      open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count));
      compare(tried);
      each = (evaluator_.clock().elapsed() - begin) / static_cast<double>(count + 2);
    }
    return in_floats(is_float_);
  }

 private:
  void compare(std::vector<Stretch> tried) {
    std::vector<Recipe> recipes;
    for (const Stretch& stretch : tried)
      recipes.push_back(with(recipe_, in_floats(changed(stretch)), Format::kW8));
    recipes.push_back(with(recipe_, in_floats(is_float_), Format::kW8));
    std::vector<SpeedUp> speeds;
    try {
      speeds = evaluator_.contest(recipes, kStretchSeconds);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kIo) throw;
      for (const Stretch& stretch : tried) split(stretch);  // one of them cannot be made
      return;
    }
    const bool is_known =
        std::all_of(speeds.begin(), speeds.end(), [](const SpeedUp& speed) { return speed.is_reliable; });
    if (!is_known) return open_.clear();  // the machine is too busy to find what is faster
    for (std::size_t i = 0; i < tried.size(); ++i) tried[i].hope = speeds[i].ratio / speeds.back().ratio;
    const auto best = std::max_element(tried.begin(), tried.end(),
                                       [](const Stretch& a, const Stretch& b) { return a.hope < b.hope; });
    if (best->hope < kWorthIt) {
      for (const Stretch& stretch : tried) split(stretch);
      return;
    }
    is_float_ = changed(*best);
    // A part of it may have been better where it was; the others are asked again, as beside a stretch that
    // changed they may have become cheaper.
    split({best->first, best->count, !best->to_floats});
    tried.erase(best);
    open_.insert(open_.end(), tried.begin(), tried.end());
  }

  void split(const Stretch& stretch) {
    if (stretch.count < 2) return;
    const std::size_t half = stretch.count / 2;
    open_.push_back({stretch.first, half, stretch.to_floats, stretch.hope});
    open_.push_back({stretch.first + half, stretch.count - half, stretch.to_floats, stretch.hope});
  }

  std::vector<bool> changed(const Stretch& stretch) const {
    std::vector<bool> is_float = is_float_;
    std::fill_n(is_float.begin() + static_cast<std::ptrdiff_t>(stretch.first), stretch.count,
                stretch.to_floats);
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
  std::vector<Stretch> open_;
  std::size_t most_ = 1;
};

}  // namespace

std::vector<LayerCost> faster_in_floats(Evaluator& evaluator, const Recipe& recipe,
                                        const std::function<bool(double)>& has_time) {
  return Stretches(evaluator, recipe, has_time).run();
}

}  // namespace ounce::search
