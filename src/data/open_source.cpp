#include "data/open_source.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "data/list_source.h"
#include "data/media.h"
#include "data/npy_source.h"
#include "data/npz_source.h"
#include "data/raw_source.h"
#include "data/test_folder_source.h"
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

// The array that an input is most likely meant to get: as many axes as the input, or else the most.
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
  if (!keys.empty()) return std::make_unique<NpzSource>(path, keys);
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("has no array named '{}' (it has {}){}", fmt::join(wanted, "' or '"),
                  fmt::join(shown, ", "),
                  request.input == nullptr
                      ? ""
                      : fmt::format(". Map one: `fields` {}={}", request.input->name,
                                    likely_array(arrays, *request.input))),
      path.string());
}

// One raw sample is the input without its batch axis, which must be fixed then.
std::unique_ptr<Source> open_raw(const fs::path& path, const ValueDescription* input) {
  if (input == nullptr)
    throw Error(ErrorCode::kUsage, "say which input a raw file feeds: `paths` INPUT=FILE", path.string());
  Dims dims;
  for (std::size_t i = 1; i < input->shape.size(); ++i) dims.push_back(input->shape[i].value);
  if (std::find(dims.begin(), dims.end(), -1) != dims.end()) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "a raw file does not tell its shape, and neither does the input '{}', which is {}; use .npy",
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
  throw Error(ErrorCode::kBadInput,
              "is no data: give a .npz, .npy, .csv, .jsonl, .wav, .jpg, .png or .bin file, or a folder of "
              "images, sound "
              "or test data",
              path.string());
}

}  // namespace ounce::data
