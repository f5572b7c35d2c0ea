// The command line: CLI11 parses it into the options of the verb that it names.
//
//   Parser parser(program_verbs(), version_text);
//   parser.app().parse(argc, argv);           // throws CLI::ParseError; explain() says it in one line
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

inline constexpr const char* kProgram = "ONNX models made small and fast, with proof that they still work.";
inline constexpr const char* kHelp = "what is needed on most days, with examples";
inline constexpr const char* kHelpAll = "every option";
inline constexpr const char* kVersion = "print the version and how it was built";
inline constexpr const char* kConfig = "read options from a TOML file, with a section for each verb";

class Parser {
 public:
  Parser(std::span<const verbs::VerbInfo* const> verbs, std::function<std::string()> version);

  CLI::App& app() { return app_; }
  // Of "contract set". Throws Error{kUsage} that guesses what was meant.
  CLI::App& app(const std::string& verb);
  // The verb that was parsed, with its options. Throws Error{kUsage} for options of the verb around it.
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
  std::deque<bool> flags_;  // CLI11 writes here
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
// CLI11 asks for the options that the command line lacks. The whole file is checked first, with the sections
// of other verbs; errors have the line and the column.
void add_config_option(CLI::App& parser, std::span<const verbs::VerbInfo* const> verbs);

// "contract set"; empty for the program.
std::string path_of(const CLI::App& verb);

// One line for a command line that does not parse, with a guess at what was meant. `words` are those behind
// the program's name.
std::string explain(const CLI::ParseError& error, const CLI::App& parser,
                    const std::vector<std::string>& words);

}  // namespace ounce::cli
