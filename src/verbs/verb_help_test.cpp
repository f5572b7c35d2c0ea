#include "verbs/verb_help.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "verbs/command.h"
#include "verbs/command_line.h"
#include "verbs/json_options.h"

namespace ounce::verbs {
namespace {

// Every verb of the library; the demonstration is the program's own.
struct Verbs {
  CLI::App parser{"", "ounce"};
  std::vector<Command> commands = add_verbs(parser);

  void parse(const std::string& line) {
    std::istringstream text(line.substr(0, line.find(" >")));
    std::vector<std::string> words((std::istream_iterator<std::string>(text)), {});
    std::reverse(words.begin() + 1, words.end());  // CLI11 takes them from the back
    words.erase(words.begin());
    parser.parse(words);
  }
};

bool is_of_library(const VerbHelp& help) { return help.verb != "demo"; }

TEST(VerbHelp, NamesOptionsThatThereAre) {
  Verbs verbs;
  for (const VerbHelp& help : verb_helps()) {
    if (!is_of_library(help)) continue;
    CLI::App& verb = find_verb(verbs.parser, std::string(help.verb));
    for (const std::string_view option : help.everyday)
      EXPECT_NE(verb.get_option_no_throw(std::string(option)), nullptr) << help.verb << ' ' << option;
  }
}

TEST(VerbHelp, ExamplesAreCommandsOfTheirVerbs) {
  for (const VerbHelp& help : verb_helps()) {
    EXPECT_FALSE(help.examples.empty()) << help.verb;
    for (const std::string_view line : help.examples) {
      if (!is_of_library(help)) continue;
      Verbs verbs;
      EXPECT_NO_THROW(verbs.parse(std::string(line))) << line;
    }
  }
}

std::string line_of(const std::string& line, const std::string& verb) {
  Verbs verbs;
  verbs.parse(line);
  return command_line(find_verb(verbs.parser, verb));
}

TEST(CommandLine, IsWhatWasGivenWithoutHowItIsPrinted) {
  EXPECT_EQ(line_of("ounce verify a.onnx b.onnx --no-edge-cases --json --data x.npz", "verify"),
            "ounce verify a.onnx b.onnx --no-edge-cases --data x.npz");
  EXPECT_EQ(line_of("ounce bench a.onnx -b 1,8", "bench"), "ounce bench a.onnx --batch 1 --batch 8");
  EXPECT_EQ(line_of("ounce quantize 'a.onnx --exclude ^head", "quantize"),
            "ounce quantize ''\\''a.onnx' --exclude '^head'");
}

TEST(CommandLine, GivesTheSameWhenItIsGivenAgain) {
  const std::string once = line_of("ounce bench a.onnx b.onnx -b 1,8 -t 0.5 --json", "bench");
  EXPECT_EQ(line_of(once, "bench"), once);
}

}  // namespace
}  // namespace ounce::verbs
