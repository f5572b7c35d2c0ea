// Reads the next batch while the models work on this one.
//
//   Prefetch batches(feed);
//   while (const data::Batch* batch = batches.next()) …   // in the feed's order
//
// One batch is read ahead, so memory holds two. The feed belongs to the thread in here until the end.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "data/feed.h"

namespace ounce::measure {

class Prefetch {
 public:
  explicit Prefetch(data::Feed& feed);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // Null at the end; rethrows what reading threw. The batch stays until the next call.
  const data::Batch* next();

 private:
  void read_all();

  data::Feed& feed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  data::Batch current_, ahead_;
  bool is_ready_ = false, is_over_ = false, is_closing_ = false;
  std::exception_ptr failure_;
  std::thread reader_;
};

}  // namespace ounce::measure
