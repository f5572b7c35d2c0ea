#include "publish/variants.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/publish.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "base/text.h"
#include "io/mapped_file.h"

namespace ounce::publication {
namespace {

Recipe recipe_for(Format format) {
  Recipe recipe;
  recipe.format = format;
  return recipe;
}

Recipe dynamic_with(WeightType weights) {
  Recipe recipe = recipe_for(Format::kInt8Dynamic);
  recipe.integer.weights = weights;
  return recipe;
}

// Suffixes of variants that other tools publish and Ounce does not make.
constexpr std::string_view kOtherSuffixes[] = {"_q4f16", "_q2", "_q2f16", "_q1", "_q1f16", "_bnb4"};

}  // namespace

const std::vector<Variant>& all_variants() {
  static const std::vector<Variant> kVariants = {
      {"fp32", "", true, {}},
      {"fp16", "_fp16", true, {recipe_for(Format::kFp16)}},
      {"q8", "_quantized", true, {recipe_for(Format::kInt8Dynamic), recipe_for(Format::kW8)}},
      {"int8", "_int8", false, {dynamic_with(WeightType::kS8), recipe_for(Format::kW8)}},
      {"uint8", "_uint8", false, {dynamic_with(WeightType::kU8), recipe_for(Format::kW8)}},
      {"q4", "_q4", true, {recipe_for(Format::kNbits4), recipe_for(Format::kW4)}},
  };
  return kVariants;
}

std::vector<const Variant*> chosen_variants(const std::vector<std::string>& names) {
  std::vector<const Variant*> chosen;
  for (const Variant& variant : all_variants()) {
    const bool is_chosen =
        names.empty() ? variant.is_usual : std::find(names.begin(), names.end(), variant.name) != names.end();
    if (is_chosen) chosen.push_back(&variant);
  }
  for (const std::string& name : names) {
    const auto is_it = [&](const Variant& variant) { return variant.name == name; };
    if (std::any_of(all_variants().begin(), all_variants().end(), is_it)) continue;
    throw Error(ErrorCode::kUsage, fmt::format("`variants`: unknown variant '{}'; known: {}", name,
                                               fmt::join(variant_names(), ", ")));
  }
  return chosen;
}

std::filesystem::path place_of(Layout layout, const std::string& stem, const Variant& variant) {
  switch (layout) {
    case Layout::kHuggingFace:
      return std::filesystem::path("onnx") / fmt::format("{}{}.onnx", stem, variant.suffix);
    case Layout::kGenai: return std::filesystem::path(variant.name) / (stem + ".onnx");
    case Layout::kPlain: break;
  }
  return variant.recipes.empty() ? stem + ".onnx" : fmt::format("{}.{}.onnx", stem, variant.name);
}

std::string data_name_of(Layout layout, const std::filesystem::path& file) {
  return file.filename().string() + (layout == Layout::kHuggingFace ? "_data" : ".data");
}

}  // namespace ounce::publication

namespace ounce {

std::string original_of(const std::string& stem) {
  const auto before = [&](std::string_view suffix) {
    const bool is_there = !suffix.empty() && stem.size() > suffix.size() && stem.ends_with(suffix);
    return is_there ? stem.substr(0, stem.size() - suffix.size()) : std::string();
  };
  for (const publication::Variant& variant : publication::all_variants()) {
    if (std::string found = before(variant.suffix); !found.empty()) return found;
    if (std::string found = before(fmt::format(".{}", variant.name)); !found.empty()) return found;
  }
  for (const std::string_view suffix : publication::kOtherSuffixes) {
    if (std::string found = before(suffix); !found.empty()) return found;
  }
  return {};
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (const publication::Variant& variant : publication::all_variants()) names.emplace_back(variant.name);
  return names;
}

std::vector<std::string> usual_variants() {
  std::vector<std::string> names;
  for (const publication::Variant& variant : publication::all_variants()) {
    if (variant.is_usual) names.emplace_back(variant.name);
  }
  return names;
}

}  // namespace ounce

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

// Usual names of external data: model.onnx_data, model.onnx_data_1, model.onnx.data.
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
      throw Error(ErrorCode::kBadInput, "the folders are nested too deeply to be published",
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
      if (name != ".git") notes.push_back(fmt::format("skipped {}: hidden", relative.string()));
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
            fmt::format("skipped {}: a link to a file outside the folder", relative.string()));
    } else if (!fs::is_regular_file(status)) {
      return notes.push_back(fmt::format("skipped {}: not a file", relative.string()));
    }
    if (models.size() + files.size() >= kMostFiles)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the folder has more than {} files, too many to publish", kMostFiles),
                  root_.string());
    if (relative.extension() == ".onnx") {
      models.push_back(relative);
    } else if (!is_model_data(name)) {
      files.push_back(relative);
    }
  }

  fs::path root_, blobs_;
};

// True if the model is a variant of another model in the same folder.
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
  if (folder.models.empty()) throw Error(ErrorCode::kUsage, "the folder has no .onnx files", input.string());
  return folder;
}

InputFolder contents_of(const fs::path& input) {
  Walk walk(input);
  walk.visit("", 0);
  InputFolder folder{input, {}, std::move(walk.files), std::move(walk.notes)};
  for (const fs::path& model : walk.models) {
    if (is_variant(model, walk.models)) {
      folder.notes.push_back(
          fmt::format("skipped {}: a variant of another model in the folder", model.string()));
    } else {
      folder.models.push_back(input / model);
    }
  }
  return folder;
}

std::string read_text(const fs::path& file) {
  const io::MappedFile mapped = io::MappedFile::open(file);
  if (mapped.bytes().size() > kLargestText)
    throw Error(ErrorCode::kBadInput,
                fmt::format("the file has {} bytes, too many for a text file", mapped.bytes().size()),
                file.string());
  return std::string(mapped.bytes());
}

}  // namespace ounce::publication

namespace ounce {

std::vector<std::filesystem::path> originals_in(const std::filesystem::path& folder) {
  publication::InputFolder contents = publication::contents_of(folder);
  for (const std::filesystem::path& file : contents.files) {
    if (file.extension() == ".tflite") contents.models.push_back(folder / file);
  }
  std::sort(contents.models.begin(), contents.models.end());
  return std::move(contents.models);
}

}  // namespace ounce
