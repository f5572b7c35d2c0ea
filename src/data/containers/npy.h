// Reads .npy files (versions 1.0, 2.0 and 3.0): the header and the values after it. Writes .npz archives.
//
//   const NpyHeader header = read_npy_header(stream, "x.npy");
//   stream.seek(header.data_offset);
//   Tensor tensor = decode_npy_values(header, header.dims, stream.read(header.data_bytes), "x.npy");
//
// The header is a Python dictionary. Only the three entries that NumPy writes are parsed; nothing is
// evaluated. Numbers of either byte order, bools and strings of fixed width are supported. Complex numbers,
// structured arrays and pickled objects are refused.
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
  std::uint64_t element_bytes = 0;  // size in the file; strings have a fixed width there
  std::uint64_t data_offset = 0;
  std::uint64_t data_bytes = 0;
};

// Reads the header. Throws Error{kBadInput}, also if the size of the stream does not match the header.
NpyHeader read_npy_header(ByteStream& stream, const std::string& where);

// Converts bytes of the file to a tensor of `dims`.
Tensor decode_npy_values(const NpyHeader& header, Dims dims, std::string bytes, const std::string& where);

// Reads a whole .npy file.
Tensor read_npy(std::string_view bytes, const std::string& where);

// Writes uncompressed .npz archives. Each array is written in pieces.
//
//   NpzWriter archive("outputs.npz");
//   archive.begin("logits", ElementType::kFloat, {100, 10});
//   for (const std::string& bytes : pieces) archive.write(bytes);
//   archive.finish();

// False for types that cannot be written: bfloat16, which NumPy does not have, and strings.
bool is_numpy_type(ElementType type);

class NpzWriter {
 public:
  // All functions throw Error{kIo}.
  explicit NpzWriter(const std::filesystem::path& path);

  // Begins an array and ends the previous one. Throws Error{kUnsupported} if the archive exceeds 4 GB.
  void begin(const std::string& name, ElementType type, const Dims& dims);
  void write(std::string_view bytes);
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t offset = 0, size = 0;
    std::uint32_t checksum = 0;
  };
  void end();  // writes the size and checksum into the array's header
  void put(std::string_view bytes);
  std::string header_of(const Entry& entry) const;

  std::filesystem::path path_;
  std::fstream file_;
  std::uint64_t at_ = 0;
  bool is_open_ = false;
  std::vector<Entry> entries_;
};

}  // namespace ounce::data
