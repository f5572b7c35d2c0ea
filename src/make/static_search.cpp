#include "make/static_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "make/leave_out.h"
#include "observe/calibrators.h"
#include "onnx/settings.h"
#include "plan/plan.h"

namespace ounce::make {
namespace {

constexpr double kNoNeed = 40;         // dB; from here on nobody sees a difference
constexpr double kAcceptable = 20;     // dB; what `verify` lets pass
constexpr double kPreference = 1.12;   // least predicted error wins unless another is so much better
constexpr double kFloatShare = 0.05;   // of all multiplications, that may stay in floats
constexpr double kLeastShare = 0.002;  // of all multiplications: less is as good as nothing
constexpr double kWorthAFloat = 0.5;   // dB that a node must bring
constexpr double kWorthARange = 0.98;  // of the error, that a range may leave
constexpr std::size_t kMostFloats = 8, kWorstNodes = 8;
// Multiplications in all, some minutes at most; and what one search looks at.
constexpr double kMostWork = 6e11, kUsualVariants = 100, kLeastVariants = 8, kMostVariants = 1000;
constexpr double kNodeWork = 5e6;  // what it takes to plan, write and load a node, as multiplications
constexpr std::uint64_t kLeastSamples = 8, kMostSamples = 256;

// A node that computes on integers.
struct Candidate {
  std::string output;               // names it
  std::vector<std::string> values;  // that are codes: what it takes, what it gives
  std::string label;
  double work = 0;   // multiplications for one sample
  double error = 0;  // alone
};

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

class StaticSearch {
 public:
  StaticSearch(const QuantizeOptions& options, const StaticLimits& limits, const MakeErrorMeter& make_meter,
               Resolved& resolved, std::vector<std::string>& notes)
      : prepared_(resolved.prepared),
        best_(resolved.recipe),
        asked_(resolved.recipe.integer),
        options_(options),
        limits_(limits),
        notes_(notes) {
    find_candidates();
    for (const Candidate& candidate : candidates_) work_ += candidate.work;
    const double affordable = kMostWork / kUsualVariants / std::max(work_, 1.0);
    const auto samples = static_cast<std::uint64_t>(std::clamp<double>(
        affordable, static_cast<double>(kLeastSamples), static_cast<double>(kMostSamples)));
    if (!candidates_.empty()) meter_ = make_meter(samples);
  }

  void run() {
    if (!meter_ || meter_->samples() == 0) return;
    set_total();
    best_.integer.correct_bias = false;
    least_ = measure(best_);
    if (asked_.calibration == CalibrationMethod::kAuto) choose_calibration();
    if (may_equalize(options_) && decibels(least_) < std::max(kNoNeed, limits_.close_enough) &&
        is_affordable())
      try_equalizing();
    if (!is_close() && leave_floats() && asked_.calibration == CalibrationMethod::kAuto)
      reconsider_calibration();
    if (!is_close()) search_ranges();
    if (decibels(least_) < kAcceptable) leave_more_floats();
    if (asked_.correct_bias && is_affordable()) try_correction();
  }

 private:
  void find_candidates() {
    const onnx::Model& model = prepared_->model();
    const graph::Index& index = prepared_->index();
    ThreadPool pool(options_.threads);
    const plan::Plan plan = plan::make_plan(model, index, best_, pool, prepared_->ranges());
    for (const plan::NodeDecision& decision : plan.integer.nodes) {
      if (!decision.is_integer() || !decision.op->has_weight()) continue;
      const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
      Candidate candidate;
      candidate.output = graph::value_path(index, decision.body, node.outputs[0]);
      candidate.label = graph::node_label(node, decision.node);
      const auto path = [&](onnx::Bytes name) {
        return graph::value_path(index, index.find(decision.body, name).body, name);
      };
      candidate.values.push_back(path(node.inputs[0]));
      if (decision.gives_codes) candidate.values.push_back(path(decision.output));
      candidate.work = work_of(index, decision, node);
      candidates_.push_back(std::move(candidate));
    }
  }

  // Multiplications for one sample: every weight, as often as there are rows of inputs or positions of
  // outputs.
  double work_of(const graph::Index& index, const plan::NodeDecision& decision,
                 const onnx::Node& node) const {
    const onnx::Tensor& tensor = weight_tensor(index, index.find(decision.body, node.inputs[1]));
    const bool is_conv = node.op_type == "Conv";
    const bool is_row_major = is_conv || integer_setting(node, "transB", 0) == 1;
    const auto outputs = static_cast<double>(tensor.dims[is_row_major ? 0 : 1]);
    const auto inputs = static_cast<double>(tensor.dims[is_row_major ? 1 : 0]);
    const double values = values_of_sample(index, decision.body, is_conv ? decision.output : node.inputs[0]);
    return values / (is_conv ? outputs : inputs) * static_cast<double>(tensor.element_count());
  }

