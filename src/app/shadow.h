// What a Shadow holds: the queue of calls to be compared, and the thread that does it.
#pragma once

#include <ounce/app/shadow.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "app/call.h"
#include "app/shadow_compare.h"

namespace ounce::app {

// A call that waits. Its memory is used again and again.
struct WaitingCall {
  std::vector<data::Tensor> inputs, outputs;
};

struct Shadow::Impl {
  Impl(Session session, MakeCandidate make, std::string primary_digest, std::string candidate_digest,
       const ShadowOptions& given, bool isolated);
  ~Impl();

  // After a run of the primary. Never waits for the candidate.
  void offer(const Call::Impl& call, double seconds);
  // Is this call the canary's?
  bool is_for_canary(std::uint64_t number) const;
  void canary_answered(double seconds);
  void canary_failed(const std::string& reason);
  void count_failure(CandidateFault fault, bool is_finite);  // with the mutex held
  void save(bool at_once);

  const Session primary;
  const MakeCandidate make_candidate;
  const ShadowOptions options;
  std::atomic<std::uint64_t> calls{0};
  std::atomic<double> canary_share{0};

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<WaitingCall> slots;
  std::vector<std::size_t> free, waiting;  // of the slots; their memory is theirs from the start
  ShadowStatistics statistics;
  std::uint64_t canary_good = 0;  // since its share has grown
  bool ends = false, is_busy = false, has_alarmed = false;

  // Of the thread alone.
  std::unique_ptr<Candidate> candidate;
  std::uint64_t failures_in_a_row = 0, to_rest = 0;
  std::chrono::steady_clock::time_point saved_at = std::chrono::steady_clock::now();
  std::thread thread;

 private:
  void work();
  void compare(const WaitingCall& call);
  void check_limits();
};

// By name: which of the candidate's values is which of the primary's. Throws Error{kBadInput} when one is
// missing.
std::vector<std::size_t> order_by_name(const std::vector<data::ValueDescription>& wanted,
                                       const std::vector<data::ValueDescription>& has);

struct ShadowCall::Impl {
  std::shared_ptr<Shadow::Impl> shadow;
  Call call;
  std::unique_ptr<Candidate> canary;  // of its own: nobody waits for another call
  std::vector<std::string> answer;    // the canary's, by the primary's outputs
  bool was_canary = false;
};

}  // namespace ounce::app
