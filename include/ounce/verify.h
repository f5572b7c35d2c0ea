// Compares a model with its original, and reproduces it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>

namespace ounce {

// == Comparison ==
//
// Compares a candidate with a reference model on the same inputs, and checks thresholds.
//
//   ounce::VerifyOptions options;
//   options.data.path = "val.npz";
//   options.gates.min_sqnr = 30;
//   const ounce::VerifyResult result = ounce::verify("model.onnx", "model.w8.onnx", options);
//   if (!result.passed) log(result.verdict);

// An input or output of a model as an image or a waveform.
struct InputPicture {
  static constexpr int kPixels = 96;                // maximum length of the longer side, of an input
  static constexpr int kOutputPixels = 160;         // the same of an output
  static constexpr std::size_t kStretches = 240;    // maximum number of intervals of a waveform
  static constexpr std::size_t kMostSound = 32000;  // maximum number of values in `wav`
  static constexpr std::uint32_t kUsualRate = 16000;

  std::string input;                             // name of the input or output
  std::string png;                               // a PNG file; empty for a waveform
  std::vector<float> lowest = {}, highest = {};  // extremes of equally long intervals; empty for an image
  // The beginning of a waveform as a WAV file: 16 bits, mono, at the sampling rate of the contract, or at
  // kUsualRate without one. Empty for an image.
  std::string wav = {};
};

// The scores of one class in both models.
struct ClassScore {
  std::uint64_t of_class = 0;
  double reference = 0, candidate = 0;
};

// The task of a model, which decides its metrics. For every task but kAuto, the outputs of the reference
// replace missing labels.
enum class Task {
  kAuto,      // from the labels: classes → kClassify, real numbers → kRegress, boxes → kDetect
  kClassify,  // top-1 and top-5 accuracy
  kDetect,    // mean average precision of boxes at IoU 0.5, and over 0.5 … 0.95
  kEmbed,     // nearest neighbors among the samples, and cosine similarity
  kCtc,       // character error rate of the decoded text, and share of correct lines
  kSegment,   // mean IoU of the classes, and pixel accuracy
  kTag,       // F1 of entities (BIO, IOB2, BIOES), and token accuracy
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

// The unit of a metric and of its drop.
enum class MetricUnit {
  kShare,     // from 0 to 1: a drop of 0.01 is one point
  kRelative,  // an error or a likelihood of any scale: a drop is relative to the value of the reference
  kAbsolute,  // any other scale: a drop is a plain difference
  kDecibel,   // a difference in dB
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
// The name for the first metric of the task or, without a task, the first metric for the labels.
inline constexpr const char* kAutoMetric = "auto";

// A custom metric. `command` is run by a shell with the path of a folder as its last argument. The folder has
// original.npz, candidate.npz (outputs by name) and, if there are labels, labels.npz. The command prints the
// quality of the candidate as one JSON number, or {"name": number, "lower_is_better": true, "unit": "share"}.
// It runs a second time with the outputs of the original as the candidate. The default unit is kAbsolute if
// higher is better, and kRelative otherwise.
//
// Alternatively, `function` is called with the folder and returns the text that a command prints. Its results
// are not cached. It may throw, and has no time limit.
struct MetricCommand {
  std::string command;   // empty: no command
  double seconds = 300;  // time limit per call
  std::function<std::string(const std::filesystem::path& folder)> function = {};