  double values_of_sample(const graph::Index& index, std::size_t body, onnx::Bytes name) const {
    const auto found =
        prepared_->ranges()->values.find(graph::value_path(index, index.find(body, name).body, name));
    if (found == prepared_->ranges()->values.end()) return 0;
    return static_cast<double>(found->second.count()) /
           static_cast<double>(std::max<std::uint64_t>(1, prepared_->ranges()->samples));
  }

  static const onnx::Tensor& weight_tensor(const graph::Index& index, const graph::Index::Found& weight) {
    const graph::Body& body = index.bodies()[weight.body];
    if (weight.value->initializer != graph::kNone)
      return *body.graph->initializers[weight.value->initializer];
    return *plan::constant_tensor(*body.nodes()[weight.value->producer]);
  }

  double measure(const Recipe& recipe) {
    if (options_.progress != nullptr) ++options_.progress->done;
    return meter_->error(*prepared_, recipe);
  }
  bool is_close() const { return decibels(least_) >= limits_.close_enough; }
  bool is_affordable() const {
    if (!limits_.has_time()) return false;
    const double each =
        work_ * static_cast<double>(meter_->samples()) + kNodeWork * static_cast<double>(candidates_.size());
    const auto measured = static_cast<double>(meter_->measured() + 1);
    return measured <= kMostVariants && measured * each <= std::max(kMostWork, kLeastVariants * each);
  }
  void set_total() {
    if (options_.progress == nullptr) return;
    options_.progress->done = 0;
    options_.progress->total = 0;
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

  void choose_calibration() {
    std::string tried = fmt::format("{} {:.1f} dB", kCalibrations[0].name, decibels(least_));
    const char* chosen = kCalibrations[0].name;
    const double limit = least_ / kPreference;
    for (std::size_t i = 1; i < kCalibrations.size() && is_affordable(); ++i) {
      Recipe recipe = best_;
      recipe.integer.calibration = kCalibrations[i].method;
      recipe.integer.percentile = kCalibrations[i].percentile;
      const double error = measure(recipe);
      tried += fmt::format(", {} {:.1f}", kCalibrations[i].name, decibels(error));
      if (!(error < std::min(limit, least_))) continue;
      best_ = recipe;
      least_ = error;
      chosen = kCalibrations[i].name;
    }
    notes_.push_back(fmt::format("calibrated by {}, measured on {}: {}", chosen,
                                 counted(meter_->samples(), "sample"), tried));
  }

  // What drowned in the noise of a node shows when that node is left out.
  void reconsider_calibration() {
    const double before = decibels(least_);
    const char* chosen = nullptr;
    for (const Calibration& calibration : kCalibrations) {
      Recipe recipe = best_;
      recipe.integer.calibration = calibration.method;
      recipe.integer.percentile = calibration.percentile;
      const bool is_same = best_.integer.calibration == calibration.method &&
                           best_.integer.percentile == calibration.percentile;
      if (is_same || !is_affordable()) continue;
      if (take(recipe, kWorthARange * least_)) chosen = calibration.name;
    }
    if (chosen != nullptr)
      notes_.push_back(
          fmt::format("calibrated by {} after that: {:.1f} → {:.1f} dB", chosen, before, decibels(least_)));
  }

  void try_equalizing() {
    const std::shared_ptr<const PreparedModel> even = prepared_->equalized(options_);
    if (even == nullptr) return;
    const double error = meter_->error(*even, best_), before = decibels(least_);
    if (!(error <= kWorthARange * least_)) return;
    prepared_ = even;
    least_ = error;
    notes_.push_back(fmt::format("channels evened out between layers in {}: {:.1f} → {:.1f} dB",
                                 counted(even->equalized_places(), "place"), before, decibels(least_)));
  }

  void try_correction() {
    const double before = decibels(least_);
    Recipe recipe = best_;
    recipe.integer.correct_bias = true;
    if (take(recipe, kWorthARange * least_))
      notes_.push_back(fmt::format("biases corrected: {:.1f} → {:.1f} dB", before, decibels(least_)));
  }

  void measure_alone() {
    for (Candidate& candidate : candidates_) {
      if (!is_affordable()) return;
      Recipe recipe = best_;
      for (const Candidate& other : candidates_) {
        if (&other != &candidate) recipe.nodes[other.output] = recipe.rest();
      }
      candidate.error = measure(recipe);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.error > b.error; });
  }

