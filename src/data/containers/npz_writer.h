// Writes .npz archives, as NumPy reads them: arrays that are not compressed, each given piece by piece.
//
//   NpzWriter archive("outputs.npz");
//   archive.begin("logits", ElementType::kFloat, {100, 10});
//   for (…) archive.write(bytes);
//   archive.finish();
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// Does NumPy have this type? Not strings, nor floats of 16 bits with 8 of them for the exponent.
bool is_numpy_type(ElementType type);

class NpzWriter {
 public:
  // Throws Error{kIo}, as all of it may.
  explicit NpzWriter(const std::filesystem::path& path);

  // The array before is complete. Throws Error{kUnsupported} beyond 4 GB.
  void begin(const std::string& name, ElementType type, const Dims& dims);
  void write(std::string_view bytes);
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t offset = 0, size = 0;
    std::uint32_t checksum = 0;
  };
  void end();  // the array: what is known of it only now goes before it
  void put(std::string_view bytes);
  std::string header_of(const Entry& entry) const;

  std::filesystem::path path_;
  std::fstream file_;
  std::uint64_t at_ = 0;
  bool is_open_ = false;
  std::vector<Entry> entries_;
};

}  // namespace ounce::data
