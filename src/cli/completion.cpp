// `ounce completion SHELL` prints a script with which a shell completes verbs, options, and their values and
// files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/verb_tree.h"

namespace ounce::cli {
namespace {

using Text = std::string;
// Shortens a help text to the one line that a shell shows: its first sentence without explanations.
Text brief(const Text& text) {
  Text line = text.substr(0, std::min({text.find(" ("), text.find("; "), text.find(": "), text.find(". ")}));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

// Quotes text for all three shells.
Text quoted(const Text& text) {
  Text out = "'";
  for (const char c : text) out += c == '\'' ? Text("'\\''") : Text(1, c);
  return out + "'";
}

// Returns the options that may follow a verb: its own, and those of the program that take a value.
std::vector<VerbOption> options_of(const Verb& verb, const Verb& program) {
  std::vector<VerbOption> options = verb.options;
  if (&verb == &program) return options;
  for (const VerbOption& option : program.options) {
    if (!option.value.empty()) options.push_back(option);
  }
  return options;
}

std::vector<Text> option_names(const Verb& verb, const Verb& program) {
  std::vector<Text> names;
  for (const VerbOption& option : options_of(verb, program)) {
    if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<Text> verb_names(const Verb& verb) {
  std::vector<Text> names;
  for (const Verb& below : verb.verbs) names.push_back(below.path.back());
  return names;
}

// Returns the positional words of a verb: its nested verbs, or the values of a positional argument.
std::vector<Text> plain_words(const Verb& verb) {
  std::vector<Text> words = verb_names(verb);
  for (const VerbOption& option : verb.options) {
    if (option.is_positional) words.insert(words.end(), option.values.begin(), option.values.end());
  }
  return words;
}

// Returns a pattern of `case` with all verbs, as "ounce contract set".
Text verb_pattern(const Verb& program, const char* between) {
  std::vector<Text> words;
  for (const Verb* verb : all_verbs(program)) {
    if (verb != &program) words.push_back(quoted(verb->words()));
  }
  return fmt::format("{}", fmt::join(words, between));
}

// Escapes brackets and colons for a description in zsh.
Text zsh_text(const Text& text) {
  Text out;
  for (const char c : brief(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

Text zsh_action(const VerbOption& option) {
  if (!option.values.empty()) return fmt::format("({})", fmt::join(option.values, " "));
  return option.takes_number() ? " " : "_files";
}

void add_zsh_arguments(Text& out, const Verb& verb, const Verb& program, const char* indent) {
  for (const VerbOption& option : options_of(verb, program)) {
    if (option.is_positional) {
      append(out, "{}{}\n", indent,
             quoted(fmt::format("{}:{}:{}", option.is_repeatable ? "*" : "", option.names[0],
                                zsh_action(option))) +
                 " \\");
      continue;
    }
    for (const Text& name : option.names) {
      const bool is_long = name.starts_with("--");
      append(out, "{}{} \\\n", indent,
             quoted(fmt::format(
                 "{}{}{}[{}]{}", option.is_repeatable ? "*" : "", name,
                 option.value.empty() ? ""
                 : is_long            ? "="
                                      : "+",
                 zsh_text(option.text),
                 option.value.empty() ? "" : fmt::format(":{}:{}", option.value, zsh_action(option)))));
    }
  }
}

void add_zsh_function(Text& out, const Verb& verb, const Verb& program) {
  for (const Verb& below : verb.verbs) add_zsh_function(out, below, program);
  append(out, "_{}() {{\n", verb.words("_"));
  if (verb.verbs.empty()) {
    append(out, "  _arguments -s \\\n");
    add_zsh_arguments(out, verb, program, "    ");
    append(out, "    && return\n}}\n\n");
    return;
  }
  append(out, "  local curcontext=$curcontext state line\n  _arguments -C \\\n");
  add_zsh_arguments(out, verb, program, "    ");
  append(out,
         "    '1:verb:->verb' '*::argument:->rest' && return\n  case $state in\n    verb)\n      local "
         "verbs=(\n");
  for (const Verb& below : verb.verbs)
    append(out, "        {}\n", quoted(fmt::format("{}:{}", below.path.back(), zsh_text(below.text))));
  append(out, "      )\n      _describe verb verbs ;;\n    rest)\n      case $line[1] in\n");
  for (const Verb& below : verb.verbs)
    append(out, "        {}) _{} ;;\n", below.path.back(), below.words("_"));
  append(out, "      esac ;;\n  esac\n}}\n\n");
}

Text bash_completion(const Verb& program) {
  Text out =
      "# Completes the command line of ounce in bash; made by 'ounce completion bash'.\n"
      "_ounce() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=ounce options= words= "
      "i\n"
      "  # bash splits --to=w8 into three words\n"
      "  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; "
      "fi\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$verb ${COMP_WORDS[i]}\" in\n";
  append(out, "      {}) verb+=\" ${{COMP_WORDS[i]}}\" ;;\n", verb_pattern(program, "|"));
  out += "    esac\n  done\n  case \"$verb $before\" in\n";
  for (const Verb* verb : all_verbs(program)) {
    for (const VerbOption& option : options_of(*verb, program)) {
      if (option.is_positional || option.value.empty()) continue;
      std::vector<Text> patterns;
      for (const Text& name : option.names) patterns.push_back(quoted(verb->words() + " " + name));
      const Text pattern = fmt::format("{}", fmt::join(patterns, "|"));
      if (!option.values.empty()) {
        append(out, "    {}) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\"); return ;;\n", pattern,
               fmt::join(option.values, " "));
      } else if (option.takes_number()) {
        append(out, "    {}) return ;;\n", pattern);
      } else {
        append(out,
               "    {}) mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); compopt -o filenames; return ;;\n",
               pattern);
      }
    }
  }
  out += "  esac\n  case $verb in\n";
  for (const Verb* verb : all_verbs(program))
    append(out, "    {}) options='{}' words='{}' ;;\n", quoted(verb->words()),
           fmt::join(option_names(*verb, program), " "), fmt::join(plain_words(*verb), " "));
  out +=
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
      "  elif [[ -n $words ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "    compopt -o filenames\n"
      "  fi\n"
      "}\n"
      "complete -F _ounce ounce\n";
  return out;
}

Text zsh_completion(const Verb& program) {
  Text out =
      "#compdef ounce\n# Completes the command line of ounce in zsh; made by 'ounce completion zsh'.\n\n";
  add_zsh_function(out, program, program);
  // zsh loads the file from $fpath as the function itself; sourcing the file registers the function.
  out += "if [[ $funcstack[1] == _ounce ]]; then _ounce \"$@\"; else compdef _ounce ounce; fi\n";
  return out;
}

Text fish_completion(const Verb& program) {
  Text out = "# Completes the command line of ounce in fish; made by 'ounce completion fish'.\n";
  append(out,
         "function __ounce_verb_is\n"
         "    set -l verb ounce\n"
         "    for word in (commandline -opc)[2..-1]\n"
         "        switch \"$verb $word\"\n"
         "            case {}\n"
         "                set verb \"$verb $word\"\n"
         "        end\n"
         "    end\n"
         "    test \"$verb\" = \"$argv\"\n"
         "end\n",
         verb_pattern(program, " "));
  for (const Verb* verb : all_verbs(program)) {
    const Text condition = fmt::format("complete -c ounce -n '__ounce_verb_is {}'", verb->words());
    if (!plain_words(*verb).empty()) append(out, "{} -f\n", condition);
    for (const Verb& below : verb->verbs)
      append(out, "{} -a {} -d {}\n", condition, below.path.back(), quoted(brief(below.text)));
    for (const VerbOption& option : options_of(*verb, program)) {
      if (option.is_positional) {
        if (!option.values.empty()) append(out, "{} -a '{}'\n", condition, fmt::join(option.values, " "));
        continue;
      }
      append(out, "{}", condition);
      for (const Text& name : option.names) {
        const bool is_long = name.starts_with("--");
        append(out, " -{} {}", is_long ? "l" : "s", name.substr(is_long ? 2 : 1));
      }
      if (!option.values.empty()) {
        append(out, " -x -a '{}'", fmt::join(option.values, " "));
      } else if (!option.value.empty()) {
        append(out, "{}", option.takes_number() ? " -x" : " -r -F");
      }
      append(out, " -d {}\n", quoted(brief(option.text)));
    }
  }
  return out;
}

}  // namespace

namespace completion_verb {

struct Arguments {
  std::string shell;
};

void declare(verbs::Options& options, Arguments& arguments) {
  options.add_option("shell", arguments.shell, "The shell: bash, zsh or fish")
      ->check(verbs::any_of({"bash", "fish", "zsh"}))
      ->required();
}

int run(const Arguments& arguments, verbs::Host& host, const verbs::Options&) {
  const Verb program = verb_tree();
  host.say(verbs::Stream::kResults, arguments.shell == "bash"  ? bash_completion(program)
                                    : arguments.shell == "zsh" ? zsh_completion(program)
                                                               : fish_completion(program));
  return 0;
}

}  // namespace completion_verb

extern constinit const verbs::VerbInfo kCompletion = {
    .name = "completion",
    .summary = "Print a shell completion script",
    .audience = verbs::Audience::kHidden,
    .call = verbs::call_of<completion_verb::Arguments, completion_verb::declare, completion_verb::run>};

}  // namespace ounce::cli
