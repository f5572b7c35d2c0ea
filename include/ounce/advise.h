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
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/inspect.h>
#include <ounce/names.h>
#include <ounce/quantize.h>
#include <ounce/runtime.h>
#include <ounce/verify.h>

namespace ounce {

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
