#include "quantize/static_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "base/quality.h"
#include "base/thread_pool.h"
#include "calibration/calibrators.h"
#include "quantize/float_choice.h"

namespace ounce::quantization {
namespace {

constexpr double kVariantWork = 1e9;  // to plan, write and load a variant, in multiplications …
constexpr double kValueWork = 20;     // … to give a value to the next node …
constexpr double kNodeWork = 6e4;     // … and to call a node
constexpr double kUsualVariants = 100, kLeastVariants = 40, kLeastConfirmed = 6;
// Estimates are made of few samples where each costs much, and confirmed on more of them.
constexpr double kFewestSamples = 2, kLeastSamples = 12, kMostSamples = 256, kMoreSamples = 8;

// What a sample costs that is no multiplication: most of it in networks of many small nodes.
double work_beside(const StaticModel& prepared) {
  double values = 0;
  for (const auto& [name, statistics] : prepared.ranges()->values)
    values += static_cast<double>(statistics.count());
  return kValueWork * values / static_cast<double>(std::max<std::uint64_t>(1, prepared.ranges()->samples)) +
         kNodeWork * static_cast<double>(prepared.node_count());
}

}  // namespace

std::shared_ptr<const StaticModel> judge_split(const std::shared_ptr<const StaticModel>& prepared) {
  std::shared_ptr<const StaticModel> half = prepared->with_half_the_ranges();
  return half != nullptr ? half : prepared;
}

SearchBudget::SearchBudget(const QuantizeOptions& options, const StaticLimits& limits,
                           const MakeCandidateError& make_meter, std::shared_ptr<const StaticModel> prepared,
                           const Recipe& recipe)
    : options_(options),
      limits_(limits),
      prepared_(std::move(prepared)),
      judged_(judge_split(prepared_)),
      best_(recipe) {
  ThreadPool pool(options_.threads);
  nodes_ = judged_->integer_nodes(best_, pool);
  if (nodes_.empty()) return;
  sample_work_ = work_beside(*judged_);
  for (const IntegerNode& node : nodes_) sample_work_ += node.work;
  const bool is_by_passes = limits_.passes > 0;
  const auto calibrated = static_cast<double>(prepared_->ranges()->samples);
  const double affordable = is_by_passes ? limits_.passes * calibrated / kLeastVariants
                                         : limits_.most_work / kUsualVariants / std::max(sample_work_, 1.0);
  const auto at_least = [](double samples, double least) {
    return static_cast<std::uint64_t>(std::clamp(samples, least, kMostSamples));
  };
  meter_ = make_meter(is_by_passes ? static_cast<std::uint64_t>(kMostSamples)
                                   : at_least(kMoreSamples * affordable, kLeastSamples));
  if (meter_->samples() == 0) return;
  few_ = most_few_ = std::min(at_least(affordable, kFewestSamples), meter_->samples());
  to_spend_ = std::max(is_by_passes ? 0 : limits_.most_work,
                       kLeastVariants * cost_of(few_) + kLeastConfirmed * cost_of(meter_->samples()));
  show_progress();
}

void SearchBudget::set_best(const Recipe& recipe, double error) {
  best_ = recipe;
  least_ = error;
}

void SearchBudget::use(std::shared_ptr<const StaticModel> prepared, double error) {
  judged_ = judge_split(prepared);
  prepared_ = std::move(prepared);
  least_ = error;
}

void SearchBudget::use_all_ranges(double error) {
  judged_ = prepared_;
  least_ = error;
}

void SearchBudget::use_half_the_ranges() {
  prepared_ = judged_;
  best_.integer.fit_on_even_samples = true;
}

bool SearchBudget::is_surely_usable() const {
  constexpr double kOneSided95 = 1.645;
  const double error =
      limits_.passes > 0 && meter_->samples() != 0
          ? kOneSided95 * meter_->spread() / std::sqrt(static_cast<double>(meter_->samples()))
          : 0;
  return decibels(least_ * (1 + error)) >= Quality::kMinUsable;
}

double SearchBudget::cost_of(std::uint64_t samples) const {
  return sample_work_ * static_cast<double>(samples) + kVariantWork;
}

double SearchBudget::measure(const StaticModel& prepared, const Recipe& recipe) {
  spent_ += cost_of(meter_->samples());
  show_progress();
  return meter_->error(prepared, recipe);
}

double SearchBudget::estimate(const Recipe& recipe) {
  spent_ += cost_of(few_);
  show_progress();
  return meter_->estimate(*judged_, recipe);
}

bool SearchBudget::accept(const Recipe& recipe, double limit, double error) {
  if (!(error <= limit && error < least_)) return false;
  set_best(recipe, error);
  choose_few();
  return true;
}

// The error of an estimate is to be smaller than the least difference that counts.
std::uint64_t SearchBudget::enough_samples() const {
  constexpr double kStandardError = 0.12;  // relative to the noise: 0.5 dB
  const double wanted = std::pow(meter_->spread() / kStandardError, 2), most = static_cast<double>(most_few_);
  return static_cast<std::uint64_t>(std::clamp(std::ceil(wanted), std::min(kFewestSamples, most), most));
}

void SearchBudget::choose_few() {
  if (limits_.passes > 0 && meter_->spread() > 0) few_ = enough_samples();
  if (has_few()) meter_->choose_few(few_);
}

void SearchBudget::show_progress() const {
  if (options_.progress == nullptr) return;
  options_.progress->done = std::min<std::uint64_t>(99, static_cast<std::uint64_t>(100 * spent_ / to_spend_));
  options_.progress->total = 100;
  options_.progress->stage = "trying";
  if (std::isfinite(best_decibels())) {
    options_.progress->best = best_decibels();
    options_.progress->best_unit = " dB";
  }
}

namespace {

constexpr double kPreference = 1.12;      // least predicted error wins unless another is so much better
constexpr double kWorthARange = 0.98;     // of the error, that a range may leave …
constexpr double kWorthEqualizing = 0.9;  // … and that evening out channels may
constexpr double kTimeForClose = 0.15;    // of the time on integers, that floats may add to it …
constexpr double kTimeForGood = 0.03;     // … and what nobody will notice
constexpr std::size_t kWorstNodes = 8;

struct Calibration {
  CalibrationMethod method;
  double percentile;
  const char* name;
};
constexpr std::array<Calibration, 4> kCalibrations = {{
    {CalibrationMethod::kAuto, 99.99, "per-tensor MSE"},
    {CalibrationMethod::kPercentile, 99.99, "percentile 99.99"},
    {CalibrationMethod::kPercentile, 99.999, "percentile 99.999"},
    {CalibrationMethod::kMinMax, 99.99, "minmax"},
}};

struct TriedCalibration {
  const char* name;
  double decibels;
};

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class StaticSearch {
 public:
  StaticSearch(const QuantizeOptions& options, const StaticLimits& limits,
               const MakeCandidateError& make_meter, std::shared_ptr<const StaticModel> prepared,
               const Recipe& recipe, std::vector<std::string>& notes)
      : asked_(recipe.integer),
        options_(options),
        limits_(limits),
        notes_(notes),
        budget_(options, limits, make_meter, std::move(prepared), recipe),
        floats_(budget_, notes) {}

  StaticResult run() {
    if (budget_.can_measure()) find();
    return {budget_.prepared(), budget_.best(), why_floats_};
  }

 private:
  void find() {
    measure_as_it_is();
    if (asked_.calibration == CalibrationMethod::kAuto) choose_calibration();
    if (may_equalize(options_) && best_decibels() < std::max(Quality::kVeryGood, limits_.close_enough) &&
        budget_.may_spend(kForCalibration))
      try_equalizing();
    // What drowned in the noise of some nodes shows when they are left out.
    while (!is_close() && floats_.leave(limits_.close_enough, kTimeForClose)) reconsider();
    if (!budget_.is_surely_usable()) make_acceptable();
    if (why_floats_.empty()) floats_.give_back(limits_.good);
    if (why_floats_.empty() && !is_close()) search_ranges();
    if (best_decibels() >= Quality::kMinUsable && best_decibels() < limits_.good)
      floats_.leave(limits_.good, kTimeForGood);
    if (asked_.correct_bias && budget_.may_spend(kForAll)) try_correction();
    if (budget_.is_judged_by_half()) take_all_ranges();
  }

  double best_decibels() const { return budget_.best_decibels(); }
  bool is_close() const { return best_decibels() >= limits_.close_enough; }

  void measure_as_it_is() {
    Recipe recipe = budget_.best();
    recipe.integer.correct_bias = false;
    budget_.set_best(recipe, budget_.measure(recipe));
    budget_.choose_few();
  }

  Recipe calibrated_by(const Calibration& calibration) const {
    Recipe recipe = budget_.best();
    recipe.integer.calibration = calibration.method;
    recipe.integer.percentile = calibration.percentile;
    return recipe;
  }

  void choose_calibration() {
    double least = budget_.estimate_of_best();
    std::vector<TriedCalibration> tried = {{kCalibrations[0].name, decibels(least)}};
    std::size_t chosen = 0;
    const double limit = least / kPreference;
    for (std::size_t i = 1; i < kCalibrations.size() && budget_.may_spend(kForCalibration); ++i) {
      const double error = budget_.estimate(calibrated_by(kCalibrations[i]));
      tried.push_back({kCalibrations[i].name, decibels(error)});
      if (!(error < std::min(limit, least))) continue;
      least = error;
      chosen = i;
    }
    // Among outputs that are all wrong the closest says nothing: that shows once the worst nodes are left
    // out.
    if (decibels(least) < Quality::kMinUsable) chosen = 0;
    if (chosen != 0 && budget_.has_few()) {
      confirm_calibration(tried[chosen], calibrated_by(kCalibrations[chosen]));
      return;
    }
    if (chosen != 0) budget_.set_best(calibrated_by(kCalibrations[chosen]), least);
    notes_.push_back(note_of_calibrations(tried, chosen));
  }

  // The method that is best on few samples must be better on all of them, too.
  void confirm_calibration(const TriedCalibration& rival, const Recipe& recipe) {
    const std::uint64_t few = budget_.few(), all = budget_.samples();
    const double before = budget_.least(), error = budget_.measure(recipe);
    const char* const usual = kCalibrations[0].name;
    if (budget_.accept(recipe, before / kPreference, error)) {
      notes_.push_back(fmt::format("Calibration: {} ({:.1f} dB on {} samples; {}: {:.1f} dB)", rival.name,
                                   decibels(error), all, usual, decibels(before)));
      return;
    }
    notes_.push_back(
        fmt::format("Calibration: {} ({:.1f} dB). {} was better on {} ({:.1f} dB) but {} on {} ({:.1f} dB)",
                    usual, decibels(before), rival.name, counted(few, "sample"), rival.decibels,
                    error > before ? "worse" : "not clearly better", all, decibels(error)));
  }

  std::string note_of_calibrations(const std::vector<TriedCalibration>& tried, std::size_t chosen) const {
    std::vector<std::string> others;
    bool is_behind = false;  // a method with more decibels that was not taken
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (i == chosen) continue;
      others.push_back(fmt::format("{} ({:.1f} dB)", tried[i].name, tried[i].decibels));
      is_behind |= tried[i].decibels > tried[chosen].decibels;
    }
    std::string note = fmt::format("Calibration: {} ({:.1f} dB on {})", tried[chosen].name,
                                   tried[chosen].decibels, counted(budget_.few(), "sample"));
    if (!others.empty()) note += fmt::format(". Also tried: {}", fmt::join(others, ", "));
    if (is_behind && tried[chosen].decibels < Quality::kMinUsable) {
      note += fmt::format(". No method is chosen by a result below {:.0f} dB", Quality::kMinUsable);
    } else if (is_behind) {
      note += fmt::format(". Differences below {:.1f} dB do not count", decibels(1 / kPreference));
    }
    return note;
  }

