// The options of a verb, each declared once. The command-line parser (cli/parser.h), JSON (json_options.h),
// the help, completions and manual pages all read this list.
//
//   options.add_option("-o,--output", arguments.output, "file or folder for the results");
//   options.add_option("--threads", arguments.threads, "threads (0: all CPUs)")
//       ->check(whole_between(0, 1024))
//       ->show_default();
//   options.add_flag("--verify,!--no-verify", arguments.verify, "run the result (default: on)");
//   options.add_converted("--budget", arguments.budget, duration_of, "time for each model, such as 90s");
//
// A name without dashes is a positional argument. The variables must outlive the options, which write to
// them.
#pragma once

#include <ounce/error.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ounce::verbs {

// Validates a word.
struct Check {
  std::function<std::string(const std::string& word)> problem;  // returns an error, or an empty string
  std::string description = {};                                 // shown after the type in the help: "{w4,w8}"
  std::vector<std::string> choices = {};                        // the only valid words; empty: any word
};

// Accepts one of `words`. `aliases` are accepted, too, but not shown.
Check any_of(std::vector<std::string> words, const std::vector<std::string>& aliases = {});
Check whole_number();
Check whole_between(std::int64_t low, std::int64_t high);
Check number_between(double low, double high);  // rejects NaN

// Accepts the names of an enum, shown in its order. An option whose variable is an enum has this check.
template <class Enum>
Check any_name_of() {
  return any_of(names_of<Enum>(), aliases_of<Enum>());
}

// The same, shown in alphabetical order.
template <class Enum>
Check any_sorted_name_of() {
  std::vector<std::string> names = names_of<Enum>();
  std::sort(names.begin(), names.end());
  return any_of(std::move(names), aliases_of<Enum>());
}

struct Option {
  std::string declared;                              // "-o,--output"
  std::vector<std::string> short_names, long_names;  // "o", "output"
  std::vector<std::string> off_names;                // the names that turn a flag off: "no-verify"
  std::string old_declared;                          // earlier names, accepted but not shown
  std::vector<std::string> old_names;                // the earlier names without dashes
  std::string argument;                              // the name of a positional argument; empty for an option
  std::string help, heading = "Options", type;       // type: TEXT, UINT, INT, FLOAT
  std::string by_default;                            // as the help shows it; empty: not shown
  bool is_flag = false, is_list = false, is_required = false;
  bool is_expert = false;       // set by --expert KEY=VALUE; its own name is accepted, but not shown
  bool takes_one_word = false;  // a list that takes one word per occurrence of the option
  bool is_joined = false;       // takes several values in one word, separated by commas
  char separator = 0;           // a list that also takes several values in one word, separated by this
  std::optional<Check> must_be;
  std::vector<const Option*> needed, excluded;
  std::vector<std::string> given;  // the words that were given; "true" or "false" for a flag

  std::function<bool(const std::vector<std::string>& words)> read;  // converts; false: not convertible
  std::function<void(const std::string& word)> take;  // instead: converts a word after all options are read
  std::function<std::string()> value_text;

  std::string name() const;                // "--output", "-o" where there is no long name, or "model"
  std::vector<std::string> names() const;  // without dashes: long names and the name of an argument
  const std::vector<std::string>& choices() const;

  Option* check(Check check);
  Option* formerly(const std::string& names);  // "--weigh-costs,!--no-weigh-costs"
  Option* group(std::string title);
  Option* type_name(std::string name);
  Option* show_default();  // shows the current value of the variable
  Option* show_default(std::string text);
  Option* required();
  Option* expert();
  Option* one_at_a_time();
  Option* delimiter(char character);
  Option* joined(const std::string& type);  // "NUMBER" is shown as NUMBER,...
  Option* needs(Option* other);
  Option* excludes(Option* other);  // in both directions
};

// Converts one word; returns false if it is not a value of this type.
bool read_word(const std::string& word, std::string& value);
bool read_word(const std::string& word, std::filesystem::path& value);
bool read_word(const std::string& word, double& value);
bool read_word(const std::string& word, std::int64_t& value);
bool read_word(const std::string& word, std::uint64_t& value);
bool read_word(const std::string& word, unsigned& value);

