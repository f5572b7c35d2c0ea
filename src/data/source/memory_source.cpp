#include "data/source/memory_source.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "base/digest.h"
#include "data/containers/npz_writer.h"
#include "data/tensor.h"

namespace ounce::data {
namespace {

[[noreturn]] void refuse_array(const ArrayView& array, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("'{}' {}", array.name, why), MemorySource::kName);
}

ElementType type_of(const ArrayView& array) {
  for (std::int64_t number = 1; const auto type = ounce::element_type_of(number); ++number) {
    const bool is_readable = is_numpy_type(*type) || *type == ElementType::kBfloat16;
    if (is_readable && name_of(*type) == array.type) return *type;
  }
  refuse_array(array, fmt::format("is of the type '{}', and not of numbers such as float32, int64 or bool",
                                  array.type));
}

std::uint64_t bytes_of(const ArrayView& array, const Dims& dims) {
  const std::uint64_t bytes = byte_count(type_of(array), dims, fmt::format("'{}'", array.name));
  if (bytes != 0 && array.values == nullptr) refuse_array(array, "has no values");
  return bytes;
}

Tensor copy_values(const ArrayView& array, Dims dims, std::uint64_t begin) {
  const std::uint64_t bytes = bytes_of(array, dims);
  Tensor tensor{type_of(array),
                std::move(dims),
                std::string(static_cast<const char*>(array.values) + begin, bytes),
                {}};
  if (tensor.type == ElementType::kBool) make_bools_valid(tensor.bytes);
  return tensor;
}

Dims without_first(const Dims& dims) { return dims.empty() ? Dims() : Dims(dims.begin() + 1, dims.end()); }

std::string text_of(const ArrayView& array) {
  const std::string_view bytes(static_cast<const char*>(array.values), bytes_of(array, array.shape));
  return fmt::format("\n'{}' {} [{}] {}", array.name, array.type, fmt::join(array.shape, ","),
                     hex(digest_of(bytes)));
}

}  // namespace

MemorySource::MemorySource(std::shared_ptr<const MemoryData> data) : data_(std::move(data)) {
  if (!data_->arrays.empty() && !data_->samples.empty()) {
    throw Error(ErrorCode::kUsage, "is both arrays of all samples and samples one by one; give one of them",
                kName);
  }
  if (data_->samples.empty()) {
    list_arrays();
  } else {
    list_samples();
  }
}

void MemorySource::list_arrays() {
  const ArrayView* first = nullptr;
  for (const ArrayView& array : data_->arrays) {
    bytes_of(array, array.shape);
    fields_.push_back({array.name, type_of(array), without_first(array.shape)});
    if (array.shape.empty()) continue;
    if (first != nullptr && array.shape[0] != first->shape[0]) {
      refuse_array(
          array, fmt::format("has {} samples and '{}' has {}", array.shape[0], first->name, first->shape[0]));
    }
    first = &array;
  }
  if (first != nullptr) size_ = static_cast<std::uint64_t>(first->shape[0]);
}

void MemorySource::list_samples() {
  size_ = data_->samples.size();
  for (const ArrayView& array : data_->samples.front())
    fields_.push_back({array.name, type_of(array), array.shape});
  for (const std::vector<ArrayView>& sample : data_->samples) {
    for (const ArrayView& array : sample) {
      bytes_of(array, array.shape);
      const auto field = std::find_if(fields_.begin(), fields_.end(),
                                      [&](const Field& known) { return known.name == array.name; });
      if (field == fields_.end()) refuse_array(array, "is not in the first sample");
      if (field->type != type_of(array)) field->type = ElementType::kUndefined;
      if (field->dims != array.shape) field->dims.reset();
    }
  }
}

Sample MemorySource::read(std::uint64_t index) {
  if (index >= size_)
    throw Error(ErrorCode::kInternal, fmt::format("sample {} of {} was asked for", index, size_), kName);
  Sample sample;
  sample.name = fmt::format("data[{}]", index);
  if (!data_->samples.empty()) {
    for (const ArrayView& array : data_->samples[index])
      sample.fields.push_back({array.name, copy_values(array, array.shape, 0)});
    return sample;
  }
  for (const ArrayView& array : data_->arrays) {
    Dims dims = without_first(array.shape);
    const std::uint64_t begin = array.shape.empty() ? 0 : index * bytes_of(array, dims);
    sample.fields.push_back({array.name, copy_values(array, std::move(dims), begin)});
  }
  return sample;
}

std::string description_of(const MemoryData& data) {
  std::string text =
      fmt::format("memory {} samples, batch axis {}", data.samples.size(), data.has_batch_axis);
  for (const ArrayView& array : data.arrays) text += text_of(array);
  for (const std::vector<ArrayView>& sample : data.samples) {
    for (const ArrayView& array : sample) text += text_of(array);
  }
  return text;
}

}  // namespace ounce::data
