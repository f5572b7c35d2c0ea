#include "search/recipe_json.h"

#include <ounce/names.h>

#include <nlohmann/json.hpp>

namespace ounce::search {
namespace {

using nlohmann::json;

template <class Enum>
Enum as(const json& value) {
  const std::optional<Enum> found = from_name<Enum>(value.get<std::string>());
  if (!found) throw json::other_error::create(501, "nobody knows " + value.dump(), &value);
  return *found;
}

json override_json(const ValueOverride& value) {
  json made = json::object();
  if (value.range) made["range"] = {value.range->low, value.range->high};
  if (value.method) made["method"] = name_of(*value.method);
  if (value.type) made["type"] = name_of(*value.type);
  if (value.keep_float) made["keep_float"] = true;
  return made;
}

ValueOverride override_of(const json& made) {
  ValueOverride value;
  if (made.contains("range")) value.range = ValueRange{made["range"][0], made["range"][1]};
  if (made.contains("method")) value.method = as<CalibrationMethod>(made["method"]);
  if (made.contains("type")) value.type = as<ActivationType>(made["type"]);
  value.keep_float = made.value("keep_float", false);
  return value;
}

}  // namespace

json to_json(const Recipe& recipe) {
  const IntegerRecipe& integer = recipe.integer;
  json made = {{"format", name_of(recipe.format)},
               {"rounding", name_of(recipe.rounding)},
               {"equalize", integer.equalize},
               {"activations", name_of(integer.activations)},
               {"calibration", name_of(integer.calibration)},
               {"percentile", integer.percentile},
               {"correct_bias", integer.correct_bias},
               {"values", json::object()},
               {"nodes", json::object()}};
  if (recipe.memory != MemoryUse::kFast) {
    made["memory"] = name_of(recipe.memory);
    made["decode_share"] = recipe.decode_share;
  }
  for (const auto& [name, value] : integer.values) made["values"][name] = override_json(value);
  for (const auto& [name, format] : recipe.nodes) made["nodes"][name] = name_of(format);
  return made;
}

Recipe recipe_from(const json& made) {
  Recipe recipe;
  recipe.format = as<Format>(made.at("format"));
  recipe.rounding = as<Rounding>(made.at("rounding"));
  if (made.contains("memory")) {
    recipe.memory = as<MemoryUse>(made.at("memory"));
    recipe.decode_share = made.at("decode_share");
  }
  IntegerRecipe& integer = recipe.integer;
  integer.search = false;
  integer.equalize = made.at("equalize");
  integer.activations = as<ActivationType>(made.at("activations"));
  integer.calibration = as<CalibrationMethod>(made.at("calibration"));
  integer.percentile = made.at("percentile");
  integer.correct_bias = made.at("correct_bias");
  for (const auto& [name, value] : made.at("values").items()) integer.values[name] = override_of(value);
  for (const auto& [name, format] : made.at("nodes").items()) recipe.nodes[name] = as<Format>(format);
  return recipe;
}

}  // namespace ounce::search