  // What was chosen among the noise of nodes that are in floats now. True when other things are better.
  bool reconsider() {
    const bool is_other = reconsider_equalizing();
    return reconsider_calibration() || is_other;
  }

  bool reconsider_equalizing() {
    if (other_ == nullptr || !budget_.may_spend(kForAll)) return false;
    const double error = budget_.measure(*judge_split(other_), budget_.best()), before = best_decibels();
    if (!(error <= kWorthARange * budget_.least())) return false;
    use_other(error);
    notes_.push_back(fmt::format("channels {} after that: {:.1f} → {:.1f} dB",
                                 budget_.prepared()->equalized_pairs() != 0 ? "evened out" : "as they were",
                                 before, best_decibels()));
    return true;
  }
  void use_other(double error) {
    std::shared_ptr<const StaticModel> now = budget_.prepared();
    budget_.use(std::exchange(other_, std::move(now)), error);
  }

  bool reconsider_calibration() {
    if (asked_.calibration != CalibrationMethod::kAuto) return false;
    const double before = best_decibels();
    double least = kWorthARange * budget_.estimate_of_best();
    const Calibration* chosen = nullptr;
    for (const Calibration& calibration : kCalibrations) {
      const IntegerRecipe& now = budget_.best().integer;
      const bool is_same = now.calibration == calibration.method && now.percentile == calibration.percentile;
      if (is_same || !budget_.may_spend(kForAll)) continue;
      const double error = budget_.estimate(calibrated_by(calibration));
      if (!(error <= least)) continue;
      least = error;
      chosen = &calibration;
    }
    if (chosen == nullptr || !budget_.accept(calibrated_by(*chosen), kWorthARange * budget_.least()))
      return false;
    notes_.push_back(fmt::format("Calibration changed to {} after that: {:.1f} → {:.1f} dB", chosen->name,
                                 before, best_decibels()));
    return true;
  }

