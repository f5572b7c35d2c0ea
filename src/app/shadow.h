// Implementation of Shadow: the queue of calls to compare, the thread that compares them, and the candidate.
#pragma once

#include <ounce/app.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "app/session.h"
#include "data/tensor.h"
#include "runtime/executor.h"

namespace ounce::app {

enum class CandidateFault { kNone, kError, kCrash, kTimeout };

// The candidate of a shadow deployment: a model whose runs may fail in any way.
class Candidate {
 public:
  virtual ~Candidate() = default;
  virtual const std::vector<data::ValueDescription>& inputs() const = 0;
  virtual const std::vector<data::ValueDescription>& outputs() const = 0;
  // Throws Error; fault_of() classifies it. The views are valid until the next run.
  virtual std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) = 0;
  virtual CandidateFault fault_of(const Error& error) const;
};

// Loads a candidate. Throws Error.
using MakeCandidate = std::function<std::unique_ptr<Candidate>()>;

// Loads the candidate in a runner process if `isolated`, else in this process.
MakeCandidate candidate_of(const std::filesystem::path& model, const LoadOptions& options, bool isolated,
                           double seconds);
bool can_isolate() noexcept;

// Adds one output of one call to the statistics. Predictions are counted as in verify() (data/class_rows.h);
// `output` is the primary's description. Returns false, without adding anything, if the candidate has NaN or
// infinity where the primary is finite.
bool add_comparison(const data::ValueDescription& output, const data::TensorView& primary,
                    const data::TensorView& candidate, ShadowOutput& sums);

// True if all values are finite.
bool is_finite(const data::TensorView& tensor);

// A call in the queue. Its memory is reused.
struct WaitingCall {
  std::vector<data::Tensor> inputs, outputs;
};

struct Shadow::Impl {
  Impl(Session session, MakeCandidate make, std::string primary_digest, std::string candidate_digest,
       const ShadowOptions& given, bool isolated);
  ~Impl();

  // Counts a run of the primary and may queue it for comparison. Never waits for the candidate.
  void offer(const Call::Impl& call, double seconds);
  // True if the candidate answers this call.
  bool is_for_canary(std::uint64_t number) const;
  void canary_answered(double seconds);
  void canary_failed(const std::string& reason);
  void count_failure(CandidateFault fault, bool is_finite);  // the caller holds the mutex
  void save(bool at_once);

  const Session primary;
  const MakeCandidate make_candidate;
  const ShadowOptions options;
  std::atomic<std::uint64_t> calls{0};
  std::atomic<double> canary_share{0};

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<WaitingCall> slots;
  std::vector<std::size_t> free, waiting;  // indices of slots
  ShadowStatistics statistics;
  std::uint64_t canary_good = 0;  // successful canary calls since its share grew
  bool ends = false, is_busy = false, has_alarmed = false;

  // Used only by the thread that compares.
  std::unique_ptr<Candidate> candidate;
  std::uint64_t failures_in_a_row = 0, to_rest = 0;
  std::chrono::steady_clock::time_point saved_at = std::chrono::steady_clock::now();
  std::thread thread;

 private:
  void work();
  void compare(const WaitingCall& call);
  void check_limits();
};

// Finds the indices of the wanted values by name and type. Throws Error{kBadInput} if one is missing.
std::vector<std::size_t> order_by_name(const std::vector<data::ValueDescription>& wanted,
                                       const std::vector<data::ValueDescription>& has);

struct ShadowCall::Impl {
  std::shared_ptr<Shadow::Impl> shadow;
  Call call;
  std::unique_ptr<Candidate> canary;  // not shared, so that calls do not wait for each other
  std::vector<std::string> answer;    // outputs of the canary, in the order of the primary's
  bool was_canary = false;
};

}  // namespace ounce::app