template <HasNames Enum>
bool read_word(const std::string& word, Enum& value) {
  const std::optional<Enum> found = from_name<Enum>(word);
  value = found.value_or(value);
  return found.has_value();
}

template <class T>
const char* type_of(const T&) {  // text, a path, the name of a value of an enum
  return "TEXT";
}
inline const char* type_of(double) { return "FLOAT"; }
inline const char* type_of(std::int64_t) { return "INT"; }
inline const char* type_of(std::uint64_t) { return "UINT"; }
inline const char* type_of(unsigned) { return "UINT"; }

std::string text_of(const std::string& value);
inline std::string text_of(const std::filesystem::path& value) { return value.string(); }
std::string text_of(double value);
std::string text_of(std::int64_t value);
std::string text_of(std::uint64_t value);
inline std::string text_of(unsigned value) { return text_of(std::uint64_t{value}); }
template <HasNames Enum>
std::string text_of(Enum value) {
  return name_of(value);
}

// A word of the command line, with the option it belongs to.
struct GivenWord {
  const Option* option = nullptr;
  std::string value;
};

class Options {
 public:
  explicit Options(std::string verb = {}) : verb_(std::move(verb)) {}
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // Adds an option for text, a path, a number, or an enum with names.
  template <class T>
  Option* add_option(const std::string& names, T& value, std::string help) {
    Option* option = add(names, type_of(T()), std::move(help));
    if constexpr (HasNames<T>) option->check(any_name_of<T>());
    option->read = [&value](const std::vector<std::string>& words) { return read_word(words.back(), value); };
    option->value_text = [&value] { return text_of(value); };
    return option;
  }
  template <class T>
  Option* add_option(const std::string& names, std::optional<T>& value, std::string help) {
    Option* option = add(names, type_of(T()), std::move(help));
    option->read = [&value](const std::vector<std::string>& words) {
      return read_word(words.back(), value.emplace());
    };
    return option;
  }
  template <class T>
  Option* add_option(const std::string& names, std::vector<T>& values, std::string help) {
    Option* option = add(names, type_of(T()), std::move(help));
    option->is_list = true;
    option->read = [&values](const std::vector<std::string>& words) {
      values.clear();
      return std::all_of(words.begin(), words.end(),
                         [&](const std::string& word) { return read_word(word, values.emplace_back()); });
    };
    option->value_text = [&values] {
      std::string text;
      for (const T& value : values) text += (text.empty() ? "" : ",") + text_of(value);
      return '[' + text + ']';
    };
    return option;
  }
  // Adds an option whose text is converted by `take` after all options are read. `take` throws Error{kUsage}
  // for an invalid value. A list may be given several times, with one word each time.
  using Take = std::function<void(const std::string& word)>;
  Option* add_text(const std::string& names, std::string help, Take take);
  Option* add_list(const std::string& names, std::string help, Take take);
  // The same for `value = convert(word, option)`, where `option` is the name for error messages.
  template <class T, class Convert>
  Option* add_converted(const std::string& names, T& value, Convert convert, std::string help) {
    return add_text(names, std::move(help),
                    [&value, convert, name = names.substr(names.rfind(',') + 1)](const std::string& word) {
                      value = convert(word, name.c_str());
                    });
  }
  // Adds --expert if there are expert options, or `other_expert` is set. Call it after all options are added.
  void add_expert_option();
  // Calls the `take` functions. Call it once, after all options are read.
  void take_words();
  // Adds a size in bytes: "300MB", "2GB" or a plain number.
  Option* add_size(const std::string& names, std::uint64_t& bytes, std::string help);
  // Adds a flag. In "--isolate,!--no-isolate" the name after the exclamation mark turns it off.
  template <class Flag>  // bool, or std::optional<bool> for a flag that may stay unset
  Option* add_flag(const std::string& names, Flag& value, std::string help) {
    Option* option = add(names, "", std::move(help));
    option->is_flag = true;
    option->read = [&value](const std::vector<std::string>& words) {
      value = words.back() == "true";
      return true;
    };
    return option;
  }

