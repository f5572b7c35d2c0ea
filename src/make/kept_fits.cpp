#include "make/kept_fits.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/digest.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace ounce::make {
namespace {

constexpr const char* kFitEnding = ".fit";

template <class T>
std::string_view raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string_view raw(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

// affine, codes, and a digest of the two
bool KeptFits::find(const std::string& key, std::size_t blocks, std::size_t code_bytes,
                    FittedWeight& fitted) const {
  const std::filesystem::path path = folder_ / (key + kFitEnding);
  std::error_code ignored;
  if (folder_.empty() || !std::filesystem::is_regular_file(path, ignored)) return false;
  const io::MappedFile file = io::MappedFile::open(path);
  const std::size_t affine_bytes = blocks * sizeof(kernels::Affine), size = affine_bytes + code_bytes;
  const std::string_view bytes = file.bytes();
  if (bytes.size() != size + sizeof(Digest) || raw(digest_of(bytes.substr(0, size))) != bytes.substr(size))
    return false;
  fitted.affine.resize(blocks);
  std::memcpy(fitted.affine.data(), bytes.data(), affine_bytes);
  fitted.codes = std::make_shared<std::vector<std::uint8_t>>(code_bytes);
  std::memcpy(fitted.codes->data(), bytes.data() + affine_bytes, code_bytes);
  return true;
}

void KeptFits::add(const std::string& key, const FittedWeight& fitted) const {
  if (folder_.empty()) return;
  // Weights of a model that is not done yet: for nobody else.
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(ErrorCode::kIo, fmt::format("cannot be made: {}", std::strerror(errno)), folder_.string());
  std::string bytes(raw(fitted.affine));
  bytes += raw(*fitted.codes);
  bytes += std::string(raw(digest_of(bytes)));
  io::OutputFile file(folder_ / (key + kFitEnding), bytes.size());
  file.write(0, bytes);
  file.commit();
}

// Of what is ours alone.
void KeptFits::clear() const {
  std::error_code ignored;
  if (folder_.empty() || !std::filesystem::is_directory(folder_, ignored)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    if (entry.path().extension() == kFitEnding) std::filesystem::remove(entry.path(), ignored);
  }
  std::filesystem::remove(folder_, ignored);
}

}  // namespace ounce::make
