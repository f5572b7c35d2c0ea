// Sequential readers of bytes: from a mapped file, or from a zip entry, which is inflated on the fly.
//
//   stream.seek(header.data_offset);
//   std::string values = stream.read(header.sample_bytes);
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct z_stream_s;

namespace ounce::data {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual std::uint64_t size() const = 0;
  virtual std::uint64_t position() const = 0;
  // Seeking forward may read the bytes between; seeking backward may start from the beginning.
  virtual void seek(std::uint64_t position) = 0;
  // Fills `to`, or throws Error{kBadInput}.
  virtual void read(std::span<char> to) = 0;

  // Reads `count` bytes. Memory grows with the bytes that exist, so that a hostile `count` is harmless.
  std::string read(std::uint64_t count);
};

// Reads bytes that the caller owns.
class MemoryStream : public ByteStream {
 public:
  // `where` names them in errors.
  MemoryStream(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  std::uint64_t size() const override { return bytes_.size(); }
  std::uint64_t position() const override { return position_; }
  void seek(std::uint64_t position) override;
  using ByteStream::read;
  void read(std::span<char> to) override;

 private:
  std::string_view bytes_;
  std::string where_;
  std::uint64_t position_ = 0;
};

// Reads a little-endian number; `bytes` must have sizeof(T) bytes from `offset`.
template <std::unsigned_integral T>
T load_little_endian(std::string_view bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const T byte = static_cast<unsigned char>(bytes[offset + i]);
    value = static_cast<T>(value | static_cast<T>(byte << (8 * i)));
  }
  return value;
}

inline std::uint16_t u16(std::string_view bytes, std::size_t offset) {
  return load_little_endian<std::uint16_t>(bytes, offset);
}
inline std::uint32_t u32(std::string_view bytes, std::size_t offset) {
  return load_little_endian<std::uint32_t>(bytes, offset);
}
inline std::uint64_t u64(std::string_view bytes, std::size_t offset) {
  return load_little_endian<std::uint64_t>(bytes, offset);
}

// A file in a zip archive: stored or deflated, zip64, with or without a data descriptor.
//
//   const io::MappedFile file = io::MappedFile::open("val.npz");
//   for (const ZipEntry& entry : read_zip_directory(file.bytes(), "val.npz")) {
//     ZipEntryStream stream(entry, "val.npz: " + entry.name);
//     stream.read(buffer);
//   }
struct ZipEntry {
  std::string name;
  std::string_view data;  // view into the archive, whose bytes must outlive the entry
  bool is_deflated = false;
  std::uint64_t size = 0;  // after inflating
  std::uint32_t checksum = 0;
};

// Reads the entries in the order of the central directory. Refuses entries outside the archive, overlapping
// entries, sizes that deflate cannot reach, encryption and other compression methods. Throws Error{kBadInput}
// that begins with `where`.
std::vector<ZipEntry> read_zip_directory(std::string_view archive, const std::string& where);

// Reads the bytes of one entry with about 40 KiB of memory. In stored entries seeking is free; deflated
// entries are inflated up to the position. The checksum is verified when all bytes have been read.
class ZipEntryStream : public ByteStream {
 public:
  ZipEntryStream(const ZipEntry& entry, std::string where);

  std::uint64_t size() const override { return entry_.size; }
  std::uint64_t position() const override { return position_; }
  void seek(std::uint64_t position) override;
  using ByteStream::read;
  void read(std::span<char> to) override;

 private:
  struct EndInflate {
    void operator()(z_stream_s* inflater) const;
  };

  void restart();
  void skip(std::uint64_t count);
  void inflate_into(std::span<char> to);
  int inflate_some(std::span<char> to, std::size_t& written);
  void check_nothing_follows();
  void add_to_checksum(std::span<const char> bytes);
  [[noreturn]] void fail(const std::string& what);

  ZipEntry entry_;
  std::string where_;
  std::unique_ptr<z_stream_s, EndInflate> inflater_;  // none for a stored entry
  std::uint64_t consumed_ = 0;                        // bytes of entry_.data that were inflated
  std::uint64_t position_ = 0;
  std::uint64_t summed_ = 0;  // checksum_ covers the bytes [0, summed_)
  std::uint32_t checksum_ = 0;
  std::string damage_;  // error that every later read repeats
};

}  // namespace ounce::data
