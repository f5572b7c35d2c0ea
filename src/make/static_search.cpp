#include "make/static_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "make/integer_nodes.h"
#include "make/leave_out.h"
#include "make/noise_by_halves.h"
#include "observe/calibrators.h"

namespace ounce::make {
namespace {

constexpr double kNoNeed = 40;            // dB; from here on nobody sees a difference
constexpr double kAcceptable = 20;        // dB; what `verify` lets pass
constexpr double kPreference = 1.12;      // least predicted error wins unless another is so much better
constexpr double kFloatShare = 0.05;      // of all multiplications, that may stay in floats …
constexpr double kTinyFloatShare = 0.01;  // … and what nobody will notice
constexpr double kLeastShare = 0.002;     // of all multiplications: less is as good as nothing
constexpr double kWorthAFloat = 0.5;      // dB that a node must bring
constexpr double kWorthARange = 0.98;     // of the error, that a range may leave …
constexpr double kWorthEqualizing = 0.9;  // … and that evening out channels may
constexpr std::size_t kMostFloats = 8, kWorstNodes = 8;

constexpr double kVariantWork = 1e9;  // to plan, write and load a variant, in multiplications …
constexpr double kValueWork = 20;     // … to give a value to the next node …
constexpr double kNodeWork = 6e4;     // … and to call a node
constexpr double kUsualVariants = 100, kLeastVariants = 40, kLeastConfirmed = 6;
// Guesses are made of few samples where each costs much, and confirmed on more of them.
constexpr double kFewestSamples = 2, kLeastSamples = 12, kMostSamples = 256, kMoreSamples = 8;
// Shares of what may be spent, each with what stages before it left over.
constexpr double kForCalibration = 0.3, kForNoise = 0.55, kForFloats = 0.75, kForRanges = 0.8, kForAll = 1;

struct Calibration {
  CalibrationMethod method;
  double percentile;
  const char* name;
};
constexpr std::array<Calibration, 4> kCalibrations = {{
    {CalibrationMethod::kAuto, 99.99, "least predicted error"},
    {CalibrationMethod::kPercentile, 99.99, "percentile 99.99"},
    {CalibrationMethod::kPercentile, 99.999, "percentile 99.999"},
    {CalibrationMethod::kMinMax, 99.99, "minmax"},
}};

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// What a sample costs that is no multiplication: most of it in networks of many small nodes.
double work_beside(const PreparedModel& prepared) {
  double values = 0;
  for (const auto& [name, statistics] : prepared.ranges()->values)
    values += static_cast<double>(statistics.count());
  std::size_t nodes = 0;
  for (const graph::Body& body : prepared.index().bodies()) nodes += body.nodes().size();
  return kValueWork * values / static_cast<double>(std::max<std::uint64_t>(1, prepared.ranges()->samples)) +
         kNodeWork * static_cast<double>(nodes);
}

double noise_at(double decibels) { return std::pow(10, -decibels / 10); }

// Searching is done on few samples where each costs much, and what is found is confirmed on all of them.
class StaticSearch {
 public:
  StaticSearch(const QuantizeOptions& options, const StaticLimits& limits, const MakeErrorMeter& make_meter,
               Resolved& resolved, std::vector<std::string>& notes)
      : prepared_(resolved.prepared),
        judged_(as_judged(prepared_)),
        best_(resolved.recipe),
        asked_(resolved.recipe.integer),
        options_(options),
        limits_(limits),
        notes_(notes),
        why_floats_(resolved.why_floats) {
    ThreadPool pool(options_.threads);
    nodes_ = integer_nodes(*judged_, best_, pool);
    if (nodes_.empty()) return;
    for (const IntegerNode& node : nodes_) work_ += node.work;
    sample_work_ = work_ + work_beside(*judged_);
    const double affordable = limits_.most_work / kUsualVariants / std::max(sample_work_, 1.0);
    const auto at_least = [](double samples, double least) {
      return static_cast<std::uint64_t>(std::clamp(samples, least, kMostSamples));
    };
    meter_ = make_meter(at_least(kMoreSamples * affordable, kLeastSamples));
    if (meter_->samples() == 0) return;
    few_ = std::min(at_least(affordable, kFewestSamples), meter_->samples());
    to_spend_ = std::max(limits_.most_work,
                         kLeastVariants * cost_of(few_) + kLeastConfirmed * cost_of(meter_->samples()));
  }

