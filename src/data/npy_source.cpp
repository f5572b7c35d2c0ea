#include "data/npy_source.h"

namespace ounce::data {
namespace {

OpenArrays open_array(const std::filesystem::path& path) {
  OpenArrays open{io::MappedFile::open(path), {}};
  auto stream = std::make_unique<MemoryStream>(open.file.bytes(), path.string());
  open.arrays.emplace_back(path.stem().string(), std::move(stream), path.string());
  return open;
}

}  // namespace

NpySource::NpySource(const std::filesystem::path& path) : ArraySource(open_array(path)) {}

}  // namespace ounce::data