  bool is_given() const { return !command.empty() || function; }
};

// Thresholds under one name.
enum class GateSet {
  kNone,
  // The limits of release checklists. With a metric, it may drop by 0.5 points if most weights of the
  // candidate are stored in 16 bits or more, and by 2 points if they are stored in 8 bits or fewer. Without
  // one, the mean squared error of every output may be 0.01. Thresholds that are set take precedence.
  kStandard,
};
template <>
struct NamesOf<GateSet> {
  static constexpr Named<GateSet> kAll[] = {{GateSet::kNone, "none"}, {GateSet::kStandard, "standard"}};
};

// Thresholds. Unset thresholds do not apply; if none is set, defaults apply: see VerifyResult::verdict.
//
// For outputs that are labels (OutputComparison::is_label), thresholds of values (max_abs_diff,
// mean_abs_diff, min_sqnr, max_mse, and the default) require that 99 % of the labels are equal, and allow one
// changed label among ten or more; min_agreement replaces that share.
struct Gates {
  std::optional<double> max_abs_diff, mean_abs_diff;  // of every output
  std::optional<double> min_sqnr;                     // dB, of every output and each of its parts
  std::optional<double> min_agreement;                // share of equal top-1 predictions or labels, 0 to 1
  std::optional<double> max_drop;                     // of the metric: a share for accuracy, F1 and mAP
  std::map<std::string, double> max_drops = {};       // of metrics by name: "f1", "map50_95"
  std::optional<double> max_mse = {};                 // of every output
  std::optional<double> max_flips = {};               // share of changed decisions at the decision threshold
  // Replaces unset thresholds by the usual ones: see `GateSet`.
  GateSet set = GateSet::kNone;
  // Required confidence that the thresholds are met on unseen data, from 0 to 1. Unset, or 0: judge only
  // these samples (tune() uses kUsualConfidence if it is unset).
  std::optional<double> confidence;
  // With a confidence: judge thresholds without a statistical bound (max_abs_diff, the drop of a
  // MetricCommand) on these samples; VerifyResult::is_certain is false then. False: such thresholds fail.
  bool allow_unbounded = false;
};
inline constexpr double kUsualConfidence = 0.9;
// The default of max_drop if there are labels and no threshold is set.
inline constexpr double kDefaultDrop = 0.01;

// Caches the outputs of a reference for several candidates on the same data, so that it runs only once.
//
//   options.reference_outputs = ounce::keep_reference_outputs();
class ReferenceOutputs;
std::shared_ptr<ReferenceOutputs> keep_reference_outputs(std::uint64_t most_bytes = std::uint64_t{512} << 20);

// How quality is measured. The options of all functions that judge models include these fields.
struct QualityOptions {
  Task task = Task::kAuto;
  std::string metric = kAutoMetric;  // one of known_metrics()
  MetricCommand metric_command = {};
  // Class names of Task::kTag: "O", "B-PER", "I-PER", …; default: O, then B and I in turn.
  std::vector<std::string> tags = {};
  std::string label_output = {};  // the output that labels belong to; empty: the first of a suitable type
  // The outputs to judge; empty: all. Other outputs are compared and reported, but no threshold applies to
  // them. verify() throws Error{kUsage} for an unknown name before it runs a model.
  std::vector<std::string> outputs = {};
  // The decision threshold of an output; for boxes: the lowest score.
  std::optional<double> threshold = {};
};

struct VerifyOptions : QualityOptions {
  RuntimeOptions runtime = {};
  DataOptions data = {};
  Gates gates = {};
  bool edge_cases = true;
  std::size_t worst = 5;                      // number of samples in VerifyResult::worst
  bool pictures = false;                      // fill in the pictures and answers of SampleDifference
  std::vector<std::string> class_names = {};  // copied to VerifyResult::class_names
  // Other CPUs on which the candidate must have the same outputs (known_cpus()), and numbers of samples.
  std::vector<std::string> cpus = {};
  std::uint64_t cpu_samples = 32, emulated_samples = 4;
  std::shared_ptr<ReferenceOutputs> reference_outputs = {};  // null: the reference is run each time
  Progress* progress = nullptr;
};

// A count of predictions, as statistical evidence. Predictions of one sample are correlated, so their
// effective number is lower than their actual number.
struct Tally {
  double count = 0, of = 0;
};

struct IndexRange {
  std::size_t begin = 0, end = 0;  // end is exclusive
};

// A part of an output with another kind or scale of values than the rest, such as scores and boxes.
struct OutputSlice {
  std::string name;  // "output0[:, 4:84, :]"
  std::size_t axis = 0;
  std::vector<IndexRange> ranges;
  std::uint64_t values = 0;
  double rms = 0;                          // of the reference
  double sqnr_db = 0;                      // infinite if all values are equal
  double sqnr_deviation_db = 0;            // standard deviation, by a bootstrap over the samples
  std::optional<double> sqnr_low_db = {};  // lower bound at VerifyResult::confidence
};

// Predictions that changed from one class to another.
struct ChangedAnswer {
  std::uint64_t from = 0, to = 0, count = 0;
};

struct OutputComparison {
  std::string name, type;
  bool is_state = false;  // a recurrent state (DataOptions::carry): reported, but no threshold applies
  bool is_judged = true;  // false: not in VerifyOptions::outputs, so no threshold applies
  // Classes, strings, flags: compared for equality. Integers are labels, except 16-bit ones (audio) and 8-bit
  // ones with four or more dimensions (images). For labels, max_abs_diff, mean_abs_diff and mse are 0 and
  // cosine is 1; top1_agreement is the share of equal values, and sqnr_db is 10·log10(answers / changed).
  bool is_label = false;
  bool is_list = false;  // detections, in any number: only Task::kDetect judges them
  std::uint64_t values = 0;
  // For a detector: values of samples in which neither model detects anything. SQNR excludes these samples,
  // because every score in them is below the threshold. If it excludes all, sqnr_db and cosine are NaN.
  std::uint64_t silent_values = 0;
  double max_abs_diff = 0, mean_abs_diff = 0, mse = 0;
  double sqnr_db = 0;  // infinite if all values are equal
  double cosine = 1;
  double sqnr_deviation_db = 0;                      // standard deviation, by a bootstrap over the samples
  double mean_abs_deviation = 0;                     // of mean_abs_diff
  double mse_deviation = 0;                          // of mse
  Tally other_answers;                               // changed top-1 predictions
  Tally other_decisions = {};                        // changed decisions at the threshold
  std::optional<double> sqnr_low_db, agreement_low;  // lower bounds at VerifyResult::confidence
  // Upper bounds at VerifyResult::confidence. flips_high is a share of the decisions.
  std::optional<double> mean_abs_high = {}, mse_high = {}, flips_high = {};
  std::optional<double> top1_agreement, top5_agreement;  // for outputs with a class axis, and labels
  std::uint64_t answers = 0, changed = 0;                // predictions of top1_agreement, and changed ones
  // The most frequent changed predictions, at most kMostChanged, most frequent first.
  static constexpr std::size_t kMostChanged = 50;
  std::vector<ChangedAnswer> changed_answers = {};
  // Decisions that changed at the threshold. Two columns of probabilities that sum to 1 are one decision,
  // that of the second column.
  std::optional<std::uint64_t> flips;
  std::uint64_t decisions = 0;
  std::uint64_t reference_not_finite = 0, candidate_not_finite = 0;  // NaN and infinite values
  std::uint64_t newly_not_finite = 0;    // in the candidate, where the reference is finite
  std::vector<OutputSlice> slices = {};  // parts of different kinds or scales, worst first; empty: no parts
};

// A metric on labeled data, or relative to the outputs of the original, with its drop and confidence
// interval.
struct MetricResult {
  std::string name;  // "top1_accuracy"
  bool higher_is_better = true;
  double reference = 0, candidate = 0;  // NaN if not measured; see `why_not`
  double drop = 0;                      // positive: the candidate is worse
  double drop_low = 0, drop_high = 0;   // 95 % confidence, paired bootstrap over the samples
  bool has_interval = true;             // false for a MetricCommand: drop_low and drop_high equal drop
  // For accuracy: predictions that only the reference, or only the candidate, has right.
  std::optional<Tally> lost = {}, won = {};
  std::optional<double> drop_bound = {};  // upper bound at VerifyResult::confidence
  // For kRelative: if the error of the reference is at most `rounding`, the reference reproduces the labels,
  // and the drop is relative to `label_size`, the mean absolute value or mean square of the labels. 0: plain
  // number.
  double rounding = 0, label_size = 0;
  std::string why_not = {};
  MetricUnit unit = MetricUnit::kShare;
};

struct EdgeCase {
  std::string name;  // "all zero"
  bool passed = true;
  bool is_left_out = false;  // skipped: the reference rejects the input, or the input is too large
  std::string finding;       // "41.2 dB", the failure, or why it was skipped
};

struct SampleDifference {
  std::string name, output;
  double max_abs_diff = 0;
  std::uint64_t changed = 0;  // changed labels, if the model outputs only labels; max_abs_diff is 0 then
  // With VerifyOptions::pictures: the first input that is an image or a waveform, the best classes of both
  // models for outputs with one row of classes, and the label if it is a number.
  std::optional<InputPicture> picture = {};
  std::vector<ClassScore> answers = {};
  std::optional<double> label = {};
  // With VerifyOptions::pictures: the output of both models if it is an image or a sound, on the same scale.
  std::optional<InputPicture> reference_output = {}, candidate_output = {};
};

struct VerifyResult {
  std::filesystem::path reference, candidate;
  std::string runtime;          // all runtimes that were used: "ONNX Runtime 1.30.0 and LiteRT 2.3.0"
  std::string runtime_version;  // of the reference
  std::string cpu;  // CPU features that the kernels used: "avx512 vnni"; empty on a remote machine
  bool passed = false;
  std::string verdict;  // the decisive threshold and its margin
  std::vector<std::string> failures;
  // The confidence of all bounds: Gates::confidence, or kUsualConfidence. `certainty` describes the result in
  // words; it is empty if the inputs were random or a threshold was exceeded.
  double confidence = 0;
  bool is_confidence_asked = false;  // Gates::confidence is set, so an uncertain result fails
  bool is_certain = false;           // every threshold has a bound, and is met at that confidence
  bool are_bounds_good = false;      // every threshold that has a bound is met at that confidence
  // Thresholds without a statistical bound, each in a sentence with a remedy.
  std::vector<std::string> unbounded = {};
  std::string certainty;
  std::uint64_t samples_needed = 0;  // estimate for certainty; 0: not needed, or no number suffices
  bool has_too_few_samples = false;  // too few samples to confirm even an identical candidate
  // Over all judged outputs that are not labels; NaN if there are none.
  double max_abs_diff = 0, mean_abs_diff = 0;
  // SQNR of the worst part of the worst of these outputs, or of the worst labels if there are no others; NaN
  // if a detector finds nothing in any sample.
  double worst_sqnr_db = 0;
  std::uint64_t samples = 0;
  std::uint64_t independent_samples = 0;   // with a recurrent state, consecutive samples count as one
  bool is_generated = false;               // no data was given, the inputs are random
  std::string data_digest, labels_digest;  // SHA-256 of the inputs and of the labels; empty without labels
  std::vector<OutputComparison> outputs;
  std::vector<MetricResult> metrics;
  std::vector<EdgeCase> edge_cases;
  std::vector<CpuComparison> cpus;
  std::vector<SampleDifference> worst;  // largest first
  // Samples with a changed top-1 prediction, largest difference first.
  static constexpr std::size_t kMostChanged = 12;
  std::vector<SampleDifference> changed = {};
  std::vector<std::string> class_names = {};               // by number; empty: not given
  std::uint64_t reference_bytes = 0, candidate_bytes = 0;  // model file and external data
  std::vector<std::string> notes;
  // Total time without edge cases; time for loading; time inside the runtime.
  double seconds = 0, load_seconds = 0, reference_seconds = 0, candidate_seconds = 0;
};

// Compares `candidate` with `reference`. An exceeded threshold is a result (VerifyResult::passed), not an
// error. Throws Error for models or data that cannot be read or run, and for invalid options.
VerifyResult verify(const std::filesystem::path& reference, const std::filesystem::path& candidate,
                    const VerifyOptions& options);

// == Provenance ==
//
// The provenance record of a model: its source, the recipe, and the measured results. Every model that Ounce
// writes has a record in its metadata; prove() reproduces the model and checks the record.
//
//   const std::optional<ounce::Statement> statement = ounce::statement_of("model.w8.onnx");
//
//   ounce::ProveOptions options;
//   options.source = "model.onnx";
//   options.data.path = "val.npz";
//   const ounce::Proof proof = ounce::prove("model.w8.onnx", options);
//   if (proof.verdict() != ounce::ProofVerdict::kProved) log(proof.reason());
//
// A record is not signed, so it can be forged together with the model. Only reproduction is proof: a model is
// proved if the recipe makes the same bytes from the caller's source.

// A selection of samples, as in DataOptions.
struct Selection {
  std::uint64_t first = 0, samples = 0;
  std::uint64_t part = 0, parts = 1;
  std::uint64_t batch = 1;

