#include "quantize/recipe_json.h"

#include <ounce/names.h>

#include <nlohmann/json.hpp>
#include <type_traits>

namespace ounce::quantization {
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
  if (made.contains("range")) value.range = ValueRange{made["range"].at(0), made["range"].at(1)};
  if (made.contains("method")) value.method = as<CalibrationMethod>(made["method"]);
  if (made.contains("type")) value.type = as<ActivationType>(made["type"]);
  value.keep_float = made.value("keep_float", false);
  return value;
}

// Writes the fields that are not as they are by default. What is listed for it is listed for Reading, too:
// see fields().
class Writing {
 public:
  template <class T>
  void operator()(const char* key, const T& value, const T& usual) {
    if (value == usual) return;
    if constexpr (std::is_enum_v<T>) {
      made[key] = name_of(value);
    } else {
      made[key] = value;
    }
  }
  void operator()(const char* key, const std::optional<bool>& value, const std::optional<bool>& usual) {
    if (value != usual) made[key] = *value;
  }

  json made = json::object();
};

class Reading {
 public:
  explicit Reading(const json& made) : made_(made) {}

  template <class T>
  void operator()(const char* key, T& value, const T&) {
    if (!made_.contains(key)) return;
    if constexpr (std::is_enum_v<T>) {
      value = as<T>(made_[key]);
    } else if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
      value = whole_number(made_[key]);
    } else {
      value = made_[key].get<T>();
    }
  }
  void operator()(const char* key, std::optional<bool>& value, const std::optional<bool>&) {
    if (made_.contains(key)) value = made_[key].get<bool>();
  }

 private:
  const json& made_;
};

// Every field with one plain value that the format looks at, by its name; `each` gets it with what it is by
// default.
template <class SomeRecipe, class Each>
void fields(SomeRecipe& recipe, Each& each) {
  static const Recipe kUsual = [] {
    Recipe usual;
    usual.integer.search = false;
    usual.integer.equalize = false;
    return usual;
  }();
  auto& integer = recipe.integer;
  auto& half = recipe.half;
  each("target", recipe.target, kUsual.target);
  each("decoder", recipe.decoder, kUsual.decoder);
  each("memory", recipe.memory, kUsual.memory);
  each("decode_share", recipe.decode_share, kUsual.decode_share);
  each("granularity", recipe.granularity.kind, kUsual.granularity.kind);
  each("block", recipe.granularity.block, kUsual.granularity.block);
  each("scale", recipe.scale, kUsual.scale);
  each("rounding", recipe.rounding, kUsual.rounding);
  each("codebook", recipe.codebook, kUsual.codebook);
  each("asymmetric", recipe.asymmetric, kUsual.asymmetric);
  each("min_bytes", recipe.min_bytes, kUsual.min_bytes);
  each("half_share", recipe.half_share, kUsual.half_share);
  each("include", recipe.include, kUsual.include);
  each("exclude", recipe.exclude, kUsual.exclude);
  each("ignore_unmatched", recipe.ignore_unmatched, kUsual.ignore_unmatched);
  each("keep_inputs", recipe.keep_inputs, kUsual.keep_inputs);
  if (recipe.is_integer()) {
    each("dialect", integer.dialect, kUsual.integer.dialect);
    each("activations", integer.activations, kUsual.integer.activations);
    each("symmetric_activations", integer.symmetric_activations, kUsual.integer.symmetric_activations);
    each("weights", integer.weights, kUsual.integer.weights);
    each("reduce_range", integer.reduce_range, kUsual.integer.reduce_range);
    each("integer_io", integer.integer_io, kUsual.integer.integer_io);
    each("force_conv", integer.force_conv, kUsual.integer.force_conv);
    each("calibration", integer.calibration, kUsual.integer.calibration);
    each("percentile", integer.percentile, kUsual.integer.percentile);
    each("equalize", integer.equalize, kUsual.integer.equalize);
    each("correct_bias", integer.correct_bias, kUsual.integer.correct_bias);
    each("every_second", integer.every_second, kUsual.integer.every_second);
    each("weigh_costs", integer.weigh_costs, kUsual.integer.weigh_costs);
    each("half_rest", integer.half_rest, kUsual.integer.half_rest);
  }
  if (is_few_bits(recipe.format)) {
    auto& few_bits = recipe.few_bits;
    each("kernels", few_bits.dialect, kUsual.few_bits.dialect);
    each("accuracy_level", few_bits.accuracy_level, kUsual.few_bits.accuracy_level);
    each("method", few_bits.method, kUsual.few_bits.method);
    each("bits", few_bits.bits, kUsual.few_bits.bits);
    each("target_size", few_bits.target_size, kUsual.few_bits.target_size);
  }
  if (recipe.is_half() || integer.half_rest) {
    each("half_io", half.half_io, kUsual.half.half_io);
    each("keep_fp32", half.keep, kUsual.half.keep);
    each("keep_names", half.keep_names, kUsual.half.keep_names);
  }
}

}  // namespace

json to_json(const Recipe& recipe) {
  Writing writing;
  writing.made["format"] = name_of(recipe.format);
  fields(recipe, writing);
  for (const auto& [name, value] : recipe.integer.values) writing.made["values"][name] = override_json(value);
  for (const Rewrite rewrite : recipe.integer.skip_rewrites)
    writing.made["skip_rewrites"].push_back(name_of(rewrite));
  for (const auto& [name, format] : recipe.nodes) writing.made["nodes"][name] = name_of(format);
  for (const auto& [name, level] : recipe.few_bits.levels) writing.made["levels"][name] = name_of(level);
  return writing.made;
}

std::uint64_t whole_number(const json& value) {
  if (!value.is_number_unsigned()) throw json::other_error::create(501, "is no whole number", &value);
  return value.get<std::uint64_t>();
}

Recipe recipe_from(const json& made) {
  Recipe recipe;
  recipe.format = as<Format>(made.at("format"));
  recipe.integer.search = recipe.integer.equalize = false;
  Reading reading(made);
  fields(recipe, reading);
  if (made.contains("values")) {
    for (const auto& [name, value] : made["values"].items()) recipe.integer.values[name] = override_of(value);
  }
  if (made.contains("skip_rewrites")) {
    for (const json& name : made["skip_rewrites"]) recipe.integer.skip_rewrites.insert(as<Rewrite>(name));
  }
  if (made.contains("nodes")) {
    for (const auto& [name, format] : made["nodes"].items()) recipe.nodes[name] = as<Format>(format);
  }
  if (made.contains("levels")) {
    for (const auto& [name, level] : made["levels"].items())
      recipe.few_bits.levels[name] = as<AccuracyLevel>(level);
  }
  return recipe;
}

}  // namespace ounce::quantization
