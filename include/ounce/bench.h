// Measures speed and memory of models; measures language models on texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/data.h>
#include <ounce/runtime.h>

namespace ounce {

// Resident bytes of a new process, in addition to those before the model was loaded.
struct LoadMemory {
  std::uint64_t peak = 0;   // peak while the session is created
  std::uint64_t stays = 0;  // after the session is created
};

// == Speed ==
//
// Measures latency, memory and cold start of models, and compares their speed.
//
//   ounce::BenchOptions options;
//   options.seconds = 2;
//   const ounce::BenchReport report = ounce::bench({"model.onnx", "model.w8.onnx"}, options);
//   // report.models[1].batches[0].speed_up.ratio: 2 is twice as fast as report.models[0]
//
// All models run in one process, interleaved in short rounds, so that interference from other programs
// affects all of them equally. Speed is compared round by round, by CPU time if a model runs on one thread.
// Cold start and memory are measured in a separate process per model.

struct BenchOptions {
  RuntimeOptions runtime;
  DataOptions data;
  double seconds = 2;         // per model and batch size
  std::uint64_t repeats = 0;  // number of calls per model; replaces `seconds` unless 0
  std::vector<std::uint64_t> batches = {1};
  double deadline = 0;       // wall seconds for all timing; completed rounds are kept; 0: no limit
  unsigned cold_starts = 3;  // processes per model; 0: measure neither cold start nor memory
  bool profile = false;      // also profile each model, in separate runs at the first batch size
  Progress* progress = nullptr;
};

struct Latency {
  std::uint64_t calls = 0;
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, min = 0;  // seconds
  double cpu = 0;  // mean CPU seconds per call; 0: unknown, or several threads
  // The 0th, 1st, … 100th percentile in seconds, for a chart; empty without calls.
  std::vector<double> quantiles = {};
};

// Speed relative to the first model at the same batch size; 2 is twice as fast. With one thread this is a
// ratio of CPU times, which other programs hardly affect; with several threads it is a ratio of wall times.
struct SpeedUp {
  static constexpr std::uint64_t kLeastRounds = 10;
  static constexpr double kBusyLoad = 1.1;
  // Ratios differ between an idle and a busy machine, because other programs take cache and memory bandwidth,
  // too. Next to busy loops they changed by less than 10 %, next to compilers by 29 % in 2 of about 30 runs
  // (bench/busy_machine.py; docs/reference/bench.md).
  static constexpr double kBusyError = 0.2;

