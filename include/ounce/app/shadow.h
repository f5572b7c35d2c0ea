// A candidate beside the model that answers: on a share of the calls both run, and what they gave is
// compared.
//
//   Shadow shadow(Session::load("model.onnx"), "model.w8.onnx", {.share = 0.1, .statistics = "shadow.json"});
//   ShadowCall call = shadow.call();          // as Session::call(): one for each thread
//   …
//   call.run();                               // the primary's answer, as if nobody else were there
//
// The candidate runs in a thread of its own and, where there is an ounce-runner, in a process of its own: it
// may crash, hang or give nonsense, and the primary's answer is the same. What waits for it stands in a queue
// of fixed size; what finds it full is dropped and counted. Inputs are compared and forgotten: they are
// stored nowhere, and nothing leaves the device but the file of sums, which `ounce shadow report` reads and
// which can be merged with those of other devices.
//
// With a canary, the candidate answers a share of the calls that grows as long as all is well. When it fails,
// or an alarm is raised, the primary answers (that very call, too) and the reason is kept.
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

// Times in buckets of a tenth: sums of buckets are the buckets of the sum.
class Latencies {
 public:
  static constexpr std::size_t kBuckets = 320;  // from 0.1 µs on, eight for each doubling

  void add(double seconds);
  void add(const Latencies& other);
  std::uint64_t count() const;
  double quantile(double share) const;  // seconds; 0 when there are none

  const std::array<std::uint64_t, kBuckets>& buckets() const { return buckets_; }
  void set(std::size_t bucket, std::uint64_t count) { buckets_.at(bucket) = count; }

 private:
  std::array<std::uint64_t, kBuckets> buckets_{};
};

// One output, added up over all calls that were compared.
struct ShadowOutput {
  std::uint64_t values = 0;
  double signal = 0, noise = 0;  // squares of the primary's values, and of the differences
  double largest = 0;            // difference
  std::uint64_t answers = 0;     // rows with a best class …
  std::uint64_t flips = 0;       // … that is another one with the candidate

  double sqnr_db() const;  // infinite when nothing differs
};

struct ShadowStatistics {
  std::string primary, candidate;  // digests of the models
  std::uint64_t calls = 0;         // of the primary, and of the candidate as a canary
  std::uint64_t compared = 0;
  std::uint64_t dropped = 0;  // should have been compared, and the queue was full or the candidate resting
  std::uint64_t errors = 0;   // the candidate could not run, or gave other shapes
  std::uint64_t crashes = 0;  // its process ended
  std::uint64_t timeouts = 0;
  std::uint64_t not_finite = 0;  // NaN or infinity where the primary has a number
  std::uint64_t canary_calls = 0, canary_fallbacks = 0;
  double canary_share = 0;
  std::string canary_stopped;  // why; empty: it goes on, or there is none
  std::map<std::string, ShadowOutput> outputs;
  Latencies primary_latency, candidate_latency;
  std::uint64_t devices = 1;  // files that were merged into this one

  std::uint64_t failures() const { return errors + crashes + timeouts + not_finite; }
  std::uint64_t answers() const;
  std::uint64_t flips() const;
  double agreement() const;  // of the answers; 1 where there are none
  double sqnr_db() const;    // of the worst output
};

// What must hold. Nothing is said before `min_compared` calls.
struct ShadowLimits {
  std::uint64_t min_compared = 100;
  double min_agreement = 0.99;
  std::optional<double> min_sqnr_db = {};
  double max_failures = 0.001;                   // share of the calls that were compared
  std::optional<double> max_latency_ratio = {};  // p50 of the candidate by that of the primary
};

struct ShadowVerdict {
  bool is_known = false;  // enough was compared
  bool passed = false;
  std::vector<std::string> reasons;  // what does not hold
};

// Throw Failure{kUsage} for statistics of other models, Failure{kIo}, Failure{kUsage} for a file that is
// none.
ShadowStatistics read_shadow(const std::filesystem::path& file);
void write_shadow(const ShadowStatistics& statistics,
                  const std::filesystem::path& file);  // whole or not at all
void merge(ShadowStatistics& all, const ShadowStatistics& other);
ShadowVerdict judge(const ShadowStatistics& statistics, const ShadowLimits& limits);

struct Canary {
  double first = 0.01, last = 1;  // shares of the calls
  double growth = 2;              // after so many calls that went well:
  std::uint64_t calls_a_step = 1000;
};

struct ShadowOptions {
  double share = 1;        // of the calls
  std::size_t queue = 16;  // calls that may wait
  std::filesystem::path statistics =
      {};                        // kept up to date, and taken up again by the next process; empty: nowhere
  double save_seconds = 10;      // at most so often
  bool isolate = true;           // the candidate in a process of its own, where there is a runner
  double candidate_seconds = 5;  // that a run of it may take
  LoadOptions load = {};         // of the candidate: library, threads and config count
  ShadowLimits limits = {};      // alarms
  std::function<void(const ShadowVerdict&)> on_alarm = {};  // once, in the thread of the candidate
  std::optional<Canary> canary = {};
};

class ShadowCall;

class Shadow {
 public:
  // Throws Failure when the candidate's file cannot be read, or `statistics` is of other models. A candidate
  // that does not load is counted, and nothing else.
  Shadow(Session primary, const std::filesystem::path& candidate, const ShadowOptions& options = {});
  ~Shadow();  // what waits is dropped
  Shadow(Shadow&&) noexcept;
  Shadow& operator=(Shadow&&) noexcept;

  ShadowCall call(const CallOptions& options = {});
  ShadowStatistics statistics() const;
  // Until all that waited has been compared, and is saved; false when that takes longer.
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

  // The primary's call, to fill its inputs.
  Call& inputs();
  void run() { run(std::chrono::nanoseconds::max()); }
  void run(std::chrono::nanoseconds timeout);
  // Of the last run: the primary's, or the candidate's if it was the canary that answered.
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
