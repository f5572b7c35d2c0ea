#include "quantize/recipe_json.h"

#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/json_text.h"
#include "recipe/fields.h"

namespace ounce::quantization {
namespace {

using nlohmann::json;

template <class Enum>
Enum as(const json& value) {
  const std::optional<Enum> found = from_name<Enum>(value.get<std::string>());
  if (!found) throw json::other_error::create(501, "unknown value " + json_text(value), &value);
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
  if (made.contains("range")) value.range = ValueRange{made["range"].at(0), made["range"].at(1)};
  if (made.contains("method")) value.method = as<CalibrationMethod>(made["method"]);
  if (made.contains("type")) value.type = as<ActivationType>(made["type"]);
  value.keep_float = made.value("keep_float", false);
  return value;
}

// True if a field has the default value of a resolved recipe, which has no search and no equalization.
bool is_usual(const RecipeField& field, const bool& value, const bool& usual) {
  return value == (field.path == "integer.equalize" ? false : usual);
}
template <class T>
bool is_usual(const RecipeField&, const T& value, const T& usual) {
  return value == usual;
}

// True if the JSON of this recipe contains the field. Entries of single nodes and values are always written.
bool has_field(const Recipe& recipe, const RecipeField& field, bool has_entries) {
  if (field.is_resolved) return false;
  switch (field.read_by) {
    case ReadBy::kStatic:
    case ReadBy::kInteger: return has_entries || recipe.is_integer();
    case ReadBy::kNbits: return has_entries || is_nbits(recipe.format);
    default: return reads(recipe, field.read_by);
  }
}

template <class T>
constexpr bool kHasEntries = false;
template <class T>
constexpr bool kHasEntries<std::map<std::string, T>> = true;
template <>
constexpr bool kHasEntries<std::set<Rewrite>> = true;

// Writes the non-default fields.
class Writing {
 public:
  explicit Writing(const Recipe& recipe) : recipe_(recipe) {}

  template <class T>
  void operator()(const RecipeField& field, const T& value, const T& usual) {
    const bool is_format = std::is_same_v<T, Format>;
    if (!has_field(recipe_, field, kHasEntries<T>) || (!is_format && is_usual(field, value, usual))) return;
    const std::string key(field.key());
    if constexpr (std::is_same_v<T, Granularity>) {
      if (value.kind != usual.kind) made[key] = name_of(value.kind);
      if (value.block != usual.block) made["block"] = value.block;
    } else if constexpr (std::is_same_v<T, std::set<Rewrite>>) {
      for (const Rewrite rewrite : value) made[key].push_back(name_of(rewrite));
    } else if constexpr (kHasEntries<T>) {
      for (const auto& [name, entry] : value) made[key][name] = in_json(entry);
    } else {
      made[key] = in_json(value);
    }
  }

  json made = json::object();

 private:
  template <class T>
  static json in_json(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return name_of(value);
    } else if constexpr (std::is_same_v<T, std::optional<bool>>) {
      return *value;
    } else if constexpr (std::is_same_v<T, ValueOverride>) {
      return override_json(value);
    } else {
      return value;
    }
  }

  const Recipe& recipe_;
};

class Reading {
 public:
  Reading(const json& made, const Recipe& recipe) : made_(made), recipe_(recipe) {}

  template <class T>
  void operator()(const RecipeField& field, T& value, const T&) {
    const bool has_old_key = !field.old_key.empty() && made_.contains(field.old_key);
    const std::string key(has_old_key ? field.old_key : field.key());
    if (!has_field(recipe_, field, kHasEntries<T>)) return;
    if constexpr (std::is_same_v<T, Granularity>) {
      if (made_.contains(key)) value.kind = as<GranularityKind>(made_[key]);
      if (made_.contains("block")) value.block = whole_number(made_["block"]);
    } else {
      if (made_.contains(key)) read(made_[key], value);
    }
  }

 private:
  template <class T>
  static void read(const json& from, T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = as<T>(from);
    } else if constexpr (std::is_same_v<T, ValueOverride>) {
      value = override_of(from);
    } else if constexpr (std::is_same_v<T, std::optional<bool>>) {
      value = from.get<bool>();
    } else if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
      value = whole_number(from);
    } else if constexpr (std::is_same_v<T, std::set<Rewrite>>) {
      for (const json& name : from) value.insert(as<Rewrite>(name));
    } else if constexpr (kHasEntries<T>) {
      for (const auto& [name, entry] : from.items()) read(entry, value[name]);
    } else {
      value = from.get<T>();
    }
  }

  const json& made_;
  const Recipe& recipe_;
};

}  // namespace

json to_json(const Recipe& recipe) {
  Writing writing(recipe);
  fields(recipe, writing);
  return std::move(writing.made);
}

std::uint64_t whole_number(const json& value) {
  if (!value.is_number_unsigned()) throw json::other_error::create(501, "not a whole number", &value);
  return value.get<std::uint64_t>();
}

Recipe recipe_from(const json& made) {
  Recipe recipe;
  recipe.format = as<Format>(made.at("format"));
  recipe.integer.search = recipe.integer.equalize = false;
  Reading reading(made, recipe);
  fields(recipe, reading);
  return recipe;
}

}  // namespace ounce::quantization