  void run() {
    if (!meter_ || meter_->samples() == 0) return;
    show_progress();
    best_.integer.correct_bias = false;
    least_ = measure(best_);
    if (has_few()) meter_->choose_few(few_);
    if (asked_.calibration == CalibrationMethod::kAuto) choose_calibration();
    if (may_equalize(options_) && decibels(least_) < std::max(kNoNeed, limits_.close_enough) &&
        may_spend(kForCalibration))
      try_equalizing();
    // What drowned in the noise of some nodes shows when they are left out.
    while (!is_close() && leave_floats(limits_.close_enough, kFloatShare)) {
      if (!reconsider()) break;
    }
    if (!is_close() && knows_noise_) search_ranges();
    if (decibels(least_) >= kAcceptable && decibels(least_) < limits_.good)
      leave_floats(limits_.good, kTinyFloatShare);
    if (decibels(least_) < kAcceptable) make_acceptable();
    if (judged_ != prepared_) take_all_ranges();
    if (asked_.correct_bias && may_spend(kForAll)) try_correction();
  }

 private:
  bool has_few() const { return few_ < meter_->samples(); }

  double cost_of(std::uint64_t samples) const {
    return sample_work_ * static_cast<double>(samples) + kVariantWork;
  }
  double measure(const PreparedModel& prepared, const Recipe& recipe) {
    spent_ += cost_of(meter_->samples());
    show_progress();
    return meter_->error(prepared, recipe);
  }
  double measure(const Recipe& recipe) { return measure(*judged_, recipe); }
  double guess(const Recipe& recipe) {
    spent_ += cost_of(few_);
    show_progress();
    return meter_->guess(*judged_, recipe);
  }
  double guess_of_best() { return has_few() ? guess(best_) : least_; }
  bool is_close() const { return decibels(least_) >= limits_.close_enough; }
  bool may_spend(double share) const { return limits_.has_time() && spent_ < share * to_spend_; }
  void show_progress() const {
    if (options_.progress == nullptr) return;
    options_.progress->done =
        std::min<std::uint64_t>(99, static_cast<std::uint64_t>(100 * spent_ / to_spend_));
    options_.progress->total = 100;
    options_.progress->stage = "trying";
  }

  // Takes a recipe if it is better than the best so far.
  bool take(const Recipe& recipe, double limit) {
    const double error = measure(recipe);
    if (!(error <= limit && error < least_)) return false;
    best_ = recipe;
    least_ = error;
    return true;
  }

  Recipe calibrated_by(const Calibration& calibration) const {
    Recipe recipe = best_;
    recipe.integer.calibration = calibration.method;
    recipe.integer.percentile = calibration.percentile;
    return recipe;
  }

  void choose_calibration() {
    double least = guess_of_best();
    std::string tried = fmt::format("{} {:.1f} dB", kCalibrations[0].name, decibels(least));
    std::size_t chosen = 0;
    const double limit = least / kPreference;
    for (std::size_t i = 1; i < kCalibrations.size() && may_spend(kForCalibration); ++i) {
      const double error = guess(calibrated_by(kCalibrations[i]));
      tried += fmt::format(", {} {:.1f}", kCalibrations[i].name, decibels(error));
      if (!(error < std::min(limit, least))) continue;
      least = error;
      chosen = i;
    }
    // Among outputs that are all wrong the closest says nothing: that shows once the worst nodes are left
    // out.
    if (decibels(least) < kAcceptable) chosen = 0;
    // What won on few samples has to win on all of them.
    if (chosen != 0 && has_few() && !take(calibrated_by(kCalibrations[chosen]), least_ / kPreference))
      chosen = 0;
    if (chosen != 0 && !has_few()) {
      best_ = calibrated_by(kCalibrations[chosen]);
      least_ = least;
    }
    notes_.push_back(fmt::format("calibrated by {}, measured on {}: {}", kCalibrations[chosen].name,
                                 counted(few_, "sample"), tried));
  }

  // What was chosen among the noise of nodes that are in floats now. True when other things are better.
  bool reconsider() {
    const bool is_other = reconsider_equalizing();
    return reconsider_calibration() || is_other;
  }

  bool reconsider_equalizing() {
    if (other_ == nullptr || !may_spend(kForAll)) return false;
    const std::shared_ptr<const PreparedModel> judged = as_judged(other_);
    const double error = measure(*judged, best_), before = decibels(least_);
    if (!(error <= kWorthARange * least_)) return false;
    std::swap(prepared_, other_);
    judged_ = judged;
    least_ = error;
    notes_.push_back(fmt::format("channels {} after that: {:.1f} → {:.1f} dB",
                                 prepared_->equalized_places() != 0 ? "evened out" : "as they were", before,
                                 decibels(least_)));
    return true;
  }

