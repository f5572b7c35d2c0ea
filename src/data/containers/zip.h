// Reads zip archives: stored and deflated entries, zip64, data descriptors.
//
//   const io::MappedFile file = io::MappedFile::open("val.npz");
//   for (const ZipEntry& entry : read_zip_directory(file.bytes(), "val.npz")) {
//     ZipEntryStream stream(entry, "val.npz: " + entry.name);
//     stream.read(buffer);
//   }
//
// The central directory decides; every entry must lie inside the archive and apart from the others, and may
// not claim more than deflate could hold in its bytes. Encrypted entries and other methods are refused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/containers/byte_stream.h"

struct z_stream_s;

namespace ounce::data {

struct ZipEntry {
  std::string name;
  std::string_view data;  // as it stands in the archive, whose bytes must outlive it
  bool is_deflated = false;
  std::uint64_t size = 0;  // what the data is after inflating
  std::uint32_t checksum = 0;
};

// In the order of the directory. Throws Error{kBadInput} with `where` in front.
std::vector<ZipEntry> read_zip_directory(std::string_view archive, const std::string& where);

// One entry's bytes in about 40 KiB of memory. Stored entries are read wherever one asks; deflated ones are
// inflated from the start up to there. When the bytes have been read to the end, they must have the checksum.
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
  std::uint64_t consumed_ = 0;                        // bytes of entry_.data that the inflater has taken
  std::uint64_t position_ = 0;
  std::uint64_t summed_ = 0;  // checksum_ is that of the bytes [0, summed_)
  std::uint32_t checksum_ = 0;
  std::string damage_;  // once found, it is there for good
};

}  // namespace ounce::data
