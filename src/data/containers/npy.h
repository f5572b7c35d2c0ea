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
#include <string>

#include "data/containers/byte_stream.h"
#include "data/tensor.h"

namespace ounce::data {

struct NpyHeader {
  enum class Text { kNone, kBytes, kUtf32 };  // how strings stand in the file

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

}  // namespace ounce::data
