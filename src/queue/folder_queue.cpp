// The coordinator's side of a queue in a folder.
#include <fmt/format.h>
#include <ounce/runtime.h>
#include <ounce/work.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "base/cancel.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "queue/answering.h"
#include "queue/layout.h"

namespace ounce {
namespace queue {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::size_t kFewItems = 64;  // looked for one by one
constexpr milliseconds kFirstLook{1}, kLastLook{10};
constexpr double kRestoreSeconds = 2;                       // between checks that items still exist
constexpr std::size_t kMostReason = std::size_t{64} << 10;  // bytes

// A question without an answer yet.
struct Waiting {
  std::string text;
  std::vector<std::size_t> questions;  // with this text
  std::optional<Stopwatch> declined;   // since no worker has taken it
  std::string why;                     // it was declined
};

class FolderQueue final : public WorkQueue {
 public:
  FolderQueue(const std::filesystem::path& folder, const std::string& session, const QueueLimits& limits,
              Progress* progress)
      : layout_(folder), session_(parse_json(session)), limits_(limits), progress_(progress) {}

  void ask(const std::vector<std::string>& questions, const Take& take) override {
    std::map<std::string, Waiting> waiting;  // by the names of the items
    for (std::size_t i = 0; i < questions.size(); ++i) {
      std::string text = with_session(questions[i], session_);
      Waiting& one = waiting[item_name(text, needs_times(parse_json(text, kQueueJson)))];
      one.text = std::move(text);
      one.questions.push_back(i);
    }
    try {
      for (const auto& [name, one] : waiting) publish(name, one);
      wait_for(waiting, take);
    } catch (...) {  // no caller needs these answers; one that arrives later is found by the next call
      for (const auto& [name, one] : waiting) forget(name);
      throw;
    }
  }

 private:
  void publish(const std::string& name, const Waiting& one) {
    if (!layout_.done.has(name) && !layout_.items.has(name))
      layout_.items.publish(name, one.text, layout_.drafts, layout_.draft());
  }

  // Removes what workers need no more.
  void forget(const std::string& name) const {
    layout_.items.remove(name);
    for (unsigned n = 1; layout_.leases.has(lease_name(name, n)); ++n)
      layout_.leases.remove(lease_name(name, n));
  }

  void wait_for(std::map<std::string, Waiting>& waiting, const Take& take) {
    Stopwatch restored;
    for (milliseconds pause = kFirstLook; !waiting.empty();) {
      throw_if_cancelled();
      const std::vector<std::string> found = answered(waiting);
      for (const std::string& name : found) {
        if (!take_answer(name, waiting.at(name), take)) continue;
        forget(name);
        waiting.erase(name);
      }
      pause = found.empty() ? std::min(2 * pause, kLastLook) : kFirstLook;
      if (restored.seconds() > kRestoreSeconds) {
        look_after(waiting);
        restored = Stopwatch();
      }
      if (found.empty()) std::this_thread::sleep_for(pause);
    }
  }

  std::vector<std::string> answered(const std::map<std::string, Waiting>& waiting) const {
    std::vector<std::string> found;
    if (waiting.size() <= kFewItems) {
      for (const auto& [name, one] : waiting) {
        if (layout_.done.has(name)) found.push_back(name);
      }
      return found;
    }
    for (std::string& name : layout_.done.names()) {
      if (waiting.contains(name)) found.push_back(std::move(name));
    }
    return found;
  }

  // Returns false if the answer is not valid: then the question is asked again.
  bool take_answer(const std::string& name, const Waiting& one, const Take& take) {
    const std::string text = layout_.done.read(name).value_or("");
    const json answer = parse_json_or_nothing(text, kQueueJson);
    const bool is_valid =
        answer.is_object() && answer.value("question", json()) == name &&
        (answer.contains("value") || (answer.contains("error") && answer["error"].is_object()));
    if (!is_valid) {
      layout_.done.remove(name);
      publish(name, one);
      return false;
    }
    // A value that depends on the state of a machine may differ next time.
    const std::optional<Error> error = error_in(answer);
    if (error || answer.value("kept", json(true)) == false) layout_.done.remove(name);
    if (error) throw *error;
    for (const std::size_t i : one.questions) take(i, text);
    return true;
  }

  // Publishes items again that another process removed, and gives up on those that no worker can answer.
  void look_after(std::map<std::string, Waiting>& waiting) {
    bool is_measured = false;
    for (auto& [name, one] : waiting) {
      publish(name, one);
      if (!layout_.leases.has(lease_name(name, 1))) continue;
      is_measured = true;
      one.declined.reset();
    }
    if (progress_ != nullptr && !is_measured) progress_->stage = "waiting for workers";
    for (const std::string& name : layout_.declined.names()) {
      const std::size_t dot = name.rfind('.');
      const auto declined = waiting.find(name.substr(0, dot));
      if (dot == name.npos || declined == waiting.end()) continue;
      Waiting& one = declined->second;
      if (one.why.empty()) one.why = layout_.declined.read(name, kMostReason).value_or("");
      if (!one.declined && !layout_.leases.has(lease_name(declined->first, 1))) one.declined.emplace();
    }
    for (const auto& [name, one] : waiting) {
      if (one.declined && one.declined->seconds() > limits_.lease_seconds)
        throw Error(ErrorCode::kUnsupported, "no worker of the queue can measure this: " + one.why);
    }
  }

  Layout layout_;
  json session_;
  QueueLimits limits_;
  Progress* progress_;
};

}  // namespace
}  // namespace queue

std::unique_ptr<WorkQueue> folder_queue(const std::filesystem::path& folder, const std::string& session,
                                        const QueueLimits& limits, Progress* progress) {
  return std::make_unique<queue::FolderQueue>(folder, session, limits, progress);
}

}  // namespace ounce
