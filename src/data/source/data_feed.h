// Feeds a model with data: maps fields to inputs, applies the contract, converts or refuses types and shapes,
// and combines samples into batches.
#pragma once

#include <ounce/data.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/contract/preprocess.h"
#include "data/tensor.h"
#include "model/model_file.h"

namespace ounce::data {

struct Batch {
  std::vector<Tensor> inputs;      // in the model's order, with the batch axis
  std::vector<Tensor> labels;      // one per sample, without a batch axis; empty if there are no labels
  std::vector<std::string> names;  // one per sample
  bool starts_sequence = true;     // recurrent states are reset before this batch
};

// Provides the inputs of a model, batch by batch, from data or generated.
class Feed {
 public:
  virtual ~Feed() = default;
  // The number of batches, and the total number of samples.
  virtual std::uint64_t batches() const = 0;
  virtual std::uint64_t samples() const = 0;
  // Reads a batch into `batch`, reusing its memory. Any order is allowed; ascending order is fastest.
  virtual void read(std::uint64_t index, Batch& batch) = 0;
  // Remarks for the user about how the data was fitted to the model.
  virtual std::vector<std::string> notes() const { return {}; }
};

class DataFeed : public Feed {
 public:
  // Throws Error{kBadInput} if the data lacks an input or the requested samples.
  DataFeed(const std::vector<ValueDescription>& inputs, const DataOptions& options);

  std::uint64_t batches() const override { return (samples_ + batch_ - 1) / batch_; }
  std::uint64_t samples() const override { return samples_; }
  void read(std::uint64_t index, Batch& batch) override;
  // The notes of construction, and doubts whether the data read so far matches the contract.
  std::vector<std::string> notes() const override;

  // The samples of this feed: sample i is number first + i * step of the data. [begin, end) is the requested
  // range, of which this feed may be one part.
  struct Choice {
    std::uint64_t size = 0, begin = 0, end = 0;
    std::uint64_t first = 0, step = 1;
    std::uint64_t batch = 1;  // samples per batch; the last batch may have fewer
  };
  Choice choice() const { return {size_, options_.first, end_, first_, stride_, batch_}; }

  // Observed ranges of the values read so far, for inputs with a contract, by input.
  const std::map<std::string, ObservedRange>& observed() const { return observed_; }
  // Throws Error{kBadInput} if these ranges contradict the contract.
  void require_agreement() const;

 private:
  // The origin of an input's values.
  struct Origin {
    ValueDescription input;
    Source* source = nullptr;  // null: a constant
    std::string field;
    std::vector<std::string> columns;  // if not empty: these fields form one vector
    bool is_listed = false;            // from columns of a list, not from files
    std::optional<Preprocess> preprocess;
    const InputContract* contract = nullptr;
    Tensor constant;
  };

  void name_the_only_input(const std::vector<ValueDescription>& inputs);
  Source& open(const std::filesystem::path& path, const ValueDescription* input);
  Origin find_origin(const ValueDescription& input, bool is_only);
  void derive(Origin& origin);
  std::string find_field(const Source& source, const ValueDescription& input, bool is_only,
                         const std::filesystem::path& path);
  void find_labels();
  void choose_samples();
  void choose_part(const std::string& where);
  bool is_whole(const Origin& origin) const;
  bool is_made(const ValueDescription& input) const;
  Tensor read_one(const Origin& origin, const Sample& sample);

  DataOptions options_;
  std::vector<std::string> wanted_fields_;
  std::map<std::filesystem::path, std::unique_ptr<Source>> sources_;
  std::vector<Origin> origins_;
  Source* label_source_ = nullptr;
  std::uint64_t first_ = 0, samples_ = 0, stride_ = 1, batch_ = 1;
  std::uint64_t size_ = 0, end_ = 0;  // number of samples in the data, and end of the requested range
  std::map<std::string, ObservedRange> observed_;
  std::vector<std::string> notes_;
  std::vector<ValueDescription> unnamed_;  // several inputs for which no array was named
  std::vector<float> floats_;              // buffer for data of other types
};

// The dimensions of an input. A dynamic axis gets its length from options.shape ("T" or "input:axis"), or
// else `batch` for the first axis and otherwise(input, axis) for the others.
using FreeAxis = std::function<std::int64_t(const ValueDescription& input, std::size_t axis)>;
Dims dims_for(const ValueDescription& input, const DataOptions& options, std::int64_t batch,
              const FreeAxis& otherwise);
// The dimensions of a state or a constant: dynamic axes are 1 unless options.shape sets them.
Dims shortest_dims_for(const ValueDescription& input, const DataOptions& options);
// A tensor filled with one number, rounded for integer types. Throws Error{kBadInput}.
Tensor filled_tensor(const ValueDescription& input, Dims dims, double value);

// The inputs declared in a model file, described as by the runtime. They allow checking data before the model
// is loaded.
std::vector<ValueDescription> inputs_of(const model::ModelFile& file);

}  // namespace ounce::data