  bool reconsider_calibration() {
    if (asked_.calibration != CalibrationMethod::kAuto) return false;
    const double before = decibels(least_);
    double least = kWorthARange * guess_of_best();
    const Calibration* chosen = nullptr;
    for (const Calibration& calibration : kCalibrations) {
      const bool is_same = best_.integer.calibration == calibration.method &&
                           best_.integer.percentile == calibration.percentile;
      if (is_same || !may_spend(kForAll)) continue;
      const double error = guess(calibrated_by(calibration));
      if (!(error <= least)) continue;
      least = error;
      chosen = &calibration;
    }
    if (chosen == nullptr || !take(calibrated_by(*chosen), kWorthARange * least_)) return false;
    notes_.push_back(fmt::format("calibrated by {} after that: {:.1f} → {:.1f} dB", chosen->name, before,
                                 decibels(least_)));
    return true;
  }

  void try_equalizing() {
    const std::shared_ptr<const PreparedModel> even = prepared_->equalized(options_);
    if (even == nullptr) return;
    const std::shared_ptr<const PreparedModel> judged = as_judged(even);
    const double error = measure(*judged, best_), before = decibels(least_);
    other_ = even;
    if (!(error <= kWorthEqualizing * least_)) return;
    std::swap(prepared_, other_);
    judged_ = judged;
    least_ = error;
    notes_.push_back(fmt::format("channels evened out between layers in {}: {:.1f} → {:.1f} dB",
                                 counted(even->equalized_places(), "place"), before, decibels(least_)));
  }

  // What was found with the ranges of one half gets those of all the data: they are safer. Unless outputs are
  // not close with them, and closer without: then outliers are in the other half that are better cut off.
  void take_all_ranges() {
    const double error = measure(*prepared_, best_);
    const bool is_worse = error > kPreference * least_ && decibels(error) < limits_.close_enough;
    if (!asked_.every_second && !is_worse) {
      judged_ = prepared_;
      least_ = error;
      return;
    }
    notes_.push_back(
        fmt::format("ranges of every second sample alone: {:.1f} dB on the others, {:.1f} with "
                    "their outliers",
                    decibels(least_), decibels(error)));
    prepared_ = judged_;
    best_.integer.every_second = true;
  }

  void try_correction() {
    const double before = decibels(least_);
    Recipe recipe = best_;
    recipe.integer.correct_bias = true;
    if (take(recipe, kWorthARange * least_))
      notes_.push_back(fmt::format("biases corrected: {:.1f} → {:.1f} dB", before, decibels(least_)));
  }

  // What each node brings that is not in floats yet.
  void find_noise(double goal) {
    const Pieces open = on_integers();
    const auto noise = [&](std::size_t first, std::size_t count) {
      Pieces others = open;
      const auto begin = others.begin() + static_cast<std::ptrdiff_t>(first);
      others.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      return guess(in_floats(others));
    };
    const std::vector<double> noises = noise_by_halves(open.size(), guess_of_best(), noise_at(goal),
                                                       {noise, [this] { return may_spend(kForNoise); }});
    pieces_.assign(nodes_.size(), {});
    knows_noise_ = true;
    for (std::size_t i = 0; i < open.size(); ++i)
      pieces_[open[i]] = {noises[i], std::max(nodes_[open[i]].work, kLeastShare * work_)};
  }
  Pieces on_integers() const {
    Pieces numbers;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!best_.nodes.contains(nodes_[i].output)) numbers.push_back(i);
    }
    return numbers;
  }

  Recipe in_floats(const Pieces& numbers) const {
    Recipe recipe = best_;
    for (const std::size_t i : numbers) recipe.nodes[nodes_[i].output] = recipe.rest();
    return recipe;
  }
  double share_of(const Pieces& numbers) const {
    double work = 0;
    for (const std::size_t i : numbers) work += nodes_[i].work;
    return work_ > 0 ? work / work_ : 0;
  }

  // The cheapest set among `from` without which `limit` is reached, as far as few samples tell.
  std::optional<Pieces> cheapest(const Pieces& from, double limit, double share) {
    std::map<Pieces, double> errors;
    const auto numbers = [&](const Pieces& chosen) {
      Pieces all;
      for (const std::size_t i : chosen) all.push_back(from[i]);
      std::sort(all.begin(), all.end());
      return all;
    };
    const LeaveOutQuestions ask{[&](const Pieces& chosen) {
                                  const auto [error, is_new] = errors.try_emplace(numbers(chosen));
                                  if (is_new) error->second = guess(in_floats(error->first));
                                  return error->second <= limit;
                                },
                                [&] { return may_spend(share); }};
    std::vector<Piece> pieces;
    for (const std::size_t i : from) pieces.push_back(pieces_[i]);
    std::optional<Pieces> found = shortest_passing(pieces, guess_of_best(), limit, ask);
    if (!found) return found;
    std::stable_sort(found->begin(), found->end(),
                     [&](std::size_t a, std::size_t b) { return pieces[a].cost < pieces[b].cost; });
    return numbers(without_the_needless(*found, ask));
  }

