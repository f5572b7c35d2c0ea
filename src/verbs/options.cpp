#include "verbs/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include "base/text.h"

namespace ounce::verbs {
namespace {

constexpr const char* kSizes = "SIZE [b, kb(=1000b), kib(=1024b), ...]";

template <class Number>
bool read_number(std::string_view word, Number& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

// Returns the bytes of a unit such as "kb", "MiB" or ""; nullopt for other words.
std::optional<std::uint64_t> bytes_of(std::string unit) {
  constexpr std::string_view kPrefixes = "kmgtpe";
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (unit.empty() || unit == "b") return 1;
  const std::size_t prefix = kPrefixes.find(unit.front());
  const std::string_view rest = std::string_view(unit).substr(1);
  if (prefix == kPrefixes.npos || (rest != "" && rest != "b" && rest != "i" && rest != "ib"))
    return std::nullopt;
  std::uint64_t bytes = 1;
  for (std::size_t i = 0; i <= prefix; ++i) bytes *= rest.starts_with('i') ? 1024U : 1000U;
  return bytes;
}

// Reads a whole number and a unit, optionally separated by blanks, into `bytes`. Returns an error message, or
// an empty string.
std::string read_size(const std::string& word, std::uint64_t& bytes) {
  const std::size_t number_end = std::min(word.find_first_not_of("0123456789"), word.size());
  const std::size_t unit_begin = std::min(word.find_first_not_of(' ', number_end), word.size());
  const std::string number = word.substr(0, number_end), unit = word.substr(unit_begin);
  const std::optional<std::uint64_t> factor = bytes_of(unit);
  if (!read_number(number, bytes)) return fmt::format("'{}' is not a size such as 300MB or 2GB", word);
  if (!factor) return fmt::format("unknown unit '{}'; use kB, MB, GB, KiB or MiB", unit);
  if (bytes > std::numeric_limits<std::uint64_t>::max() / *factor)
    return fmt::format("'{}' is too large", word);
  bytes *= *factor;
  return {};
}

}  // namespace

Check any_of(std::vector<std::string> words, const std::vector<std::string>& aliases) {
  const std::string set = fmt::format("{{{}}}", fmt::join(words, ","));
  std::vector<std::string> known = words;
  known.insert(known.end(), aliases.begin(), aliases.end());
  return {[known = std::move(known), set](const std::string& word) {
            if (std::find(known.begin(), known.end(), word) != known.end()) return std::string();
            return with_guess(fmt::format("{} not in {}", word, set), nearest(word, known));
          },
          set, std::move(words)};
}

Check whole_number() {
  return {[](const std::string& word) {
    std::uint64_t value = 0;
    return read_number(word, value) ? std::string() : fmt::format("'{}' is not a whole number", word);
  }};
}

Check whole_between(std::int64_t low, std::int64_t high) {
  return {[low, high](const std::string& word) {
            std::int64_t value = 0;
            if (read_number(word, value) && value >= low && value <= high) return std::string();
            return fmt::format("{} is not in the range {} to {}", word, low, high);
          },
          fmt::format("INT in [{} - {}]", low, high)};
}

Check number_between(double low, double high) {
  return {[low, high](const std::string& word) {
    double value = 0;
    if (!read_number(word, value) || std::isnan(value)) return fmt::format("'{}' is not a number", word);
    if (value < low || value > high) return fmt::format("{} is not in the range {} to {}", word, low, high);
    return std::string();
  }};
}

bool read_word(const std::string& word, std::string& value) {
  value = word;
  return true;
}
bool read_word(const std::string& word, std::filesystem::path& value) {
  value = word;
  return true;
}
bool read_word(const std::string& word, double& value) { return read_number(word, value); }
bool read_word(const std::string& word, std::int64_t& value) { return read_number(word, value); }
bool read_word(const std::string& word, std::uint64_t& value) { return read_number(word, value); }
bool read_word(const std::string& word, unsigned& value) { return read_number(word, value); }

std::string text_of(const std::string& value) { return value; }
std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(std::uint64_t value) { return std::to_string(value); }

std::string Option::name() const {
  if (!long_names.empty()) return "--" + long_names.front();
  return short_names.empty() ? argument : "-" + short_names.front();
}

std::vector<std::string> Option::names() const {
  std::vector<std::string> names = long_names;
  if (!argument.empty()) names.push_back(argument);
  return names;
}

const std::vector<std::string>& Option::choices() const {
  static const std::vector<std::string> kAny;
  return must_be ? must_be->choices : kAny;
}

Option* Option::check(Check check) {
  must_be = std::move(check);
  return this;
}

Option* Option::group(std::string title) {
  heading = std::move(title);
  return this;
}

Option* Option::type_name(std::string name) {
  type = std::move(name);
  return this;
}

Option* Option::show_default() { return show_default(value_text()); }

Option* Option::show_default(std::string text) {
  by_default = std::move(text);
  return this;
}

Option* Option::required() {
  is_required = true;
  return this;
}

Option* Option::expert() {
  is_expert = true;
  return this;
}

Option* Option::one_at_a_time() {
  takes_one_word = true;
  return this;
}

Option* Option::delimiter(char character) {
  separator = character;
  return this;
}

Option* Option::joined(const std::string& word) {
  is_joined = true;
  return type_name(word + ",...");
}

Option* Option::needs(Option* other) {
  needed.push_back(other);
  return this;
}

Option* Option::excludes(Option* other) {
  excluded.push_back(other);
  other->excluded.push_back(this);
  return this;
}

Option* Option::formerly(const std::string& names) {
  old_declared = names;
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');) {
    const bool is_off = word.starts_with('!');
    old_names.push_back(word.substr(is_off ? 3 : 2));
    if (is_off) off_names.push_back(old_names.back());
  }
  return this;
}

Option* Options::add(const std::string& names, const char* type, std::string help) {
  Option& option = all_.emplace_back();
  option.declared = names;
  option.help = std::move(help);
  option.type = type;
  option.heading = heading;
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');) {
    const bool is_off = word.starts_with('!');
    if (is_off) word.erase(0, 1);
    if (word.starts_with("--")) {
      option.long_names.push_back(word.substr(2));
      if (is_off) option.off_names.push_back(word.substr(2));
    } else if (word.starts_with('-')) {
      option.short_names.push_back(word.substr(1));
    } else {
      option.argument = word;
    }
  }
  return &option;
}

