#include "formats/tflite/file/flatbuffer.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "base/text.h"

namespace ounce::tflite {
namespace {

constexpr std::size_t kOffset = 4;  // bytes of a reference, and of the length of a vector
// Each byte of a file may be read this often. Some writers share strings and lists of fields, and none more.
constexpr std::uint64_t kVisits = 4;
constexpr std::uint64_t kFreeBytes = 64 << 10;
constexpr std::uint16_t kMostFields = 128;  // of a table; the schema has up to 17

template <class Number>
Number number_at(Bytes bytes) {
  Number value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

Source::Source(Bytes bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)), budget_(bytes.size() * kVisits + kFreeBytes) {}

std::uint64_t Source::root() { return number_at<std::uint32_t>(read(0, kOffset, "the root")); }

void Source::fail(const std::string& what, std::uint64_t position, const char* table) const {
  throw Error(ErrorCode::kBadInput, fmt::format("not a valid TFLite file: {} ({})", what, table),
              fmt::format("{}, byte {}", name_, position));
}

Bytes Source::read(std::uint64_t position, std::uint64_t size, const char* what) {
  if (position > bytes_.size() || size > bytes_.size() - position)
    fail("a reference leads past the end of the file", position, what);
  end_ = std::max(end_, position + size);
  return bytes_.substr(position, size);
}

void Source::charge(std::uint64_t bytes, std::uint64_t position, const char* what) {
  count_step();
  if (bytes > budget_)
    fail("tables are shared so often that the model is larger than the file", position, what);
  budget_ -= bytes;
}

TableView::TableView(Source& source, std::uint64_t position, const char* name)
    : source_(&source), position_(position), name_(name) {
  const auto back = std::int64_t{number_at<std::int32_t>(source.read(position, kOffset, name))};
  // Positions are below 2^63, so the difference cannot overflow.
  const std::int64_t fields = static_cast<std::int64_t>(position) - back;
  if (fields < 0) fail("its list of fields is outside of the file");
  const auto start = static_cast<std::uint64_t>(fields);
  const Bytes head = source.read(start, kOffset, name);
  const auto fields_size = number_at<std::uint16_t>(head);
  size_ = number_at<std::uint16_t>(head.substr(2));
  if (fields_size < kOffset || fields_size % 2 != 0 || size_ < kOffset)
    fail("it has a broken list of fields");
  if (fields_size > kOffset + 2 * kMostFields) fail(fmt::format("it has more than {} fields", kMostFields));
  fields_ = source.read(start, fields_size, name).substr(kOffset);
  source.read(position, size_, name);
  source.charge(kOffset + fields_size + size_, position, name);
}

std::uint16_t TableView::offset(std::uint16_t id) const {
  return id < field_count() ? number_at<std::uint16_t>(fields_.substr(std::size_t{id} * 2))
                            : std::uint16_t{0};
}

Bytes TableView::inline_bytes(std::uint16_t id, std::size_t size) const {
  const std::uint16_t at = offset(id);
  if (at == 0) return {};
  if (at < kOffset || at + size > size_) fail(fmt::format("field {} is outside of its table", id));
  return source_->read(position_ + at, size, name_);
}

std::uint64_t TableView::target(std::uint64_t position) const {
  return position + number_at<std::uint32_t>(source_->read(position, kOffset, name_));
}

Bytes TableView::vector(std::uint16_t id, std::size_t width, Use use) const {
  if (inline_bytes(id, kOffset).data() == nullptr) return {};
  const std::uint64_t position = target(position_ + offset(id));
  const std::uint64_t count = number_at<std::uint32_t>(source_->read(position, kOffset, name_));
  const Bytes elements = source_->read(position + kOffset, count * width, name_);
  source_->charge(kOffset + (use == Use::kCopied ? elements.size() : 0), position, name_);
  return elements;
}

Bytes TableView::string(std::uint16_t id) const {
  const Bytes text = vector(id, 1, Use::kCopied);
  if (text.data() == nullptr) return {};
  const auto end = static_cast<std::uint64_t>(text.data() - source_->bytes().data()) + text.size();
  if (source_->read(end, 1, name_).front() != '\0') fail(fmt::format("the text of field {} has no end", id));
  return text;
}

Bytes TableView::name_string(std::uint16_t id) const {
  const Bytes text = string(id);
  if (has_control_characters(text)) fail("a name contains control characters");
  return text;
}

TableView TableView::table(std::uint16_t id, const char* name) const {
  inline_bytes(id, kOffset);
  return {*source_, target(position_ + offset(id)), name};
}

std::size_t TableView::table_count(std::uint16_t id) const {
  return vector(id, kOffset, Use::kCopied).size() / kOffset;
}

TableView TableView::table_at(std::uint16_t id, std::size_t i, const char* name) const {
  const std::uint64_t elements = target(position_ + offset(id)) + kOffset;
  return {*source_, target(elements + i * kOffset), name};
}

bool TableView::carry(std::uint16_t id, CarriedFields& fields) const {
  const std::uint16_t at = offset(id);
  // It ends where another field begins, or the table.
  std::uint16_t end = size_;
  for (std::uint16_t other = 0; other < field_count(); ++other) {
    if (const std::uint16_t begin = offset(other); begin > at) end = std::min(end, begin);
  }
  if (at < kOffset || at >= end) fail(fmt::format("field {} is outside of its table", id));
  const std::uint64_t position = position_ + at;
  std::size_t width = 8;
  while (width > end - std::size_t{at} || position % width != 0) width /= 2;
  const Bytes bytes = source_->read(position, width, name_);
  // A reference leads to an aligned place inside the file. Any other value is a number.
  if (width >= kOffset) {
    const std::uint64_t distance = number_at<std::uint32_t>(bytes);
    const bool may_refer = distance >= kOffset && distance % kOffset == 0 &&
                           position + distance + kOffset <= source_->bytes().size();
    if (may_refer) return false;
  }
  fields.push_back({id, bytes});
  return true;
}

}  // namespace ounce::tflite
