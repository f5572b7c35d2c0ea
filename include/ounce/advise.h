// Should this model be quantized, how, and what will it bring? The answer rests on measurements of this
// model: every method that fits into the time is carried out, compared with the original and timed against
// it. A method is recommended only if its quality holds at kUsualConfidence, the default of verify().
//
//   ounce::AdviseOptions options;
//   options.data.path = "val.npz";
//   options.data.labels = "y";
//   const ounce::AdviseResult advice = ounce::advise("model.onnx", options);
//   // advice.verdict, advice.reasons, advice.commands
//
// Nothing is left behind: what is made for measuring goes away again. Throws ounce::Error.
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
  kAudioGenerator,  // a long wave out of a short description
  kDetector,
  kMlp,
  kTrees,  // and other models of ai.onnx.ml that hold no tensors
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

// What a graph is, and by which signs.
struct FamilyFinding {
  ModelFamily family = ModelFamily::kOther;
  std::string description;         // "autoregressive transformer"
  bool is_autoregressive = false;  // each position sees only those before it: its own output comes back to it
  bool is_quantized = false;       // by somebody else, or by us
  bool is_half = false;            // most weights are 16-bit floats
  Task task = Task::kAuto;         // what its outputs look like; kAuto: they do not tell
  std::string task_reason;
  std::vector<std::string> reasons;
  std::vector<NamedCount> ops;      // how often; most frequent first
  std::vector<NamedCount> weights;  // by the op they feed: tensors and bytes; most bytes first
  std::uint64_t weight_bytes = 0;   // in all
  // Inputs and outputs that look like a state: the output is the next run's input.
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
  DataOptions data;                  // every other sample is for calibration, the others are for judging
  std::string target;                // as Recipe::target
  double budget = 60;                // seconds
  double max_drop = 0.005;           // what the metric may lose
  std::optional<double> min_sqnr{};  // dB that every output must keep; not set: see AdviseResult::gates
  // How a command line says `data`, one word each: recommended commands repeat it. Empty: made from `data`.
  std::vector<std::string> data_words;
  Progress* progress = nullptr;
};

// The original, alone on the machine.
struct Baseline {
  bool is_measured = false;
  std::string why_not;
  std::string runtime_version;
  Latency latency;
  double load_seconds = 0, cold_start_seconds = 0;
  std::uint64_t peak_memory = 0;
  std::optional<LoadMemory> load_memory;
  std::vector<MetricResult> metrics;  // of labelled data
  std::optional<Profile> profile;     // where its time goes
};

// One method, carried out on the model.
struct MethodFinding {
  Format format = Format::kW8;
  bool is_measured = false;
  std::string why_not;          // otherwise
  bool is_out_of_time = false;  // … because it did not fit into the budget
  std::uint64_t bytes = 0;
  double ratio = 1;               // of the original's bytes
  SpeedUp speed_up;               // means nothing unless is_timed()
  double load_seconds = 0;        // 0: not measured
  std::uint64_t peak_memory = 0;  // 0: not measured
  std::optional<LoadMemory> load_memory;
  double sqnr_db = 0;               // of the worst output
  std::optional<double> agreement;  // share of same top-1 answers
  std::optional<MetricResult> metric;
  std::uint64_t samples = 0;   // that it was compared on
  bool is_acceptable = false;  // AdviseResult::gates hold at AdviseResult::confidence
  bool is_uncertain = false;   // they hold on these samples, which are too few to show it at that confidence
  std::uint64_t samples_needed = 0;  // for that, about; 0: no number of samples, or it is certain
  std::string quality;  // the measured quality: "top1_accuracy worse by 0.10 points to 0.8984, 0.50 allowed"
  std::size_t integer_nodes = 0, float_nodes = 0;  // of those with weights, for int8 and int8-dynamic
  std::vector<std::string> left_in_floats;         // why, most frequent first
  std::string worst_activation;  // of int8: the value that its codes fit least, and how well they do
  double worst_activation_db = 0;
  double seconds = 0;  // to make it and to compare it
  // Where its time goes: of the fastest that is good enough, if there was time.
  std::optional<Profile> profile;

  // Is speed_up a result? Not if there was no time for enough rounds, or the machine was too busy.
  bool is_timed() const {
    return is_measured && speed_up.is_reliable && speed_up.rounds >= SpeedUp::kLeastRounds;
  }
  bool is_faster(double by) const { return is_timed() && speed_up.is_measurable && speed_up.ratio >= by; }
};

struct Risk {
  std::string name;      // "attention_mask"
  std::string evidence;  // with its numbers
  std::string advice;    // what to do about it; may be empty
};

enum class AdviceVerdict {
  kQuantize,
  kStoreSmall,
  kLeave,
  kUnknown,  // time, samples or a quiet machine were missing: AdviseResult::headline says which
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
  std::uint64_t samples = 0;           // there are in the data
  std::uint64_t calibration_samples = 0;
  std::uint64_t quality_samples = 0;  // the most that a method was compared on
  bool is_generated = false;          // there was no data: quality is that on random inputs
  Gates gates;                        // that a method has to pass
  double confidence = kUsualConfidence;
  std::vector<Risk> risks;
  std::vector<std::string> missing;  // data that would make the advice better, and what for

  AdviceVerdict verdict = AdviceVerdict::kUnknown;
  std::string headline;              // one line
  std::vector<std::string> reasons;  // sentences
  std::vector<RecommendedCommand>
      commands;  // the first is the recommended one; none if nothing is to be done
  std::vector<std::string> notes;
  double budget = 0, seconds = 0;
  // Seconds that would be enough for the most promising methods, about; 0: the budget was.
  double budget_needed = 0;
};

AdviseResult advise(const std::filesystem::path& model, const AdviseOptions& options);

}  // namespace ounce
