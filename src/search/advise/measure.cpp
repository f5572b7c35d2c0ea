
#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "base/cancel.h"
#include "evaluate/models/open.h"
#include "io/temporary_files.h"
#include "model/model_file.h"
#include "recipe/format_info.h"
#include "search/advise/methods.h"
#include "search/tune/recorded_reference.h"

namespace ounce::search {
namespace {

constexpr double kBaselineSeconds = 1, kBaselineShare = 0.05;
constexpr double kLeastBench = 0.3, kMostBench = 1;  // seconds of calls of each model
// Largest shares of the budget for all comparisons, for the comparison of one method, and for calibration.
constexpr double kQualityShare = 0.4, kOneQualityShare = 0.25, kCalibrationShare = 0.3;
constexpr double kFewShare = 0.1;      // share for kLeastSamples
constexpr double kOfBothModels = 2.5;  // cost to compare a sample, in runs of the original
constexpr double kObserving = 8;       // cost to calibrate on a sample, in runs of the original
constexpr std::uint64_t kLeastSamples = 8, kProbe = 16;
constexpr double kRoom = 3;              // samples / those that show a gate if no sample has a loss
constexpr double kMoreThanNeeded = 1.2;  // samples / those needed for the required confidence
constexpr double kBytesASecond = 20e6;   // a first guess of the speed of quantization
constexpr double kMostNoise = 2, kMostSlowdown = 10;
constexpr double kLeastStep = 0.2;  // seconds
constexpr double kSlot = 0.02;      // seconds of one model in a timing round, about
constexpr double kWarmUp = 0.1;     // seconds of warm-up per model
constexpr double kOverrun = 0.1;    // share of the budget that a started timing may exceed it by
constexpr double kMethods = 6;
constexpr double kProfiledCalls = 20, kProfileShare = 0.3;  // calls of a profile; share of the time left
constexpr double kSafety = 1.5;                             // proposed budget / estimate
// The proposed budget if the original is too slow for an estimate: least seconds, factor of this budget.
constexpr double kLeastProposal = 60;
constexpr double kUnknownProposal = 10;

// Rounds a budget up to 10, 15, 20, 30 or 45 seconds, or whole minutes.
double round_budget(double seconds) {
  for (const double nice : {10.0, 15.0, 20.0, 30.0, 45.0}) {
    if (seconds <= nice) return nice;
  }
  return 60 * std::ceil(seconds / 60);
}

class Measuring : private MethodLab {
 public:
  Measuring(const std::filesystem::path& model, const AdviseOptions& options, const Stopwatch& clock,
            AdviseResult& result)
      : model_(model), options_(options), clock_(clock), result_(result), folder_("advise") {}

  void run() {
    const FamilyFinding& family = result_.family;
    const bool nothing_to_do =
        family.family == ModelFamily::kTrees || family.is_quantized || family.weight_bytes == 0;
    measure_baseline(nothing_to_do && options_.data.is_generated());
    if (nothing_to_do && !has_labels()) return;
    const bool is_known = result_.baseline.is_measured && within(left(), [&] {
                            divide_data();
                            compare_with_itself(nothing_to_do);
                          });
    if (nothing_to_do) return;
    for (const Format format : methods_for(kind_, options_, result_.family)) {
      MethodFinding& method = result_.methods.emplace_back();
      method.format = format;
      method.why_not = obstacle(kind_, format, options_, result_.family);
    }
    if (!is_known) return leave_all_out();
    coding_seconds_ = kLeastStep + static_cast<double>(result_.bytes) / kBytesASecond;
    const double missing = try_methods(*this, result_.methods);
    const double more_samples = seconds_for_samples();
    if (missing + more_samples > 0) propose_budget(kSafety * (clock_.seconds() + missing + more_samples));
    result_.baseline.profile = profile_of(model_);
    profile_fastest();
  }

 private:
  // Does the work, or stops it after `seconds` and returns false.
  template <class Work>
  bool within(double seconds, const Work& work) {
    const TimeLimit limit(std::max(seconds, kLeastStep));
    try {
      work();
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || is_cancelled()) throw;
      return false;
    }
  }

