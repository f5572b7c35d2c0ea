#include "data/containers/npz_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <zlib.h>

namespace ounce::data {
namespace {

constexpr std::uint64_t kMostArchive = 0xffff0000;  // offsets have 32 bits
constexpr std::size_t kNpyAlignment = 64;

std::string_view numpy_name(ElementType type) {
  switch (type) {
    case ElementType::kFloat: return "<f4";
    case ElementType::kDouble: return "<f8";
    case ElementType::kFloat16: return "<f2";
    case ElementType::kInt8: return "|i1";
    case ElementType::kInt16: return "<i2";
    case ElementType::kInt32: return "<i4";
    case ElementType::kInt64: return "<i8";
    case ElementType::kUint8: return "|u1";
    case ElementType::kUint16: return "<u2";
    case ElementType::kUint32: return "<u4";
    case ElementType::kUint64: return "<u8";
    case ElementType::kBool: return "|b1";
    default: return "";
  }
}

std::string little(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string npy_header(ElementType type, const Dims& dims) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 numpy_name(type), fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  constexpr std::size_t kBefore = 10;  // the magic word, the version and the length
  text.append(kNpyAlignment - 1 - (kBefore + text.size()) % kNpyAlignment, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\0", 8) + little(text.size(), 2) + text;
}

}  // namespace

bool is_numpy_type(ElementType type) { return !numpy_name(type).empty(); }

NpzWriter::NpzWriter(const std::filesystem::path& path)
    : path_(path), file_(path, std::ios::in | std::ios::out | std::ios::binary | std::ios::trunc) {
  if (!file_) throw Error(ErrorCode::kIo, "cannot be written", path_.string());
}

void NpzWriter::put(std::string_view bytes) {
  if (at_ + bytes.size() > kMostArchive)
    throw Error(ErrorCode::kUnsupported, "more than 4 GB of values: give fewer `samples`", path_.string());
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file_) throw Error(ErrorCode::kIo, "cannot be written: is the disk full?", path_.string());
  at_ += bytes.size();
}

// What stands before an entry and, with a little more, in the directory.
std::string NpzWriter::header_of(const Entry& entry) const {
  return little(20, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0x21, 2) +  // stored, 1980
         little(entry.checksum, 4) + little(entry.size, 4) + little(entry.size, 4) +
         little(entry.name.size(), 2) + little(0, 2);
}

void NpzWriter::begin(const std::string& name, ElementType type, const Dims& dims) {
  end();
  entries_.push_back({name + ".npy", at_, 0, 0});
  put("PK\x03\x04" + header_of(entries_.back()) + entries_.back().name);
  is_open_ = true;
  write(npy_header(type, dims));
}

void NpzWriter::write(std::string_view bytes) {
  put(bytes);
  Entry& entry = entries_.back();
  entry.size += bytes.size();
  entry.checksum = static_cast<std::uint32_t>(
      crc32_z(entry.checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void NpzWriter::end() {
  if (!is_open_) return;
  is_open_ = false;
  const std::uint64_t here = at_;
  file_.seekp(static_cast<std::streamoff>(entries_.back().offset));
  put("PK\x03\x04" + header_of(entries_.back()));
  at_ = here;
  file_.seekp(static_cast<std::streamoff>(here));
}

void NpzWriter::finish() {
  end();
  const std::uint64_t begin = at_;
  for (const Entry& entry : entries_)
    put("PK\x01\x02" + little(20, 2) + header_of(entry) + little(0, 2) + little(0, 2) + little(0, 2) +
        little(0, 4) + little(entry.offset, 4) + entry.name);
  const std::uint64_t size = at_ - begin;
  put("PK\x05\x06" + little(0, 4) + little(entries_.size(), 2) + little(entries_.size(), 2) +
      little(size, 4) + little(begin, 4) + little(0, 2));
  file_.close();
  if (!file_) throw Error(ErrorCode::kIo, "cannot be written: is the disk full?", path_.string());
}

}  // namespace ounce::data
