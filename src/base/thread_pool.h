// A fixed set of threads that run the steps of one loop at a time.
//
//   ThreadPool pool(2);
//   pool.for_each(tiles, [&](std::size_t tile) { ... });
//
// Steps may run in any order and on any thread, so each step must write only its own data; results are then
// the same for any number of threads. for_each() rethrows the first exception of a step after all threads
// have left the loop.
//
// A pool runs one loop at a time. A step that starts a loop on its own pool, or a second thread, gets
// Error{kInternal}. Use run_jobs() for nested loops.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ounce {

class ThreadPool {
 public:
  // 0 means one thread per CPU that this process may use. 1 runs everything in the caller.
  explicit ThreadPool(unsigned threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(workers_.size()) + 1; }
  void for_each(std::size_t steps, const std::function<void(std::size_t)>& run);

 private:
  void work();
  void take_steps(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(std::size_t)>* run_ = nullptr;
  std::size_t next_ = 0, steps_ = 0, running_ = 0;
  std::exception_ptr failure_;
  bool closing_ = false;
  std::vector<std::thread> workers_;
};

// Runs the steps 0 … n-1, possibly on several threads.
using ForEach = std::function<void(std::size_t steps, const std::function<void(std::size_t)>& run)>;

// Runs the steps one after another on the calling thread.
void run_serially(std::size_t steps, const std::function<void(std::size_t)>& run);

// Runs jobs of very different sizes: large ones one after another with all threads inside each, small ones in
// parallel with one thread each. Job i reads bytes(i) bytes. run(i, for_each) executes it and runs its inner
// loops through for_each.
void run_jobs(ThreadPool& pool, std::size_t jobs, const std::function<std::uint64_t(std::size_t)>& bytes,
              const std::function<void(std::size_t, const ForEach&)>& run);

}  // namespace ounce
