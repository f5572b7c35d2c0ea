#include "publish/variants.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

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

// That others publish, and that we have no recipe for.
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
    throw Error(ErrorCode::kUsage,
                fmt::format("`variants` '{}' must be of {}", name, fmt::join(variant_names(), ", ")));
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
