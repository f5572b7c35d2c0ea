#include "capi/call_host.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace ounce::capi {
namespace {

constexpr auto kBetween = std::chrono::milliseconds(100);

// Asks how far it is from a thread of its own, until it goes.
class CallbackWatch : public verbs::Watch {
 public:
  CallbackWatch(std::string what, Progress& whole, const OnProgress& on_progress)
      : thread_([this, what = std::move(what), &whole, &on_progress] {
          std::unique_lock lock(mutex_);
          while (!ended_.wait_for(lock, kBetween, [this] { return is_over_; })) {
            lock.unlock();
            if (on_progress(what, progress.stage.load(), progress.done.load(), progress.total.load()))
              whole.stop();
            lock.lock();
          }
        }) {}

  ~CallbackWatch() override {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  CallbackWatch(const CallbackWatch&) = delete;
  CallbackWatch& operator=(const CallbackWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;  // the last: it uses all of the others
};

}  // namespace

std::unique_ptr<verbs::Watch> CallHost::watch(const std::string& what) {
  if (!on_progress_) return std::make_unique<verbs::Watch>();
  return std::make_unique<CallbackWatch>(what, whole_, on_progress_);
}

void CallHost::write_complaint(const std::string& line) {
  outcome_.error += (outcome_.error.empty() ? "" : "\n") + line;
}

}  // namespace ounce::capi
