// The header of a .npy file (versions 1.0, 2.0 and 3.0) and the values behind it.
//
//   const NpyHeader header = read_npy_header(stream, "x.npy");
//   stream.seek(header.data_offset);
//   Tensor tensor = decode_npy_values(header, header.dims, stream.read(header.data_bytes), "x.npy");
//
// The header is a Python dictionary, but only the three entries that NumPy writes are understood; nothing is
// evaluated. Numbers of either byte order, bools and strings of fixed width are read; complex numbers,
// columns with names and pickled objects are refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "data/containers/byte_stream.h"
#include "data/tensor.h"

namespace ounce::data {

struct NpyHeader {
  enum class Text { kNone, kBytes, kUtf32 };  // the encoding of strings in the file

  ElementType type = ElementType::kUndefined;
  Dims dims;
  Text text = Text::kNone;
  bool is_big_endian = false;
  std::uint64_t element_bytes = 0;  // in the file: strings have a width there too
  std::uint64_t data_offset = 0;
  std::uint64_t data_bytes = 0;
};

// The stream must have exactly as many bytes as its header says. Throws Error{kBadInput}.
NpyHeader read_npy_header(ByteStream& stream, const std::string& where);

// `bytes` are as many elements of the file as `dims` has.
Tensor decode_npy_values(const NpyHeader& header, Dims dims, std::string bytes, const std::string& where);

// A whole .npy file.
Tensor read_npy(std::string_view bytes, const std::string& where);

// Writes .npz archives, as NumPy reads them: arrays that are not compressed, each given piece by piece.
//
//   NpzWriter archive("outputs.npz");
//   archive.begin("logits", ElementType::kFloat, {100, 10});
//   for (…) archive.write(bytes);
//   archive.finish();

// False for types that NumPy does not have: bfloat16. Strings are not written either.
bool is_numpy_type(ElementType type);

class NpzWriter {
 public:
  // Throws Error{kIo}, as all functions do.
  explicit NpzWriter(const std::filesystem::path& path);

  // Begins an array, and ends the one before. Throws Error{kUnsupported} beyond 4 GB.
  void begin(const std::string& name, ElementType type, const Dims& dims);
  void write(std::string_view bytes);
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t offset = 0, size = 0;
    std::uint32_t checksum = 0;
  };
  void end();  // completes the header of the array, which has its size and checksum
  void put(std::string_view bytes);
  std::string header_of(const Entry& entry) const;

  std::filesystem::path path_;
  std::fstream file_;
  std::uint64_t at_ = 0;
  bool is_open_ = false;
  std::vector<Entry> entries_;
};

}  // namespace ounce::data
