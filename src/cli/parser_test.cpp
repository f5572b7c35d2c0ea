#include "cli/parser.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

namespace ounce::cli {
namespace {

using verbs::VerbInfo;

struct Line {
  Parser parser{verbs::all_verbs(), {}};

  explicit Line(const std::string& line) {
    std::istringstream text(line.substr(0, line.find(" >")));
    std::vector<std::string> words((std::istream_iterator<std::string>(text)), {});
    words.erase(words.begin(), std::find(words.begin(), words.end(), "ounce") + 1);  // behind a launcher
    if (names_model_first(words, verbs::all_verbs())) words.insert(words.begin(), "overview");
    std::reverse(words.begin(), words.end());  // CLI11 expects words in reverse order
    parser.app().parse(words);
  }
};

TEST(Verbs, HaveACallOrVerbsInside) {
  std::set<std::string> names;
  verbs::for_each_verb(verbs::all_verbs(), [&](const VerbInfo& verb, const std::string& name) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(std::string(verb.summary).empty()) << name;
    EXPECT_FALSE(std::string(verb.summary).ends_with('.')) << name;
    EXPECT_TRUE(verb.call != nullptr || !verb.verbs.empty()) << name;
    if (verb.call == nullptr) {
      EXPECT_EQ(verb.result, std::string("Result")) << name;
    }
  });
  EXPECT_TRUE(names.contains("contract set"));
}

TEST(Verbs, AnOptionMayHaveItsEarlierName) {
  for (const char* line : {"ounce quantize m.onnx --half-share 2 --no-weigh-costs",
                           "ounce quantize m.onnx --half-share=2 --no-weigh-costs",
                           "ounce quantize m.onnx --fp16-budget 2 --no-use-cost-model"}) {
    EXPECT_EQ(verbs::command_line(Line(line).parser.chosen().options),
              "ounce quantize m.onnx --fp16-budget 2 --no-use-cost-model");
  }
}

TEST(Verbs, ShortHelpShowsOptionsThatThereAre) {
  verbs::for_each_verb(verbs::all_verbs(), [&](const VerbInfo& verb, const std::string& name) {
    if (verb.call == nullptr) return;
    const auto call = verb.call(name);
    for (const std::string_view option : verb.everyday)
      EXPECT_NE(call->options.find(option), nullptr) << name << ' ' << option;
  });
}

TEST(Verbs, OptionsHaveAHelpAndOneName) {
  verbs::for_each_verb(verbs::all_verbs(), [&](const VerbInfo& verb, const std::string& name) {
    if (verb.call == nullptr) return;
    const auto call = verb.call(name);
    std::set<std::string> names;
    for (const verbs::Option& option : call->options.all()) {
      EXPECT_FALSE(option.help.empty()) << name << ' ' << option.declared;
      for (const std::string& one : option.names())
        EXPECT_TRUE(names.insert(one).second) << name << ' ' << one;
    }
  });
}

TEST(Verbs, ExamplesAreCommands) {
  verbs::for_each_verb(verbs::all_verbs(), [&](const VerbInfo& verb, const std::string& name) {
    const bool is_explained = verb.call == nullptr || !verb.examples.empty() || name.find(' ') != name.npos;
    EXPECT_TRUE(is_explained) << name;
    for (const std::string_view line : verb.examples) EXPECT_NO_THROW(Line(std::string(line))) << line;
  });
}

std::string line_of(const std::string& line) { return command_line(Line(line).parser.chosen().options); }

TEST(CommandLine, IsWhatWasGivenWithoutHowItIsPrinted) {
  EXPECT_EQ(line_of("ounce verify a.onnx b.onnx --no-edge-cases --json --data x.npz"),
            "ounce verify a.onnx b.onnx --no-edge-cases --data x.npz");
  EXPECT_EQ(line_of("ounce bench a.onnx -b 1,8"), "ounce bench a.onnx --batch 1 --batch 8");
  EXPECT_EQ(line_of("ounce quantize 'a.onnx --exclude ^head"),
            "ounce quantize ''\\''a.onnx' --exclude '^head'");
  EXPECT_EQ(line_of("ounce contract set a.onnx -o b.onnx"), "ounce contract set a.onnx --output b.onnx");
}

TEST(CommandLine, GivesTheSameWhenItIsGivenAgain) {
  const std::string once = line_of("ounce bench a.onnx b.onnx -b 1,8 -t 0.5 --json");
  EXPECT_EQ(line_of(once), once);
}

TEST(CommandLine, RefusesOptionsOfTheVerbAround) {
  Line line("ounce calibrate --json merge a.ranges -o b.ranges");
  EXPECT_THROW(line.parser.chosen(), Error);
}

}  // namespace
}  // namespace ounce::cli
