#include "data/source/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>

#include "base/digest.h"
#include "data/containers/byte_stream.h"
#include "data/containers/npy.h"
#include "data/tensor.h"

namespace ounce::data {
namespace {

// Limits the size of a sample. A larger sample means that the first axis does not count samples, or that a
// small compressed file would fill the memory.
constexpr std::uint64_t kLargestSample = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostStrings = std::uint64_t{1} << 24;

// Null if all arrays are constants.
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
                  fmt::format("'{}' has {} samples, but '{}' has {}; name the arrays that belong together",
                              first.name(), first.length(), array.name(), array.length()),
                  where);
    }
    has_values |= array.sample_bytes() > 0;
  }
  // Without this check, a header of a few bytes could declare 2^63 empty samples.
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
                fmt::format("has samples of {}, which is too large; the first axis must count the samples",
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
  require_sample(index, file_.path().string());
  Sample sample;
  sample.name = fmt::format("{}[{}]", file_.path().filename().string(), index);
  for (SampledArray& array : arrays_) {
    sample.fields.push_back({array.name(), array.read(index)});
    // After enough reading, release the pages of the whole file; which ones were read does not matter.
    file_.release(file_.bytes().substr(0, array.sample_bytes()));
  }
  return sample;
}

namespace {

std::uint64_t bytes_of_sample(ElementType type, const Dims& dims, const std::string& where) {
  const std::uint64_t bytes = byte_count(type, dims, where);
  if (bytes == 0) {
    throw Error(ErrorCode::kUsage,
                fmt::format("raw values of {} have no size; give a numeric type and a shape without 0",
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
  require_sample(index, file_.path().string());
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

namespace {

constexpr std::string_view kEnding = ".npy";
constexpr std::size_t kMostListed = 12;
// Limits memory: each open array needs its own inflate window.
constexpr std::size_t kMostFields = 1024;

std::string name_of(const ZipEntry& entry) {
  return entry.name.substr(0, entry.name.size() - kEnding.size());
}

std::string where_of(const io::MappedFile& file, const ZipEntry& entry) {
  return fmt::format("{}, array '{}'", file.path().string(), name_of(entry));
}

std::vector<ZipEntry> array_entries(const io::MappedFile& file) {
  std::vector<ZipEntry> entries = read_zip_directory(file.bytes(), file.path().string());
  std::erase_if(entries, [](const ZipEntry& entry) { return !entry.name.ends_with(kEnding); });
  if (entries.empty()) throw Error(ErrorCode::kBadInput, "has no arrays", file.path().string());
  return entries;
}

ArrayDescription describe_entry(const io::MappedFile& file, const ZipEntry& entry) {
  ArrayDescription description{name_of(entry), ElementType::kUndefined, {}, {}};
  try {
    ZipEntryStream stream(entry, where_of(file, entry));
    NpyHeader header = read_npy_header(stream, where_of(file, entry));
    description.type = header.type;
    description.dims = std::move(header.dims);
  } catch (const Error& error) {
    description.problem = error.what();
  }
  return description;
}

std::vector<ArrayDescription> describe_entries(const io::MappedFile& file,
                                               const std::vector<ZipEntry>& entries) {
  std::vector<ArrayDescription> descriptions;
  descriptions.reserve(entries.size());
  for (const ZipEntry& entry : entries) descriptions.push_back(describe_entry(file, entry));
  return descriptions;
}

// "x uint8[2000,32,32,3], y int64[2000]"
std::string listing(const std::vector<ArrayDescription>& arrays) {
  std::vector<std::string> words;
  for (const ArrayDescription& array : arrays) {
    if (words.size() == kMostListed) {
      words.emplace_back("…");
      break;
    }
    words.push_back(array.problem.empty() ? array.name + " " + describe(array.type, array.dims) : array.name);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

const ZipEntry& entry_named(const io::MappedFile& file, const std::vector<ZipEntry>& entries,
                            const std::string& key) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const ZipEntry& entry) { return name_of(entry) == key; });
  if (found != entries.end()) return *found;
  throw Error(ErrorCode::kUsage,
              fmt::format("has no array '{}'; arrays: {}", key, listing(describe_entries(file, entries))),
              file.path().string());
}

std::vector<ZipEntry> chosen_entries(const io::MappedFile& file, const std::vector<std::string>& keys) {
  std::vector<ZipEntry> entries = array_entries(file);
  if (keys.empty()) return entries;
  std::vector<ZipEntry> chosen;
  for (const std::string& key : keys) {
    const ZipEntry& entry = entry_named(file, entries, key);
    const bool is_new = std::none_of(chosen.begin(), chosen.end(),
                                     [&](const ZipEntry& other) { return other.name == entry.name; });
    if (is_new) chosen.push_back(entry);
  }
  return chosen;
}

void check_that_all_agree(const io::MappedFile& file, const std::vector<SampledArray>& arrays) {
  std::vector<ArrayDescription> descriptions;
  bool agree = true;
  const SampledArray* first = nullptr;
  for (const SampledArray& array : arrays) {
    descriptions.push_back({array.name(), array.header().type, array.header().dims, {}});
    if (array.is_constant()) continue;
    if (first == nullptr) first = &array;
    agree &= array.length() == first->length();
  }
  if (agree) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("its arrays differ in length: {}; name the ones to use", listing(descriptions)),
              file.path().string());
}

OpenArrays open_arrays(const std::filesystem::path& path, const std::vector<std::string>& keys) {
  OpenArrays open{io::MappedFile::open(path), {}};
  const std::vector<ZipEntry> entries = chosen_entries(open.file, keys);
  if (entries.size() > kMostFields) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has {} arrays, more than {}; name the ones to use", entries.size(), kMostFields),
                path.string());
  }
  for (const ZipEntry& entry : entries) {
    auto stream = std::make_unique<ZipEntryStream>(entry, where_of(open.file, entry));
    open.arrays.emplace_back(name_of(entry), std::move(stream), where_of(open.file, entry));
  }
  if (keys.empty()) check_that_all_agree(open.file, open.arrays);
  return open;
}

}  // namespace

NpzSource::NpzSource(const std::filesystem::path& path, const std::vector<std::string>& keys)
    : ArraySource(open_arrays(path, keys)) {
  for (const ZipEntry& entry : array_entries(io::MappedFile::open(path))) names_.push_back(name_of(entry));
}

std::vector<ArrayDescription> NpzSource::list(const std::filesystem::path& path) {
  const io::MappedFile file = io::MappedFile::open(path);
  return describe_entries(file, array_entries(file));
}

namespace {

[[noreturn]] void refuse_array(const ArrayView& array, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("'{}' {}", array.name, why), MemorySource::kName);
}

ElementType type_of(const ArrayView& array) {
  for (std::int64_t number = 1; const auto type = ounce::element_type_of(number); ++number) {
    const bool is_readable = is_numpy_type(*type) || *type == ElementType::kBfloat16;
    if (is_readable && name_of(*type) == array.type) return *type;
  }
  refuse_array(
      array, fmt::format("has the type '{}', which is not supported; use float32, int64 or bool, for example",
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
    throw Error(ErrorCode::kUsage,
                "the data has both arrays of all samples and single samples; give one of them", kName);
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
      refuse_array(array, fmt::format("has {} samples, but '{}' has {}", array.shape[0], first->name,
                                      first->shape[0]));
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
  require_sample(index, kName);
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