  double ratio = 1, low = 1, high = 1;  // 95 % confidence
  std::uint64_t rounds = 0;             // measured rounds; fewer than kLeastRounds are meaningless
  bool is_measurable =
      false;  // reliable, enough rounds, an interval without 1, and a ratio that differs by more than 1 %
  // Wall time divided by CPU time while timing: 1 on an idle machine, 0 if unknown. From 1.1 on the machine
  // counts as busy, and the interval is widened by kBusyError on both sides.
  double load = 0;
  bool is_reliable = true;  // false: several threads on a busy machine, so the ratio means nothing
};

struct BatchResult {
  std::uint64_t batch = 1;
  Latency latency;
  double samples_per_second = 0;
  SpeedUp speed_up;
};

// The profile of a run by the runtime. Ops are those that the runtime executes: fused, and in the layout of
// this machine.
struct NodeTime {
  std::string node, op_type;
  double seconds = 0;       // median per run, without the nodes of its subgraphs
  bool is_integer = false;  // an INT8 kernel
};
struct OpTime {
  std::string op_type;
  std::uint64_t nodes = 0;
  double seconds = 0;
};
struct Profile {
  std::uint64_t runs = 0;
  double seconds = 0;           // of all nodes
  double integer_share = 0;     // share of `seconds` in INT8 kernels such as QLinearConv and QGemm
  std::vector<OpTime> ops;      // most expensive first
  std::vector<NodeTime> nodes;  // most expensive first
  // For a .tflite model: the operators of its main graph, the number of them that XNNPACK runs, and the share
  // of XNNPACK in `seconds`. The others run in built-in kernels. 0 for other models.
  std::uint64_t operators = 0, delegated = 0;
  double delegated_share = 0;
};

struct BenchResult {
  std::filesystem::path model;
  std::uint64_t bytes = 0;        // model file and external data
  double load_seconds = 0;        // creating the session
  double first_seconds = 0;       // the first run
  double cold_start_seconds = 0;  // from the start of a process to its first result; best of cold_starts
  bool is_cache_dropped = false;  // the cold start read the model file from the disk
  std::uint64_t peak_memory = 0;  // peak resident bytes of the separate process
  std::optional<LoadMemory> load_memory;  // of that process; unset if the system does not report it
  std::vector<BatchResult> batches;
  std::optional<Profile> profile;  // with BenchOptions::profile; never on a remote machine
};

struct BenchReport {
  std::string runtime;          // all runtimes that were used: "ONNX Runtime 1.30.0 and LiteRT 2.3.0"
  std::string runtime_version;  // of the first model
  std::string cpu;  // CPU features that the kernels used: "avx512 vnni"; empty on a remote machine
  unsigned threads = 1;
  bool is_generated = false;
  std::uint64_t rounds = 0;
  double load = 0;  // wall time divided by CPU time while timing, as in SpeedUp
  std::vector<BenchResult> models;
  std::vector<std::string> notes;
};

// Benchmarks `models`; the first one is the baseline. Throws Error for a model that cannot be read or run.
BenchReport bench(const std::vector<std::filesystem::path>& models, const BenchOptions& options);

// == Language models ==
//
// Measures language models on texts: a prompt, then one token at a time, with the KV cache.
//
//   ounce::DecodeReport report = ounce::decode({"model.onnx", "model.nbits4.onnx"}, options);
//   // report.models[1].flips: tokens that the second model predicts differently
//
// Texts are rows of token ids. Every model gets the next token of the text, not its own prediction (teacher
// forcing), so that all models see the same input and perplexity is that of the text.

struct DecodeOptions {
  RuntimeOptions runtime;
  // Texts: one row of token ids each; random ids without data. `carry` maps cache inputs to outputs; without
  // it, they are paired by name (past_key_values.0.key and present.0.key).
  DataOptions data;
  std::uint64_t prompt = 16;  // length of the prompt in tokens
  std::uint64_t tokens = 64;  // tokens after the prompt, at most
  // Thresholds for every model but the first: the share of changed tokens, and the rise of the mean negative
  // log-likelihood. Unset thresholds do not apply.
  std::optional<double> max_flips, max_nll_rise;
  Progress* progress = nullptr;
};

struct DecodeResult {
  std::filesystem::path model;
  std::uint64_t bytes = 0;
  bool is_cached = false;   // has a KV cache; otherwise each token processes the whole text so far
  Latency first_token;      // of the prompt
  Latency next_token;       // of each later token
  double nll = 0;           // mean negative log-likelihood of the tokens after the prompt
  std::uint64_t flips = 0;  // tokens that the first model predicts differently
  bool passed = true;       // meets the thresholds, if there are any
  std::string verdict;      // "passed: …" or "failed: …"; empty without thresholds

  double perplexity() const;
};

struct DecodeReport {
  std::string runtime_version, cpu;
  unsigned threads = 1;
  bool is_generated = false;
  std::uint64_t texts = 0, prompt = 0;
  std::uint64_t tokens = 0;  // after the prompts, of all texts together
  std::vector<DecodeResult> models;
  std::vector<std::string> notes;
};

// Runs `models` on the same texts; the first one is the reference. Throws Error.
DecodeReport decode(const std::vector<std::filesystem::path>& models, const DecodeOptions& options);

}  // namespace ounce