Option* Options::add_text(const std::string& names, std::string help, Take take) {
  Option* option = add(names, "TEXT", std::move(help));
  option->read = [](const std::vector<std::string>&) { return true; };
  option->take = std::move(take);
  return option;
}

Option* Options::add_list(const std::string& names, std::string help, Take take) {
  Option* option = add_text(names, std::move(help), std::move(take));
  option->is_list = true;
  return option->one_at_a_time();
}

void Options::add_expert_option() {
  const bool has_any =
      other_expert || std::any_of(all_.begin(), all_.end(), [](const Option& one) { return one.is_expert; });
  if (!has_any) return;
  add_list("--expert",
           "Set an expert option, as KEY=VALUE (repeatable); --help-all lists the keys at its end. Example: "
           "rounding=nearest",
           [this](const std::string& word) { set_expert(word); });
}

void Options::set_expert(const std::string& word) {
  const auto [key, value] = split_pair(word, "--expert");
  std::string name = key;
  std::replace(name.begin(), name.end(), '_', '-');
  const Option* const option = find(name);
  if (option == nullptr || !option->is_expert) {
    std::vector<std::string> keys;
    for (const Option& one : all_) {
      if (one.is_expert) keys.push_back(one.long_names.front());
    }
    const std::string guess = guess_of(name, keys);
    if (other_expert && guess.empty()) return other_expert(key, value);
    throw Error(ErrorCode::kUsage,
                guess.empty()
                    ? fmt::format("`--expert` has no key '{}'; keys: {}", key, fmt::join(keys, ", "))
                    : with_guess(fmt::format("`--expert` has no key '{}'", key), guess));
  }
  const std::string problem = option->is_flag
                                  ? (value == "true" || value == "false" ? "" : "must be true or false")
                              : option->must_be ? option->must_be->problem(value)
                                                : std::string();
  if (!problem.empty()) throw Error(ErrorCode::kUsage, fmt::format("`--expert` {}: {}", key, problem));
  if (!option->read({value}))
    throw Error(ErrorCode::kUsage, fmt::format("`--expert`: cannot convert {}", word));
  if (option->take) option->take(value);
}