  // Marks all methods as out of time because the original alone took too long.
  void leave_all_out() {
    for (MethodFinding& method : result_.methods) {
      if (!method.why_not.empty()) continue;
      method.is_out_of_time = true;
      method.why_not = "not enough time: the original alone takes too long; give a longer `budget`";
    }
    propose_budget(std::max(kLeastProposal, kUnknownProposal * options_.budget));
  }

  double seconds_for_samples() const {
    double seconds = 0;
    for (const MethodFinding& method : result_.methods) {
      if (method.is_uncertain) seconds += certainty_estimate(method);
    }
    return seconds;
  }

  void propose_budget(double seconds) {
    result_.budget_needed = round_budget(std::max(seconds, 2 * options_.budget));
  }

  double left() const override { return options_.budget - clock_.seconds(); }
  // Duration of a call, without outliers that waited for other programs.
  double call_seconds() const {
    const Latency& latency = result_.baseline.latency;
    return std::min(latency.mean, kMostNoise * latency.p50);
  }

  // Duration of a call while other programs are running.
  double waited_call_seconds() const {
    return std::max(call_seconds(), result_.baseline.latency.min * slowdown());
  }

  void measure_baseline(bool may_fail) {
    BenchOptions bench_options = bench_setting();
    bench_options.seconds = std::min(kBaselineSeconds, kBaselineShare * options_.budget);
    bench_options.deadline = bench_options.seconds;  // on a busy machine, leave time for the methods
    Baseline& baseline = result_.baseline;
    const TimeLimit limit(left());
    const Stopwatch time;
    try {
      const BenchReport report = bench({model_}, bench_options);
      const BenchResult& timed = report.models.front();
      baseline.is_measured = true;
      baseline.runtime_version = report.runtime_version;
      baseline.latency = timed.batches.front().latency;
      baseline.load_seconds = timed.load_seconds;
      baseline.cold_start_seconds = timed.cold_start_seconds;
      baseline.peak_memory = timed.peak_memory;
      baseline.load_memory = timed.load_memory;
      result_.notes = report.notes;
      const double calls = baseline.latency.mean * static_cast<double>(baseline.latency.calls);
      loading_seconds_ = std::max(time.seconds() - calls, 0.0);
    } catch (const Error& error) {
      if (is_cancelled()) throw;
      const bool is_late = error.code() == ErrorCode::kCancelled;
      if (!may_fail && !is_late) throw with_hint(error);
      baseline.why_not =
          is_late ? fmt::format("{:g} s was too short to time it; give a longer `budget`", options_.budget)
                  : error.what();
    }
  }

  // Data rarely contains recurrent states. If one is missing, name the field that carries it.
  Error with_hint(const Error& error) const {
    if (result_.family.states.empty() || !options_.data.carry.empty() || options_.data.is_generated())
      return error;
    const auto& [input, output] = result_.family.states.front();
    return {error.code(), fmt::format("{}; '{}' looks like a recurrent state: try `carry` {}={}",
                                      error.what(), input, input, output)};
  }

  BenchOptions bench_setting() const {
    BenchOptions bench_options;
    bench_options.runtime = options_.runtime;
    bench_options.data = options_.data;
    bench_options.cold_starts = 1;
    bench_options.progress = options_.progress;
    return bench_options;
  }

  bool has_labels() const { return !options_.data.labels.empty(); }

  void divide_data() {
    calibration_ = held_out_ = all_ = {options_.data, 0};
    if (options_.data.is_generated()) return;
    const auto executor = evaluate::load_as_floats(model_, evaluate::executor_options(options_.runtime));
    samples_ = evaluate::open_feed(model_, executor->inputs(), options_.data).feed->samples();
    result_.samples = samples_;
    if (samples_ == 1)
      result_.notes.emplace_back("only one sample: it is used for both calibration and comparison");
    choose_samples(fitting(kCalibrationShare, kObserving * waited_call_seconds(), 0), kProbe);
  }

