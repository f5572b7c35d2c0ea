// Searches over many recipes: tune, sensitivity, advise.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/quantize.h>
#include <ounce/runtime.h>
#include <ounce/verify.h>

namespace ounce {

class WorkQueue;  // ounce/work.h

// == Tune ==
//
// Searches for the smallest and fastest mixed-precision model that meets accuracy thresholds.
//
//   ounce::TuneOptions options;
//   options.data.path = "val.npz";
//   options.data.labels = "label";
//   options.gates.max_drop = 0.005;
//   const ounce::TuneResult result = ounce::tune("model.onnx", "model.tuned.onnx", options);
//
// The data is split into two parts: candidates are calibrated, compared and chosen on one part, and the
// result is also evaluated on the held-out part, with gates.confidence (default: 90 %; 0: judge only the
// samples). The result is never slower than the original. The best candidate so far is always on disk.
// Measurements are cached, so that a killed run can continue.

enum class Objective {
  kBalanced,  // lowest time × bytes
  kLatency,   // lowest time; the smallest of equally fast candidates
  kSize,      // fewest bytes, at no loss of speed
  kMemory,    // lowest memory at load, at kLeastMemorySpeed of the original speed or more
};
template <>
struct NamesOf<Objective> {
  static constexpr Named<Objective> kAll[] = {{Objective::kBalanced, "balanced"},
                                              {Objective::kLatency, "latency"},
                                              {Objective::kSize, "size"},
                                              {Objective::kMemory, "memory"}};
};

// The lowest speed that Objective::kMemory accepts, relative to the original.
inline constexpr double kLeastMemorySpeed = 0.9;

// The budget of a search: a time, or a number of candidates. With a number of candidates, no time is
// measured, so that the search takes the same steps on every machine; INT8 layers are assumed to be faster.
struct Budget {
  double seconds = 600;
  std::uint64_t models = 0;  // candidates; 0: `seconds` is the limit
};

// One candidate that was made and measured.
struct TuneTrial {
  std::string name;              // "int8", "int8, 3 of 24 layers stored only"
  std::string problem;           // why it could not be made; the other fields are unset then
  std::optional<Recipe> recipe;  // with all choices made; set in TuneResult::trials and best
  std::uint64_t bytes = 0;
  double ratio = 1;                  // size relative to the original
  bool is_timed = false;             // false also if the machine was too busy
  SpeedUp speed_up;                  // meaningless unless is_timed
  bool is_slower = false;            // slower than the original by more than the timing tolerance (2 %)
  std::optional<LoadMemory> memory;  // for Objective::kMemory
  double memory_ratio = 1;           // peak memory relative to the original
  double sqnr_db = 0;                // of the worst part of an output, on the search samples
  std::optional<double> agreement;   // top-1 agreement, from 0 to 1
  std::optional<MetricResult> metric;
  bool passed = false;  // meets the thresholds on the search samples
  std::string verdict;
  // Why it cannot be the result: "300 of 307 samples needed at 95 % confidence". Empty if it can.
  std::string reason;
  double confidence = 0;             // of the verdict; 0: only the samples were judged
  std::uint64_t samples = 0;         // that the verdict is based on
  std::optional<StatedGate> gate;    // the evaluation on held-out samples, for the provenance record
  std::uint64_t samples_needed = 0;  // estimate for the confidence; 0: not needed, or no number suffices
  // Estimated number of additional samples with which this candidate would pass; 0: samples are not the
  // reason.
  std::uint64_t more_samples = 0;
  bool has_too_few_samples = false;  // too few samples to confirm any candidate
  std::optional<bool> held_out;      // passed on the held-out samples, if it was evaluated on them
  bool is_on_front = false;          // on the Pareto front of size, speed and quality
  // The best in one respect among all possible results.
  bool is_smallest = false, is_fastest = false, is_closest = false;
};

// The format of one layer of the result.
struct LayerChoice {
  std::string name, op_type;
  Format format = Format::kFp32;
};

struct TuneOptions : QualityOptions {
  RuntimeOptions runtime;
  DataOptions data;
  // Default: kDefaultDrop of the metric if there are labels, else kDefaultTuneSqnr dB for every output.
  Gates gates;
  Objective objective = Objective::kBalanced;
  std::string target;                  // see Recipe::target
  std::vector<std::string> cpus = {};  // also test an INT8 result on these CPUs (known_cpus())
  Budget budget;
  std::filesystem::path cache;  // folder for measurements; empty: the default
  bool keep = true;             // read and write cached measurements
  unsigned threads = 0;         // of Ounce; 0: all CPUs. Models run with runtime.threads
  WorkQueue* queue = nullptr;   // measures elsewhere; null: in this process
  Progress* progress = nullptr;
  std::function<void(const TuneTrial&)> on_trial = [](const TuneTrial&) {};
};

inline constexpr double kDefaultTuneSqnr = 30;

struct TuneResult {
  std::filesystem::path model, output;  // output: empty if no candidate passed
  std::filesystem::path closest;        // the closest candidate if none passed; empty if none could be made
  bool passed = false;
  bool is_interrupted = false;  // stopped through `progress`; this is the best result so far
  bool is_out_of_time = false;  // the budget ended before all candidates were tried
  std::string runtime_version;
  std::uint64_t bytes_before = 0;
  std::uint64_t search_samples = 0, held_out_samples = 0;
  double confidence = 0;  // that the result meets its thresholds on unseen data; 0: not requested
  // If no candidate passed: the estimated number of samples with which the closest one would; 0: unknown.
  std::uint64_t samples_needed = 0;
  TuneTrial best;                         // the chosen candidate, or the closest one
  std::optional<std::size_t> best_trial;  // its index in `trials`
  TuneTrial held_out;                     // the evaluation of `best` on the held-out samples
  std::vector<TuneTrial> trials;          // in the order of the search
  std::vector<LayerChoice> layers;        // of the result
  std::vector<CpuComparison> cpus;        // the result on other CPUs
  std::vector<std::string> notes;
  std::uint64_t recalled = 0;  // cached measurements
  double seconds = 0;
};

// Searches, and writes the best model to `output`. If no candidate passes, the closest one is written next to
// it (TuneResult::closest). Throws Error.
TuneResult tune(const std::filesystem::path& model, const std::filesystem::path& output,
                const TuneOptions& options);

// == Sensitivity ==
//
// Ranks the layers of a model by the error that a format causes.
//
//   ounce::SensitivityOptions options;
//   options.data.path = "val.npz";
//   const ounce::SensitivityResult result = ounce::sensitivity("model.onnx", options);
//   // result.groups[0]: the most sensitive group; result.exclude: layers to keep in FP32
//
// For each group of layers, two models are compared with the original: one with only this group quantized,
// and one with all other groups quantized. Measurements are cached on disk. Throws ounce::Error.

enum class Grouping {
  kLayer,   // every node with weights
  kBlock,   // layers with a common name prefix, or adjacent layers
  kOpType,  // all Conv, all MatMul, …
};
template <>
struct NamesOf<Grouping> {
  static constexpr Named<Grouping> kAll[] = {
      {Grouping::kLayer, "layer"}, {Grouping::kBlock, "block"}, {Grouping::kOpType, "op"}};
};

struct SensitivityOptions : QualityOptions {
  Format format = Format::kInt8;  // the format to analyze: kInt8, kInt8Dynamic, kW8 or kW4
  Grouping grouping = Grouping::kLayer;
  RuntimeOptions runtime;
  DataOptions data;
  // Samples to measure on, evenly spread over the data (0: all; unset: 64). With a recurrent state,
  // consecutive samples from the start (unset: 1024).
  std::optional<std::uint64_t> samples;
  std::uint64_t measure = 0;  // measure only this many groups, those with the largest estimated error; 0: all
  double min_sqnr = 30;       // SQNR in dB that excluding layers should reach
  std::filesystem::path cache;  // folder for measurements; empty: the default
  bool keep = true;             // read and write cached measurements
  unsigned threads = 0;         // groups measured in parallel; 0: as many as CPUs and memory allow
  WorkQueue* queue = nullptr;   // measures elsewhere; null: in this process
  Progress* progress = nullptr;
};

struct GroupSensitivity {
  std::string name;
  std::vector<std::string> layers;  // names of nodes
  std::string op_type;              // of the first layer
  std::size_t place = 0;            // position in the network, from 0
  std::uint64_t weight_bytes = 0;
  // No layer with weights precedes it, or follows it; or it is part of attention.
  bool is_first = false, is_last = false, is_attention = false;
  double estimated_db = 0;  // SQNR of the layer's output, estimated from statistics
  bool is_measured = false;
  double alone_db = 0;                             // output SQNR if only this group is quantized
  double without_db = 0;                           // output SQNR if all other groups are quantized
  std::optional<double> alone_drop, without_drop;  // drop of the metric; positive: worse
  double share = 0;  // share of the noise of all measured groups, each quantized alone
};

struct SensitivityResult {
  std::filesystem::path model;
  Format format = Format::kInt8;
  double min_sqnr = 30;  // SensitivityOptions::min_sqnr
  std::string runtime_version;
  std::string metric;  // its name; empty without labels
  double metric_reference = 0;
  std::uint64_t samples = 0;
  double all_db = 0;  // if all groups are quantized
  std::optional<double> all_drop;
  std::vector<GroupSensitivity> groups;  // worst first
  // Overrides for Recipe::nodes with which the outputs reach min_sqnr: these layers run in FP32 with 8-bit or
  // 16-bit weights. Empty if only unchanged FP32 layers reach it; see `exclude`.
  std::map<std::string, Format> nodes;
  std::vector<std::string> exclude;   // the same layers for Recipe::exclude, which keeps them in FP32
  double exclude_db = 0;              // the measured output SQNR with these overrides
  bool is_enough = false;             // exclude_db reaches min_sqnr
  std::vector<std::string> findings;  // "the last layer is the most sensitive, as expected"
  std::vector<std::string> notes;
  std::uint64_t measured = 0, recalled = 0;  // models that were run, and cached measurements
  double seconds = 0;
};

// Measures the layers of `model`. Throws Error.
SensitivityResult sensitivity(const std::filesystem::path& model, const SensitivityOptions& options);

// == Advise ==
//
// Recommends how to quantize a model, based on measurements. Each method that fits into the time budget is
// applied to the model; its outputs and its speed are compared with the original. A method is recommended
// only if its quality is confirmed at kUsualConfidence.
//
//   ounce::AdviseOptions options;
//   options.data.path = "val.npz";
//   options.data.labels = "y";
//   const ounce::AdviseResult advice = ounce::advise("model.onnx", options);
//   // advice.verdict, advice.reasons, advice.commands
//
// All temporary models are removed. Throws ounce::Error.

enum class ModelFamily {
  kCnn,
  kTransformer,
  kRecurrent,
  kAudioGenerator,  // generates a long waveform from a short input
  kDetector,
  kMlp,
  kTrees,  // tree ensembles and other models of ai.onnx.ml without tensors
  kOther,
};
template <>
struct NamesOf<ModelFamily> {
  static constexpr Named<ModelFamily> kAll[] = {
      {ModelFamily::kCnn, "cnn"},           {ModelFamily::kTransformer, "transformer"},
      {ModelFamily::kRecurrent, "rnn"},     {ModelFamily::kAudioGenerator, "audio_generator"},
      {ModelFamily::kDetector, "detector"}, {ModelFamily::kMlp, "mlp"},
      {ModelFamily::kTrees, "trees"},       {ModelFamily::kOther, "other"}};
};

// The family of a model, derived from its graph, and the evidence.
struct FamilyFinding {
  ModelFamily family = ModelFamily::kOther;
  std::string description;         // "autoregressive transformer"
  bool is_autoregressive = false;  // each output position depends on earlier positions only
  bool is_quantized = false;       // already quantized, by Ounce or another tool
  bool is_half = false;            // most weights are 16-bit floats
  Task task = Task::kAuto;         // the task that the outputs suggest; kAuto: unknown
  std::string task_reason;
  std::vector<std::string> reasons;
  std::vector<NamedCount> ops;      // most frequent first
  std::vector<NamedCount> weights;  // tensors and bytes by the op that reads them; most bytes first
  std::uint64_t weight_bytes = 0;   // of all weights
  // Pairs of an input and an output that look like a recurrent state.
  std::vector<std::pair<std::string, std::string>> states;
};

// The gains of quantizing a model, estimated without running it.
//
//   const ounce::Overview found = ounce::overview("model.onnx");
//   // found.family, found.formats[0].bytes, found.commands
//
// `commands` are three command lines: quantize without data, quantize for speed, and a measured
// recommendation. They are empty if nothing can be quantized.
struct FormatEstimate {
  Format format = Format::kW8;
  std::string label;        // "INT8 static, W8A8"
  std::uint64_t bytes = 0;  // estimated size of the quantized model
  double ratio = 1;         // relative to the original
  bool needs_data = false;  // for calibration
  bool is_faster = false;   // usually, for models of this family
  std::string why_not;      // why the format does not fit this model; empty: it fits
};

struct Overview {
  std::filesystem::path model;
  std::uint64_t bytes = 0;        // with external data
  std::string file_format;        // "ONNX", "TFLite" or "Core ML"
  std::string family;             // "convolutional network"; empty: unknown
  std::string already_quantized;  // how; empty: it is not quantized
  std::vector<ValueDescription> inputs, outputs;
  std::uint64_t weight_bytes = 0;
  std::vector<FormatEstimate> formats;  // in the order of recommendation; empty for quantized models
  std::vector<std::string> commands;
};

// Reads `model`, writes nothing. Throws Error if it cannot be read.
Overview overview(const std::filesystem::path& model);

enum class SizeClass { kSmall, kMedium, kLarge };
template <>
struct NamesOf<SizeClass> {
  static constexpr Named<SizeClass> kAll[] = {
      {SizeClass::kSmall, "small"}, {SizeClass::kMedium, "medium"}, {SizeClass::kLarge, "large"}};
};

struct AdviseOptions : QualityOptions {
  RuntimeOptions runtime;
  DataOptions data;                  // half of the samples calibrate, the other half measures quality
  std::string target;                // see Recipe::target
  double budget = 60;                // seconds
  double max_drop = 0.005;           // largest acceptable drop of the metric
  std::optional<double> min_sqnr{};  // lowest SQNR of each output in dB; unset: see AdviseResult::gates
  // The words that describe `data` in recommended commands. Empty: derived from `data`.
  std::vector<std::string> data_words;
  Progress* progress = nullptr;
};

// Measurements of the original model.
struct Baseline {
  bool is_measured = false;
  std::string why_not;
  std::string runtime_version;
  Latency latency;
  double load_seconds = 0, cold_start_seconds = 0;
  std::uint64_t peak_memory = 0;
  std::optional<LoadMemory> load_memory;
  std::vector<MetricResult> metrics;  // on labeled data
  std::optional<Profile> profile;
};

// One method, applied to the model and measured.
struct MethodFinding {
  Format format = Format::kW8;
  bool is_measured = false;
  std::string why_not;          // if it was not measured
  bool is_out_of_time = false;  // it was not measured, because it did not fit into the budget
  std::uint64_t bytes = 0;
  double ratio = 1;               // size relative to the original
  SpeedUp speed_up;               // meaningless unless is_timed()
  double load_seconds = 0;        // 0: not measured
  std::uint64_t peak_memory = 0;  // 0: not measured
  std::optional<LoadMemory> load_memory;
  double sqnr_db = 0;               // of the worst output
  std::optional<double> agreement;  // top-1 agreement with the original, from 0 to 1
  std::optional<MetricResult> metric;
  std::uint64_t samples = 0;   // compared
  bool is_acceptable = false;  // meets AdviseResult::gates at AdviseResult::confidence
  bool is_uncertain = false;   // meets the gates on these samples, which are too few for that confidence
  std::uint64_t samples_needed = 0;  // estimate for that confidence; 0: not needed, or no number suffices
  std::string quality;  // the measured quality: "top1_accuracy worse by 0.10 points to 0.8984, 0.50 allowed"
  std::size_t integer_nodes = 0, float_nodes = 0;  // nodes with weights, for int8 and int8-dynamic
  std::vector<std::string> left_in_floats;         // why nodes stay in FP32, most frequent reason first
  std::string worst_activation;                    // int8: the activation with the lowest SQNR
  double worst_activation_db = 0;                  // its SQNR in dB
  double seconds = 0;                              // to make and compare the model
  // Of the fastest acceptable method, if time was left.
  std::optional<Profile> profile;

