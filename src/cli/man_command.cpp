#include "cli/man_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <ounce/version.h>

#include <memory>

#include "cli/man_page.h"

namespace ounce::cli {
namespace man_verb {

int run(verbs::Host& host, const CLI::App& parser, const std::vector<std::string>& words, bool list) {
  const Verb program = verb_tree(parser);
  const std::vector<const Verb*> pages = all_verbs(program);
  if (list) {
    for (const Verb* verb : pages) host.say(verbs::Stream::kResults, verb->words("-") + "\n");
    return 0;
  }
  std::vector<std::string> path = program.path;
  path.insert(path.end(), words.begin(), words.end());
  for (const Verb* verb : pages) {
    if (verb->path != path) continue;
    host.say(verbs::Stream::kResults, man_page(*verb, program, version()));
    return 0;
  }
  throw Error(
      ErrorCode::kUsage,
      fmt::format("'{}' is not a verb of ounce; 'ounce man --list' lists the pages", fmt::join(words, " ")));
}

}  // namespace man_verb

verbs::Command add_man(CLI::App& parser) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto list = std::make_shared<bool>(false);
  CLI::App* app = parser.add_subcommand("man", "the manual page of a verb: ounce man quantize | man -l -");
  app->add_option("verb", *words, "the verb (default: the program itself)");
  app->add_flag("--list", *list, "print the names of all pages instead");
  return {app,
          [words, list, &parser](verbs::Host& host) { return man_verb::run(host, parser, *words, *list); }};
}

}  // namespace ounce::cli