  // Calibrates int8 on one half of the data and compares it on the other half. The other methods need no
  // calibration and are compared on all data. The arguments are the largest numbers of samples.
  void choose_samples(std::uint64_t calibrating, std::uint64_t judging) {
    calibration_ = fit_split(options_.data, samples_, std::min(kMostCalibration, calibrating));
    held_out_ = judge_split(options_.data, samples_, judging);
    all_ = evenly_spaced(options_.data, samples_, judging);
    calibration_.data.labels.clear();
  }

  // Number of samples that fit into a share of the budget at `each` seconds, or `wanted` if they fit into
  // kOneQualityShare. At least kLeastSamples, or fewer for a model so slow that they exceed kFewShare.
  std::uint64_t fitting(double share, double each, std::uint64_t wanted) const {
    const double affordable = options_.budget / std::max(each, 1e-6);
    const double few = std::clamp(kFewShare * affordable, 1.0, static_cast<double>(kLeastSamples));
    const double enough = std::min(kOneQualityShare * affordable, static_cast<double>(wanted));
    return static_cast<std::uint64_t>(std::clamp(share * affordable, std::max(few, enough), 1e9));
  }

  // Compares the original with itself on a few samples. This shows the time to read and compare a sample,
  // which may exceed the time to run the model, and the kind of the outputs. `with_metric`: also measures the
  // metric on all samples, because no method will be measured.
  void compare_with_itself(bool with_metric) {
    const VerifyResult same = verify(model_, model_, verify_setting(held_out_.data));
    const double count = static_cast<double>(std::max<std::uint64_t>(1, same.samples));
    const double each = std::max(1e-6, (same.seconds - same.load_seconds) / count);
    double answers = 0;
    for (const OutputComparison& output : same.outputs) {
      if (output.top1_agreement && (answers == 0 || output.other_answers.of < answers))
        answers = output.other_answers.of;
    }
    // Fix the gates once for all available samples, so that all methods are judged by the same gates.
    const double judging = static_cast<double>(judge_split(options_.data, samples_).samples);
    result_.gates = gates_for(options_, result_.family, answers / count * judging);
    const std::uint64_t wanted = static_cast<std::uint64_t>(
        kRoom * static_cast<double>(least_samples(result_.gates, result_.confidence)));
    const double call = std::max(kOfBothModels * waited_call_seconds(), each);
    choose_samples(fitting(kCalibrationShare, std::max(kObserving * waited_call_seconds(), each), 0),
                   fitting(kQualityShare / kMethods, call, wanted));
    result_.is_generated = same.is_generated;
    loading_to_compare_ = same.load_seconds;
    comparing_each_ = each;
    if (!with_metric) return;
    result_.baseline.metrics = verify(model_, model_, verify_setting(all_.data)).metrics;
  }

  VerifyOptions verify_setting(const DataOptions& data) const {
    VerifyOptions verify_options{options_};
    verify_options.runtime = options_.runtime;
    verify_options.data = data;
    verify_options.edge_cases = false;
    verify_options.gates = result_.gates;
    verify_options.reference_outputs = reference_outputs_;
    verify_options.progress = options_.progress;
    return verify_options;
  }

  double making_estimate(Format format) const override {
    const bool is_static = ounce::is_static(format);
    const double observing =
        is_static ? static_cast<double>(calibration_.samples) * waited_call_seconds() * kObserving : 0;
    const auto judging = static_cast<double>((is_static ? held_out_ : all_).samples);
    return coding_seconds_ * info_of(format).making_time + observing + loading_to_compare_ +
           comparing_each_ * judging;
  }

  // Duration of calls relative to an idle machine.
  double slowdown() const {
    const Latency& latency = result_.baseline.latency;
    return latency.min > 0 ? std::clamp(latency.mean / latency.min, 1.0, kMostSlowdown) : 1;
  }

  // Seconds that one model runs in SpeedUp::kLeastRounds rounds, including the warm-up.
  double calling_estimate() const {
    const double call = call_seconds();
    return std::max(kWarmUp, 3 * call) * slowdown() +
           static_cast<double>(SpeedUp::kLeastRounds) * std::max(call, kSlot * slowdown());
  }
  double timing_estimate() const override { return 2 * (loading_seconds_ + calling_estimate()); }