  Option* add_flag_taken(const std::string& names, std::string help, std::function<void(bool is_on)> take);

  // Adds a flag that calls `take` after all options are read.
  Option* add_flag(const std::string& names, std::string help, std::function<void(bool is_on)> take) {
    Option* option = add_text(names, std::move(help),
                              [take = std::move(take)](const std::string& word) { take(word == "true"); });
    option->is_flag = true;
    return option->type_name("");
  }

  const std::string& verb() const { return verb_; }  // "contract set"
  const std::deque<Option>& all() const { return all_; }
  std::deque<Option>& all() { return all_; }
  // Finds an option by name, with or without dashes; null if there is none.
  const Option* find(std::string_view name) const;
  Option* find(std::string_view name);
  bool has(std::string_view name) const { return find(name) != nullptr && !find(name)->given.empty(); }

  // Sets a key of --expert that is no option. Throws Error{kUsage} for an unknown key.
  std::function<void(const std::string& key, const std::string& value)> other_expert;
  std::vector<GivenWord> in_order;
  std::string config;               // the file of --config; empty: none
  std::string heading = "Options";  // the help heading of options that are added from now on

 private:
  Option* add(const std::string& names, const char* type, std::string help);
  void set_expert(const std::string& word);

  std::string verb_;
  std::deque<Option> all_;  // pointers to its elements stay valid
};

// Sets the help heading of all options that are added while this object exists.
//
//   const Heading heading(options, "Runtime");
class Heading {
 public:
  Heading(Options& options, std::string title)
      : options_(options), before_(std::exchange(options.heading, std::move(title))) {}
  ~Heading() { options_.heading = std::move(before_); }
  Heading(const Heading&) = delete;
  Heading& operator=(const Heading&) = delete;

 private:
  Options& options_;
  std::string before_;
};

// Returns the command line that sets these options, quoted for a shell. Options from a configuration file or
// from JSON are included; `left_out` are not: --json only changes the output format.
std::string command_line(const Options& options, const std::vector<std::string>& left_out = {"--json"});

// The help headings of the options that describe data.
inline constexpr const char* kDataHeading = "Data";
inline constexpr const char* kPreprocessingHeading = "Preprocessing of raw data";

// Returns a hint to append to an error about `word`, which was taken for a model by mistake. Empty if there
// is no hint.
//
//   ounce quantize m.onnx --std .247 .2435 .2616    the last two numbers belong to --std
//   ounce quantize m.onnx out.onnx                  out.onnx is meant as the output
std::string hint_for_word(const Options& options, const std::string& word);

// Guesses which known name is meant: one with a small edit distance, or a longer one that ends in `word`
// (--output for --label-output). Empty if there is no candidate.
std::string guess_of(std::string_view word, const std::vector<std::string>& known);
// Appends "did you mean …?" to the message if there is a guess.
std::string with_guess(const std::string& message, const std::string& guess);

// Conversions of option values. `option` names the option in the message. All throw Error{kUsage}.

// "0.0039" or "1/255".
double fraction_of(std::string_view text, const char* option);
// "0.5%" or "0.005". Throws for a number above `largest_bare` without a percent sign, because the sign was
// probably forgotten.
double share_of(const std::string& text, const char* option, double largest_bare);
// share_of() with a limit, as a converter for add_converted().
inline auto share_up_to(double largest_bare) {
  return [=](const std::string& text, const char* option) { return share_of(text, option, largest_bare); };
}
// Splits "a,b,c".
std::vector<std::string> split_commas(const std::string& text);
// "0.485,0.456,0.406"; each number is read by fraction_of().
std::vector<double> numbers_of(const std::string& text, const char* option);
// A whole number, 1 or more.
std::int64_t whole_of(std::string_view text, const char* option);
// "2/8" is the second of eight parts: {1, 8}.
std::pair<std::uint64_t, std::uint64_t> part_of(const std::string& text, const char* option);
// "key=value".
std::pair<std::string, std::string> split_pair(const std::string& text, const char* option);
// "90s", "10m", "1.5h" or a plain number of seconds; returns seconds.
double duration_of(const std::string& text, const char* option);

}  // namespace ounce::verbs
