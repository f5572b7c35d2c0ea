#include "plan/unread_fields.h"

#include <fmt/format.h>

#include <array>

namespace ounce::plan {
namespace {

enum class ReadBy { kStatic, kIntegers };

struct Field {
  const char* name;  // in backticks
  ReadBy by;
  bool (*is_set)(const IntegerRecipe&);
};

const IntegerRecipe kUnset;

constexpr auto kFields = std::to_array<Field>({
    {"`integer.dialect`", ReadBy::kStatic, [](const auto& i) { return i.dialect != kUnset.dialect; }},
    {"`integer.activations`", ReadBy::kStatic,
     [](const auto& i) { return i.activations != kUnset.activations; }},
    {"`integer.symmetric_activations`", ReadBy::kStatic,
     [](const auto& i) { return i.symmetric_activations; }},
    {"`integer.weights`", ReadBy::kIntegers, [](const auto& i) { return i.weights != kUnset.weights; }},
    {"`integer.reduce_range`", ReadBy::kIntegers, [](const auto& i) { return i.reduce_range.has_value(); }},
    {"`integer.integer_io`", ReadBy::kStatic, [](const auto& i) { return i.integer_io; }},
    {"`integer.force_conv`", ReadBy::kIntegers, [](const auto& i) { return i.force_conv; }},
    {"`integer.calibration`", ReadBy::kStatic,
     [](const auto& i) { return i.calibration != kUnset.calibration; }},
    {"`integer.percentile`", ReadBy::kStatic,
     [](const auto& i) { return i.percentile != kUnset.percentile; }},
    {"`integer.values`", ReadBy::kStatic, [](const auto& i) { return !i.values.empty(); }},
    {"`integer.search=false`", ReadBy::kStatic, [](const auto& i) { return i.search != kUnset.search; }},
    {"`integer.equalize=false`", ReadBy::kStatic,
     [](const auto& i) { return i.equalize != kUnset.equalize; }},
    {"`integer.correct_bias=false`", ReadBy::kStatic,
     [](const auto& i) { return i.correct_bias != kUnset.correct_bias; }},
    {"`integer.every_second`", ReadBy::kStatic, [](const auto& i) { return i.every_second; }},
    {"`integer.weigh_costs=false`", ReadBy::kStatic, [](const auto& i) { return !i.weigh_costs; }},
    {"`integer.skip_rewrites`", ReadBy::kStatic, [](const auto& i) { return !i.skip_rewrites.empty(); }},
});

bool reads(const Recipe& recipe, ReadBy by) {
  return by == ReadBy::kStatic ? recipe.format == Format::kStatic : recipe.is_integer();
}

const char* words_of(ReadBy by) {
  return by == ReadBy::kStatic ? "`format=static`" : "`format=static` and `format=dynamic`";
}

}  // namespace

std::vector<std::string> unread_fields(const Recipe& recipe) {
  std::vector<std::string> lines;
  for (const Field& field : kFields) {
    if (field.is_set(recipe.integer) && !reads(recipe, field.by))
      lines.push_back(fmt::format("{} is for {}: it changes nothing here", field.name, words_of(field.by)));
  }
  return lines;
}

}  // namespace ounce::plan
