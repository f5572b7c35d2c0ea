// A .npz archive, as numpy.savez and numpy.savez_compressed make them: every array is a field.
//
//   for (const auto& array : NpzSource::list("val.npz")) …   // x uint8[2000,32,32,3], calib
//   uint8[100,32,32,3] NpzSource source("val.npz", {"x", "y"});
//
// Only the arrays that are used must agree in length.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/source/array_source.h"

namespace ounce::data {

struct ArrayDescription {
  std::string name;
  ElementType type = ElementType::kUndefined;
  Dims dims;            // with the leading axis
  std::string problem;  // why it cannot be read; empty when it can
};

class NpzSource : public ArraySource {
 public:
  // Without keys, all arrays are used. Throws Error.
  explicit NpzSource(const std::filesystem::path& path, const std::vector<std::string>& keys = {});

  std::vector<std::string> names_there() const override { return names_; }

  // What is in the archive, from its headers alone.
  static std::vector<ArrayDescription> list(const std::filesystem::path& path);

 private:
  std::vector<std::string> names_;
};

}  // namespace ounce::data
