#include "search/advise_measure.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/cancel.h"
#include "base/temporary_folder.h"
#include "measure/float_ports.h"
#include "measure/open.h"
#include "search/advise_methods.h"
#include "search/advise_quality.h"
#include "search/advise_rules.h"
#include "search/half.h"

namespace ounce::search {
namespace {

constexpr double kBaselineSeconds = 1;
constexpr double kLeastBench = 0.3, kMostBench = 2;              // seconds of calls of each model
constexpr double kQualityShare = 0.4, kCalibrationShare = 0.15;  // of the budget, at most
constexpr double kFewShare = 0.1;      // … for the fewest samples that tell anything
constexpr double kOfBothModels = 2.5;  // what it takes to compare a sample, in runs of the original
constexpr double kObserving = 8;       // what it takes to look at all values, likewise
constexpr std::uint64_t kLeastSamples = 8, kProbe = 16;
constexpr double kBytesASecond = 20e6;  // a first guess of how fast weights are coded
constexpr double kCaution = 0.8;        // of the time that is left, the last step takes so much
constexpr double kMostNoise = 2, kMostSlowdown = 3;
constexpr double kLeastStep = 0.2;  // seconds
constexpr double kProfiledCalls = 20, kProfileShare = 0.1;  // to see where time goes; of what is left

class Measuring {
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
    if (!nothing_to_do && result_.baseline.is_measured) result_.baseline.profile = profile_of(model_);
    const bool is_known = result_.baseline.is_measured && within(left(), [&] {
                            divide_data();
                            compare_with_itself();
                          });
    if (nothing_to_do) return;
    if (!is_known) return leave_all_out();
    coding_seconds_ = kLeastStep + static_cast<double>(result_.bytes) / kBytesASecond;
    for (const Format format : methods_for(options_, result_.family)) try_method(format);
    time_all();
  }

 private:
  // Does something unless it takes longer than that; false then.
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

  // There was no time to know the original: what methods would bring cannot be told.
  void leave_all_out() {
    for (const Format format : methods_for(options_, result_.family)) {
      MethodFinding finding;
      finding.format = format;
      finding.is_out_of_time = true;
      finding.why_not = "no time: the original alone takes too long; give a longer `budget`";
      result_.methods.push_back(std::move(finding));
    }
  }

  double left() const { return options_.budget - clock_.seconds(); }
  // What a call takes; one that waited for another program does not count.
  double call_seconds() const {
    const Latency& latency = result_.baseline.latency;
    return std::min(latency.mean, kMostNoise * latency.p50);
  }

  void measure_baseline(bool may_fail) {
    BenchOptions bench_options = bench_setting();
    bench_options.seconds = std::min(kBaselineSeconds, 0.05 * options_.budget);
    Baseline& baseline = result_.baseline;
    const TimeLimit limit(left());
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
    } catch (const Error& error) {
      if (is_cancelled()) throw;
      const bool is_late = error.code() == ErrorCode::kCancelled;
      if (!may_fail && !is_late) throw with_hint(error);
      baseline.why_not =
          is_late ? fmt::format("{:g} s are too few to time it; give a longer `budget`", options_.budget)
                  : error.what();
    }
  }