  void try_equalizing() {
    other_ = budget_.prepared()->with_equal_channels(options_);
    if (other_ == nullptr) return;
    const double error = budget_.measure(*judge_split(other_), budget_.best()), before = best_decibels();
    if (!(error <= kWorthEqualizing * budget_.least())) return;
    use_other(error);
    notes_.push_back(fmt::format("channels evened out between layers in {}: {:.1f} → {:.1f} dB",
                                 counted(budget_.prepared()->equalized_pairs(), "place"), before,
                                 best_decibels()));
  }

  // What was found with the ranges of one half gets those of all the data: they are safer. Unless outputs are
  // not close with them, and closer without on samples that these have not seen: then outliers are in the
  // other half that are better cut off.
  void take_all_ranges() {
    const double error = budget_.measure(*budget_.prepared(), budget_.best());
    const bool is_worse = error > kPreference * budget_.least() && decibels(error) < limits_.close_enough &&
                          budget_.prepared()->ranges()->samples >= limits_.least_to_split;
    if (!asked_.fit_on_even_samples && !is_worse) {
      budget_.use_all_ranges(error);
      return;
    }
    notes_.push_back(
        fmt::format("ranges of every second sample alone: {:.1f} dB on the others, {:.1f} with "
                    "their outliers",
                    best_decibels(), decibels(error)));
    budget_.use_half_the_ranges();
  }