void Options::take_words() {
  for (const Option& option : all_) {
    for (const std::string& word : option.given) {
      if (option.take) option.take(word);
    }
  }
}

Option* Options::add_size(const std::string& names, std::uint64_t& bytes, std::string help) {
  Option* option = add(names, type_of(bytes), std::move(help));
  option->read = [&bytes](const std::vector<std::string>& words) {
    return read_size(words.back(), bytes).empty();
  };
  option->value_text = [&bytes] { return text_of(bytes); };
  return option->check({[](const std::string& word) {
                          std::uint64_t ignored = 0;
                          return read_size(word, ignored);
                        },
                        kSizes});
}

const Option* Options::find(std::string_view name) const {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Option& option) {
    std::vector<std::string> names = option.names();
    names.insert(names.end(), option.old_names.begin(), option.old_names.end());
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  return found == all_.end() ? nullptr : &*found;
}

Option* Options::find(std::string_view name) { return const_cast<Option*>(std::as_const(*this).find(name)); }

namespace {

// Returns the name that turns a flag on or off; empty if there is none.
std::string flag_name(const Option& option, bool is_on) {
  const auto found = std::find_if(option.long_names.begin(), option.long_names.end(), [&](const auto& name) {
    const auto& off = option.off_names;
    return is_on == (std::find(off.begin(), off.end(), name) == off.end());
  });
  return found == option.long_names.end() ? std::string() : *found;
}

}  // namespace

std::string command_line(const Options& options, const std::vector<std::string>& left_out) {
  std::string line = "ounce " + options.verb();
  for (const Option& option : options.all()) {
    for (const std::string& word : option.given)
      if (!option.argument.empty()) line += ' ' + quoted(word);
  }
  for (const Option& option : options.all()) {
    const bool is_left_out = std::find(left_out.begin(), left_out.end(), option.name()) != left_out.end();
    if (!option.argument.empty() || is_left_out) continue;
    for (const std::string& word : option.given) {
      if (!option.is_flag) {
        line += ' ' + option.name() + ' ' + quoted(word);
      } else if (const std::string name = flag_name(option, word == "true"); !name.empty()) {
        line += " --" + name;
      }
    }
  }
  return line;
}

namespace {

bool is_list_item(const GivenWord& given) {
  std::error_code none;
  return !given.option->argument.empty() && !given.value.ends_with(".onnx") &&
         !std::filesystem::exists(given.value, none);
}

// Returns a hint if `word` follows an option whose values must be separated by commas, not by blanks.
std::string hint_of_list(const std::vector<GivenWord>& given, const std::string& word) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].option->is_joined) continue;
    std::vector<std::string> values = {given[i].value};
    for (std::size_t j = i + 1; j < given.size() && is_list_item(given[j]); ++j)
      values.push_back(given[j].value);
    if (std::find(values.begin() + 1, values.end(), word) == values.end()) continue;
    return fmt::format(". The values of `{0}` are separated by commas, without spaces: `{0} {1}`",
                       given[i].option->name(), fmt::join(values, ","));
  }
  return {};
}

