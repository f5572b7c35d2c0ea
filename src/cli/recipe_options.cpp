#include "cli/recipe_options.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>
#include <cmath>
#include <map>

namespace ounce::cli {
namespace {

const std::map<std::string, StorageFormat> kFormats = {
    {"w8", StorageFormat::kW8}, {"w4", StorageFormat::kW4}, {"w16", StorageFormat::kW16}};
const std::map<std::string, DecoderChoice> kDecoders = {
    {"auto", DecoderChoice::kAuto}, {"fold", DecoderChoice::kFold}, {"dq", DecoderChoice::kDq}};
const std::map<std::string, ScaleMethod> kScales = {{"mse", ScaleMethod::kMse},
                                                    {"absmax", ScaleMethod::kAbsMax}};
const std::map<std::string, Rounding> kRoundings = {{"balanced", Rounding::kBalanced},
                                                    {"nearest", Rounding::kNearest}};
const std::map<std::string, ExternalData> kExternalData = {
    {"auto", ExternalData::kAuto}, {"always", ExternalData::kAlways}, {"never", ExternalData::kNever}};

template <class Map>
CLI::IsMember names_of(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return CLI::IsMember(names);
}

Granularity granularity_of(const std::string& text) {
  if (text == "auto") return {};
  if (text == "tensor") return {GranularityKind::kTensor, 0};
  if (text == "channel") return {GranularityKind::kChannel, 0};
  constexpr std::string_view kBlock = "block:";
  if (text.starts_with(kBlock)) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data() + kBlock.size(), text.data() + text.size(), size);
    const bool is_power = size >= 16 && size <= 256 && (size & (size - 1)) == 0;
    if (error == std::errc() && end == text.data() + text.size() && is_power)
      return {GranularityKind::kBlock, size};
  }
  throw Error(
      ErrorCode::kUsage,
      fmt::format(
          "--granularity '{}' must be auto, tensor, channel, or block:N with N = 16, 32, 64, 128 or 256",
          text));
}

}  // namespace

void add_recipe_options(CLI::App& app, RecipeArguments& arguments) {
  app.add_option("--to", arguments.format, "w8 (25 % of the bytes), w4 (15 %), w16 (50 %)")
      ->check(names_of(kFormats))
      ->capture_default_str();
  app.add_option(
         "--decode", arguments.decoder,
         "how the runtime gets weights back: fold (constants at load, FP32 speed), dq (DequantizeLinear)")
      ->check(names_of(kDecoders))
      ->capture_default_str();
  app.add_option("--granularity", arguments.granularity,
                 "what shares a scale: auto, tensor, channel, block:N")
      ->capture_default_str();
  app.add_option("--scale", arguments.scale, "how scales are found: mse (least squared error), absmax")
      ->check(names_of(kScales))
      ->capture_default_str();
  app.add_option("--rounding", arguments.rounding, "balanced (the errors of a channel sum to zero), nearest")
      ->check(names_of(kRoundings))
      ->capture_default_str();
  app.add_flag("--codebook", arguments.codebook,
               "k-means codebook instead of a linear scale (w8: 256 values, w4: 16)");
  app.add_flag("--asymmetric", arguments.asymmetric, "give every scale a zero point");
  app.add_option("--half-share", arguments.half_share,
                 "percent of the size to spend on 16-bit floats for the smallest weights")
      ->check(number_between(0, 100))
      ->capture_default_str();
  app.add_option("--min-bytes", arguments.min_bytes, "leave smaller tensors alone")
      ->check(whole_number())
      ->capture_default_str();
  app.add_option("--include", arguments.include,
                 "only these: a regular expression on tensor, node and op type (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--exclude", arguments.exclude, "not these: likewise")->allow_extra_args(false);
}

Recipe recipe_of(const RecipeArguments& arguments) {
  Recipe recipe;
  recipe.format = kFormats.at(arguments.format);
  recipe.decoder = kDecoders.at(arguments.decoder);
  recipe.granularity = granularity_of(arguments.granularity);
  recipe.scale = kScales.at(arguments.scale);
  recipe.rounding = kRoundings.at(arguments.rounding);
  recipe.half_share = arguments.half_share / 100;
  recipe.codebook = arguments.codebook;
  recipe.asymmetric = arguments.asymmetric;
  recipe.min_bytes = arguments.min_bytes;
  recipe.include = arguments.include;
  recipe.exclude = arguments.exclude;
  const auto refuse = [](const char* why) { throw Error(ErrorCode::kUsage, why); };
  const bool has_groups = recipe.granularity.kind == GranularityKind::kChannel ||
                          recipe.granularity.kind == GranularityKind::kBlock;
  if (recipe.codebook && recipe.asymmetric) refuse("--codebook has no zero points: leave out --asymmetric");
  if (recipe.codebook && has_groups) refuse("--codebook holds for a whole tensor: leave out --granularity");
  if (recipe.codebook && recipe.decoder == DecoderChoice::kDq)
    refuse("DequantizeLinear cannot decode a codebook: leave out --decode dq");
  if (recipe.format == StorageFormat::kW16 && (recipe.codebook || recipe.asymmetric || has_groups)) {
    refuse("w16 stores floats: --codebook, --asymmetric and --granularity do not apply");
  }
  return recipe;
}

CLI::Validator whole_number() {
  return {[](const std::string& text) {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool is_number = error == std::errc() && end == text.data() + text.size();
            return is_number ? std::string() : fmt::format("'{}' is not a whole number", text);
          },
          ""};
}

CLI::Validator number_between(double low, double high) {
  return {[low, high](const std::string& text) {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool is_number = error == std::errc() && end == text.data() + text.size();
            if (!is_number || std::isnan(value)) return fmt::format("'{}' is not a number", text);
            if (value < low || value > high) return fmt::format("{} is not from {} to {}", text, low, high);
            return std::string();
          },
          ""};
}

ExternalData external_data_of(const std::string& name) { return kExternalData.at(name); }

}  // namespace ounce::cli
