// Inputs made up from a model's own description: legal in type, shape and range, and the same for the same
// seed.
#pragma once

#include <ounce/data.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/source/data_feed.h"
#include "model/model_file.h"

namespace ounce::evaluate {

struct Range {
  double low = -1, high = 1;
};

// What is known of an input beyond its type.
struct Legal {
  Range range;
  std::optional<std::int64_t> rows;  // it selects from a table of so many
};

// For each input of the model, from its graph (tables) and its contract (ranges).
std::map<std::string, Legal> legal_values(const model::ModelFile& model,
                                          const std::vector<data::ValueDescription>& inputs,
                                          const DataOptions& options);

// Dimensions for an input: fixed ones as they are, the first one the batch where it is free, others by
// options.shape
// ("T" or "input:axis"), else `otherwise(dimension, axis, rank)`.
using FreeAxis = std::function<std::int64_t(const data::ValueDescription& input, std::size_t axis)>;
data::Dims dims_for(const data::ValueDescription& input, const DataOptions& options, std::int64_t batch,
                    const FreeAxis& otherwise);
std::int64_t usual_length(const data::ValueDescription& input, std::size_t axis);  // 16; 224 for pictures

// How values are chosen.
struct Fill {
  enum class Kind { kNoise, kLowest, kHighest, kMiddle, kZero, kBeyond };
  Kind kind = Kind::kNoise;
  std::uint64_t seed = 1;
};

data::Tensor make_values(const data::ValueDescription& input, data::Dims dims, const Legal& legal,
                         const Fill& fill);

// The same number everywhere; integers are rounded.
data::Tensor make_constant(const data::ValueDescription& input, data::Dims dims, double value);

// Random samples without end; states are zero, constants are what the options say.
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