  // Nodes stay in floats if that helps, as long as they are no larger share of the work. True when any does.
  bool leave_floats(double goal, double most_share) {
    if (!may_spend(kForNoise)) return false;
    find_noise(goal);
    Pieces cheap;
    const std::size_t most = std::max(kMostFloats, nodes_.size() / 8);
    for (const std::size_t i : by_worth(pieces_)) {
      if (best_.nodes.contains(nodes_[i].output)) continue;
      cheap.push_back(i);
      if (floats_ + share_of(cheap) > most_share) cheap.pop_back();
      if (cheap.size() == most) break;
    }
    const double before = decibels(least_);
    const std::optional<Pieces> found = cheapest(cheap, noise_at(goal), kForFloats);
    if (found && take(in_floats(*found), noise_at(before + kWorthAFloat))) {
      note_floats(*found, before);
      return true;
    }
    // Not close, but closer: the beginning that brings the most, without those that bring nothing.
    const double limit = guess_of_best() * noise_at(kWorthAFloat);
    Pieces chosen;
    double least = limit;
    for (std::size_t count = 1; !cheap.empty() && may_spend(kForFloats);
         count = std::min(2 * count, cheap.size())) {
      const Pieces first(cheap.begin(), cheap.begin() + static_cast<std::ptrdiff_t>(count));
      const double error = guess(in_floats(first));
      if (error <= least) {
        chosen = first;
        least = error * noise_at(kWorthAFloat);  // more of them have to be worth it
      }
      if (count == cheap.size()) break;
    }
    const double loosest = least / noise_at(2 * kWorthAFloat);  // so much may be lost again
    std::reverse(chosen.begin(), chosen.end());
    chosen = without_the_needless(
        chosen, {[&](const Pieces& fewer) { return guess(in_floats(fewer)) <= std::min(loosest, limit); },
                 [&] { return may_spend(kForFloats); }});
    if (chosen.empty() || !take(in_floats(chosen), noise_at(before + kWorthAFloat))) return false;
    note_floats(chosen, before);
    return true;
  }

  void note_floats(const Pieces& numbers, double before) {
    floats_ += share_of(numbers);
    std::string labels;
    for (const std::size_t i : numbers) labels += (labels.empty() ? "" : ", ") + nodes_[i].label;
    notes_.push_back(fmt::format("{} stay{} in floats: {:.1f} → {:.1f} dB, {:.1f} % of the work", labels,
                                 numbers.size() == 1 ? "s" : "", before, decibels(least_),
                                 100 * share_of(numbers)));
  }

  // A model that does not do its work is no use however fast: nodes stay in floats until it does, whatever
  // share of the work they are.
  void make_acceptable() {
    const double before = decibels(least_);
    if (leave_more_floats()) {
      reconsider();
      return;
    }
    if (reconsider() && (decibels(least_) >= kAcceptable || leave_more_floats())) return;
    if (limits_.has_time()) give_up(before);  // or else others go on from here
  }

  bool leave_more_floats() {
    if (!knows_noise_ || may_spend(kForNoise)) find_noise(kAcceptable);
    const double before = decibels(least_);
    const Pieces left = on_integers();
    // Few samples may promise more than all of them keep.
    for (const double decibels_wanted : {kAcceptable, kAcceptable + 3}) {
      const std::optional<Pieces> found = cheapest(left, noise_at(decibels_wanted), kForAll);
      if (!found || found->size() == left.size()) break;
      if (makes_acceptable(*found, before)) return true;
    }
    return !limits_.others_go_on && leave_the_noisiest(left, before);
  }

  bool makes_acceptable(const Pieces& floats, double before) {
    const Recipe recipe = in_floats(floats);
    const double error = measure(recipe);
    if (decibels(error) < kAcceptable) return false;
    best_ = recipe;
    least_ = error;
    notes_.push_back(fmt::format("{} in floats, or the outputs would be wrong: {:.1f} → {:.1f} dB",
                                 counted(floats.size(), "node"), before, decibels(least_)));
    return true;
  }

