#include "recipe/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "recipe/format_info.h"

namespace ounce {
namespace {

// Conversion of values to text.

using Texts = std::vector<std::string>;

template <class Enum>
requires std::is_enum_v<Enum> Texts texts(const RecipeField&, Enum value) { return {name_of(value)}; }
Texts texts(const RecipeField& field, bool value) {
  if (field.on.empty()) return {value ? "true" : "false"};
  return {std::string(value ? field.on : field.off)};
}
Texts texts(const RecipeField&, std::optional<bool> value) {
  return value ? Texts{*value ? "true" : "false"} : Texts();
}
Texts texts(const RecipeField& field, double value) { return {fmt::format("{:.10g}", value * field.unit)}; }
Texts texts(const RecipeField&, std::uint64_t value) { return {fmt::format("{}", value)}; }
Texts texts(const RecipeField&, const std::string& value) { return {value}; }
Texts texts(const RecipeField&, const Texts& value) { return value; }
Texts texts(const RecipeField&, const Granularity& value) {
  const char* const kind = name_of(value.kind);
  return {value.kind == GranularityKind::kBlock ? fmt::format("{}:{}", kind, value.block) : kind};
}
Texts texts(const RecipeField&, const std::set<Rewrite>& values) {
  Texts all;
  for (const Rewrite rewrite : values) all.emplace_back(name_of(rewrite));
  return all;
}
template <class Enum>
Texts texts(const RecipeField&, const std::map<std::string, Enum>& values) {
  Texts all;
  for (const auto& [name, value] : values) all.push_back(fmt::format("{}={}", name, name_of(value)));
  return all;
}
Texts texts(const RecipeField&, const std::map<std::string, ValueOverride>& values) {
  Texts all;
  for (const auto& [name, value] : values) {
    if (value.range) all.push_back(fmt::format("{}={}:{}", name, value.range->low, value.range->high));
    if (value.method) all.push_back(fmt::format("{}={}", name, name_of(*value.method)));
    if (value.type) all.push_back(fmt::format("{}={}", name, name_of(*value.type)));
    if (value.keep_float) all.push_back(name + "=float");
  }
  return all;
}

// Conversion of text to values. Each function returns a description of the valid texts, or nothing on
// success.

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number != number) return std::nullopt;
  return number;
}

// "one of auto, tensor, channel; did you mean 'tensor'?"
std::string any_of(const char* what, const Texts& names, std::string_view word) {
  const std::string guess = nearest(word, names);
  return fmt::format("{} {}{}", what, fmt::join(names, ", "),
                     guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess));
}

template <class Enum>
requires std::is_enum_v<Enum> std::string parse(const RecipeField&, const std::string& text, Enum& value) {
  const std::optional<Enum> found = from_name<Enum>(text);
  if (!found) return any_of("one of", names_of<Enum>(), text);
  value = *found;
  return {};
}
std::string parse(const RecipeField& field, const std::string& text, bool& value) {
  const std::string_view on = field.on.empty() ? "true" : field.on,
                         off = field.on.empty() ? "false" : field.off;
  if (text != on && text != off && text != "true" && text != "false") return fmt::format("{} or {}", on, off);
  value = text == on || text == "true";
  return {};
}
std::string parse(const RecipeField&, const std::string& text, std::optional<bool>& value) {
  if (text != "true" && text != "false") return "true or false";
  value = text == "true";
  return {};
}
std::string parse(const RecipeField& field, const std::string& text, double& value) {
  const std::optional<double> number = number_of<double>(text);
  if (!number || *number < field.low || *number > field.high)
    return fmt::format("a number from {} to {}", field.low, field.high);
  value = *number / field.unit;
  return {};
}
std::string parse(const RecipeField&, const std::string& text, std::uint64_t& value) {
  const std::optional<std::uint64_t> number = number_of<std::uint64_t>(text);
  if (!number) return "a whole number";
  value = *number;
  return {};
}
std::string parse(const RecipeField&, const std::string& text, std::string& value) {
  value = text;
  return {};
}
std::string parse(const RecipeField&, const std::string& text, Texts& value) {
  value.push_back(text);
  return {};
}
std::string parse(const RecipeField&, const std::string& text, std::set<Rewrite>& value) {
  const std::optional<Rewrite> found = from_name<Rewrite>(text);
  if (!found) return any_of("one of", names_of<Rewrite>(), text);
  value.insert(*found);
  return {};
}
std::string parse(const RecipeField&, const std::string& text, Granularity& value) {
  const std::string block = fmt::format("{}:", name_of(GranularityKind::kBlock));
  if (text.starts_with(block)) {
    const std::optional<std::size_t> size =
        number_of<std::size_t>(std::string_view(text).substr(block.size()));
    if (size) value = {GranularityKind::kBlock, *size};
    if (size) return {};
  }
  const auto kind = from_name<GranularityKind>(text);
  if (!kind || *kind == GranularityKind::kBlock) return "auto, tensor, channel, or block:N";
  value = {*kind, 0};
  return {};
}