// Returns a hint if `word` is probably the output: ounce quantize model.onnx out.onnx
std::string hint_of_output(const Options& options, const std::string& word) {
  if (options.find("output") == nullptr || options.has("output")) return {};
  std::vector<std::string> arguments;
  for (const GivenWord& one : options.in_order) {
    if (!one.option->argument.empty()) arguments.push_back(one.value);
  }
  if (arguments.size() < 2 || arguments.back() != word) return {};
  return fmt::format(". {} takes -o for the output: -o {}", options.verb(), quoted(word));
}

}  // namespace

std::string hint_for_word(const Options& options, const std::string& word) {
  const std::string hint = hint_of_list(options.in_order, word);
  return hint.empty() ? hint_of_output(options, word) : hint;
}

std::string with_guess(const std::string& message, const std::string& guess) {
  return guess.empty() ? message : fmt::format("{}; did you mean '{}'?", message, guess);
}

std::string guess_of(std::string_view word, const std::vector<std::string>& known) {
  const auto without_dashes = [](std::string_view name) {
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    return std::string(name);
  };
  std::vector<std::string> names;
  for (const std::string& name : known) names.push_back(without_dashes(name));
  const std::string wanted = without_dashes(word);
  const std::string near = nearest(wanted, names);
  if (!near.empty())
    return known[static_cast<std::size_t>(std::find(names.begin(), names.end(), near) - names.begin())];
  std::string found;
  for (const std::string& name : known) {
    if (wanted.empty() || !name.ends_with('-' + wanted)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

namespace {

[[noreturn]] void refuse(const char* option, std::string_view text, const char* wanted) {
  throw Error(ErrorCode::kUsage, fmt::format("`{}` '{}' must be {}", option, text, wanted));
}

double number_of(std::string_view text, const char* option) {
  double value = 0;
  if (!read_number(text, value) || !std::isfinite(value)) refuse(option, text, "a number");
  return value;
}

}  // namespace

double fraction_of(std::string_view text, const char* option) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return number_of(text, option);
  const double below = number_of(text.substr(slash + 1), option);
  if (below == 0) refuse(option, text, "a number or a fraction such as 1/255");
  return number_of(text.substr(0, slash), option) / below;
}

double share_of(const std::string& text, const char* option, double largest_bare) {
  const bool is_percent = text.ends_with('%');
  const double value =
      number_of(std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0)), option);
  const double share = is_percent ? value / 100 : value;
  if (!is_percent && value > largest_bare) {
    throw Error(ErrorCode::kUsage,
                fmt::format("`{}` '{}' is {:.0f} %; did you mean '{}%'?", option, text, 100 * value, text));
  }
  if (share < 0 || share > 1) refuse(option, text, "from 0 to 100%");
  return share;
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

std::vector<double> numbers_of(const std::string& text, const char* option) {
  std::vector<double> numbers;
  for (const std::string& number : split_commas(text)) numbers.push_back(fraction_of(number, option));
  return numbers;
}

std::int64_t whole_of(std::string_view text, const char* option) {
  std::int64_t value = 0;
  if (!read_number(text, value) || value < 1) refuse(option, text, "a whole number above 0");
  return value;
}

std::pair<std::uint64_t, std::uint64_t> part_of(const std::string& text, const char* option) {
  std::uint64_t number = 0, count = 0;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view all(text);
  if (slash == text.size() || !read_number(all.substr(0, slash), number) ||
      !read_number(all.substr(slash + 1), count) || number < 1 || number > count)
    refuse(option, text, "I/N with I from 1 to N");
  return {number - 1, count};
}

std::pair<std::string, std::string> split_pair(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) refuse(option, text, "NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

double duration_of(const std::string& text, const char* option) {
  constexpr double kMost = 30 * 86400.0;
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const double seconds = value * scale;
  if (failure != std::errc() || !(seconds > 0) || seconds > kMost)
    refuse(option, text, "a time such as 90s, 10m or 2h, up to 30 days");
  return seconds;
}

}  // namespace ounce::verbs
