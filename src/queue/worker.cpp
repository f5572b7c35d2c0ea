// The worker's side of a queue in a folder.
#include <fmt/format.h>
#include <ounce/runtime.h>
#include <ounce/work.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/machine.h"
#include "queue/answering.h"
#include "queue/layout.h"

namespace ounce {
namespace queue {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr unsigned kMostLeases = 1000;    // of one item
constexpr duration<double> kItemLook{1};  // between looks whether the item is still needed
constexpr int kBeatsInLease = 6;          // changes of the counter within the lease time
constexpr double kBusySeconds = 10;       // after the last item, during which a worker looks often
constexpr milliseconds kOften{5}, kSeldom{200};
constexpr std::size_t kMostWorkerName = 256;  // bytes

// Changes the counter of a worker, and stops its measurement when the item disappears.
class Heartbeat {
 public:
  Heartbeat(Layout& layout, double lease_seconds)
      : layout_(layout),
        between_(std::max(0.01, lease_seconds / kBeatsInLease)),
        thread_([this] { beat(); }) {}

  ~Heartbeat() {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    ended_.notify_one();
    thread_.join();
    layout_.beats.remove(layout_.owner());
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Measuring `item` ends with `stop` if its coordinator no longer needs it.
  void watch(const std::string& item, Progress* stop) {
    const std::scoped_lock lock(mutex_);
    item_ = item;
    stop_ = stop;
  }

 private:
  void beat() {
    std::unique_lock lock(mutex_);
    const duration<double> look = std::min(between_, kItemLook);
    std::optional<Stopwatch> since;
    do {
      if (!since || since->seconds() >= between_.count()) {
        since = Stopwatch();
        show_life();
      }
      if (stop_ != nullptr && !layout_.items.has(item_)) stop_->stop();
    } while (!ended_.wait_for(lock, look, [this] { return is_over_; }));
  }

  void show_life() {
    try {
      layout_.beats.overwrite(layout_.owner(), fmt::format("{}", ++count_));
    } catch (const Error&) {  // a full disk: others take over the item, if it lasts
    }
  }

  Layout& layout_;
  duration<double> between_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::uint64_t count_ = 0;
  std::string item_;
  Progress* stop_ = nullptr;
  std::thread thread_;  // the last: it uses all of the others
};

// Which other workers live: those whose counters change. Only the clock of this machine counts.
class Others {
 public:
  Others(const Layout& layout, double lease_seconds) : layout_(layout), lease_seconds_(lease_seconds) {}

  bool has_ended(const std::string& worker) {
    const std::string count =
        is_plain_name(worker) ? layout_.beats.read(worker, kMostWorkerName).value_or("") : "";
    const auto [known, is_new] = seen_.try_emplace(worker);
    if (is_new || known->second.count != count) known->second = {count, Stopwatch()};
    return known->second.unchanged.seconds() > lease_seconds_;
  }

 private:
  struct Seen {
    std::string count;
    Stopwatch unchanged;
  };
  const Layout& layout_;
  double lease_seconds_;
  std::map<std::string, Seen> seen_;
};

class Worker {
 public:
  Worker(const std::filesystem::path& folder, const WorkOptions& options)
      : options_(options),
        layout_(folder),
        others_(layout_, options.limits.lease_seconds),
        beat_(layout_, options.limits.lease_seconds),
        answering_(options),
        order_(std::random_device()()) {}

  WorkResult run() {
    Stopwatch idle, all;
    while (idle.seconds() < options_.idle_seconds) {
      throw_if_cancelled();
      if (take_one()) {
        idle = Stopwatch();
      } else {
        std::this_thread::sleep_for(idle.seconds() < kBusySeconds ? kOften : kSeldom);
      }
    }
    result_.seconds = all.seconds();
    return result_;
  }