  // Data seldom holds a state, and whoever forgot to say so is told how.
  Error with_hint(const Error& error) const {
    if (result_.family.states.empty() || !options_.data.carry.empty() || options_.data.is_generated())
      return error;
    const auto& [input, output] = result_.family.states.front();
    return {error.code(), fmt::format("{}; '{}' looks like a state: perhaps `carry` {}={}", error.what(),
                                      input, input, output)};
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

  // One half calibrates, the other one judges; so many samples of each as there is time for.
  void divide_data() {
    calibration_ = quality_ = options_.data;
    if (options_.data.is_generated()) return;
    const auto executor = measure::load_as_floats(model_, measure::executor_options(options_.runtime));
    samples_ = measure::open_feed(model_, executor->inputs(), options_.data).feed->samples();
    choose_samples(std::min(kMostCalibration, affordable(kCalibrationShare, kObserving)),
                   affordable(kQualityShare / kMethods, kOfBothModels));
    result_.samples = samples_;
    if (samples_ == 1) result_.notes.emplace_back("there is one sample: it calibrates and judges");
  }

  // At most so many of each half.
  void choose_samples(std::uint64_t calibrating, std::uint64_t judging) {
    calibrating_ = Half{options_.data, samples_, false}.choose(calibrating, calibration_);
    judging_ = Half{options_.data, samples_, true}.choose(judging, quality_);
    calibration_.labels.clear();
  }

  // A few at least, but of a slow model not so many that they take the time of everything else.
  std::uint64_t affordable(double share, double runs) const {
    const double each = runs * std::max(call_seconds(), 1e-6);
    const double few =
        std::clamp(kFewShare * options_.budget / each, 1.0, static_cast<double>(kLeastSamples));
    const double count = share * options_.budget / each;
    return static_cast<std::uint64_t>(std::clamp(count, few, 1e9));
  }

  // Gives the metric. A few samples show first what reading and comparing them takes, which may be more than
  // running the model.
  void compare_with_itself() {
    const std::uint64_t calibrating = calibrating_, judging = judging_;
    choose_samples(calibrating, std::min(judging, kProbe));
    VerifyResult same = verify(model_, model_, verify_setting());
    const double each = std::max(1e-6, (same.seconds - same.load_seconds) /
                                           static_cast<double>(std::max<std::uint64_t>(1, same.samples)));
    const auto fitting = [&](std::uint64_t samples, double share) {
      const double few =
          std::clamp(kFewShare * options_.budget / each, 1.0, static_cast<double>(kLeastSamples));
      const double count = std::clamp(share * options_.budget / each, few, 1e9);
      return std::min(samples, static_cast<std::uint64_t>(count));
    };
    choose_samples(fitting(calibrating, kCalibrationShare), fitting(judging, kQualityShare / kMethods));
    if (has_labels() && judging_ > same.samples) same = verify(model_, model_, verify_setting());
    result_.baseline.metrics = same.metrics;
    result_.is_generated = same.is_generated;
    result_.quality_samples = judging_ == 0 ? same.samples : judging_;
    comparing_seconds_ = same.load_seconds + each * static_cast<double>(result_.quality_samples);
  }

  VerifyOptions verify_setting() const {
    VerifyOptions verify_options;
    verify_options.runtime = options_.runtime;
    verify_options.data = quality_;
    verify_options.task = options_.task;
    verify_options.metric = options_.metric;
    verify_options.metric_command = options_.metric_command;
    verify_options.tags = options_.tags;
    verify_options.label_output = options_.label_output;
    verify_options.outputs = options_.outputs;
    verify_options.threshold = options_.threshold;
    verify_options.edge_cases = false;
    verify_options.gates = gates_for(options_, result_.family);
    verify_options.progress = options_.progress;
    return verify_options;
  }

  double making_estimate(Format format) const {
    const double observing =
        format == Format::kStatic ? static_cast<double>(calibrating_) * call_seconds() * kObserving : 0;
    return coding_seconds_ * effort(format) + observing;
  }

  // How much longer calls take than they would on a machine of our own.
  double slowdown() const {
    const Latency& latency = result_.baseline.latency;
    return latency.min > 0 ? std::clamp(call_seconds() / latency.min, 1.0, kMostSlowdown) : 1;
  }

  // What the timing in the end takes for one model, when it is called for so many seconds.
  double timing_estimate(double seconds) const {
    const Baseline& base = result_.baseline;
    const double calls =
        std::max(seconds, 10 * std::max(call_seconds(), 0.01)) + std::max(0.1, 3 * call_seconds());
    return base.load_seconds + base.cold_start_seconds + slowdown() * calls;
  }
  // … and what has to be left for it, if there will be one model more.
  double reserve() const { return static_cast<double>(made_.size() + 2) * timing_estimate(kLeastBench); }

  void try_method(Format format) {
    MethodFinding finding;
    finding.format = format;
    finding.why_not = obstacle(format, options_, result_.family);
    if (finding.why_not.empty()) {
      const double step = making_estimate(format) + comparing_seconds_;
      if (step + reserve() <= left()) {
        make(format, finding);
      } else {
        finding.is_out_of_time = true;
        finding.why_not = fmt::format("no time: it would take about {:.0f} s", std::max(1.0, step));
      }
    }
    result_.methods.push_back(std::move(finding));
  }

  void make(Format format, MethodFinding& finding) {
    const std::filesystem::path file = default_output(folder_.path() / "model.onnx", format);
    const Stopwatch time;
    const TimeLimit limit(left() - reserve());
    try {
      const QuantizeResult made = quantize(model_, file, quantize_setting(format));
      if (format != Format::kStatic) learn(time.seconds() / effort(format));
      describe(made, finding);
      if (finding.why_not.empty()) compare(file, finding);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kIo || is_cancelled()) throw;
      finding.is_out_of_time = error.code() == ErrorCode::kCancelled;
      finding.why_not = finding.is_out_of_time
                            ? fmt::format("no time: stopped after {:.0f} s", time.seconds())
                            : error.what();
    }
    finding.seconds = time.seconds();
  }

