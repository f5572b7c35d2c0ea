// Data that the caller has in memory (ounce/data.h: MemoryData), as samples. Only the sample that is read is
// copied.
#pragma once

#include <ounce/data.h>

#include <memory>
#include <string>
#include <vector>

#include "data/source.h"

namespace ounce::data {

class MemorySource : public Source {
 public:
  // What errors call it.
  static constexpr const char* kName = "the data in memory";

  // Throws Error{kBadInput} when an array is none, or when they do not belong together.
  explicit MemorySource(std::shared_ptr<const MemoryData> data);

  std::uint64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  bool has_batch_axis() const override { return data_->has_batch_axis; }
  Sample read(std::uint64_t index) override;

 private:
  void list_arrays();
  void list_samples();

  std::shared_ptr<const MemoryData> data_;
  std::uint64_t size_ = 1;
  std::vector<Field> fields_;
};

// All that makes one MemoryData another one than another: names, types, shapes and values.
std::string description_of(const MemoryData& data);

}  // namespace ounce::data