  void try_correction() {
    const double before = best_decibels();
    Recipe recipe = budget_.best();
    recipe.integer.correct_bias = true;
    if (budget_.accept(recipe, kWorthARange * budget_.least()))
      notes_.push_back(fmt::format("biases corrected: {:.1f} → {:.1f} dB", before, best_decibels()));
  }

  // A model that does not do its work is no use however fast: nodes stay in floats until it does.
  void make_acceptable() {
    const double before = best_decibels();
    const bool may_be_long = !limits_.others_go_on;
    if (floats_.leave_until_acceptable(may_be_long)) {
      reconsider();
      return;
    }
    if (reconsider() &&
        (best_decibels() >= Quality::kMinUsable || floats_.leave_until_acceptable(may_be_long)))
      return;
    const bool is_usable = best_decibels() >= Quality::kMinUsable;  // but not surely on other samples
    if (!is_usable && budget_.has_time()) give_up(before);          // or else others go on from here
  }

  void give_up(double before) {
    const std::size_t tried = budget_.measured();
    const Recipe floats = floats_.all_in_floats();
    budget_.set_best(floats, budget_.measure(floats));
    why_floats_ = fmt::format(
        "its outputs do not stand integer arithmetic: {} with other calibrations and with other nodes in "
        "floats, and none that is faster than floats has {:.0f} dB (all nodes on integers: {:.1f} dB)",
        counted(tried, "variant") + (tried == 1 ? " was tried" : " were tried"), Quality::kMinUsable, before);
    notes_.push_back(why_floats_);
  }

