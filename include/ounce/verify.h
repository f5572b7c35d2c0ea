// Does a candidate still do what the reference does? Both are run on the same inputs, sample by sample, and a
// gate decides.
//
//   ounce::VerifyOptions options;
//   options.data.path = "val.npz";
//   options.gates.min_sqnr = 30;
//   const ounce::VerifyResult result = ounce::verify("model.onnx", "model.w8.onnx", options);
//   if (!result.passed) log(result.verdict);
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/cpus.h>
#include <ounce/data.h>
#include <ounce/names.h>
#include <ounce/progress.h>
#include <ounce/runtime.h>

namespace ounce {

enum class Metric {
  kAuto,      // by the labels: classes → accuracy, real numbers → mean absolute error, boxes → mAP
  kAccuracy,  // top-1, and top-5 beside it
  kNll,       // mean negative log-likelihood of the label under softmax(output); perplexity beside it
  kF1,        // macro-averaged over the classes
  kMae,       // mean absolute error
  kMap,       // mean average precision of boxes at IoU 0.5
};
template <>
struct NamesOf<Metric> {
  static constexpr Named<Metric> kAll[] = {{Metric::kAuto, "auto"}, {Metric::kAccuracy, "accuracy"},
                                           {Metric::kNll, "nll"},   {Metric::kF1, "f1"},
                                           {Metric::kMae, "mae"},   {Metric::kMap, "map"}};
};

// What has to hold. Those that are not set do not decide; without any, defaults do: see
// VerifyResult::verdict.
struct Gates {
  std::optional<double> max_abs_diff, mean_abs_diff;  // of every output
  std::optional<double> min_sqnr;                     // dB, of every output
  std::optional<double> min_agreement;                // share of same top-1 answers
  std::optional<double> max_drop;                     // of the metric: a share for accuracy, F1 and mAP
  // How sure it must be that they hold on other data like this: 0.9 lets one in ten pass that does not. Not
  // set, or 0: what holds on these samples passes (tune() takes kUsualConfidence when it is not set).
  std::optional<double> confidence;
};
inline constexpr double kUsualConfidence = 0.9;
// What a metric may lose where there are labels and no gate.
inline constexpr double kDefaultDrop = 0.01;

struct VerifyOptions {
  RuntimeOptions runtime;
  DataOptions data;
  Gates gates;
  Metric metric = Metric::kAuto;
  std::string label_output;  // the one that labels speak of; empty: the first of a suitable type
  std::optional<double>
      threshold;  // for decisions: an output is "yes" from here on; for boxes: the least score
  bool edge_cases = true;
  std::size_t worst = 5;  // how many samples to name
  // Other CPUs that the candidate must give the same on (ounce/cpus.h), and how many samples tell.
  std::vector<std::string> cpus = {};
  std::uint64_t cpu_samples = 32, emulated_samples = 4;
  Progress* progress = nullptr;
};

// So many of so many answers, as evidence. Answers of one sample depend on each other, so they count as fewer
// than there are.
struct Tally {
  double count = 0, of = 0;
};

struct OutputComparison {
  std::string name, type;
  bool is_state = false;  // fed back by DataOptions::carry: shown, but no gate looks at it
  std::uint64_t values = 0;
  double max_abs_diff = 0, mean_abs_diff = 0, mse = 0;
  double sqnr_db = 0;  // infinite when all values are equal
  double cosine = 1;
  double sqnr_deviation_db = 0;   // one standard deviation, by a bootstrap over the samples
  double mean_abs_deviation = 0;  // of mean_abs_diff
  Tally other_answers;            // than the reference's top-1
  std::optional<double> sqnr_low_db, agreement_low;      // no less than this, with VerifyResult::confidence
  std::optional<double> top1_agreement, top5_agreement;  // for outputs with a class axis
  std::optional<std::uint64_t> flips;                    // decisions that changed at the threshold
  std::uint64_t decisions = 0;
  std::uint64_t reference_not_finite = 0, candidate_not_finite = 0;  // NaN and infinite values
  std::uint64_t newly_not_finite = 0;  // in the candidate, where the reference is finite
};

// A quality on labelled data, with what the candidate loses and how sure that is.
struct MetricResult {
  std::string name;  // "top1_accuracy"
  bool higher_is_better = true;
  double reference = 0, candidate = 0;
  double drop = 0;                     // positive: the candidate is worse
  double drop_low = 0, drop_high = 0;  // 95 % confidence, paired bootstrap over the samples
  // Of accuracy: answers that only the reference has right, and only the candidate.
  std::optional<Tally> lost = {}, won = {};
  std::optional<double> drop_bound = {};  // no more than this, with VerifyResult::confidence
};

struct EdgeCase {
  std::string name;  // "all zero"
  bool passed = true;
  bool is_left_out = false;  // nobody knows: the reference does not take it, or it is too large
  std::string finding;       // "41.2 dB", what went wrong, or why it was left out
};

struct SampleDifference {
  std::string name, output;
  double max_abs_diff = 0;
};

struct VerifyResult {
  std::filesystem::path reference, candidate;
  std::string runtime_version;
  std::string cpu;  // whose kernels ran: "avx512 vnni"; empty behind `remote`
  bool passed = false;
  std::string verdict;  // which gate decided, and by how much
  std::vector<std::string> failures;
  // What the samples tell about others like them: bounds hold with this confidence (Gates::confidence, or
  // kUsualConfidence). `certainty` says it in words; empty when the inputs were made up or a gate failed.
  double confidence = 0;
  bool is_confidence_asked = false;  // then what is not certain has failed
  bool is_certain = false;           // every gate holds with that confidence
  std::string certainty;
  std::uint64_t samples_needed = 0;            // about how many make it certain; 0: it is, or no number would
  bool has_too_few_samples = false;            // not even a candidate without any difference would be certain
  double max_abs_diff = 0, mean_abs_diff = 0;  // over all outputs
  double worst_sqnr_db = 0;                    // of the worst output, states left out
  std::uint64_t samples = 0;
  std::uint64_t independent_samples = 0;  // fewer with a carried state: what follows from each other is one
  bool is_generated = false;              // no data was given: the values are random
  std::vector<OutputComparison> outputs;
  std::vector<MetricResult> metrics;
  std::vector<EdgeCase> edge_cases;
  std::vector<CpuComparison> cpus;
  std::vector<SampleDifference> worst;  // largest first
  std::vector<std::string> notes;
  // In all but for edge cases; loading; and inside the runtime.
  double seconds = 0, load_seconds = 0, reference_seconds = 0, candidate_seconds = 0;
};

VerifyResult verify(const std::filesystem::path& reference, const std::filesystem::path& candidate,
                    const VerifyOptions& options);

}  // namespace ounce
