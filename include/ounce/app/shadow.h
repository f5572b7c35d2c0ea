// Shadow deployment: runs a candidate model on a share of the app's calls, in addition to the primary model,
// and compares their outputs.
//
//   Shadow shadow(Session::load("model.onnx"), "model.w8.onnx", {.share = 0.1, .statistics = "shadow.json"});
//   ShadowCall call = shadow.call();          // as Session::call(): one per thread
//   …
//   call.run();                               // runs the primary; does not wait for the candidate
//
// The candidate runs in its own thread and, if ounce-runner is installed, in its own process, so a crash, a
// hang or wrong outputs of the candidate do not affect the primary. Calls wait for comparison in a queue of
// fixed size; calls that find the queue full are counted as dropped. Inputs are never stored. The only record
// is a file of aggregated statistics, which `ounce shadow report` reads and merges with those of other
// devices.
//
// With a canary, the candidate's outputs are returned for a share of the calls, which grows while no failure
// occurs. If the candidate fails or an alarm is raised, the primary runs instead, for the failed call, too;
// the canary stops, and the statistics record the reason.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ounce/app/session.h>

namespace ounce::app {

// Histogram of latencies with logarithmic buckets, each 9 % wider than the one before. Histograms can be
// added.
class Latencies {
 public:
  static constexpr std::size_t kBuckets = 320;  // from 0.1 µs up, eight per doubling

  void add(double seconds);
  void add(const Latencies& other);
  std::uint64_t count() const;
  double quantile(double share) const;  // in seconds; 0 if the histogram is empty

  const std::array<std::uint64_t, kBuckets>& buckets() const { return buckets_; }
  void set(std::size_t bucket, std::uint64_t count) { buckets_.at(bucket) = count; }

 private:
  std::array<std::uint64_t, kBuckets> buckets_{};
};

// Statistics of one output over all compared calls.
struct ShadowOutput {
  std::uint64_t values = 0;
  double signal = 0, noise = 0;  // sums of squares of the primary's values, and of the differences
  double largest = 0;            // largest absolute difference
  std::uint64_t answers = 0;     // predictions: rows of class scores
  std::uint64_t flips = 0;       // changed predictions: rows where the candidate's top-1 class differs

  double sqnr_db() const;  // infinite if the outputs are identical
};

struct ShadowStatistics {
  std::string primary, candidate;  // digests of the models
  std::uint64_t calls = 0;         // calls of the app
  std::uint64_t compared = 0;
  std::uint64_t dropped = 0;  // selected for comparison, but the queue was full or the candidate was paused
  std::uint64_t errors = 0;   // the candidate could not run, or its output shapes differ
  std::uint64_t crashes = 0;  // the candidate's process ended
  std::uint64_t timeouts = 0;
  std::uint64_t not_finite = 0;  // NaN or infinity where the primary's value is finite
  std::uint64_t canary_calls = 0, canary_fallbacks = 0;
  double canary_share = 0;
  std::string canary_stopped;  // the reason; empty: the canary is active, or there is none
  std::map<std::string, ShadowOutput> outputs;
  Latencies primary_latency, candidate_latency;
  std::uint64_t devices = 1;  // number of merged files

  std::uint64_t failures() const { return errors + crashes + timeouts + not_finite; }
  std::uint64_t answers() const;
  std::uint64_t flips() const;
  double agreement() const;  // share of unchanged predictions; 1 if there are none
  double sqnr_db() const;    // of the worst output
};

// Thresholds. No verdict is given before `min_compared` calls.
struct ShadowLimits {
  std::uint64_t min_compared = 100;
  double min_agreement = 0.99;
  std::optional<double> min_sqnr_db = {};
  double max_failures = 0.001;                   // as a share of the compared calls
  std::optional<double> max_latency_ratio = {};  // the candidate's p50 divided by the primary's
};

struct ShadowVerdict {
  bool is_known = false;  // enough calls were compared
  bool passed = false;
  std::vector<std::string> reasons;  // why it failed, or why it is not known
};

// Throws Failure{kIo}, or Failure{kUsage} if the file has another format.
ShadowStatistics read_shadow(const std::filesystem::path& file);
// Replaces the file atomically. Throws Failure{kIo}.
void write_shadow(const ShadowStatistics& statistics, const std::filesystem::path& file);
// Adds `other` to `all`. Throws Failure{kUsage} if they are about different models.
void merge(ShadowStatistics& all, const ShadowStatistics& other);
ShadowVerdict judge(const ShadowStatistics& statistics, const ShadowLimits& limits);

struct Canary {
  double first = 0.01, last = 1;      // initial and final share of the calls
  double growth = 2;                  // factor by which the share grows at each step
  std::uint64_t calls_a_step = 1000;  // successful canary calls per step
};

struct ShadowOptions {
  double share = 1;        // share of the calls to compare
  std::size_t queue = 16;  // most calls that may wait for comparison
  // File for the statistics; the next process continues with it. Empty: none.
  std::filesystem::path statistics = {};
  double save_seconds = 10;      // least time between two writes of the file
  bool isolate = true;           // run the candidate in its own process if ounce-runner is installed
  double candidate_seconds = 5;  // timeout of one run of the candidate
  LoadOptions load = {};         // of the candidate; only library, threads and config are used
  ShadowLimits limits = {};      // exceeding them raises an alarm
  std::function<void(const ShadowVerdict&)> on_alarm = {};  // called once, in the candidate's thread
  std::optional<Canary> canary = {};
};

class ShadowCall;

class Shadow {
 public:
  // Throws Failure if the candidate's file cannot be read, or if `statistics` is about other models. A
  // candidate that does not load is counted as an error; it does not throw.
  Shadow(Session primary, const std::filesystem::path& candidate, const ShadowOptions& options = {});
  ~Shadow();  // drops the calls that wait for comparison
  Shadow(Shadow&&) noexcept;
  Shadow& operator=(Shadow&&) noexcept;

  ShadowCall call(const CallOptions& options = {});
  ShadowStatistics statistics() const;
  // Waits until all queued calls are compared and saved. Returns false if that takes longer than `patience`.
  bool flush(std::chrono::nanoseconds patience = std::chrono::seconds(10));

 private:
  friend class ShadowCall;
  friend struct ShadowTesting;
  struct Impl;
  explicit Shadow(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

class ShadowCall {
 public:
  ~ShadowCall();
  ShadowCall(ShadowCall&&) noexcept;
  ShadowCall& operator=(ShadowCall&&) noexcept;

  // The primary's call: fill its inputs.
  Call& inputs();
  void run() { run(std::chrono::nanoseconds::max()); }
  void run(std::chrono::nanoseconds timeout);
  // An output of the last run: the candidate's if was_canary(), else the primary's.
  template <class T>
  std::span<const T> output(std::string_view name = {}) const {
    const Call::Bytes found = output_bytes(name, type_of<T>());
    return {reinterpret_cast<const T*>(found.data), found.size / sizeof(T)};
  }
  Call::Bytes output_bytes(std::string_view name, Type type = Type::kOther) const;
  bool was_canary() const;
  void cancel() noexcept;

 private:
  friend class Shadow;
  struct Impl;
  bool answer_by_canary() noexcept;
  explicit ShadowCall(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace ounce::app
