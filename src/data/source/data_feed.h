// Feeds a model with data: maps fields to inputs, applies the contract, converts or refuses types and shapes,
// and puts samples together to batches.
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
  std::vector<Tensor> labels;      // one for each sample, without a batch axis; none if there are no labels
  std::vector<std::string> names;  // one for each sample
  bool starts_sequence = true;     // a state that is carried from run to run is reset here
};

// Gives a model its inputs, batch by batch, from files or generated.
class Feed {
 public:
  virtual ~Feed() = default;
  // The number of batches, and of samples in all of them.
  virtual std::uint64_t batches() const = 0;
  virtual std::uint64_t samples() const = 0;
  // Any order is allowed; their own order is fastest. `batch` is replaced, and its memory is used again.
  virtual void read(std::uint64_t index, Batch& batch) = 0;
  // Remarks for the user about how the data was fitted to the model.
  virtual std::vector<std::string> notes() const { return {}; }
};

class DataFeed : public Feed {
 public:
  // Throws Error{kBadInput} when the data lacks an input, or has none of the samples asked for.
  DataFeed(const std::vector<ValueDescription>& inputs, const DataOptions& options);

  std::uint64_t batches() const override { return (samples_ + batch_ - 1) / batch_; }
  std::uint64_t samples() const override { return samples_; }
  void read(std::uint64_t index, Batch& batch) override;
  // Beside what was found at the start: what was read so far and looks unlike the contract's data.
  std::vector<std::string> notes() const override;

  // The samples of this feed: sample i is number first + i * step of the data. [begin, end) was asked for, of
  // which this feed may be one part.
  struct Choice {
    std::uint64_t size = 0, begin = 0, end = 0;
    std::uint64_t first = 0, step = 1;
    std::uint64_t batch = 1;  // samples in a batch; the last one may have fewer
  };
  Choice choice() const { return {size_, options_.first, end_, first_, stride_, batch_}; }

  // Ranges of the values that have been read so far, by input, for inputs with a contract.
  const std::map<std::string, ObservedRange>& observed() const { return observed_; }
  // Throws Error{kBadInput} when they contradict the contract.
  void require_agreement() const;

 private:
  // Where an input's values come from.
  struct Origin {
    ValueDescription input;
    Source* source = nullptr;  // null: always the same
    std::string field;
    std::vector<std::string> columns;  // instead, where several make one vector
    bool is_listed = false;            // a column of a list, not the content of a file
    std::optional<Preprocess> preprocess;
    const InputContract* contract = nullptr;
    Tensor constant;
  };

  void name_the_only_input(const std::vector<ValueDescription>& inputs);
  Source& open(const std::filesystem::path& path, const ValueDescription* input);
  Origin find_origin(const ValueDescription& input, bool is_only);
  std::string find_field(const Source& source, const ValueDescription& input, bool is_only,
                         const std::filesystem::path& path) const;
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
  std::uint64_t size_ = 0, end_ = 0;  // of the data, and behind the last sample that was asked for
  std::map<std::string, ObservedRange> observed_;
  std::vector<std::string> notes_;
  std::vector<float> floats_;  // of data in other types
};

// The dimensions of an input: fixed ones, for a dynamic axis the length in options.shape ("T" or
// "input:axis"), else `batch` for the first axis and otherwise(input, axis) for the others.
using FreeAxis = std::function<std::int64_t(const ValueDescription& input, std::size_t axis)>;
Dims dims_for(const ValueDescription& input, const DataOptions& options, std::int64_t batch,
              const FreeAxis& otherwise);
// The dimensions of a state or a constant: dynamic axes are 1 unless options.shape says otherwise.
Dims shortest_dims_for(const ValueDescription& input, const DataOptions& options);
// A tensor with one number everywhere; integers are rounded. Throws Error{kBadInput}.
Tensor filled_tensor(const ValueDescription& input, Dims dims, double value);

// The inputs that a model's file declares, as the runtime describes them once the model is loaded. Data can
// be checked against them before anything is loaded.
std::vector<ValueDescription> inputs_of(const model::ModelFile& file);

}  // namespace ounce::data
