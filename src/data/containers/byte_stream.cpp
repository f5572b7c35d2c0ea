#include "data/containers/byte_stream.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"

namespace ounce::data {

std::string ByteStream::read(std::uint64_t count) {
  constexpr std::uint64_t kFirstStep = std::uint64_t{1} << 20;
  std::string bytes;
  while (bytes.size() < count) {
    const std::size_t start = bytes.size();
    const auto step = std::min<std::uint64_t>(count - start, std::max<std::uint64_t>(kFirstStep, start));
    bytes.resize(start + step);
    read(std::span(bytes).subspan(start));
  }
  return bytes;
}

void MemoryStream::seek(std::uint64_t position) {
  if (position > bytes_.size())
    throw Error(ErrorCode::kBadInput, fmt::format("ends before byte {}", position), where_);
  position_ = position;
}

void MemoryStream::read(std::span<char> to) {
  if (to.size() > bytes_.size() - position_) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("ends after {} bytes, but {} more are needed", bytes_.size(),
                            to.size() - (bytes_.size() - position_)),
                where_);
  }
  if (to.empty()) return;
  std::memcpy(to.data(), bytes_.data() + position_, to.size());
  position_ += to.size();
}

namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kEntrySignature = 0x02014b50,
                        kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50, kLocatorSignature = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr std::size_t kLongestComment = 0xffff;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kEncryptedFlag = 1;
constexpr std::uint16_t kZip64Extra = 1;
// These values mean that the actual value is in the zip64 record.
constexpr std::uint32_t kElsewhere = 0xffffffff;
constexpr std::uint16_t kElsewhere16 = 0xffff;
// Deflate needs at least two bits for a run of at most 258 bytes.
constexpr std::uint64_t kLargestRatio = 1032;

// A part of the archive that belongs to a single entry.
struct Extent {
  std::uint64_t begin, end;
};

struct Directory {
  std::string_view records;
  std::uint64_t offset, entries;
};

