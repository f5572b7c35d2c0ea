#include "formats/coreml/file/package.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <set>

#include "base/cancel.h"
#include "base/json_text.h"
#include "io/mapped_file.h"

namespace ounce::coreml {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLargestManifest = std::size_t{1} << 20;
constexpr std::size_t kMostFiles = 10000;
constexpr int kMostDepth = 16;
constexpr std::string_view kModelPath = "@model_path/";

[[noreturn]] void refuse(const std::string& what, const std::string& name) {
  throw Error(ErrorCode::kBadInput, "not a valid Core ML package: " + what, name);
}

// True if a relative path does not leave its folder. Checks only the text, not links.
bool is_below(const fs::path& path) {
  if (path.empty() || path.is_absolute()) return false;
  return std::all_of(path.begin(), path.end(), [](const fs::path& part) {
    return !part.empty() && part != "." && part != ".." && part.native().find('\0') == std::string::npos;
  });
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

void add_files(const fs::path& package, const fs::path& folder, int depth, const std::set<fs::path>& known,
               std::vector<fs::path>& files) {
  if (depth > kMostDepth) refuse("its folders are nested too deeply", package.string());
  std::error_code error;
  std::vector<std::string> names = io::names_in(package / folder, error);
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot read the folder: {}", error.message()),
                (package / folder).string());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    count_step();
    const fs::path path = folder / name;
    const fs::file_status status = fs::symlink_status(package / path, error);
    if (fs::is_directory(status)) {
      add_files(package, path, depth + 1, known, files);
    } else if (!known.contains(path)) {
      files.push_back(path);
    }
    if (files.size() > kMostFiles) refuse("it contains too many files", package.string());
  }
}

}  // namespace

fs::path root_model(const fs::path& package, const std::string& name) {
  const io::MappedFile file = io::MappedFile::open_beneath(package, kManifest);
  if (file.bytes().size() > kLargestManifest) refuse("its manifest is too large", name);
  const nlohmann::json manifest = parse_json_or_nothing(file.bytes());
  if (!manifest.is_object()) refuse("its manifest is not JSON", name);
  const std::string root = text_of(manifest, "rootModelIdentifier");
  const auto items = manifest.find("itemInfoEntries");
  if (root.empty() || items == manifest.end() || !items->is_object())
    refuse("its manifest names no model", name);
  const auto item = items->find(root);
  if (item == items->end() || !item->is_object()) refuse("its manifest does not list the model", name);
  const fs::path path = text_of(*item, "path");
  if (!is_below(path)) refuse(fmt::format("the path '{}' leads outside of the package", path.string()), name);
  return "Data" / path;
}

fs::path location_of_weights(const Model& model, const std::string& weights, const std::string& name) {
  const bool is_relative = weights.starts_with(kModelPath) && is_below(weights.substr(kModelPath.size()));
  if (!is_relative) refuse(fmt::format("the weight file '{}' is outside of the package", weights), name);
  const fs::path location = model.weight_location(weights);
  const auto is_at = [&](const auto& file) { return model.weight_location(file.first) == location; };
  if (location == model.location || std::any_of(model.weights.begin(), model.weights.end(), is_at))
    refuse(fmt::format("'{}' is used for two different files", weights), name);
  return location;
}

std::vector<fs::path> other_files(const fs::path& package, const Model& model) {
  std::set<fs::path> known = {model.location};
  for (const auto& [name, file] : model.weights) known.insert(model.weight_location(name));
  std::vector<fs::path> files;
  add_files(package, {}, 0, known, files);
  return files;
}

}  // namespace ounce::coreml
