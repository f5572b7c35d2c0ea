#include "data/raw_source.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "data/bool_bytes.h"

namespace ounce::data {
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

}  // namespace ounce::data
