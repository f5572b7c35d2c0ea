// Samples, one after the other, from whatever holds them: an archive of arrays, a folder of images, a list.
//
// A sample has fields: named tensors without a batch axis. Which of them feeds which input of a model, and
// how (the contract), is somebody else's business; labels are fields like any other. Any sample can be read
// at any time, but reading in order is what a Source is fast at and what keeps its memory bounded: a dataset
// may be larger than memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// What the fields of a source look like before any sample is read.
struct Field {
  std::string name;
  ElementType type = ElementType::kUndefined;  // kUndefined: differs, or known only when a sample is read
  std::optional<Dims> dims;                    // nothing: differs from sample to sample
};

struct Sample {
  std::string name;  // for people: "val.npz[17]", "faces/1.jpg"
  std::vector<NamedTensor> fields;
  double sampling_rate = 0;  // of sound, where the file tells; 0 otherwise

  const Tensor* find(std::string_view field) const;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::vector<Field>& fields() const = 0;
  // The names of all that its file holds, for messages; fields() may be a choice of them.
  virtual std::vector<std::string> names_there() const;
  // Are its tensors whole inputs of a model, batch axis and all?
  virtual bool has_batch_axis() const { return false; }
  // Does a sequence begin with this sample (a recording that is cut into frames), or go on?
  virtual bool starts_sequence(std::uint64_t index) const { return index == 0; }
  // Throws Error{kBadInput} naming the file when it is not what its name or header says.
  virtual Sample read(std::uint64_t index) = 0;
};

}  // namespace ounce::data