  // Before all of them are: by what each is known to bring, twice as many each time. Few measurements,
  // whatever was spent before: what they save is the whole.
  bool leave_the_noisiest(const Pieces& left, double before) {
    if (!knows_noise_ || left.empty()) return false;
    std::vector<Piece> pieces;
    for (const std::size_t i : left) pieces.push_back(pieces_[i]);
    const Pieces order = by_worth(pieces);
    for (std::size_t count = expected_count(pieces, least_, noise_at(kAcceptable));
         count < left.size() && limits_.has_time(); count *= 2) {
      Pieces floats;
      for (std::size_t i = 0; i < count; ++i) floats.push_back(left[order[i]]);
      std::sort(floats.begin(), floats.end());
      if (makes_acceptable(floats, before)) return true;
    }
    return false;
  }

  void give_up(double before) {
    const std::size_t tried = meter_->measured();
    best_ = in_floats(on_integers());
    least_ = measure(best_);
    why_floats_ = fmt::format(
        "its outputs do not stand integer arithmetic: {} with other calibrations and with other nodes in "
        "floats, and none has {:.0f} dB (all nodes on integers: {:.1f} dB)",
        counted(tried, "variant") + (tried == 1 ? " was tried" : " were tried"), kAcceptable, before);
    notes_.push_back(why_floats_);
  }

  void search_ranges() {
    const double before = decibels(least_);
    std::size_t changed = 0;
    std::set<std::string> seen;
    Pieces worst(nodes_.size());
    std::iota(worst.begin(), worst.end(), 0);
    std::stable_sort(worst.begin(), worst.end(),
                     [this](std::size_t a, std::size_t b) { return pieces_[a].noise > pieces_[b].noise; });
    worst.resize(std::min(kWorstNodes, worst.size()));
    for (const std::size_t i : worst) {
      if (best_.nodes.contains(nodes_[i].output)) continue;
      for (const std::string& value : nodes_[i].values) {
        if (seen.insert(value).second) changed += search_range(value) ? 1U : 0U;
      }
    }
    if (changed != 0)
      notes_.push_back(fmt::format("ranges of {} chosen by measuring: {:.1f} → {:.1f} dB",
                                   counted(changed, "value"), before, decibels(least_)));
  }

  bool search_range(const std::string& value) {
    const auto found = prepared_->ranges()->values.find(value);
    if (found == prepared_->ranges()->values.end() || asked_.values.contains(value)) return false;
    const observe::Statistics& statistics = found->second;
    std::vector<ValueRange> ranges;
    for (const double percentile : {99.9, 99.99, 99.999})
      ranges.push_back(observe::choose_range(statistics, CalibrationMethod::kPercentile, {}, percentile));
    ranges.push_back(observe::choose_range(statistics, CalibrationMethod::kMse));
    ranges.push_back(observe::choose_range(statistics, CalibrationMethod::kMean));
    for (const double share : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3})
      ranges.push_back({share * statistics.minimum(), share * statistics.maximum()});
    bool is_changed = false;
    double guessed = guess_of_best();
    for (const ValueRange& range : ranges) {
      if (!may_spend(kForRanges)) break;
      Recipe recipe = best_;
      recipe.integer.values[value].range = range;
      if (has_few() && guess(recipe) > kWorthARange * guessed) continue;
      if (!take(recipe, kWorthARange * least_)) continue;
      is_changed = true;
      guessed = guess_of_best();
    }
    return is_changed;
  }

  // Where there is data enough, ranges of one half of it are judged on the other half.
  static std::shared_ptr<const PreparedModel> as_judged(
      const std::shared_ptr<const PreparedModel>& prepared) {
    std::shared_ptr<const PreparedModel> half = prepared->seen_by_half();
    return half != nullptr ? half : prepared;
  }

  std::shared_ptr<const PreparedModel>& prepared_;
  std::shared_ptr<const PreparedModel> judged_;  // what is measured for it
  std::shared_ptr<const PreparedModel> other_;   // equalized if it is not, and not if it is
  Recipe& best_;
  const IntegerRecipe asked_;
  const QuantizeOptions& options_;
  const StaticLimits& limits_;
  std::vector<std::string>& notes_;
  std::string& why_floats_;
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<IntegerNode> nodes_;
  std::vector<Piece> pieces_;  // of each node …
  bool knows_noise_ = false;   // … once it was looked for
  double work_ = 0, sample_work_ = 0, spent_ = 0, to_spend_ = 0;
  double floats_ = 0;  // share of the work that was left to floats
  std::unique_ptr<ErrorMeter> meter_;
  std::uint64_t few_ = 0;  // samples that guesses are made of
};

}  // namespace

void search_static(const QuantizeOptions& options, const StaticLimits& limits,
                   const MakeErrorMeter& make_meter, Resolved& resolved, std::vector<std::string>& notes) {
  StaticSearch(options, limits, make_meter, resolved, notes).run();
}

}  // namespace ounce::make
