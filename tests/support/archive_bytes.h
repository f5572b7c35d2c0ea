// Test support: builds .npy files and zip archives byte by byte, so that damaged ones are as easy to make as
// valid ones.
//
//   ZipBytes zip;
//   zip.add("x.npy", npy_bytes("<f4", "(2, 3)", values));
//   write_file(path, zip.bytes());
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ounce::data::test {

inline std::string little_endian(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// 16-bit mono audio, 8000 samples per second.
inline std::string wav(const std::vector<std::int16_t>& samples) {
  const std::string data = bytes_of(samples);
  return "RIFF" + little_endian(36 + data.size(), 4) + "WAVEfmt " + little_endian(16, 4) +
         little_endian(1, 2) + little_endian(1, 2) + little_endian(8000, 4) + little_endian(16000, 4) +
         little_endian(2, 2) + little_endian(16, 2) + "data" + little_endian(data.size(), 4) + data;
}

inline std::string npy_with_header(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  return bytes + little_endian(header.size(), version == 1 ? 2 : 4) + header + data;
}

inline std::string npy_bytes(const std::string& descr, const std::string& shape, const std::string& data,
                             int version = 1) {
  const std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", descr, shape);
  return npy_with_header(header, data, version);
}

inline std::uint32_t checksum_of(const std::string& bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Deflate without a header. Several pieces made with Z_FULL_FLUSH may follow each other.
inline std::string deflated(std::string bytes, int flush = Z_FINISH) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, flush);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

// The fields of an entry; correct by default.
struct ZipEntryBytes {
  std::string name, stored;
  std::uint16_t method = 0, flags = 0;
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
  bool is_zip64 = false, has_descriptor = false;
  std::uint64_t offset_error = 0;
};

class ZipBytes {
 public:
  ZipBytes& add(const std::string& name, const std::string& bytes, bool is_deflated = true) {
    return add({.name = name,
                .stored = is_deflated ? deflated(bytes) : bytes,
                .method = static_cast<std::uint16_t>(is_deflated ? 8 : 0),
                .size = bytes.size(),
                .checksum = checksum_of(bytes)});
  }

  ZipBytes& add(const ZipEntryBytes& entry) {
    const std::uint64_t offset = bytes_.size() + entry.offset_error;
    bytes_ += local_header(entry) + entry.stored;
    if (entry.has_descriptor) {
      const int width = entry.is_zip64 ? 8 : 4;
      bytes_ += "PK\x07\x08" + little_endian(entry.checksum, 4) + little_endian(entry.stored.size(), width) +
                little_endian(entry.size, width);
    }
    directory_ += record(entry, offset);
    ++entries_;
    return *this;
  }

  ZipBytes& end_with_zip64() {
    is_zip64_ = true;
    return *this;
  }

  std::string bytes(const std::string& comment = {}) const {
    std::string bytes = bytes_ + directory_;
    if (is_zip64_) {
      const std::size_t end64 = bytes.size();
      bytes += "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
               little_endian(0, 8) + little_endian(entries_, 8) + little_endian(entries_, 8) +
               little_endian(directory_.size(), 8) + little_endian(bytes_.size(), 8);
      bytes += "PK\x06\x07" + little_endian(0, 4) + little_endian(end64, 8) + little_endian(1, 4);
    }
    const std::uint64_t none = is_zip64_ ? UINT64_MAX : 0;
    return bytes + "PK\x05\x06" + little_endian(0, 4) + little_endian(entries_ | none, 2) +
           little_endian(entries_ | none, 2) + little_endian(directory_.size() | none, 4) +
           little_endian(bytes_.size() | none, 4) + little_endian(comment.size(), 2) + comment;
  }

 private:
  static std::string flags_and_method(const ZipEntryBytes& entry) {
    return little_endian(entry.flags | (entry.has_descriptor ? 8U : 0U), 2) + little_endian(entry.method, 2) +
           little_endian(0, 4);
  }

  static std::string local_header(const ZipEntryBytes& entry) {
    const bool is_later = entry.has_descriptor;
    const std::string extra = entry.is_zip64
                                  ? little_endian(1, 2) + little_endian(16, 2) +
                                        little_endian(entry.size, 8) + little_endian(entry.stored.size(), 8)
                                  : "";
    const std::uint64_t none = entry.is_zip64 ? UINT64_MAX : 0;
    return "PK\x03\x04" + little_endian(45, 2) + flags_and_method(entry) +
           little_endian(is_later ? 0 : entry.checksum, 4) +
           little_endian(is_later ? 0 : entry.stored.size() | none, 4) +
           little_endian(is_later ? 0 : entry.size | none, 4) + little_endian(entry.name.size(), 2) +
           little_endian(extra.size(), 2) + entry.name + extra;
  }

  static std::string record(const ZipEntryBytes& entry, std::uint64_t offset) {
    const std::string other = little_endian(0x7075, 2) + little_endian(3, 2) + "abc";
    const std::string extra =
        entry.is_zip64 ? other + little_endian(1, 2) + little_endian(24, 2) + little_endian(entry.size, 8) +
                             little_endian(entry.stored.size(), 8) + little_endian(offset, 8)
                       : "";
    const std::uint64_t none = entry.is_zip64 ? UINT64_MAX : 0;
    return "PK\x01\x02" + little_endian(45, 2) + little_endian(45, 2) + flags_and_method(entry) +
           little_endian(entry.checksum, 4) + little_endian(entry.stored.size() | none, 4) +
           little_endian(entry.size | none, 4) + little_endian(entry.name.size(), 2) +
           little_endian(extra.size(), 2) + little_endian(0, 2) + little_endian(0, 8) +
           little_endian(offset | none, 4) + entry.name + extra;
  }

  std::string bytes_, directory_;
  std::uint64_t entries_ = 0;
  bool is_zip64_ = false;
};

}  // namespace ounce::data::test