  void time(double seconds, MethodFinding& finding) override {
    BenchOptions bench_options = bench_setting();
    // Skip memory figures if time is short: each needs a process of its own.
    if (left() < 2 * timing_estimate()) bench_options.cold_starts = 0;
    const double calling = (seconds - 2 * loading_seconds_) / 2 / slowdown();
    bench_options.seconds = std::clamp(calling, kLeastBench, kMostBench);
    // Use the given seconds, or more if a usable result needs more and the budget has it.
    const double longest = left() - 2 * loading_seconds_, enough = 2 * kSafety * calling_estimate();
    bench_options.deadline =
        std::max(std::min(longest, std::max(seconds - 2 * loading_seconds_, enough)), kLeastBench);
    BenchReport report;
    const double limit = std::max(left(), 0.0) + kOverrun * options_.budget;
    if (!within(limit, [&] { report = bench({model_, made_.at(finding.format)}, bench_options); })) return;
    const BenchResult& timed = report.models.back();
    const SpeedUp& speed_up = timed.batches.front().speed_up;
    const bool is_better = speed_up.is_reliable == finding.speed_up.is_reliable
                               ? speed_up.rounds >= finding.speed_up.rounds
                               : speed_up.is_reliable || finding.speed_up.rounds == 0;
    if (is_better) finding.speed_up = speed_up;
    finding.load_seconds = timed.load_seconds;
    if (timed.peak_memory == 0) return;
    finding.peak_memory = timed.peak_memory;
    finding.load_memory = timed.load_memory;
  }

  void make(double seconds, MethodFinding& finding) override {
    const Format format = finding.format;
    const std::filesystem::path file = default_output(
        folder_.path() / (kind_ == ModelKind::kTflite ? "model.tflite" : "model.onnx"), format);
    const Stopwatch time;
    const TimeLimit limit(std::max(seconds, kLeastStep));
    try {
      const QuantizeResult made = quantize(model_, file, quantize_setting(format));
      if (!is_static(format)) learn(time.seconds() / info_of(format).making_time);
      describe(made, finding);
      if (finding.why_not.empty()) compare(file, finding);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kIo || is_cancelled()) throw;
      finding.is_out_of_time = error.code() == ErrorCode::kCancelled;
      finding.why_not = finding.is_out_of_time
                            ? fmt::format("not enough time: stopped after {:.0f} s", time.seconds())
                            : error.what();
    }
    finding.seconds = time.seconds();
  }

  // Keeps the smallest duration: larger ones may include waiting for other programs, and a step that takes
  // longer than estimated is stopped.
  void learn(double seconds) {
    coding_seconds_ = std::max(kLeastStep, has_learned_ ? std::min(coding_seconds_, seconds) : seconds);
    has_learned_ = true;
  }

  void compare_on(const DataOptions& data, const std::filesystem::path& file, MethodFinding& finding) {
    const VerifyResult compared = verify(model_, file, verify_setting(data));
    loading_to_compare_ = compared.load_seconds;
    judge(result_.gates, compared, finding);
    if (compared.samples <= result_.quality_samples) return;
    result_.quality_samples = compared.samples;
    result_.baseline.metrics = compared.metrics;
  }

  // Selects enough samples for the required confidence; none if the data has too few.
  DataPart choose_more(const MethodFinding& finding) const {
    const bool is_static = ounce::is_static(finding.format);
    const std::uint64_t given = is_static ? judge_split(options_.data, samples_).samples : samples_;
    if (finding.samples_needed == 0 || finding.samples_needed > given) return {};
    const auto wanted =
        static_cast<std::uint64_t>(kMoreThanNeeded * static_cast<double>(finding.samples_needed));
    const std::uint64_t stride = std::max<std::uint64_t>(1, given / wanted),
                        most = (given + stride - 1) / stride;
    return is_static ? judge_split(options_.data, samples_, most)
                     : evenly_spaced(options_.data, samples_, most);
  }