// "NAME=WORD"; names may contain an equals sign.
struct Entry {
  std::string name, word;
};
Entry entry_of(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  return {text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
}

template <class Value>
void add_once(const RecipeField& field, const std::string& name, Value value,
              std::map<std::string, Value>& values) {
  if (!values.emplace(name, value).second)
    throw Error(ErrorCode::kUsage, fmt::format("`{}` '{}' is given twice", field.path, name));
}

std::string parse(const RecipeField& field, const std::string& text, std::map<std::string, Format>& values) {
  const Entry entry = entry_of(text);
  const auto format = from_name<Format>(entry.word);
  if (format && info_of(*format).for_single_nodes) {
    add_once(field, entry.name, *format, values);
    return {};
  }
  Texts names;
  for (const FormatInfo& row : all_formats()) {
    if (row.for_single_nodes) names.emplace_back(name_of(row.format));
  }
  std::string must_be = any_of("NAME=FORMAT, with the format", names, entry.word);
  if (format && is_half(*format))
    must_be +=
        ". Arithmetic in 16 bits is for whole models: use `format=fp16`, or `integer.fp16_remainder=true` "
        "with INT8";
  return must_be;
}

std::string parse(const RecipeField& field, const std::string& text,
                  std::map<std::string, AccuracyLevel>& values) {
  const Entry entry = entry_of(text);
  const auto level = from_name<AccuracyLevel>(entry.word);
  if (!level || *level == AccuracyLevel::kAuto) return "NAME=LEVEL with 0, 1 or 4";
  add_once(field, entry.name, *level, values);
  return {};
}

// "-1:6.5"
std::optional<ValueRange> range_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto low = number_of<double>(text.substr(0, colon)), high = number_of<double>(text.substr(colon + 1));
  if (!low || !high || !(*low < *high)) return std::nullopt;
  return ValueRange{*low, *high};
}

std::string parse(const RecipeField&, const std::string& text, std::map<std::string, ValueOverride>& values) {
  const Entry entry = entry_of(text);
  ValueOverride value = values.contains(entry.name) ? values[entry.name] : ValueOverride();
  if (const auto range = range_of(entry.word)) {
    value.range = range;
  } else if (const auto method = from_name<CalibrationMethod>(entry.word)) {
    value.method = method;
  } else if (const auto type = from_name<ActivationType>(entry.word)) {
    value.type = type;
  } else if (entry.word == "float") {
    value.keep_float = true;
  } else {
    return "NAME=LOW:HIGH, NAME=METHOD, NAME=TYPE or NAME=float";
  }
  values[entry.name] = value;
  return {};
}

struct Setting {
  std::string_view key;
  const std::string& text;
  bool is_found = false;

  template <class T>
  void operator()(const RecipeField& field, T& value, const T&) {
    if (is_found || (field.key() != key && field.path != key && field.old_key != key)) return;
    is_found = true;
    if (const std::string wanted = parse(field, text, value); !wanted.empty())
      throw Error(ErrorCode::kUsage, fmt::format("`{}` '{}' must be {}", field.path, text, wanted));
  }
};

// True if a flag that is on by default is switched off.
template <class T>
bool is_off(const T& value, const T& usual) {
  if constexpr (std::is_same_v<T, bool>) {
    return usual && !value;
  } else {
    return false;
  }
}

struct Requiring {
  const Recipe& recipe;

  template <class T>
  void operator()(const RecipeField& field, const T& value, const T& usual) const {
    if (value == usual || is_off(value, usual) || reads(recipe, field.read_by)) return;
    throw Error(ErrorCode::kUsage,
                fmt::format("`{}` is for {}", field.path, formats_that_read(field.read_by)));
  }
};