  bool operator==(const Selection&) const = default;
};

// The comparison of the outputs. Values are rounded, so that rounding differences of another CPU do not
// change them.
struct StatedRun {
  std::string runtime_version;
  std::uint64_t samples = 0;
  bool is_generated = false;
  std::string data, labels;       // SHA-256 of the inputs and of the labels; labels: empty if there were none
  std::optional<double> sqnr_db;  // of the worst output, in whole dB, rounded down; unset: identical
};

struct StatedMetric {
  std::string name;
  double reference = 0, candidate = 0;
  double drop_low = 0, drop_high = 0;  // 95 % confidence
};

// Thresholds that were met: everything that verify() needs to repeat the check, except the data.
struct StatedGate {
  Gates gates;
  QualityOptions quality;    // without its metric_command
  bool has_command = false;  // a custom metric was used; the record does not contain it
  bool edge_cases = true;
  Selection selection;
  StatedRun run;
  std::optional<double> agreement;
  std::vector<StatedMetric> metrics;
};

struct Statement {
  static constexpr const char* kMetadataKey = "ounce.statement";

  std::string version;        // of Ounce
  std::string source, plan;   // XXH3 digests, which identify files but are not secure
  std::string source_sha256;  // of the original and its external data; empty in old statements
  std::string content;        // SHA-256 of the model without its metadata, wherever its weights are
  Recipe recipe;              // resolved, so that it reproduces the same model
  std::string ranges;         // SHA-256 of the calibration file; empty if none was used
  Selection calibration;      // the samples for calibration
  std::optional<StatedRun> trial;
  std::optional<StatedGate> gate;
  // By machine, the oldest release of ONNX Runtime from which all measured releases run the model: {"x64",
  // "1.14.0"}.
  std::map<std::string, std::string> releases;

