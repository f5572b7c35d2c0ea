// What was found for layers, in a folder beside the output while a run goes on: one that was killed goes on
// with it.
//
//   KeptFits kept("model.int4.onnx.fits");
//   if (!kept.find(key, fitted)) { …; kept.add(key, fitted); }
//   kept.clear();                      // when the output is there
//
// A key is a digest of all that decides what is found: the weight, what goes into it, and how it is fitted.
// So nothing of another model, other data or other options is ever taken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernels/affine.h"

namespace ounce::make {

struct FittedWeight {
  std::vector<kernels::Affine> affine;               // of each block
  std::shared_ptr<std::vector<std::uint8_t>> codes;  // packed rows
};

class KeptFits {
 public:
  // An empty name: nothing is kept. The folder is made with the first one.
  explicit KeptFits(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool is_kept() const { return !folder_.empty(); }
  // Those with so many blocks and bytes of codes; false if there are none that are whole.
  bool find(const std::string& key, std::size_t blocks, std::size_t code_bytes, FittedWeight& fitted) const;
  // Throws Error{kIo}.
  void add(const std::string& key, const FittedWeight& fitted) const;
  void clear() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ounce::make