  // False if the budget ended before there were enough rounds, or the machine was too busy.
  bool is_timed() const {
    return is_measured && speed_up.is_reliable && speed_up.rounds >= SpeedUp::kLeastRounds;
  }
  bool is_faster(double by) const { return is_timed() && speed_up.is_measurable && speed_up.ratio >= by; }
};

struct Risk {
  std::string name;      // "attention_mask"
  std::string evidence;  // with measured numbers
  std::string advice;    // a countermeasure; may be empty
};

enum class AdviceVerdict {
  kQuantize,
  kStoreSmall,
  kLeave,
  kUnknown,  // too little time, too few samples, or a busy machine: see AdviseResult::headline
};
template <>
struct NamesOf<AdviceVerdict> {
  static constexpr Named<AdviceVerdict> kAll[] = {{AdviceVerdict::kQuantize, "quantize"},
                                                  {AdviceVerdict::kStoreSmall, "store_small"},
                                                  {AdviceVerdict::kLeave, "do_not_quantize"},
                                                  {AdviceVerdict::kUnknown, "unknown"}};
};

struct RecommendedCommand {
  std::string line;  // for a shell
  std::string why;
};

struct AdviseResult {
  std::filesystem::path model;
  std::uint64_t bytes = 0;
  SizeClass size = SizeClass::kSmall;
  FamilyFinding family;
  Baseline baseline;
  std::vector<MethodFinding> methods;  // the most promising first
  std::uint64_t samples = 0;           // in the data
  std::uint64_t calibration_samples = 0;
  std::uint64_t quality_samples = 0;  // largest number of samples that a method was compared on
  bool is_generated = false;          // no data was given; quality was measured on random inputs
  Gates gates;                        // thresholds for a recommendation
  double confidence = kUsualConfidence;
  std::vector<Risk> risks;
  std::vector<std::string> missing;  // data that would improve the recommendation

  AdviceVerdict verdict = AdviceVerdict::kUnknown;
  std::string headline;              // one line
  std::vector<std::string> reasons;  // sentences
  std::vector<RecommendedCommand>
      commands;  // the recommended command first; empty if the model should stay unchanged
  std::vector<std::string> notes;
  double budget = 0, seconds = 0;
  // Estimated seconds for the most promising methods; 0: the budget was sufficient.
  double budget_needed = 0;
};

// Measures the methods on `model` and recommends one. Throws Error for a model that cannot be read, and for
// contradicting options. A model that cannot be run is no error: see Baseline::why_not.
AdviseResult advise(const std::filesystem::path& model, const AdviseOptions& options);

}  // namespace ounce
