#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "base/plain_text.h"
#include "data/little_endian.h"
#include "data/zip.h"

namespace ounce::data {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kEntrySignature = 0x02014b50,
                        kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50, kLocatorSignature = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr std::size_t kLongestComment = 0xffff;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kEncryptedFlag = 1;
constexpr std::uint16_t kZip64Extra = 1;
// A value that stands in the zip64 record instead.
constexpr std::uint32_t kElsewhere = 0xffffffff;
constexpr std::uint16_t kElsewhere16 = 0xffff;
// Deflate spends two bits at least on a run of at most 258 bytes.
constexpr std::uint64_t kLargestRatio = 1032;

// A part of the archive that belongs to one entry alone.
struct Extent {
  std::uint64_t begin, end;
};

struct Directory {
  std::string_view records;
  std::uint64_t offset, entries;
};

// An entry as the directory has it; its data is found behind its local header.
struct Record {
  ZipEntry entry;
  std::uint16_t method = 0;
  std::uint64_t stored_size = 0, local_offset = 0;
};

class DirectoryReader {
 public:
  DirectoryReader(std::string_view archive, const std::string& where) : archive_(archive), where_(where) {}

  std::vector<ZipEntry> read() const {
    const Directory directory = find_directory();
    std::vector<ZipEntry> entries;
    std::vector<Extent> extents;
    std::string_view rest = directory.records;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
      Record record = take_record(rest);
      extents.push_back(locate(record, directory.offset));
      entries.push_back(std::move(record.entry));
    }
    check_apart(std::move(extents));
    check_names(entries);
    return entries;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(ErrorCode::kBadInput, what, where_); }
  [[noreturn]] void fail(const ZipEntry& entry, const std::string& what) const {
    fail(fmt::format("'{}' {}", entry.name, what));
  }

  // The comment behind the end record may have any content, so the record is the one whose comment ends with
  // the file.
  std::size_t find_end() const {
    if (archive_.size() < kEndSize) fail("is not a zip archive: it is too short");
    const std::size_t last = archive_.size() - kEndSize;
    const std::size_t first = last - std::min(last, kLongestComment);
    for (std::size_t at = last + 1; at-- > first;) {
      if (u32(archive_, at) == kEndSignature && u16(archive_, at + 20) == last - at) return at;
    }
    fail("is not a zip archive, or it is cut off: it has no directory");
  }

  Directory find_directory() const {
    const std::size_t end = find_end();
    const std::uint32_t disks = u32(archive_, end + 4);
    if (disks != 0 && disks != kElsewhere) fail("is a part of a zip archive in several files");
    std::uint64_t entries = u16(archive_, end + 10), size = u32(archive_, end + 12);
    std::uint64_t offset = u32(archive_, end + 16), limit = end;
    if (entries == kElsewhere16 || size == kElsewhere || offset == kElsewhere) {
      if (const auto end64 = find_end64(end)) {
        entries = u64(archive_, *end64 + 32);
        size = u64(archive_, *end64 + 40);
        offset = u64(archive_, *end64 + 48);
        limit = *end64;
      }
    }
    if (offset > limit || size > limit - offset) fail("is damaged: its directory is not inside the file");
    if (entries > size / kEntrySize) fail("is damaged: its directory is too short for its entries");
    return {archive_.substr(offset, size), offset, entries};
  }

  std::optional<std::size_t> find_end64(std::size_t end) const {
    if (end < kLocatorSize || u32(archive_, end - kLocatorSize) != kLocatorSignature) return std::nullopt;
    const std::size_t locator = end - kLocatorSize;
    const std::uint64_t at = u64(archive_, locator + 8);
    if (at > locator || locator - at < kEnd64Size || u32(archive_, at) != kEnd64Signature)
      fail("is damaged: its zip64 directory is not where it should be");
    return at;
  }