  double certainty_estimate(const MethodFinding& finding) const override {
    const std::uint64_t count = choose_more(finding).samples;
    return count <= finding.samples ? 0 : loading_to_compare_ + comparing_each_ * static_cast<double>(count);
  }

  void compare_more(double limit, MethodFinding& finding) override {
    const DataPart more = choose_more(finding);
    MethodFinding again = finding;
    if (within(limit, [&] { compare_on(more.data, made_.at(finding.format), again); }))
      finding = std::move(again);
  }

  void compare(const std::filesystem::path& file, MethodFinding& finding) {
    const bool is_static = ounce::is_static(finding.format);
    compare_on((is_static ? held_out_ : all_).data, file, finding);
    finding.is_measured = true;
    made_[finding.format] = file;
    if (!is_static) return;
    result_.calibration_samples = calibration_.samples;
    result_.notes.emplace_back(
        "int8 was tested without the search of `quantize()`, which may find a more accurate model");
  }

  QuantizeOptions quantize_setting(Format format) const {
    QuantizeOptions quantize_options;
    quantize_options.recipe.format = format;
    quantize_options.recipe.target = options_.target;
    quantize_options.recipe.integer.search = false;  // takes minutes and can only improve the result
    quantize_options.trial.is_wanted = false;        // the model is compared and timed here
    quantize_options.trial.runtime.library = options_.runtime.library;
    quantize_options.trial.runtime.isolate = options_.runtime.isolate;
    quantize_options.trial.data = is_static(format) ? calibration_.data : DataOptions{};
    quantize_options.progress = options_.progress;
    return quantize_options;
  }

  // Profiles the fastest acceptable method whose arithmetic differs from the original's.
  void profile_fastest() {
    MethodFinding* fastest = nullptr;
    for (MethodFinding& finding : result_.methods) {
      const bool is_other = finding.integer_nodes != 0 || is_half(finding.format);
      if (!is_other || !finding.is_acceptable || !finding.is_timed()) continue;
      if (fastest == nullptr || finding.speed_up.ratio > fastest->speed_up.ratio) fastest = &finding;
    }
    if (fastest != nullptr) fastest->profile = profile_of(made_.at(fastest->format));
  }

  // Profiles a model. Returns nullopt if this fails or would take a large share of the remaining time.
  std::optional<Profile> profile_of(const std::filesystem::path& model) {
    const double wanted = result_.baseline.load_seconds * 2 + kProfiledCalls * call_seconds() + kLeastBench;
    if (options_.runtime.remote || wanted > kProfileShare * left()) return std::nullopt;
    BenchOptions bench_options = bench_setting();
    bench_options.cold_starts = 0;
    bench_options.seconds = kLeastBench;
    bench_options.profile = true;
    std::optional<Profile> profile;
    try {
      within(left(), [&] { profile = bench({model}, bench_options).models.front().profile; });
    } catch (const Error& error) {
      if (is_cancelled()) throw;
      result_.notes.push_back(fmt::format("profiling failed: {}", error.what()));
    }
    return profile;
  }

  const std::filesystem::path& model_;
  const ModelKind kind_ = model::detect(model_).value_or(ModelKind::kOnnx);
  const AdviseOptions& options_;
  const Stopwatch& clock_;
  AdviseResult& result_;
  TemporaryFolder folder_;
  DataPart calibration_, held_out_, all_;
  std::uint64_t samples_ = 0;
  std::shared_ptr<ReferenceOutputs> reference_outputs_ = keep_reference_outputs();
  double loading_seconds_ = 0;  // time that timing one model takes in addition to its calls
  double coding_seconds_ = 0, loading_to_compare_ = 0, comparing_each_ = 0;
  bool has_learned_ = false;
  std::map<Format, std::filesystem::path> made_;
};

}  // namespace

void measure_methods(const std::filesystem::path& model, const AdviseOptions& options, const Stopwatch& clock,
                     AdviseResult& result) {
  Measuring(model, options, clock, result).run();
}

}  // namespace ounce::search
