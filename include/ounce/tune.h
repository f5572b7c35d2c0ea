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
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ounce/bench.h>
#include <ounce/names.h>
#include <ounce/prove.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

namespace ounce {

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
  std::string name;     // "int8", "int8, 3 of 24 layers stored only"
  std::string problem;  // why it could not be made; the other fields are unset then
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
  std::vector<std::string> cpus = {};  // also test an INT8 result on these CPUs (ounce/cpus.h)
  Budget budget;
  std::filesystem::path cache;  // folder for measurements; empty: the default
  bool keep = true;             // read and write cached measurements
  unsigned threads = 0;         // of Ounce; 0: all CPUs. Models run with runtime.threads
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

}  // namespace ounce