  Record take_record(std::string_view& rest) const {
    if (rest.size() < kEntrySize || u32(rest, 0) != kEntrySignature)
      fail("is damaged: an entry of its directory is broken");
    const std::size_t name = u16(rest, 28), extra = u16(rest, 30), comment = u16(rest, 32);
    if (rest.size() - kEntrySize < name + extra + comment) fail("is damaged: its directory is cut off");
    Record record;
    record.entry.name = rest.substr(kEntrySize, name);
    if (has_control_characters(record.entry.name)) fail("is damaged: a name in it has control characters");
    if ((u16(rest, 8) & kEncryptedFlag) != 0)
      fail(record.entry, "is encrypted; make the archive without a password");
    record.method = u16(rest, 10);
    record.entry.checksum = u32(rest, 16);
    record.stored_size = u32(rest, 20);
    record.entry.size = u32(rest, 24);
    record.local_offset = u32(rest, 42);
    take_zip64(record, rest.substr(kEntrySize + name, extra));
    check_sizes(record);
    rest.remove_prefix(kEntrySize + name + extra + comment);
    return record;
  }

  // The extra field holds only those values that did not fit, in this order.
  void take_zip64(Record& record, std::string_view extra) const {
    while (extra.size() >= 4) {
      const std::uint16_t id = u16(extra, 0), size = u16(extra, 2);
      extra.remove_prefix(4);
      if (size > extra.size()) fail(record.entry, "has a broken extra field");
      std::string_view values = extra.substr(0, size);
      extra.remove_prefix(size);
      if (id != kZip64Extra) continue;
      for (std::uint64_t* value : {&record.entry.size, &record.stored_size, &record.local_offset}) {
        if (*value != kElsewhere) continue;
        if (values.size() < 8) fail(record.entry, "has a broken zip64 field");
        *value = u64(values, 0);
        values.remove_prefix(8);
      }
      return;
    }
  }

  void check_sizes(Record& record) const {
    ZipEntry& entry = record.entry;
    if (record.method != kStored && record.method != kDeflated) {
      fail(entry, fmt::format("is compressed with method {}; make the archive with deflate, as "
                              "numpy.savez_compressed does",
                              record.method));
    }
    entry.is_deflated = record.method == kDeflated;
    if (!entry.is_deflated && entry.size != record.stored_size)
      fail(entry, "is damaged: its two sizes differ");
    const auto most = checked_multiply(record.stored_size, kLargestRatio);
    if (entry.is_deflated && most && entry.size > *most) {
      fail(entry, fmt::format("claims {} bytes, which {} bytes of deflate cannot hold", entry.size,
                              record.stored_size));
    }
  }

  Extent locate(Record& record, std::uint64_t limit) const {
    ZipEntry& entry = record.entry;
    const std::uint64_t begin = record.local_offset;
    if (begin > limit || limit - begin < kLocalSize || u32(archive_, begin) != kLocalSignature)
      fail(entry, "is not where the directory says");
    const std::uint64_t name = u16(archive_, begin + 26), extra = u16(archive_, begin + 28);
    const std::uint64_t room = limit - begin - kLocalSize;
    if (room < name + extra || room - name - extra < record.stored_size)
      fail(entry, "reaches past the end of the archive");
    if (archive_.substr(begin + kLocalSize, name) != entry.name || u16(archive_, begin + 8) != record.method)
      fail(entry, "differs between the directory and its own header");
    const std::uint64_t data = begin + kLocalSize + name + extra;
    entry.data = archive_.substr(data, record.stored_size);
    return {begin, data + record.stored_size};
  }

  void check_apart(std::vector<Extent> extents) const {
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < extents.size(); ++i) {
      if (extents[i].begin < extents[i - 1].end) fail("is damaged: two of its entries overlap");
    }
  }

  void check_names(const std::vector<ZipEntry>& entries) const {
    std::vector<std::string_view> names;
    names.reserve(entries.size());
    for (const ZipEntry& entry : entries) names.emplace_back(entry.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) fail(fmt::format("has two entries named '{}'", *twice));
  }

  std::string_view archive_;
  const std::string& where_;
};

}  // namespace

std::vector<ZipEntry> read_zip_directory(std::string_view archive, const std::string& where) {
  return DirectoryReader(archive, where).read();
}

}  // namespace ounce::data
