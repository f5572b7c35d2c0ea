#include "data/source/open_source.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <string>
#include <system_error>

#include "base/cancel.h"
#include "base/digest.h"
#include "data/contract/derive.h"
#include "data/source/sources.h"
#include "io/mapped_file.h"

namespace ounce::data {
namespace {

namespace fs = std::filesystem;

bool is_test_folder(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("test_data_set_") || (name.starts_with("input_") && name.ends_with(".pb")))
      return true;
  }
  return false;
}

// The most likely array for an input: one of the same rank, or else the one of the highest rank.
std::string likely_array(const std::vector<ArrayDescription>& arrays, const ValueDescription& input) {
  const auto rank_fits = [&](const ArrayDescription& array) {
    return array.dims.size() == input.shape.size();
  };
  auto found = std::find_if(arrays.begin(), arrays.end(), rank_fits);
  if (found == arrays.end())
    found = std::max_element(arrays.begin(), arrays.end(),
                             [](const auto& a, const auto& b) { return a.dims.size() < b.dims.size(); });
  return found->name;
}

std::unique_ptr<Source> open_archive(const fs::path& path, const SourceRequest& request) {
  const std::vector<std::string>& wanted = request.fields;
  const std::vector<ArrayDescription> arrays = NpzSource::list(path);
  std::vector<std::string> keys, others, shown;
  for (const ArrayDescription& array : arrays) {
    const bool is_wanted = std::find(wanted.begin(), wanted.end(), array.name) != wanted.end();
    (is_wanted ? keys : others).push_back(array.name);
    shown.push_back(fmt::format("{} {}", array.name, describe(array.type, array.dims)));
  }
  if (others.size() == 1 && keys.size() < wanted.size()) keys.push_back(others[0]);
  for (const ValueDescription& input : request.inputs) {
    std::vector<std::string> fitting;
    for (const ArrayDescription& array : arrays) {
      const bool is_open = std::find(keys.begin(), keys.end(), array.name) != keys.end();
      const Dims sample(array.dims.begin() + (array.dims.empty() ? 0 : 1), array.dims.end());
      if (!is_open && fits_input(array.type, sample, input, request.may_derive))
        fitting.push_back(array.name);
    }
    if (fitting.size() == 1 && std::find(keys.begin(), keys.end(), input.name) == keys.end())
      keys.push_back(fitting[0]);
  }
  if (!keys.empty()) return std::make_unique<NpzSource>(path, keys);
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("has no array named '{}' (it has {}){}", fmt::join(wanted, "' or '"),
                  fmt::join(shown, ", "),
                  request.input == nullptr ? ""
                                           : fmt::format(". Map one: `fields` {}={}", request.input->name,
                                                         likely_array(arrays, *request.input))),
      path.string());
}

// Opens a raw file. A sample has the input's shape without its batch axis, which must not have dynamic axes.
std::unique_ptr<Source> open_raw(const fs::path& path, const ValueDescription* input) {
  if (input == nullptr)
    throw Error(ErrorCode::kUsage, "name the input of a raw file: `paths` INPUT=FILE", path.string());
  Dims dims;
  for (std::size_t i = 1; i < input->shape.size(); ++i) dims.push_back(input->shape[i].value);
  if (std::find(dims.begin(), dims.end(), -1) != dims.end()) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("a raw file has no shape, and the input '{}' has dynamic axes ({}); use a .npy file",
                    input->name, describe(*input)),
        path.string());
  }
  return std::make_unique<RawSource>(path, input->element, dims);
}

}  // namespace

std::unique_ptr<Source> open_source(const fs::path& path, const SourceRequest& request) {
  io::require_readable(path);
  const bool is_folder = fs::is_directory(path);
  const MediaKind kind = is_folder ? MediaKind::kNone : media_kind(path);
  const std::string extension = path.extension().string();
  if (is_folder && is_test_folder(path)) return std::make_unique<TestFolderSource>(path);
  if (is_folder || kind == MediaKind::kImage || kind == MediaKind::kSound)
    return std::make_unique<MediaSource>(path, request.frames);
  if (kind == MediaKind::kArray) return std::make_unique<NpySource>(path);
  if (extension == ".npz") return open_archive(path, request);
  if (extension == ".csv" || extension == ".jsonl") return std::make_unique<ListSource>(path);
  if (extension == ".bin" || extension == ".raw") return open_raw(path, request.input);
  throw Error(
      ErrorCode::kBadInput,
      "is not a supported kind of data: give a .npz, .npy, .csv, .jsonl, .wav, .jpg, .png or .bin file, "
      "or a folder of images, sound or test data",
      path.string());
}

namespace {

void require(bool is_known, const std::string& name, const char* what, const std::vector<std::string>& known,
             const char* kind = "input") {
  if (is_known) return;
  throw Error(ErrorCode::kUsage,
              fmt::format("{}: the model has no {} '{}'{}", what, kind, name,
                          known.empty() ? "" : fmt::format(" (it has {})", fmt::join(known, ", "))));
}

}  // namespace

void require_known_names(const std::vector<ValueDescription>& inputs, const DataOptions& options) {
  const auto contains = [](const std::vector<std::string>& known, const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  std::vector<std::string> names, dimensions;
  for (const ValueDescription& input : inputs) {
    names.push_back(input.name);
    for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
      if (input.shape[axis].value >= 0) continue;
      if (!input.shape[axis].name.empty() && !contains(dimensions, input.shape[axis].name))
        dimensions.push_back(input.shape[axis].name);
      dimensions.push_back(fmt::format("{}:{}", input.name, axis));
    }
  }
  for (const auto& [name, field] : options.fields) require(contains(names, name), name, "`fields`", names);
  for (const auto& [name, value] : options.constants)
    require(contains(names, name), name, "`constants`", names);
  for (const auto& [name, output] : options.carry) require(contains(names, name), name, "`carry`", names);
  for (const auto& [name, length] : options.shape)
    require(contains(dimensions, name), name, "`shape`", dimensions, "dynamic axis");
  if (!options.contract) return;
  for (const auto& [name, contract] : options.contract->inputs)
    require(name.empty() || contains(names, name), name, "the contract", names);
}

namespace {

constexpr int kDeepestFolder = 64;  // levels of folders

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code none;
  return fs::equivalent(a, b, none) && !none;
}

// True for images and sound at any position, and for tensors of ONNX test data.
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
  } catch (const Error&) {  // reading the samples will report the error
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

namespace {

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

// Lists the files of a folder and its subfolders, by their paths relative to `root`. Links to folders are not
// followed.
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
