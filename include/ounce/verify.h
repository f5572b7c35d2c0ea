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
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ounce/cpus.h>
#include <ounce/data.h>
#include <ounce/names.h>
#include <ounce/pictures.h>
#include <ounce/progress.h>
#include <ounce/runtime.h>

namespace ounce {

// What a model is for, and so how its quality is told. Every task but the first knows what to do without
// labels: what the original gives is then the truth.
enum class Task {
  kAuto,      // by the labels: classes → kClassify, real numbers → kRegress, boxes → kDetect
  kClassify,  // top-1 and top-5 accuracy
  kDetect,    // mean average precision of boxes at IoU 0.5, and over 0.5 … 0.95
  kEmbed,     // nearest neighbours among the samples, and the cosine
  kCtc,       // character error of the decoded text, and lines that are right
  kSegment,   // mean IoU of the classes, and pixels that are right
  kTag,       // F1 of entities (BIO, IOB2, BIOES), and tokens that are right
  kAudio,     // SI-SNR and log-spectral distance
  kRegress,   // mean absolute and mean squared error
};
template <>
struct NamesOf<Task> {
  static constexpr Named<Task> kAll[] = {
      {Task::kAuto, "auto"},   {Task::kClassify, "classify"}, {Task::kDetect, "detect"},
      {Task::kEmbed, "embed"}, {Task::kCtc, "ctc"},           {Task::kSegment, "segment"},
      {Task::kTag, "tag"},     {Task::kAudio, "audio"},       {Task::kRegress, "regress"}};
};

// What the numbers of a metric are, and so how its drop is counted.
enum class MetricUnit {
  kShare,     // from 0 to 1: a drop of 0.01 is one point
  kRelative,  // an error or a likelihood of any scale: a drop is a share of the reference's value
  kAbsolute,  // of a scale of its own: a drop is a plain number
  kDecibel,   // the same, in dB
};
template <>
struct NamesOf<MetricUnit> {
  static constexpr Named<MetricUnit> kAll[] = {{MetricUnit::kShare, "share"},
                                               {MetricUnit::kRelative, "relative"},
                                               {MetricUnit::kAbsolute, "absolute"},
                                               {MetricUnit::kDecibel, "decibel"}};
};

// The metrics that VerifyOptions::metric can name. verify() throws Error{kUsage} for other names, and for a
// metric that is not one of VerifyOptions::task.
struct MetricDescription {
  std::string_view name, help;  // "nll", "negative log-likelihood, perplexity"
  MetricUnit unit;
};
std::vector<MetricDescription> known_metrics();
// As a name: the first metric of the task, or without a task the first one that suits the labels.
inline constexpr const char* kAutoMetric = "auto";

// A quality of the user's own. `command` is run by a shell with the path of a folder behind it, which holds
// original.npz, candidate.npz (the outputs by name) and, if there are labels, labels.npz. It prints one JSON
// number, the quality of the candidate, or {"name": number, "lower_is_better": true, "unit": "share"}. It is
// run a second time with the original's outputs as the candidate's. Without "unit", numbers of which more is
// better are kAbsolute, and the others kRelative, whatever their values are.
//
// Or `function` is called with the folder and gives what a command would print; measurements by it are not
// kept for another run, as nobody knows what it does. It may throw, and takes as long as it takes.
struct MetricCommand {
  std::string command;   // empty: none
  double seconds = 300;  // that it may take each time
  std::function<std::string(const std::filesystem::path& folder)> function = {};

