// Feeds on top of data files: reading ahead, digests of batches, and random inputs generated from the model's
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

// Reads the next batch in a thread while the models run on the current one.
//
//   Prefetch batches(feed);
//   while (const data::Batch* batch = batches.next()) run(*batch);   // in the feed's order
//
// Reads one batch ahead, so that two are in memory. Only the Prefetch's thread may use the feed during its
// lifetime.
class Prefetch {
 public:
  explicit Prefetch(data::Feed& feed);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // Returns null at the end. The batch is valid until the next call. Rethrows errors of reading.
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

// Wraps a feed and computes digests of the batches that were read.
//
//   DigestingFeed feed(*open.feed);
//   run_models(feed);
//   feed.inputs();     // digest of all batches in their order, each once
class DigestingFeed : public data::Feed {
 public:
  explicit DigestingFeed(data::Feed& feed) : feed_(feed) {}  // `feed` must outlive this

  std::uint64_t batches() const override { return feed_.batches(); }
  std::uint64_t samples() const override { return feed_.samples(); }
  std::vector<std::string> notes() const override { return feed_.notes(); }
  void read(std::uint64_t index, data::Batch& batch) override;

  // SHA-256 as 64 hex digits. labels() is empty if there are no labels.
  std::string inputs() const;
  std::string labels() const;

 private:
  data::Feed& feed_;
  std::map<std::uint64_t, std::pair<Sha256::Digest, Sha256::Digest>>
      seen_;  // digests of the inputs and labels of each batch
  bool has_labels_ = false;
};

// Chooses `wanted` of the numbers 0 … all − 1 in ascending order. They are evenly spread, because data is
// often sorted. With `is_sequence` they are the first ones, because each sample continues the one before.
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
  std::optional<std::int64_t> rows;  // for indices into a table: its number of rows
};

// The legal values of each input, from the model's graph (tables) and its contract (ranges).
std::map<std::string, Legal> legal_values(const model::ModelFile& model,
                                          const std::vector<data::ValueDescription>& inputs,
                                          const DataOptions& options);

// The default length of a dynamic axis: 16; 224 for images; 1 for the batch of recurrent states.
std::int64_t usual_length(const data::ValueDescription& input, std::size_t axis);

// How to choose values.
struct Fill {
  enum class Kind { kNoise, kLowest, kHighest, kMiddle, kZero, kBeyond };
  Kind kind = Kind::kNoise;
  std::uint64_t seed = 1;
};

// Generates values of a legal type, shape and range, reproducible by seed.
data::Tensor make_values(const data::ValueDescription& input, data::Dims dims, const Legal& legal,
                         const Fill& fill);

// A feed of random samples. States are zero; constants are those of the options.
class GeneratedFeed : public data::Feed {
 public:
  GeneratedFeed(const model::ModelFile& model, std::vector<data::ValueDescription> inputs,
                const DataOptions& options);

  std::uint64_t batches() const override { return batches_; }
  std::uint64_t samples() const override { return batches_ * batch_; }
  void read(std::uint64_t index, data::Batch& batch) override;
  std::vector<std::string> notes() const override;

 private:
  void require_room() const;  // throws Error{kUnsupported} if a run needs too much memory

  std::vector<data::ValueDescription> inputs_;
  DataOptions options_;
  std::map<std::string, Legal> legal_;
  std::uint64_t batch_ = 1, batches_ = 1;
};

}  // namespace ounce::evaluate