  // True when any node is left in floats.
  bool leave_floats() {
    measure_alone();
    double floats = 0;
    const std::size_t left_before = best_.nodes.size();
    const std::size_t count = std::min(kMostFloats, candidates_.size());
    for (std::size_t i = 0; i < count && !is_close() && is_affordable(); ++i) {
      const Candidate& candidate = candidates_[i];
      if (floats + candidate.work > kFloatShare * work_) continue;
      Recipe recipe = best_;
      recipe.nodes[candidate.output] = recipe.rest();
      const double before = decibels(least_);
      if (!take(recipe, least_ * std::pow(10, -kWorthAFloat / 10))) continue;
      floats += candidate.work;
      notes_.push_back(fmt::format("{} stays in floats: {:.1f} → {:.1f} dB, {:.1f} % of the work",
                                   candidate.label, before, decibels(least_),
                                   work_ > 0 ? 100 * candidate.work / work_ : 0));
    }
    return best_.nodes.size() > left_before;
  }

  // A model that does not do its work is no use however fast: nodes stay in floats until it does, whatever
  // share of the work they are.
  void leave_more_floats() {
    const double before = decibels(least_), limit = std::pow(10, -kAcceptable / 10);
    const auto in_floats = [this](const Pieces& nodes) {
      Recipe recipe = best_;
      for (const std::size_t i : nodes) recipe.nodes[candidates_[i].output] = recipe.rest();
      return recipe;
    };
    std::map<Pieces, double> errors;
    const LeaveOutQuestions ask{[&](const Pieces& nodes) {
                                  const auto [error, is_new] = errors.try_emplace(nodes);
                                  if (is_new) error->second = measure(in_floats(nodes));
                                  return error->second <= limit;
                                },
                                [this] { return is_affordable(); }};
    std::vector<Piece> pieces;
    std::erase_if(candidates_,
                  [this](const Candidate& candidate) { return best_.nodes.contains(candidate.output); });
    for (const Candidate& candidate : candidates_)
      pieces.push_back({candidate.error, std::max(candidate.work, kLeastShare * work_)});
    std::optional<Pieces> nodes = shortest_passing(pieces, least_, limit, ask);
    if (nodes && nodes->size() < candidates_.size()) {
      std::stable_sort(nodes->begin(), nodes->end(), [this](std::size_t a, std::size_t b) {
        return candidates_[a].work < candidates_[b].work;
      });
      nodes = without_the_needless(*nodes, ask);
      best_ = in_floats(*nodes);
      least_ = errors.contains(*nodes) ? errors[*nodes] : measure(best_);  // in another order perhaps
      notes_.push_back(fmt::format("{} in floats, or the outputs would be wrong: {:.1f} → {:.1f} dB",
                                   counted(nodes->size(), "node"), before, decibels(least_)));
      return;
    }
    if (!limits_.has_time()) return;  // others go on from here
    for (const Candidate& candidate : candidates_) best_.nodes[candidate.output] = best_.rest();
    least_ = measure(best_);
    notes_.push_back(
        fmt::format("its outputs do not stand integer arithmetic ({:.1f} dB): all of it "
                    "stays in floats ({:.1f} dB)",
                    before, decibels(least_)));
  }

  void search_ranges() {
    const double before = decibels(least_);
    std::size_t changed = 0;
    std::set<std::string> seen;
    const std::size_t count = std::min(kWorstNodes, candidates_.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (best_.nodes.contains(candidates_[i].output)) continue;
      for (const std::string& value : candidates_[i].values) {
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
    for (const ValueRange& range : ranges) {
      if (!is_affordable()) break;
      Recipe recipe = best_;
      recipe.integer.values[value].range = range;
      is_changed |= take(recipe, kWorthARange * least_);
    }
    return is_changed;
  }

  std::shared_ptr<const PreparedModel>& prepared_;
  Recipe& best_;
  const IntegerRecipe asked_;
  const QuantizeOptions& options_;
  const StaticLimits& limits_;
  std::vector<std::string>& notes_;
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<Candidate> candidates_;
  double work_ = 0;
  std::unique_ptr<ErrorMeter> meter_;
};

}  // namespace

void search_static(const QuantizeOptions& options, const StaticLimits& limits,
                   const MakeErrorMeter& make_meter, Resolved& resolved, std::vector<std::string>& notes) {
  StaticSearch(options, limits, make_meter, resolved, notes).run();
}

}  // namespace ounce::make