  bool is_given() const { return !command.empty() || function; }
};

// Thresholds. Only those that are set decide; without any, defaults do: see VerifyResult::verdict.
//
// Outputs that are labels (OutputComparison::is_label) have no differences. Thresholds of values
// (max_abs_diff, mean_abs_diff, min_sqnr, max_mse, and the default) require of them that 99 % of the answers
// are the same, and allow one changed answer among ten or more; min_agreement replaces that share.
struct Gates {
  std::optional<double> max_abs_diff, mean_abs_diff;  // of every output
  std::optional<double> min_sqnr;                     // dB, of every output and each of its slices
  std::optional<double> min_agreement;                // share of same answers: top-1 of scores, or labels
  std::optional<double> max_drop;                     // of the metric: a share for accuracy, F1 and mAP
  std::map<std::string, double> max_drops = {};       // of metrics by their names: "f1", "map50_95"
  std::optional<double> max_mse = {};                 // of every output
  std::optional<double> max_flips = {};               // share of decisions that change at the threshold
  // How sure it must be that they hold on other data like this: 0.9 lets one in ten pass that does not. Not
  // set, or 0: what holds on these samples passes (tune() takes kUsualConfidence when it is not set).
  std::optional<double> confidence;
  // With a confidence: a gate that no number of samples bounds (max_abs_diff, the drop of a MetricCommand) is
  // judged on these samples, and VerifyResult::is_certain is false. Otherwise such a gate fails.
  bool allow_unbounded = false;
};
inline constexpr double kUsualConfidence = 0.9;
// What a metric may lose where there are labels and no gate.
inline constexpr double kDefaultDrop = 0.01;

// What a reference gave, for several candidates that are held against it on the same data: it is run once.
//
//   options.reference_outputs = ounce::keep_reference_outputs();
class ReferenceOutputs;
std::shared_ptr<ReferenceOutputs> keep_reference_outputs(std::uint64_t most_bytes = std::uint64_t{512} << 20);

// How the quality of a model is measured. The options of every verb that judges models have these fields.
struct QualityOptions {
  Task task = Task::kAuto;
  std::string metric = kAutoMetric;  // one of known_metrics()
  MetricCommand metric_command = {};
  // Of Task::kTag: the names of the classes, "O", "B-PER", "I-PER" …; without them O comes first, then B and
  // I in turn.
  std::vector<std::string> tags = {};
  std::string label_output = {};  // the one that labels speak of; empty: the first of a suitable type
  // The outputs to judge; empty: all. The others are compared and reported, and no threshold applies to them.
  // verify() throws Error{kUsage} before it runs anything if the model has no output of such a name.
  std::vector<std::string> outputs = {};
  // For decisions: an output is "yes" from here on; for boxes: the least score.
  std::optional<double> threshold = {};
};

struct VerifyOptions : QualityOptions {
  RuntimeOptions runtime = {};
  DataOptions data = {};
  Gates gates = {};
  bool edge_cases = true;
  std::size_t worst = 5;  // how many samples to name
  bool pictures =
      false;  // what those were given and what both models answer: SampleDifference::picture, answers
  // Other CPUs that the candidate must give the same on (ounce/cpus.h), and how many samples tell.
  std::vector<std::string> cpus = {};
  std::uint64_t cpu_samples = 32, emulated_samples = 4;
  std::shared_ptr<ReferenceOutputs> reference_outputs = {};  // null: the reference is run each time
  Progress* progress = nullptr;
};

// So many of so many answers, as evidence. Answers of one sample depend on each other, so they count as fewer
// than there are.
struct Tally {
  double count = 0, of = 0;
};

struct IndexRange {
  std::size_t begin = 0, end = 0;  // end: the first index that is not in it
};

// A part of an output whose values are of another kind or scale than the rest: scores beside boxes.
struct OutputSlice {
  std::string name;  // "output0[:, 4:84, :]"
  std::size_t axis = 0;
  std::vector<IndexRange> ranges;
  std::uint64_t values = 0;
  double rms = 0;                          // of the reference
  double sqnr_db = 0;                      // infinite when all values are equal
  double sqnr_deviation_db = 0;            // one standard deviation, by a bootstrap over the samples
  std::optional<double> sqnr_low_db = {};  // no less than this, with VerifyResult::confidence
};

// Answers that were one class and are another one.
struct ChangedAnswer {
  std::uint64_t from = 0, to = 0, count = 0;
};

struct OutputComparison {
  std::string name, type;
  bool is_state = false;  // fed back by DataOptions::carry: shown, but no gate looks at it
  bool is_judged = true;  // false: VerifyOptions::outputs leaves it out, so no gate looks at it
  // Classes, strings, flags: compared for equality. Integers are labels, except 16-bit ones (sound) and 8-bit
  // ones with four or more dimensions (pictures). max_abs_diff, mean_abs_diff and mse are 0 and cosine is 1;
  // top1_agreement is the share of values that are equal, and sqnr_db is 10·log10(answers / changed).
  bool is_label = false;
  bool is_list = false;  // of what a detector found, in any number: only Task::kDetect looks at it
  std::uint64_t values = 0;
  // Of a detector: values of samples in which neither model detects anything. SQNR leaves these samples out,
  // because every score in them is below the threshold. If all values are such, sqnr_db and cosine are NaN.
  std::uint64_t silent_values = 0;
  double max_abs_diff = 0, mean_abs_diff = 0, mse = 0;
  double sqnr_db = 0;  // infinite when all values are equal
  double cosine = 1;
  double sqnr_deviation_db = 0;   // one standard deviation, by a bootstrap over the samples
  double mean_abs_deviation = 0;  // of mean_abs_diff
  double mse_deviation = 0;       // of mse
  Tally other_answers;            // than the reference's top-1
  Tally other_decisions = {};     // than the reference's, at the threshold
  std::optional<double> sqnr_low_db, agreement_low;  // no less than this, with VerifyResult::confidence
  // No more than this, with VerifyResult::confidence. flips_high is a share of the decisions.
  std::optional<double> mean_abs_high = {}, mse_high = {}, flips_high = {};
  std::optional<double> top1_agreement, top5_agreement;  // for outputs with a class axis, and labels
  std::uint64_t answers = 0, changed = 0;  // that top1_agreement is about, and those of them that differ
  // Of them the most frequent ones that are not the same, at most kMostChanged, most frequent first.
  static constexpr std::size_t kMostChanged = 50;
  std::vector<ChangedAnswer> changed_answers = {};
  // Decisions that changed at the threshold. Two columns of probabilities that add up to 1 are one decision,
  // that of the second column.
  std::optional<std::uint64_t> flips;
  std::uint64_t decisions = 0;
  std::uint64_t reference_not_finite = 0, candidate_not_finite = 0;  // NaN and infinite values
  std::uint64_t newly_not_finite = 0;    // in the candidate, where the reference is finite
  std::vector<OutputSlice> slices = {};  // that differ from each other, worst first; empty: all is alike
};

// A quality on labelled data, or against what the original gives, with what the candidate loses and how sure
// that is.
struct MetricResult {
  std::string name;  // "top1_accuracy"
  bool higher_is_better = true;
  double reference = 0, candidate = 0;  // NaN when it was not measured: `why_not` says why
  double drop = 0;                      // positive: the candidate is worse
  double drop_low = 0, drop_high = 0;   // 95 % confidence, paired bootstrap over the samples
  bool has_interval = true;  // otherwise the two are the drop: a command of the user's gives no more
  // Of accuracy: answers that only the reference has right, and only the candidate.
  std::optional<Tally> lost = {}, won = {};
  std::optional<double> drop_bound = {};  // no more than this, with VerifyResult::confidence
  // Of kRelative: up to `rounding` it is nothing but rounding, so the reference reproduces the labels, and
  // what the candidate loses is relative to `label_size`, their mean absolute value or mean square. 0: a
  // plain number.
  double rounding = 0, label_size = 0;
  std::string why_not = {};
  MetricUnit unit = MetricUnit::kShare;
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
  std::uint64_t changed = 0;  // answers, where a model gives labels alone; then max_abs_diff is 0
  // With VerifyOptions::pictures: of the first input that can be looked at, of outputs with one row of
  // classes (best first, those of either model), and of labels that are a number.
  std::optional<InputPicture> picture = {};
  std::vector<ClassScore> answers = {};
  std::optional<double> label = {};
};

struct VerifyResult {
  std::filesystem::path reference, candidate;
  std::string runtime;          // what ran the models: "ONNX Runtime 1.30.0 and LiteRT 2.3.0"
  std::string runtime_version;  // of the reference
  std::string cpu;              // whose kernels ran: "avx512 vnni"; empty behind `remote`
  bool passed = false;
  std::string verdict;  // which gate decided, and by how much
  std::vector<std::string> failures;
  // What the samples tell about others like them: bounds hold with this confidence (Gates::confidence, or
  // kUsualConfidence). `certainty` says it in words; empty when the inputs were made up or a gate failed.
  double confidence = 0;
  bool is_confidence_asked = false;  // then what is not certain has failed
  bool is_certain = false;           // every gate has a bound, and holds with that confidence
  bool are_bounds_good = false;      // every gate that has a bound holds with that confidence
  // Gates that no number of samples bounds, each in a sentence that says what to do.
  std::vector<std::string> unbounded = {};
  std::string certainty;
  std::uint64_t samples_needed = 0;  // about how many make it certain; 0: it is, or no number would
  bool has_too_few_samples = false;  // not even a candidate without any difference would be certain
  // Over all outputs that are judged and are no labels; NaN when there are none.
  double max_abs_diff = 0, mean_abs_diff = 0;
  // Of the worst slice of the worst output among these, or of the worst labels where there is nothing else;
  // NaN when a detector finds nothing in any sample.
  double worst_sqnr_db = 0;
  std::uint64_t samples = 0;
  std::uint64_t independent_samples = 0;   // fewer with a carried state: what follows from each other is one
  bool is_generated = false;               // no data was given: the values are random
  std::string data_digest, labels_digest;  // SHA-256 of what the models were fed; no labels: empty
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