  // False for records of older versions of Ounce, whose digests (XXH3) can be forged.
  bool has_strong_digests() const { return !source_sha256.empty(); }
};

// Reads the record of a model; nullopt if it has none. Throws Error{kBadInput} for an invalid record.
std::optional<Statement> statement_of(const std::filesystem::path& model);

enum class ProofFinding { kHolds, kFails, kNotChecked };
template <>
struct NamesOf<ProofFinding> {
  static constexpr Named<ProofFinding> kAll[] = {{ProofFinding::kHolds, "holds"},
                                                 {ProofFinding::kFails, "fails"},
                                                 {ProofFinding::kNotChecked, "not_checked"}};
};

struct ProofStep {
  std::string name;  // "content" "releases" "source" "recipe" "trial" "gate" "figures"
  ProofFinding finding = ProofFinding::kNotChecked;
  std::string what;       // a sentence
  bool is_stated = true;  // false: the record has nothing for this step
};

enum class ProofVerdict {
  kProved,    // the model was reproduced from the original, and all claims of the record were confirmed
  kUnproved,  // nothing contradicts the record, but not all claims could be checked
  kRefuted    // something contradicts the record
};
template <>
struct NamesOf<ProofVerdict> {
  static constexpr Named<ProofVerdict> kAll[] = {{ProofVerdict::kProved, "proved"},
                                                 {ProofVerdict::kUnproved, "unproved"},
                                                 {ProofVerdict::kRefuted, "refuted"}};
};

struct ProveOptions {
  std::filesystem::path source;  // the original; empty: check only claims that need no original
  DataOptions data;              // the record says which samples to use
  std::filesystem::path ranges;
  MetricCommand metric_command = {};
  RuntimeOptions runtime;
  unsigned threads = 0;
  Progress* progress = nullptr;
};

struct Proof {
  std::filesystem::path model;
  Statement statement;
  std::vector<ProofStep> steps;

  ProofVerdict verdict() const;
  std::string reason() const;  // the failed step, the unchecked steps, or the confirmed steps
  bool holds() const { return verdict() != ProofVerdict::kRefuted; }
};

// Checks the record of `model` and, with a source, reproduces the model. Throws Error{kBadInput} for a model
// without a record.
Proof prove(const std::filesystem::path& model, const ProveOptions& options);

}  // namespace ounce
