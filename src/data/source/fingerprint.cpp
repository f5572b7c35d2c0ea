#include "data/source/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/cancel.h"
#include "base/digest.h"
#include "data/source/memory_source.h"
#include "io/folder.h"
#include "io/mapped_file.h"

namespace ounce::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStretch = 4096, kStretches = 64;

std::string text_of_file(const fs::path& path) {
  const io::MappedFile file = io::MappedFile::open(path);
  const std::string_view bytes = file.bytes();
  std::string seen;
  if (bytes.size() <= kStretch * kStretches) {
    seen = bytes;
  } else {
    for (std::size_t i = 0; i < kStretches; ++i)
      seen += bytes.substr((bytes.size() - kStretch) * i / (kStretches - 1), kStretch);
  }
  return fmt::format("{} {}", bytes.size(), hex(digest_of(seen)));
}

// Files of the folder and of those inside, by their names below `root`; links to folders are not followed.
void list_files(const fs::path& root, const fs::path& below, std::map<std::string, std::uint64_t>& sizes) {
  throw_if_cancelled();
  std::error_code error;
  for (const std::string& name : io::names_in(root / below, error)) {
    const fs::path relative = below / name;
    const fs::file_status status = fs::symlink_status(root / relative, error);
    if (fs::is_directory(status)) {
      list_files(root, relative, sizes);
    } else if (fs::is_regular_file(root / relative, error)) {
      sizes[relative.string()] = fs::file_size(root / relative, error);
    }
  }
}

std::string text_of_path(const fs::path& path) {
  std::error_code none;
  if (path.empty()) return "none";
  if (!fs::is_directory(path, none)) return text_of_file(path);
  std::map<std::string, std::uint64_t> sizes;
  list_files(path, {}, sizes);
  std::string text;
  for (const auto& [name, size] : sizes) text += fmt::format("'{}' {}\n", name, size);
  return text;
}

}  // namespace

std::string fingerprint_of(const DataOptions& options) {
  std::string text = text_of_path(options.path);
  if (options.memory) text += description_of(*options.memory);
  for (const auto& [input, path] : options.paths)
    text += fmt::format("\ninput '{}' {}", input, text_of_path(path));
  for (const auto& [input, field] : options.fields) text += fmt::format("\nfield '{}' '{}'", input, field);
  return hex(digest_of(text));
}

}  // namespace ounce::data