// An entry of the directory. Its data follows its local header.
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

  // The archive's comment follows the end record and may have any content. So the record is the one whose
  // comment ends at the end of the file.
  std::size_t find_end() const {
    if (archive_.size() < kEndSize) fail("is not a zip archive: it is too short");
    const std::size_t last = archive_.size() - kEndSize;
    const std::size_t first = last - std::min(last, kLongestComment);
    for (std::size_t at = last + 1; at-- > first;) {
      if (u32(archive_, at) == kEndSignature && u16(archive_, at + 20) == last - at) return at;
    }
    fail("is not a zip archive, or it is truncated: it has no directory");
  }

  Directory find_directory() const {
    const std::size_t end = find_end();
    const std::uint32_t disks = u32(archive_, end + 4);
    if (disks != 0 && disks != kElsewhere)
      fail("is a part of a zip archive in several files, which is not supported");
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
      fail("is damaged: its zip64 directory is missing");
    return at;
  }

  Record take_record(std::string_view& rest) const {
    if (rest.size() < kEntrySize || u32(rest, 0) != kEntrySignature)
      fail("is damaged: an entry of its directory is broken");
    const std::size_t name = u16(rest, 28), extra = u16(rest, 30), comment = u16(rest, 32);
    if (rest.size() - kEntrySize < name + extra + comment) fail("is damaged: its directory is truncated");
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

  // The extra field has only the values that did not fit, in this order.
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
      fail(entry, fmt::format("claims {} bytes, which {} bytes of deflate cannot contain", entry.size,
                              record.stored_size));
    }
  }

  Extent locate(Record& record, std::uint64_t limit) const {
    ZipEntry& entry = record.entry;
    const std::uint64_t begin = record.local_offset;
    if (begin > limit || limit - begin < kLocalSize || u32(archive_, begin) != kLocalSignature)
      fail(entry, "is not at the offset in the directory");
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

namespace {

// zlib uses 32-bit sizes.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
constexpr std::size_t kSkipStep = std::size_t{16} << 10;
// Zip archives contain deflate data without zlib's header.
constexpr int kRawDeflate = -MAX_WBITS;

}  // namespace

void ZipEntryStream::EndInflate::operator()(z_stream_s* inflater) const {
  inflateEnd(inflater);
  delete inflater;
}

ZipEntryStream::ZipEntryStream(const ZipEntry& entry, std::string where)
    : entry_(entry), where_(std::move(where)) {
  if (!entry.is_deflated) return;
  auto inflater = std::make_unique<z_stream>();
  if (inflateInit2(inflater.get(), kRawDeflate) != Z_OK) throw std::bad_alloc();
  inflater_.reset(inflater.release());
}

void ZipEntryStream::fail(const std::string& what) {
  damage_ = what;
  throw Error(ErrorCode::kBadInput, what, where_);
}

void ZipEntryStream::seek(std::uint64_t position) {
  if (position > entry_.size) fail(fmt::format("ends before byte {}", position));
  if (inflater_ == nullptr) {
    position_ = position;
    return;
  }
  if (position < position_) restart();
  skip(position - position_);
}

void ZipEntryStream::restart() {
  inflateReset(inflater_.get());
  consumed_ = 0;
  position_ = 0;
}

void ZipEntryStream::skip(std::uint64_t count) {
  std::array<char, kSkipStep> buffer;
  while (count > 0) {
    const std::size_t step = std::min<std::uint64_t>(count, buffer.size());
    read(std::span(buffer).first(step));
    count -= step;
  }
}

void ZipEntryStream::read(std::span<char> to) {
  if (!damage_.empty()) fail(damage_);
  if (to.size() > entry_.size - position_) {
    fail(fmt::format("ends after {} bytes, but {} more are needed", entry_.size,
                     to.size() - (entry_.size - position_)));
  }
  if (to.empty()) return;
  if (inflater_ != nullptr) {
    inflate_into(to);
  } else {
    std::memcpy(to.data(), entry_.data.data() + position_, to.size());
  }
  add_to_checksum(to);
  position_ += to.size();
}

void ZipEntryStream::inflate_into(std::span<char> to) {
  const bool is_last = to.size() == entry_.size - position_;
  while (!to.empty()) {
    std::size_t written = 0;
    const int status = inflate_some(to, written);
    to = to.subspan(written);
    if (status == Z_STREAM_END) {
      if (!to.empty()) fail(fmt::format("is damaged: it inflates to less than its {} bytes", entry_.size));
      return;
    }
    if (status == Z_BUF_ERROR) fail("is damaged: its compressed data is truncated");
  }
  if (is_last) check_nothing_follows();
}

// Runs one step of zlib. Returns Z_OK if it made progress, Z_STREAM_END, or Z_BUF_ERROR if it could not.
int ZipEntryStream::inflate_some(std::span<char> to, std::size_t& written) {
  const std::string_view input = entry_.data.substr(consumed_, kMostAtOnce);
  const std::size_t room = std::min(to.size(), kMostAtOnce);
  // zlib does not write to the input, but its pointer is not const.
  inflater_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  inflater_->avail_in = static_cast<uInt>(input.size());
  inflater_->next_out = reinterpret_cast<Bytef*>(to.data());
  inflater_->avail_out = static_cast<uInt>(room);
  const int status = inflate(inflater_.get(), Z_NO_FLUSH);
  consumed_ += input.size() - inflater_->avail_in;
  written = room - inflater_->avail_out;
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
    fail(fmt::format("is damaged: {}",
                     inflater_->msg != nullptr ? inflater_->msg : "its compressed data is broken"));
  }
  return status;
}

// All bytes were read; checks that the end of the stream follows them.
void ZipEntryStream::check_nothing_follows() {
  char more = 0;
  std::size_t written = 0;
  int status = Z_OK;
  while (status == Z_OK && written == 0) status = inflate_some({&more, 1}, written);
  if (written != 0) fail(fmt::format("is damaged: it inflates to more than its {} bytes", entry_.size));
  if (status != Z_STREAM_END) fail("is damaged: its compressed data is truncated");
}

// Ignores bytes that were read before, or that follow a gap.
void ZipEntryStream::add_to_checksum(std::span<const char> bytes) {
  if (position_ > summed_ || position_ + bytes.size() <= summed_) return;
  bytes = bytes.subspan(summed_ - position_);
  checksum_ = static_cast<std::uint32_t>(
      crc32_z(checksum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  summed_ += bytes.size();
  if (summed_ == entry_.size && checksum_ != entry_.checksum)
    fail("is damaged: its checksum is wrong; copy or make the file again");
}

}  // namespace ounce::data
