#include "data/source/array_source.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "data/tensor.h"

namespace ounce::data {
namespace {

// No input of a model is larger; more means that the leading axis is not the sample, or that somebody wants
// to fill our memory with a few kilobytes of compressed zeros.
constexpr std::uint64_t kLargestSample = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostStrings = std::uint64_t{1} << 24;

// None when there are only constants.
const SampledArray* first_with_length(const std::vector<SampledArray>& arrays) {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [](const SampledArray& array) { return !array.is_constant(); });
  return found == arrays.end() ? nullptr : &*found;
}

void check_lengths(const std::vector<SampledArray>& arrays, const SampledArray& first,
                   const std::string& where) {
  bool has_values = false;
  for (const SampledArray& array : arrays) {
    if (array.is_constant()) continue;
    if (array.length() != first.length()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("'{}' has {} samples but '{}' has {}; name the arrays that belong together",
                              first.name(), first.length(), array.name(), array.length()),
                  where);
    }
    has_values |= array.sample_bytes() > 0;
  }
  // Otherwise a header of a few bytes could have us count to 2^63.
  if (first.length() > 0 && !has_values) {
    throw Error(ErrorCode::kBadInput, fmt::format("'{}' has samples without any values", first.name()),
                where);
  }
}

}  // namespace

SampledArray::SampledArray(std::string name, std::unique_ptr<ByteStream> stream, std::string where)
    : name_(std::move(name)),
      where_(std::move(where)),
      stream_(std::move(stream)),
      header_(read_npy_header(*stream_, where_)),
      sample_dims_(header_.dims) {
  if (!is_constant()) sample_dims_.erase(sample_dims_.begin());
  const std::uint64_t elements = element_count(sample_dims_, where_);
  const std::uint64_t most =
      header_.type == ElementType::kString ? kMostStrings : kLargestSample / header_.element_bytes;
  if (elements > most || elements > kLargestSample / header_.element_bytes) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has samples of {}, which is too large; its leading axis must be the sample",
                            describe(header_.type, sample_dims_)),
                where_);
  }
  sample_bytes_ = elements * header_.element_bytes;
}

Tensor SampledArray::read(std::uint64_t index) {
  const std::uint64_t begin = is_constant() ? 0 : index * sample_bytes_;
  stream_->seek(header_.data_offset + begin);
  return decode_npy_values(header_, sample_dims_, stream_->read(sample_bytes_), where_);
}

ArraySource::ArraySource(OpenArrays open) : file_(std::move(open.file)), arrays_(std::move(open.arrays)) {
  if (const SampledArray* first = first_with_length(arrays_)) {
    check_lengths(arrays_, *first, file_.path().string());
    size_ = first->length();
  }
  for (const SampledArray& array : arrays_) fields_.push_back(array.field());
}

Sample ArraySource::read(std::uint64_t index) {
  if (index >= size_) {
    throw Error(ErrorCode::kInternal, fmt::format("sample {} of {} was asked for", index, size_),
                file_.path().string());
  }
  Sample sample;
  sample.name = fmt::format("{}[{}]", file_.path().filename().string(), index);
  for (SampledArray& array : arrays_) {
    sample.fields.push_back({array.name(), array.read(index)});
    // Only the amount matters: when enough has been read, the pages of the whole file are given back.
    file_.release(file_.bytes().substr(0, array.sample_bytes()));
  }
  return sample;
}

namespace {

std::uint64_t bytes_of_sample(ElementType type, const Dims& dims, const std::string& where) {
  const std::uint64_t bytes = byte_count(type, dims, where);
  if (bytes == 0) {
    throw Error(ErrorCode::kUsage,
                fmt::format("raw values of {} have no size; give a type of numbers and a shape without 0",
                            describe(type, dims)),
                where);
  }
  return bytes;
}

}  // namespace

RawSource::RawSource(const std::filesystem::path& path, ElementType type, const Dims& dims)
    : file_(io::MappedFile::open(path)),
      fields_{{path.stem().string(), type, dims}},
      sample_bytes_(bytes_of_sample(type, dims, path.string())) {
  if (file_.bytes().size() % sample_bytes_ != 0) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has {} bytes, which is not a multiple of the {} bytes of {}",
                            file_.bytes().size(), sample_bytes_, describe(type, dims)),
                path.string());
  }
}

Sample RawSource::read(std::uint64_t index) {
  if (index >= size()) {
    throw Error(ErrorCode::kInternal, fmt::format("sample {} of {} was asked for", index, size()),
                file_.path().string());
  }
  const std::string_view view = file_.bytes().substr(index * sample_bytes_, sample_bytes_);
  const Field& field = fields_.front();
  Sample sample;
  sample.name = fmt::format("{}[{}]", file_.path().filename().string(), index);
  sample.fields.push_back({field.name, {field.type, *field.dims, std::string(view), {}}});
  if (field.type == ElementType::kBool) make_bools_valid(sample.fields.front().tensor.bytes);
  file_.release(view);
  return sample;
}

namespace {

OpenArrays open_array(const std::filesystem::path& path) {
  OpenArrays open{io::MappedFile::open(path), {}};
  auto stream = std::make_unique<MemoryStream>(open.file.bytes(), path.string());
  open.arrays.emplace_back(path.stem().string(), std::move(stream), path.string());
  return open;
}

}  // namespace

NpySource::NpySource(const std::filesystem::path& path) : ArraySource(open_array(path)) {}

}  // namespace ounce::data