 private:
  // Leases an item and answers it. Returns false if there is none.
  bool take_one() {
    if (candidates_.empty()) {
      for (std::string& name : layout_.items.names()) {
        if (is_item_name(name) && !declined_.contains(name) && (options_.times || !is_of_times(name)))
          candidates_.push_back(std::move(name));
      }
      std::shuffle(candidates_.begin(), candidates_.end(), order_);  // workers begin at different items
    }
    while (!candidates_.empty()) {
      throw_if_cancelled();
      const std::string name = std::move(candidates_.front());
      candidates_.pop_front();
      if (layout_.done.has(name)) continue;
      const unsigned number = lease(name);
      if (number == 0) continue;
      if (!layout_.done.has(name) && measure(name, lease_name(name, number))) return true;
    }
    return false;
  }

  // Returns the number of the new lease; 0: a living worker has the item.
  unsigned lease(const std::string& name) {
    unsigned number = 1;
    while (number <= kMostLeases && layout_.leases.has(lease_name(name, number))) ++number;
    if (number > kMostLeases) return 0;
    if (number > 1) {
      const std::string holder =
          layout_.leases.read(lease_name(name, number - 1), kMostWorkerName).value_or("");
      if (!others_.has_ended(holder)) return 0;
      remove_drafts_of(holder);
    }
    return layout_.leases.publish(lease_name(name, number), layout_.owner(), layout_.drafts, layout_.draft())
               ? number
               : 0;
  }

  void remove_drafts_of(const std::string& holder) const {
    if (!is_plain_name(holder)) return;
    for (const std::string& name : layout_.drafts.names()) {
      if (name.starts_with(holder + ".")) layout_.drafts.remove(name);
    }
  }

  // Returns false if the item was removed meanwhile, or if this worker cannot answer it.
  bool measure(const std::string& name, const std::string& lease) {
    const std::optional<std::string> question = layout_.items.read(name);
    if (!question) {
      layout_.leases.remove(lease);
      return false;
    }
    const Stopwatch time;
    Progress stop;
    beat_.watch(name, &stop);
    std::string answer, why;
    bool is_needed = true;
    try {
      if (item_name(*question, is_of_times(name)) != name)
        throw Error(ErrorCode::kUnsupported, "the name of the item is not the digest of its text");
      const CancellationScope scope(&stop);
      answer = answering_.answer(*question);
    } catch (const Error& error) {
      is_needed = error.code() != ErrorCode::kCancelled;
      why = error.what();
    }
    beat_.watch({}, nullptr);
    if (!is_needed) {
      layout_.leases.remove(lease);  // another worker need not wait for the end of the lease
      throw_if_cancelled();          // this worker was stopped, not only this item
      return false;
    }
    if (!why.empty()) {
      decline(name, lease, why);
      return false;
    }
    result_.measuring_seconds += time.seconds();
    deliver(name, answer);
    options_.tell(fmt::format("{}: answered in {:.3f} s", name, time.seconds()));
    return true;
  }

  void deliver(const std::string& name, const std::string& text) {
    const std::string answer =
        with_fields({{"question", name}, {"worker", layout_.owner()}, {"exclusive", options_.times}}, text);
    const bool is_first =
        layout_.done.publish(name, answer, layout_.drafts, layout_.draft(), SharedFolder::Flush::kToDisk);
    ++(is_first ? result_.answered : result_.late);
  }

  void decline(const std::string& name, const std::string& lease, const std::string& why) {
    declined_.insert(name);
    ++result_.declined;
    layout_.declined.publish(fmt::format("{}.{}", name, layout_.owner()), why, layout_.drafts,
                             layout_.draft());
    layout_.leases.remove(lease);
    options_.tell(fmt::format("{}: declined: {}", name, why));
  }

  const WorkOptions& options_;
  Layout layout_;
  Others others_;
  Heartbeat beat_;
  Answering answering_;
  std::mt19937 order_;
  std::deque<std::string> candidates_;
  std::set<std::string> declined_;
  WorkResult result_;
};

}  // namespace
}  // namespace queue

WorkResult work(const std::filesystem::path& folder, const WorkOptions& options) {
  const CancellationScope scope(options.progress);
  return queue::Worker(folder, options).run();
}

}  // namespace ounce