  void search_ranges() {
    const double before = best_decibels();
    std::vector<const IntegerNode*> worst;
    for (const IntegerNode& node : budget_.nodes()) {
      if (!budget_.best().nodes.contains(node.output) && floats_.noise_of(node.output) > 0)
        worst.push_back(&node);
    }
    std::stable_sort(worst.begin(), worst.end(), [this](const IntegerNode* a, const IntegerNode* b) {
      return floats_.noise_of(a->output) > floats_.noise_of(b->output);
    });
    worst.resize(std::min(kWorstNodes, worst.size()));
    std::size_t changed = 0;
    std::set<std::string> seen;
    for (const IntegerNode* node : worst) {
      for (const std::string& value : node->values) {
        if (seen.insert(value).second) changed += search_range(value) ? 1U : 0U;
      }
    }
    if (changed != 0)
      notes_.push_back(fmt::format("ranges of {} chosen by measuring: {:.1f} → {:.1f} dB",
                                   counted(changed, "value"), before, best_decibels()));
  }

  bool search_range(const std::string& value) {
    const calibration::Ranges& observed = *budget_.prepared()->ranges();
    const auto found = observed.values.find(value);
    if (found == observed.values.end() || asked_.values.contains(value)) return false;
    const calibration::Statistics& statistics = found->second;
    std::vector<ValueRange> ranges;
    for (const double percentile : {99.9, 99.99, 99.999})
      ranges.push_back(calibration::choose_range(statistics, CalibrationMethod::kPercentile, {}, percentile));
    ranges.push_back(calibration::choose_range(statistics, CalibrationMethod::kMse));
    ranges.push_back(calibration::choose_range(statistics, CalibrationMethod::kMean));
    for (const double share : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3})
      ranges.push_back({share * statistics.minimum(), share * statistics.maximum()});
    bool is_changed = false;
    double estimated = budget_.estimate_of_best();
    for (const ValueRange& range : ranges) {
      if (!budget_.may_spend(kForRanges)) break;
      Recipe recipe = budget_.best();
      recipe.integer.values[value].range = range;
      if (budget_.has_few() && budget_.estimate(recipe) > kWorthARange * estimated) continue;
      if (!budget_.accept(recipe, kWorthARange * budget_.least())) continue;
      is_changed = true;
      estimated = budget_.estimate_of_best();
    }
    return is_changed;
  }

  const IntegerRecipe asked_;
  const QuantizeOptions& options_;
  const StaticLimits& limits_;
  std::vector<std::string>& notes_;
  std::string why_floats_;
  SearchBudget budget_;
  FloatChoice floats_;
  std::shared_ptr<const StaticModel> other_;  // equalized if the best is not, and not if it is
};

}  // namespace

StaticResult search_static(const QuantizeOptions& options, const StaticLimits& limits,
                           const MakeCandidateError& make_meter, std::shared_ptr<const StaticModel> prepared,
                           const Recipe& recipe, std::vector<std::string>& notes) {
  return StaticSearch(options, limits, make_meter, std::move(prepared), recipe, notes).run();
}

}  // namespace ounce::quantization
