#include "data/read_files.h"

#include <ounce/error.h>

#include <system_error>

#include "data/manifest.h"
#include "data/media.h"
#include "io/mapped_file.h"

namespace ounce::data {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 64;  // folders

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code none;
  return fs::equivalent(a, b, none) && !none;
}

// Pictures and sound wherever they stand, and tensors of ONNX test data.
bool is_sample(const fs::path& path) {
  const MediaKind kind = media_kind(path);
  return kind == MediaKind::kImage || kind == MediaKind::kSound || path.extension() == ".pb";
}

bool is_in_folder(const fs::path& folder, const fs::path& file, int depth) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (at->is_directory(none)) {
      const bool is_entered = depth < kDeepestFolder && (depth == 0 || !at->is_symlink(none));
      if (is_entered && is_in_folder(at->path(), file, depth + 1)) return true;
    } else if (is_sample(at->path()) && is_same(at->path(), file)) {
      return true;
    }
  }
  return false;
}

bool is_in_list(const fs::path& path, const fs::path& file) {
  try {
    const Manifest list(path);
    if (!list.file_column()) return false;
    for (std::uint64_t row = 0; row < list.size(); ++row) {
      for (const NamedTensor& cell : list.read(row)) {
        const bool is_name = cell.name == *list.file_column() && cell.tensor.strings.size() == 1;
        if (is_name && is_same(path.parent_path() / cell.tensor.strings[0], file)) return true;
      }
    }
  } catch (const Error&) {  // whoever reads it for its samples says what is wrong
  }
  return false;
}

bool is_read_from(const fs::path& path, const fs::path& file) {
  std::error_code none;
  if (path.empty()) return false;
  if (fs::is_directory(path, none)) return is_in_folder(path, file, 0);
  if (is_same(path, file)) return true;
  const bool is_list = path.extension() == ".csv" || path.extension() == ".jsonl";
  return is_list && is_in_list(path, file);
}

}  // namespace

bool is_read_from(const DataOptions& data, const fs::path& file) {
  if (is_read_from(data.path, file)) return true;
  for (const auto& [input, path] : data.paths) {
    if (is_read_from(path, file)) return true;
  }
  return false;
}

void require_files(const DataOptions& data) {
  if (!data.path.empty()) io::require_readable(data.path);
  for (const auto& [input, path] : data.paths) io::require_readable(path);
}

}  // namespace ounce::data
