#include "formats/tflite/file/archive.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/cancel.h"

namespace ounce::tflite {
namespace {

// Sizes and places of fields in the records of a zip archive.
constexpr std::string_view kEndMark("PK\5\6", 4), kEntryMark("PK\1\2", 4), kLocalMark("PK\3\4", 4);
constexpr std::size_t kEndSize = 22, kEntrySize = 46, kLongestComment = 0xffff;
constexpr std::size_t kEndCount = 10, kEndDirectorySize = 12, kEndDirectoryOffset = 16, kEndComment = 20;
constexpr std::size_t kEntryName = 28, kEntryExtra = 30, kEntryComment = 32, kEntryOffset = 42;

template <class Number>
Number number_at(Bytes bytes, std::size_t position) {
  Number value;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}

// The entries of the central directory; false if it is broken.
template <class Function>
bool each_entry(Bytes directory, std::size_t count, const Function& function) {
  std::size_t position = 0;
  for (std::size_t i = 0; i < count; ++i) {
    count_step();
    const Bytes rest = directory.substr(position);
    if (rest.size() < kEntrySize || !rest.starts_with(kEntryMark)) return false;
    const std::size_t size = kEntrySize + number_at<std::uint16_t>(rest, kEntryName) +
                             number_at<std::uint16_t>(rest, kEntryExtra) +
                             number_at<std::uint16_t>(rest, kEntryComment);
    if (size > rest.size() || !function(position, number_at<std::uint32_t>(rest, kEntryOffset))) return false;
    position += size;
  }
  return position == directory.size();
}

// The archive at the end of the file, if it begins at `from` or behind.
std::optional<Archive> find_archive(Bytes file, std::uint64_t from) {
  if (file.size() < kEndSize) return std::nullopt;
  const std::size_t last = file.size() - kEndSize, first = last - std::min(last, kLongestComment);
  std::size_t end_record = last;
  const auto ends_the_file = [&](Bytes record) {
    return record.starts_with(kEndMark) &&
           number_at<std::uint16_t>(record, kEndComment) == record.size() - kEndSize;
  };
  while (!ends_the_file(file.substr(end_record))) {
    if (end_record-- == first) return std::nullopt;
  }
  const std::uint64_t size = number_at<std::uint32_t>(file, end_record + kEndDirectorySize),
                      offset = number_at<std::uint32_t>(file, end_record + kEndDirectoryOffset);
  if (size + offset > end_record) return std::nullopt;
  const std::uint64_t directory = end_record - size, base = directory - offset;
  std::uint64_t start = directory;
  const bool is_whole =
      each_entry(file.substr(directory, size), number_at<std::uint16_t>(file, end_record + kEndCount),
                 [&](std::size_t, std::uint64_t local) {
                   const std::uint64_t position = base + local;
                   start = std::min(start, position);
                   return position < directory && file.substr(position).starts_with(kLocalMark);
                 });
  if (!is_whole || start < from) return std::nullopt;
  return Archive{.bytes = file.substr(start),
                 .directory = directory - start,
                 .end_record = end_record - start,
                 .position = start - base};
}

void shift(std::string& text, std::size_t position, std::int64_t by) {
  const std::int64_t value = std::int64_t{number_at<std::uint32_t>(text, position)} + by;
  if (value < 0 || value >= std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorCode::kUnsupported, "associated files cannot be behind the first 4 GiB of a file");
  const auto number = static_cast<std::uint32_t>(value);
  std::memcpy(text.data() + position, &number, sizeof number);
}

// The directory and the end record of an archive that begins at `position`.
std::string directory_at(const Archive& archive, std::uint64_t position) {
  std::string text(archive.bytes.substr(archive.directory));
  if (archive.position == 0) return text;
  const auto by = static_cast<std::int64_t>(position) - static_cast<std::int64_t>(archive.position);
  const std::size_t size = archive.end_record - archive.directory;
  each_entry(archive.bytes.substr(archive.directory, size), number_at<std::uint16_t>(text, size + kEndCount),
             [&](std::size_t entry, std::uint64_t) {
               shift(text, entry + kEntryOffset, by);
               return true;
             });
  shift(text, size + kEndDirectoryOffset, by);
  return text;
}

bool has_content(Bytes bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char byte) { return byte != 0; });
}

}  // namespace

void read_archive(Model& model, Bytes file, std::uint64_t end) {
  model.archive = find_archive(file, end);
  const std::uint64_t size = file.size() - end - (model.archive ? model.archive->bytes.size() : 0);
  if (model.unwritable.empty() && has_content(file.substr(end, size)))
    model.unwritable = fmt::format("{} bytes of unknown content are behind the model (byte {})", size, end);
}

std::vector<std::string> archive_names(const Model& model) {
  std::vector<std::string> names;
  if (!model.archive) return names;
  const Bytes directory = model.archive->bytes.substr(model.archive->directory,
                                                      model.archive->end_record - model.archive->directory);
  each_entry(directory, number_at<std::uint16_t>(model.archive->bytes, model.archive->end_record + kEndCount),
             [&](std::size_t entry, std::uint64_t) {
               names.emplace_back(directory.substr(entry + kEntrySize,
                                                   number_at<std::uint16_t>(directory, entry + kEntryName)));
               return true;
             });
  return names;
}

void append_archive(const Model& model, io::Rope& rope) {
  if (!model.archive) return;
  const std::uint64_t position = rope.size();
  rope.append(model.archive->bytes.substr(0, model.archive->directory));
  rope.append(directory_at(*model.archive, position));
}

bool same_archive(const Model& a, const Model& b) {
  if (!a.archive || !b.archive) return a.archive.has_value() == b.archive.has_value();
  return a.archive->bytes.substr(0, a.archive->directory) ==
             b.archive->bytes.substr(0, b.archive->directory) &&
         (a.archive->position == 0) == (b.archive->position == 0) &&
         directory_at(*a.archive, 0) == directory_at(*b.archive, 0);
}

}  // namespace ounce::tflite
