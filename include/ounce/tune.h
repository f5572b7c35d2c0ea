// The smallest and fastest mixed-precision model that passes a gate, found by measuring.
//
//   ounce::TuneOptions options;
//   options.data.path = "val.npz";
//   options.data.labels = "label";
//   options.gates.max_drop = 0.005;
//   const ounce::TuneResult result = ounce::tune("model.onnx", "model.tuned.onnx", options);
//
// The data is cut in two: models are calibrated, compared and chosen on one part; whatever is written has
// passed on the other part as well, with gates.confidence (90 % unless it is set; 0: what holds on the
// samples passes), and is never slower than the original. The best so far is on the disk at any time. What
// has been measured is kept: a run that was killed goes on where it was.
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
  kBalanced,  // least time × bytes
  kLatency,   // least time; of what is equally fast, the smallest
  kSize,      // fewest bytes, without being slower than the original
  kMemory,    // least memory at load, at kLeastMemorySpeed of the original's speed
};
template <>
struct NamesOf<Objective> {
  static constexpr Named<Objective> kAll[] = {{Objective::kBalanced, "balanced"},
                                              {Objective::kLatency, "latency"},
                                              {Objective::kSize, "size"},
                                              {Objective::kMemory, "memory"}};
};

// What Objective::kMemory may give away.
inline constexpr double kLeastMemorySpeed = 0.9;

// How far a search goes: a time, or a number of models. With models the clock is not asked and nothing is
// timed, so that a search goes the same way on every machine; layers that compute on integers are taken to be
// faster.
struct Budget {
  double seconds = 600;
  std::uint64_t models = 0;  // made for measuring; 0: the time counts
};

// One model that was made and measured.
struct TuneTrial {
  std::string name;     // "int8", "int8, 3 of 24 layers stored only"
  std::string problem;  // why there is none; then nothing else is filled in
  std::uint64_t bytes = 0;
  double ratio = 1;                  // of the original's bytes
  bool is_timed = false;             // false also if the machine was too busy to time it
  SpeedUp speed_up;                  // means nothing unless is_timed
  bool is_slower = false;            // than the original, by more than the timing tolerance
  std::optional<LoadMemory> memory;  // of loading it; for Objective::kMemory
  double memory_ratio = 1;           // its peak, as a share of the original's
  double sqnr_db = 0;  // of the worst slice of an output, on the part of the data that is searched on
  std::optional<double> agreement;
  std::optional<MetricResult> metric;
  bool passed = false;  // the gate, there
  std::string verdict;
  // Why it cannot be the answer: "300 of 307 samples needed at 95 % confidence". Empty if it can.
  std::string reason;
  double confidence = 0;             // that it was judged with; 0: the samples alone decided
  std::uint64_t samples = 0;         // that it was judged on
  std::optional<StatedGate> gate;    // what the held-out part said, to be stated
  std::uint64_t samples_needed = 0;  // in their place, to be sure of it; 0: they do, or no number would
  // Samples that the data would have to have besides, about, for this model to pass; 0: not that is missing.
  std::uint64_t more_samples = 0;
  bool has_too_few_samples = false;  // to be sure of any model
  std::optional<bool> held_out;      // … and on the part that is held out, if it was asked
  bool is_on_front = false;          // no other that passed is better in bytes, time and quality
  // Its corners, of all that may be the answer.
  bool is_smallest = false, is_fastest = false, is_closest = false;
};

// How one layer computes in the result.
struct LayerChoice {
  std::string name, op_type;
  Format format = Format::kFp32;
};

struct TuneOptions : QualityOptions {
  RuntimeOptions runtime;
  DataOptions data;
  // Without any: kDefaultDrop of the metric if there are labels, else kDefaultTuneSqnr dB for every output.
  Gates gates;
  Objective objective = Objective::kBalanced;
  std::string target;                  // see Recipe::target
  std::vector<std::string> cpus = {};  // that the result is run on as well (ounce/cpus.h)
  Budget budget;
  std::filesystem::path cache;  // where measurements are kept; empty: the usual place
  bool keep = true;             // them
  unsigned threads = 0;         // of our own work; the models run with runtime.threads
  Progress* progress = nullptr;
  std::function<void(const TuneTrial&)> on_trial = [](const TuneTrial&) {};
};

inline constexpr double kDefaultTuneSqnr = 30;

struct TuneResult {
  std::filesystem::path model, output;  // output: empty when nothing passed
  std::filesystem::path closest;        // what came closest, when nothing passed; empty if there is nothing
  bool passed = false;
  bool is_interrupted = false;  // stopped through `progress`: the best so far is what counts
  bool is_out_of_time = false;  // there was more to try
  std::string runtime_version;
  std::uint64_t bytes_before = 0;
  std::uint64_t search_samples = 0, held_out_samples = 0;
  double confidence = 0;  // that the result holds its gate on other data; 0: it was not asked for
  // Nothing passed, and so many samples would do for what came closest, if they are like these; 0: unknown.
  std::uint64_t samples_needed = 0;
  TuneTrial best;                         // or the closest one
  std::optional<std::size_t> best_trial;  // its place among the trials
  TuneTrial held_out;                     // of it, on the part of the data that was held out
  std::vector<TuneTrial> trials;          // in their order
  std::vector<LayerChoice> layers;        // of the result
  std::vector<CpuComparison> cpus;        // the result on other CPUs
  std::vector<std::string> notes;
  std::uint64_t recalled = 0;  // measurements that were known from before
  double seconds = 0;
};

TuneResult tune(const std::filesystem::path& model, const std::filesystem::path& output,
                const TuneOptions& options);

}  // namespace ounce