// The key of --expert: the name of the option without dashes.
std::string_view expert_key(const RecipeField& field) { return field.option.substr(2); }

struct WritingOptions {
  const Recipe& recipe;
  Texts words = {};

  template <class T>
  void operator()(const RecipeField& field, const T& value, const T& given) {
    // A resolved recipe contains the results of the search, so switch the search off. The default of
    // equalization is off if the recipe has ranges of single values, which refer to unequalized channels.
    T usual = given;
    if constexpr (std::is_same_v<T, bool>) {
      if (field.is_resolved) return add_if(is_static(recipe.format), field.off_option);
      if (&value == &recipe.integer.equalize) usual = recipe.integer.values.empty();
    }
    const bool is_format = field.path == "format";
    if ((value == usual && !is_format) || !reads(recipe, field.read_by)) return;
    if constexpr (std::is_same_v<T, bool>) {
      if (field.on.empty() && !field.is_expert) return add_if(true, value ? field.option : field.off_option);
    } else if constexpr (std::is_same_v<T, std::optional<bool>>) {
      return add_if(true, *value ? field.option : field.off_option);
    }
    for (const std::string& text : texts(field, value)) {
      words.emplace_back(field.is_expert ? kExpertOption : field.option);
      words.push_back(field.is_expert ? fmt::format("{}={}", expert_key(field), text) : text);
    }
  }

  void add_if(bool condition, std::string_view option) {
    if (condition && !option.empty()) words.emplace_back(option);
  }
};

struct FindingOption {
  std::string_view path, text;
  std::string option = {};

  template <class T>
  void operator()(const RecipeField& field, const T&, const T&) {
    if (field.path != path) return;
    option = field.is_expert ? fmt::format("{} {}", kExpertOption, expert_key(field)) : field.option;
    if (text.empty()) return;
    if (field.is_expert) {
      option += fmt::format("={}", text);
      return;
    }
    constexpr bool kIsBool = std::is_same_v<T, bool> || std::is_same_v<T, std::optional<bool>>;
    if (kIsBool && field.on.empty()) {
      if (text == "false") option = field.off_option;
    } else {
      const bool is_word = kIsBool && (text == "true" || text == "false");
      option += fmt::format(" {}", is_word ? (text == "true" ? field.on : field.off) : text);
    }
  }
};

}  // namespace

const Recipe& usual_recipe() {
  static const Recipe kUsual;
  return kUsual;
}

bool reads(const Recipe& recipe, ReadBy by) {
  const auto has_nbits_node = [](const auto& entry) { return is_nbits(entry.second); };
  switch (by) {
    case ReadBy::kStatic: return is_static(recipe.format);
    case ReadBy::kInteger: return recipe.is_integer();
    case ReadBy::kNbits:
      return is_nbits(recipe.format) || std::any_of(recipe.nodes.begin(), recipe.nodes.end(), has_nbits_node);
    case ReadBy::kHalf: return recipe.is_half() || recipe.integer.fp16_remainder;
    case ReadBy::kAll: break;
  }
  return true;
}

std::string formats_that_read(ReadBy by) {
  Texts names;
  for (const FormatInfo& row : all_formats()) {
    Recipe recipe;
    recipe.format = row.format;
    if (reads(recipe, by)) names.push_back(fmt::format("`format={}`", name_of(row.format)));
  }
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : fmt::format("{} and {}", fmt::join(names, ", "), last);
}

void require_fields_are_read(const Recipe& recipe) {
  const Requiring requiring{recipe};
  fields(recipe, requiring);
}

void set_field(Recipe& recipe, std::string_view key, const std::string& text) {
  Setting setting{key, text};
  fields(recipe, setting);
  if (!setting.is_found) throw Error(ErrorCode::kUsage, fmt::format("a recipe has no field '{}'", key));
}

std::vector<std::string> options_of(const Recipe& recipe) {
  WritingOptions writing{recipe};
  fields(recipe, writing);
  return std::move(writing.words);
}

std::string option_of_recipe_field(std::string_view field) {
  const std::size_t equals = field.find('=');
  const bool has_text = equals != std::string_view::npos;
  FindingOption finding{field.substr(0, equals), has_text ? field.substr(equals + 1) : ""};
  fields(usual_recipe(), finding);
  return std::move(finding.option);
}

}  // namespace ounce
