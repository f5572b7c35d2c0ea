// Reads the next batch while the models work on this one.
//
//   Prefetch batches(feed);
//   while (const data::Batch* batch = batches.next()) …   // in the feed's order
//
// One batch is read ahead, so memory holds two. The feed belongs to the thread in here until the end.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "data/source/data_feed.h"

namespace ounce::evaluate {

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

// A feed that remembers what it gave, as a digest: which data was it?
//
//   DigestingFeed feed(*open.feed);
//   … run models on it …
//   feed.inputs();     // of all batches that were read, in their order, however often

class DigestingFeed : public data::Feed {
 public:
  explicit DigestingFeed(data::Feed& feed) : feed_(feed) {}  // which has to outlive this

  std::uint64_t batches() const override { return feed_.batches(); }
  std::uint64_t samples() const override { return feed_.samples(); }
  std::vector<std::string> notes() const override { return feed_.notes(); }
  void read(std::uint64_t index, data::Batch& batch) override;

  // 64 hexadecimal digits each (SHA-256). Labels: empty when there are none.
  std::string inputs() const;
  std::string labels() const;

 private:
  data::Feed& feed_;
  std::map<std::uint64_t, std::pair<Sha256::Digest, Sha256::Digest>>
      seen_;  // inputs and labels of each batch
  bool has_labels_ = false;
};

// Some of many, evenly spread: data is often in some order, so the first ones would not do.

// `wanted` of the numbers 0 … all - 1, in their order. `is_sequence`: the first ones, as each follows from
// the one before.
inline std::vector<std::uint64_t> evenly_spaced(std::uint64_t all, std::uint64_t wanted, bool is_sequence) {
  std::vector<std::uint64_t> chosen;
  const std::uint64_t count = std::min(all, wanted);
  for (std::uint64_t i = 0; i < count; ++i) chosen.push_back(is_sequence ? i : i * all / count);
  return chosen;
}

}  // namespace ounce::evaluate
