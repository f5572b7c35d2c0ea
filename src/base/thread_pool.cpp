#include "base/thread_pool.h"

#include <ounce/error.h>
#include <sched.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "base/cancel.h"

namespace ounce {
namespace {

constexpr unsigned kMostThreads = 256;

unsigned usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

ThreadPool::ThreadPool(unsigned threads) {
  const unsigned wanted = std::min(threads == 0 ? usable_cpus() : threads, kMostThreads);
  workers_.reserve(wanted);
  try {
    for (unsigned i = 1; i < wanted; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system cannot create more threads: the existing ones do all of the work.
  } catch (const std::bad_alloc&) {
    // No memory for another thread: the destructor must still join the running ones.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::for_each(std::size_t steps, const std::function<void(std::size_t)>& run) {
  if (steps == 0) return;
  const std::function<void(std::size_t)> limited = [&run, current = CurrentScope()](std::size_t step) {
    const CurrentScope::Scope scope(current);
    throw_if_cancelled();
    run(step);
  };
  std::unique_lock lock(mutex_);
  if (run_ != nullptr)
    throw Error(ErrorCode::kInternal, "a loop on a thread pool was started inside another one");
  run_ = &limited;
  next_ = 0;
  steps_ = steps;
  failure_ = nullptr;
  if (steps > 1) start_.notify_all();
  take_steps(lock);
  done_.wait(lock, [this] { return running_ == 0; });
  run_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [this] { return closing_ || (run_ != nullptr && next_ < steps_); });
    if (closing_) return;
    take_steps(lock);
    if (running_ == 0) done_.notify_one();
  }
}

// Takes steps until none is left. The lock is held except while a step runs. Steps are tiles of milliseconds,
// so there is no contention, and everything that a step wrote is visible afterward.
void ThreadPool::take_steps(std::unique_lock<std::mutex>& lock) {
  while (next_ < steps_) {
    const std::size_t step = next_++;
    ++running_;
    const auto* run = run_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*run)(step);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --running_;
    if (failure) {
      if (!failure_) failure_ = failure;
      next_ = steps_;
    }
  }
}

void run_serially(std::size_t steps, const std::function<void(std::size_t)>& run) {
  for (std::size_t i = 0; i < steps; ++i) run(i);
}

void run_jobs(ThreadPool& pool, std::size_t jobs, const std::function<std::uint64_t(std::size_t)>& bytes,
              const std::function<void(std::size_t, const ForEach&)>& run) {
  const ForEach on_all_threads = [&](std::size_t steps, const std::function<void(std::size_t)>& step) {
    pool.for_each(steps, step);
  };
  constexpr std::uint64_t kShareFrom = std::uint64_t{4} << 20;
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < jobs; ++i) {
    if (bytes(i) < kShareFrom) {
      small.push_back(i);
    } else {
      run(i, on_all_threads);
    }
  }
  pool.for_each(small.size(), [&](std::size_t i) { run(small[i], run_serially); });
}

}  // namespace ounce
