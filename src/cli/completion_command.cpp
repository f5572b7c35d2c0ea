#include "cli/completion_command.h"

#include <memory>

#include "cli/completion.h"

namespace ounce::cli {

verbs::Command add_completion(CLI::App& parser) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app = parser.add_subcommand("completion", "a script that completes verbs and options in a shell");
  app->add_option("shell", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "fish", "zsh"}))
      ->required();
  return {app, [shell, &parser](verbs::Host& host) {
            const Verb program = verb_tree(parser);
            host.say(verbs::Stream::kResults, *shell == "bash"  ? bash_completion(program)
                                              : *shell == "zsh" ? zsh_completion(program)
                                                                : fish_completion(program));
            return 0;
          }};
}

}  // namespace ounce::cli
