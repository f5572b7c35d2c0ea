// Feeds beyond data files: read ahead, with a digest of their batches, or generated from the model's
// description.
#pragma once

#include <ounce/data.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "data/source/data_feed.h"
#include "model/model_file.h"

namespace ounce::evaluate {

// Reads the next batch while the models work on this one.
//
//   Prefetch batches(feed);
//   while (const data::Batch* batch = batches.next()) …   // in the feed's order
//
// One batch is read ahead, so memory holds two. Until the end only the thread of the Prefetch uses the feed.
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

// A feed that computes digests of the batches that were read.
//
//   DigestingFeed feed(*open.feed);
//   … run models on it …
//   feed.inputs();     // of all batches in their order, each once
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

// `wanted` of the numbers 0 … all - 1, in their order, evenly spread because data is often sorted.
// `is_sequence`: the first ones, as each sample continues the one before.
inline std::vector<std::uint64_t> evenly_spaced(std::uint64_t all, std::uint64_t wanted, bool is_sequence) {
  std::vector<std::uint64_t> chosen;
  const std::uint64_t count = std::min(all, wanted);
  for (std::uint64_t i = 0; i < count; ++i) chosen.push_back(is_sequence ? i : i * all / count);
  return chosen;
}

struct Range {
  double low = -1, high = 1;
};

// The legal values of an input.
struct Legal {
  Range range;
  std::optional<std::int64_t> rows;  // it is an index into a table with so many rows
};

// For each input of the model, from its graph (tables) and its contract (ranges).
std::map<std::string, Legal> legal_values(const model::ModelFile& model,
                                          const std::vector<data::ValueDescription>& inputs,
                                          const DataOptions& options);

std::int64_t usual_length(const data::ValueDescription& input, std::size_t axis);  // 16; 224 for pictures

// How values are chosen.
struct Fill {
  enum class Kind { kNoise, kLowest, kHighest, kMiddle, kZero, kBeyond };
  Kind kind = Kind::kNoise;
  std::uint64_t seed = 1;
};

// Random inputs: legal in type, shape and range, and the same for the same seed.
data::Tensor make_values(const data::ValueDescription& input, data::Dims dims, const Legal& legal,
                         const Fill& fill);

// Random samples; states are zero, constants as in the options.
class GeneratedFeed : public data::Feed {
 public:
  GeneratedFeed(const model::ModelFile& model, std::vector<data::ValueDescription> inputs,
                const DataOptions& options);

  std::uint64_t batches() const override { return batches_; }
  std::uint64_t samples() const override { return batches_ * batch_; }
  void read(std::uint64_t index, data::Batch& batch) override;
  std::vector<std::string> notes() const override;

 private:
  void require_room() const;  // throws Error{kUnsupported} when a run would take too much memory

  std::vector<data::ValueDescription> inputs_;
  DataOptions options_;
  std::map<std::string, Legal> legal_;
  std::uint64_t batch_ = 1, batches_ = 1;
};

}  // namespace ounce::evaluate
