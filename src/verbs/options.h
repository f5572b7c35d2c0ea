// The options of a verb, each declared once. The terminal's parser (cli/parser.h), JSON (json_options.h), the
// help, completions and manual pages all read this list.
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

#include <ounce/names.h>

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

// What a word must be.
struct Check {
  std::function<std::string(const std::string& word)> problem;  // empty: none
  std::string description = {};                                 // behind the type in the help: "{w4,w8}"
  std::vector<std::string> choices = {};                        // the only words there are; empty: any
};

// `aliases` are accepted, too, and not shown.
Check any_of(std::vector<std::string> words, const std::vector<std::string>& aliases = {});
Check whole_number();
Check whole_between(std::int64_t low, std::int64_t high);
Check number_between(double low, double high);  // not NaN either

// The names of an enum, in its order. An option whose variable is an enum has this check.
template <class Enum>
Check any_name_of() {
  return any_of(names_of<Enum>(), aliases_of<Enum>());
}

// By the alphabet.
template <class Enum>
Check any_sorted_name_of() {
  std::vector<std::string> names = names_of<Enum>();
  std::sort(names.begin(), names.end());
  return any_of(std::move(names), aliases_of<Enum>());
}

struct Option {
  std::string declared;                              // "-o,--output"
  std::vector<std::string> short_names, long_names;  // "o", "output"
  std::vector<std::string> off_names;                // of all names those that turn a flag off: "no-verify"
  std::string old_declared;                          // earlier names, which are accepted and not shown …
  std::vector<std::string> old_names;                // … and these without dashes
  std::string argument;                         // the name of a positional argument; empty: it is an option
  std::string help, heading = "Options", type;  // TEXT, UINT, INT, FLOAT
  std::string by_default;                       // as the help shows it; empty: not shown
  bool is_flag = false, is_list = false, is_required = false;
  bool takes_one_word = false;  // a list that takes one word each time it is given
  bool is_joined = false;       // takes several values in one word, with commas
  char separator = 0;           // a list that also takes several values in one word, with this between them
  std::optional<Check> must_be;
  std::vector<const Option*> needed, excluded;
  std::vector<std::string> given;  // the words that were given; of a flag "true" or "false"

  std::function<bool(const std::vector<std::string>& words)> read;  // false: they cannot be converted
  std::function<void(const std::string& word)> take;  // instead: converts a word when all options are read
  std::function<std::string()> value_text;

  std::string name() const;                // "--output", "-o" where there is no long name, or "model"
  std::vector<std::string> names() const;  // without dashes: long names, and that of an argument
  const std::vector<std::string>& choices() const;

  Option* check(Check check);
  Option* formerly(const std::string& names);  // "--weigh-costs,!--no-weigh-costs"
  Option* group(std::string title);
  Option* type_name(std::string name);
  Option* show_default();  // the value that the variable has now
  Option* show_default(std::string text);
  Option* required();
  Option* one_at_a_time();
  Option* delimiter(char character);
  Option* joined(const std::string& type);  // "NUMBER" is shown as NUMBER,...
  Option* needs(Option* other);
  Option* excludes(Option* other);  // and the other one this one
};

// Converts one word; false when it is not such a value.
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

// A word that was given, in the order of the command line.
struct GivenWord {
  const Option* option = nullptr;
  std::string value;
};

class Options {
 public:
  explicit Options(std::string verb = {}) : verb_(std::move(verb)) {}
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // Text, a path, a number, or a value of an enum that has names.
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
  // Text that `take` converts when all options are read; it throws Error{kUsage} for what is no such value. A
  // list may be given several times, and takes one word each time.
  using Take = std::function<void(const std::string& word)>;
  Option* add_text(const std::string& names, std::string help, Take take);
  Option* add_list(const std::string& names, std::string help, Take take);
  // The same for `value = convert(word, option)`, where `option` is its name, for the message.
  template <class T, class Convert>
  Option* add_converted(const std::string& names, T& value, Convert convert, std::string help) {
    return add_text(names, std::move(help),
                    [&value, convert, name = names.substr(names.rfind(',') + 1)](const std::string& word) {
                      value = convert(word, name.c_str());
                    });
  }
  // Converts what add_text() and its like were given; once.
  void take_words();
  // Bytes: "300MB", "2GB" or a bare number.
  Option* add_size(const std::string& names, std::uint64_t& bytes, std::string help);
  // "--isolate,!--no-isolate": the name behind the exclamation mark turns it off.
  template <class Flag>  // bool, or std::optional<bool> for a flag that may be left open
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

  // A flag that changes something else than a variable, when all options are read.
  Option* add_flag(const std::string& names, std::string help, std::function<void(bool is_on)> take) {
    Option* option = add_text(names, std::move(help),
                              [take = std::move(take)](const std::string& word) { take(word == "true"); });
    option->is_flag = true;
    return option->type_name("");
  }

  const std::string& verb() const { return verb_; }  // "contract set"
  const std::deque<Option>& all() const { return all_; }
  std::deque<Option>& all() { return all_; }
  // By a name with or without dashes; null when there is none.
  const Option* find(std::string_view name) const;
  Option* find(std::string_view name);
  bool has(std::string_view name) const { return find(name) != nullptr && !find(name)->given.empty(); }

  std::vector<GivenWord> in_order;
  std::string config;               // the file that --config names; empty: none
  std::string heading = "Options";  // in the help, of the options that are added from now on

 private:
  Option* add(const std::string& names, const char* type, std::string help);

  std::string verb_;
  std::deque<Option> all_;  // pointers to its elements stay valid
};

// The options that are added while it lives have this heading.
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

// The command that these options make up, as people paste it into a shell: however the verb was called, and
// with the options of a configuration file in their places. Without --json, which changes nothing but what is
// printed.
std::string command_line(const Options& options);

// A sentence to put behind an error about `word`, which is no model, with what to write instead; empty when
// nothing is known.
//
//   ounce quantize m.onnx --std .247 .2435 .2616    two numbers of --std
//   ounce quantize m.onnx out.onnx                  the name of the result
std::string hint_for_word(const Options& options, const std::string& word);

// What may have been meant: a typing error, or the end of a longer name (--output of --label-output). Empty
// for no idea.
std::string guess_of(std::string_view word, const std::vector<std::string>& known);
// The message, and the guess if there is one.
std::string with_guess(const std::string& message, const std::string& guess);

// Values that an option takes as text. `option` names the option in the message. All throw Error{kUsage}.

// "0.0039" or "1/255".
double fraction_of(std::string_view text, const char* option);
// "0.5%" or "0.005". A number without a percent sign above `largest_bare` is one whose sign was forgotten.
double share_of(const std::string& text, const char* option, double largest_bare);
// A converter of add_converted(): share_of() with this largest number.
inline auto share_up_to(double largest_bare) {
  return [=](const std::string& text, const char* option) { return share_of(text, option, largest_bare); };
}
// The parts between commas.
std::vector<std::string> split_commas(const std::string& text);
// "0.485,0.456,0.406", each as fraction_of() reads it.
std::vector<double> numbers_of(const std::string& text, const char* option);
// 1 or more.
std::int64_t whole_of(std::string_view text, const char* option);
// "2/8": the second of eight, as {1, 8}.
std::pair<std::uint64_t, std::uint64_t> part_of(const std::string& text, const char* option);
// "key=value".
std::pair<std::string, std::string> split_pair(const std::string& text, const char* option);
// Seconds: "90s", "10m", "1.5h", or a bare number.
double duration_of(const std::string& text, const char* option);

}  // namespace ounce::verbs