  // The least counts: a step that waited for another program says nothing, and one that takes longer is
  // stopped in time.
  void learn(double seconds) {
    coding_seconds_ = std::max(kLeastStep, has_learned_ ? std::min(coding_seconds_, seconds) : seconds);
    has_learned_ = true;
  }

  void compare(const std::filesystem::path& file, MethodFinding& finding) {
    const Stopwatch time;
    judge(options_, result_.family, verify(model_, file, verify_setting()), finding);
    comparing_seconds_ = time.seconds();
    finding.is_measured = true;
    if (finding.format == Format::kStatic) {
      result_.calibration_samples = calibrating_;
      result_.notes.emplace_back(
          "static was made without the search that `quantize()` does: its result is as close or closer");
    }
    made_[result_.methods.size()] = file;
  }

  QuantizeOptions quantize_setting(Format format) const {
    QuantizeOptions quantize_options;
    quantize_options.recipe.format = format;
    quantize_options.recipe.target = options_.target;
    quantize_options.recipe.integer.search = false;  // takes minutes; what it finds is only better
    quantize_options.trial.is_wanted = false;        // it is compared and timed here
    quantize_options.trial.runtime.library = options_.runtime.library;
    quantize_options.trial.runtime.isolate = options_.runtime.isolate;
    quantize_options.trial.data = format == Format::kStatic ? calibration_ : DataOptions{};
    quantize_options.progress = options_.progress;
    return quantize_options;
  }

  // All against the original, in one run.
  void time_all() {
    if (made_.empty()) return;
    std::vector<std::filesystem::path> models = {model_};
    for (const auto& [place, file] : made_) models.push_back(file);
    BenchOptions bench_options = bench_setting();
    const auto count = static_cast<double>(models.size());
    const double spare = left() / count - timing_estimate(0);
    bench_options.seconds = std::clamp(kCaution * spare / slowdown(), kLeastBench, kMostBench);
    BenchReport report;
    if (!within(left(), [&] { report = bench(models, bench_options); })) {
      result_.notes.emplace_back("there was no time to time the methods: give a longer `budget`");
      return;
    }
    std::size_t next = 1;
    for (const auto& [place, file] : made_) {
      const BenchResult& timed = report.models[next++];
      MethodFinding& finding = result_.methods[place];
      finding.speed_up = timed.batches.front().speed_up;
      finding.load_seconds = timed.load_seconds;
      finding.peak_memory = timed.peak_memory;
      finding.load_memory = timed.load_memory;
    }
    profile_fastest();
  }

  // Where the time of the fastest goes that is good enough, if it computes otherwise than the original.
  void profile_fastest() {
    std::optional<std::size_t> fastest;
    for (const auto& [place, file] : made_) {
      const MethodFinding& finding = result_.methods[place];
      const bool is_other = finding.integer_nodes != 0 || finding.format == Format::kFp16;
      const bool is_faster =
          !fastest || finding.speed_up.ratio > result_.methods[*fastest].speed_up.ratio;
      if (is_other && finding.is_acceptable && is_faster) fastest = place;
    }
    if (fastest) result_.methods[*fastest].profile = profile_of(made_.at(*fastest));
  }

  // Nothing where it would take a large share of the time, or cannot be had.
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
      result_.notes.push_back(fmt::format("where the time goes is not known: {}", error.what()));
    }
    return profile;
  }

  static constexpr double kMethods = 6;

  const std::filesystem::path& model_;
  const AdviseOptions& options_;
  const Stopwatch& clock_;
  AdviseResult& result_;
  TemporaryFolder folder_;
  DataOptions calibration_, quality_;
  std::uint64_t samples_ = 0, calibrating_ = 0, judging_ = 0;  // in all, and of each half
  double coding_seconds_ = 0, comparing_seconds_ = 0;
  bool has_learned_ = false;
  std::map<std::size_t, std::filesystem::path> made_;  // by the method's place in the result
};

}  // namespace

void measure_methods(const std::filesystem::path& model, const AdviseOptions& options, const Stopwatch& clock,
                     AdviseResult& result) {
  Measuring(model, options, clock, result).run();
}

}  // namespace ounce::search
