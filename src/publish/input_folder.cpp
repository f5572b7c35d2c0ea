#include "publish/input_folder.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/publish.h>

#include <algorithm>
#include <system_error>

#include "io/mapped_file.h"
#include "publish/variants.h"

namespace ounce::publication {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMostFiles = 100'000;
constexpr std::uint64_t kLargestText = std::uint64_t{16} << 20;

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

// Weights that a model names, as people name them: model.onnx_data, model.onnx_data_1, model.onnx.data.
bool is_model_data(const std::string& name) {
  return name.find(".onnx_data") != std::string::npos ||
         (name.find(".onnx.") != std::string::npos && name.ends_with(".data"));
}

class Walk {
 public:
  explicit Walk(const fs::path& root) : root_(fs::canonical(root)) {
    // ~/.cache/huggingface/hub/models--x/snapshots/REVISION/config.json is a link to …/models--x/blobs/…
    if (root_.parent_path().filename() == "snapshots") blobs_ = root_.parent_path().parent_path() / "blobs";
  }

  void visit(const fs::path& relative, std::size_t depth) {
    if (depth > kDeepest)
      throw Error(ErrorCode::kBadInput, "folders in folders go too deep to be published",
                  (root_ / relative).string());
    std::error_code error;
    std::vector<std::string> names = io::names_in(root_ / relative, error);
    if (error)
      throw Error(ErrorCode::kIo, fmt::format("cannot read the folder: {}", error.message()),
                  (root_ / relative).string());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) look_at(relative / name, name, depth);
  }

  std::vector<fs::path> models, files;
  std::vector<std::string> notes;

 private:
  void look_at(const fs::path& relative, const std::string& name, std::size_t depth) {
    if (name.starts_with('.')) {
      if (name != ".git") notes.push_back(fmt::format("{} is hidden, and left out", relative.string()));
      return;
    }
    const fs::path path = root_ / relative;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (fs::is_directory(status)) return visit(relative, depth + 1);
    if (fs::is_symlink(status)) {
      const fs::path there = fs::canonical(path, error);
      const bool is_ours =
          !error && (is_inside(there, root_) || (!blobs_.empty() && is_inside(there, blobs_)));
      if (!is_ours || !fs::is_regular_file(there, error))
        return notes.push_back(
            fmt::format("{} is a link that leads out of the folder, and left out", relative.string()));
    } else if (!fs::is_regular_file(status)) {
      return notes.push_back(fmt::format("{} is no file, and left out", relative.string()));
    }
    if (models.size() + files.size() >= kMostFiles)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("holds more than {} files, too many to publish", kMostFiles), root_.string());
    if (relative.extension() == ".onnx") {
      models.push_back(relative);
    } else if (!is_model_data(name)) {
      files.push_back(relative);
    }
  }

  fs::path root_, blobs_;
};

// Is it a variant of another one in the same folder?
bool is_variant(const fs::path& model, const std::vector<fs::path>& models) {
  const std::string original = original_of(model.stem().string());
  return !original.empty() &&
         std::find(models.begin(), models.end(), model.parent_path() / (original + ".onnx")) != models.end();
}

}  // namespace

bool InputFolder::has(const std::string& file) const {
  return std::find(files.begin(), files.end(), fs::path(file)) != files.end();
}

InputFolder read_input(const fs::path& input) {
  std::error_code error;
  if (!fs::is_directory(input, error)) return {{}, {input}, {}, {}};
  InputFolder folder = contents_of(input);
  if (folder.models.empty())
    throw Error(ErrorCode::kUsage, "the folder holds no .onnx files", input.string());
  return folder;
}

InputFolder contents_of(const fs::path& input) {
  Walk walk(input);
  walk.visit("", 0);
  InputFolder folder{input, {}, std::move(walk.files), std::move(walk.notes)};
  for (const fs::path& model : walk.models) {
    if (is_variant(model, walk.models)) {
      folder.notes.push_back(
          fmt::format("{} is a variant that was made elsewhere, and left out", model.string()));
    } else {
      folder.models.push_back(input / model);
    }
  }
  return folder;
}

std::string read_text(const fs::path& file) {
  const io::MappedFile mapped = io::MappedFile::open(file);
  if (mapped.bytes().size() > kLargestText)
    throw Error(ErrorCode::kBadInput, fmt::format("has {} bytes, too many for a text", mapped.bytes().size()),
                file.string());
  return std::string(mapped.bytes());
}

}  // namespace ounce::publication

namespace ounce {

std::vector<std::filesystem::path> originals_in(const std::filesystem::path& folder) {
  return publication::contents_of(folder).models;
}

}  // namespace ounce
