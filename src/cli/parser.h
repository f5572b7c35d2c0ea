// Parses the command line with CLI11 into the options of the chosen verb.
//
//   Parser parser(program_verbs(), version_text);
//   parser.app().parse(argc, argv);           // throws CLI::ParseError; explain() makes it one line
//   return parser.chosen().run(terminal);
#pragma once

#include <CLI/CLI.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "verbs/verb.h"

namespace ounce::cli {

inline constexpr const char* kProgram =
    "Ounce quantizes ONNX, TFLite and Core ML models, and compares every result with the original.";
inline constexpr const char* kHelp = "Show the most important options, with examples";
inline constexpr const char* kHelpAll = "Show all options";
inline constexpr const char* kVersion = "Print the version and build information";
inline constexpr const char* kQuiet = "Print errors and the --json document only";
inline constexpr const char* kConfig = "Read options from a TOML file with one section per verb";

class Parser {
 public:
  Parser(std::span<const verbs::VerbInfo* const> verbs, std::function<std::string()> version);

  CLI::App& app() { return app_; }
  // Finds the parser of a verb such as "contract set". Throws Error{kUsage} with a guess for an unknown verb.
  CLI::App& app(const std::string& verb);
  bool is_quiet() const { return is_quiet_; }  // --quiet, of the parsed command line
  // Returns the parsed verb with its options. Throws Error{kUsage} for options of an enclosing verb.
  verbs::VerbCall& chosen();

 private:
  struct Bound {
    CLI::App* app = nullptr;
    std::unique_ptr<verbs::VerbCall> call;
    std::vector<std::pair<const CLI::Option*, verbs::Option*>> options;
  };

  void add(CLI::App& parent, const verbs::VerbInfo& verb, const std::string& name);
  CLI::Option* add(Bound& bound, verbs::Option& option);
  CLI::Option* add(Bound& bound, verbs::Option& option, const std::string& names);
  void take(Bound& bound) const;

  std::span<const verbs::VerbInfo* const> verbs_;
  CLI::App app_;
  std::deque<Bound> bound_;
  std::deque<bool> flags_;  // written by CLI11
  bool is_quiet_ = false;
};

// Adds --config FILE: options from a TOML file, with a section for each verb and keys named like the long
// options.
//
//   [quantize]
//   to = "w8"
//   exclude = ["head", "^embed"]
//   [contract.set]
//   layout = "nchw"
//
// The command line overrides the file. The whole file is checked first, including the sections of other
// verbs; errors name the line and column.
void add_config_option(CLI::App& parser, std::span<const verbs::VerbInfo* const> verbs);

// Returns the words of a verb, such as "contract set"; empty for the program.
std::string path_of(const CLI::App& verb);

// Replaces an earlier name of a verb by its name: "copy" by "repack".
void use_names_of_verbs(std::vector<std::string>& words, std::span<const verbs::VerbInfo* const> verbs);

// True if the first word that is not an option is a model and not a verb: 'ounce model.onnx'.
bool names_model_first(const std::vector<std::string>& words, std::span<const verbs::VerbInfo* const> verbs);

// Explains a command line that does not parse in one line, with a guess. `words` is the command line without
// the program name.
std::string explain(const CLI::ParseError& error, const CLI::App& parser,
                    const std::vector<std::string>& words);

}  // namespace ounce::cli
