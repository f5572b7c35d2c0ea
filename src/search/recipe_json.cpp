#include "search/recipe_json.h"

#include <nlohmann/json.hpp>

namespace ounce::search {
namespace {

using nlohmann::json;

template <class Enum>
json number_of(Enum value) {
  return static_cast<int>(value);
}
template <class Enum>
Enum as(const json& value) {
  return static_cast<Enum>(value.get<int>());
}

json override_json(const ValueOverride& value) {
  json made = json::object();
  if (value.range) made["range"] = {value.range->low, value.range->high};
  if (value.method) made["method"] = number_of(*value.method);
  if (value.type) made["type"] = number_of(*value.type);
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
  json made = {{"format", number_of(recipe.format)},
               {"rounding", number_of(recipe.rounding)},
               {"equalize", integer.equalize},
               {"activations", number_of(integer.activations)},
               {"calibration", number_of(integer.calibration)},
               {"percentile", integer.percentile},
               {"correct_bias", integer.correct_bias},
               {"values", json::object()},
               {"nodes", json::object()}};
  for (const auto& [name, value] : integer.values) made["values"][name] = override_json(value);
  for (const auto& [name, format] : recipe.nodes) made["nodes"][name] = number_of(format);
  return made;
}

Recipe recipe_from(const json& made) {
  Recipe recipe;
  recipe.format = as<Format>(made.at("format"));
  recipe.rounding = as<Rounding>(made.at("rounding"));
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
