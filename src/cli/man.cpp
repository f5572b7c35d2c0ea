// `ounce man VERB` prints the manual page of the program or of a verb, for man(1).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cctype>

#include "cli/verb_tree.h"

namespace ounce::cli {
namespace {

// Escapes text for roff: dashes stay ASCII, so that they can be copied, and no line becomes a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() || out.back() == '\n') {
      if (c == '.' || c == '\'') out += "\\&";
    }
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// "\fB\-o\fR, \fB\-\-output\fR \fITEXT\fR"
std::string heading(const VerbOption& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    names.push_back(
        fmt::format(fmt::runtime(option.is_positional ? "\\fI{}\\fR" : "\\fB{}\\fR"), roff(name)));
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (!option.is_positional && !option.value.empty()) append(text, " \\fI{}\\fR", roff(option.value));
  if (option.is_repeatable) text += " ...";
  return text;
}

void add_option(std::string& page, const VerbOption& option) {
  append(page, ".TP\n{}\n{}\n", heading(option), roff(option.text));
  if (!option.values.empty())
    append(page, ".br\nOne of: {}\n", roff(fmt::format("{}", fmt::join(option.values, ", "))));
  if (!option.by_default.empty()) append(page, ".br\nDefault: {}\n", roff(option.by_default));
}

void add_options(std::string& page, const Verb& verb) {
  std::vector<std::string> groups;
  for (const VerbOption& option : verb.options) {
    if (!option.is_positional && std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  }
  for (const std::string& group : groups) {
    append(page, "{}\n", group == "Options" ? ".SH OPTIONS" : fmt::format(".SS \"{}\"", roff(group)));
    for (const VerbOption& option : verb.options) {
      if (!option.is_positional && option.group == group) add_option(page, option);
    }
  }
}

// `verb` is `program` itself or one of its verbs; `version` is printed in the footer.
std::string man_page(const Verb& verb, const Verb& program, const std::string& version) {
  std::string page;
  append(page, ".\\\" Made by 'ounce man{}'.\n", verb.words().substr(program.words().size()));
  append(page, ".TH {} 1 \"\" \"ounce {}\" \"User Commands\"\n", roff(upper(verb.words("-"))), roff(version));
  append(page, ".SH NAME\n{} \\- {}\n", roff(verb.words("-")), roff(verb.text));
  append(page, ".SH SYNOPSIS\n\\fB{}\\fR [\\fIoptions\\fR]", roff(verb.words()));
  for (const VerbOption& option : verb.options) {
    if (option.is_positional)
      append(page, " \\fI{}\\fR{}", roff(option.names[0]), option.is_repeatable ? "..." : "");
  }
  append(page, "{}\n", verb.verbs.empty() ? "" : " \\fIverb\\fR ...");
  const bool has_positionals = std::any_of(verb.options.begin(), verb.options.end(),
                                           [](const VerbOption& option) { return option.is_positional; });
  if (has_positionals) page += ".SH ARGUMENTS\n";
  for (const VerbOption& option : verb.options) {
    if (option.is_positional) add_option(page, option);
  }
  if (!verb.verbs.empty()) page += ".SH VERBS\n";
  for (const Verb& below : verb.verbs)
    append(page, ".TP\n\\fB{}\\fR\n{}\n", roff(below.path.back()), roff(below.text));
  add_options(page, verb);
  if (verb.row != nullptr && !verb.row->examples.empty()) {
    page += ".SH EXAMPLES\n";
    for (const std::string_view line : verb.row->examples)
      append(page, ".PP\n.nf\n{}\n.fi\n", roff(std::string(line)));
  }
  append(page,
         ".SH EXIT STATUS\n.TP\n0\nsuccess\n.TP\n1\na threshold is exceeded\n.TP\n2\nbad usage or bad "
         "input\n.TP\n3\nnot "
         "supported\n.TP\n4\nI/O error, such as a missing file or a full disk\n.TP\n70\ninternal error\n");
  append(page,
         ".SH ENVIRONMENT\n.TP\n\\fBOUNCE_ONNXRUNTIME\\fR\nthe library of ONNX Runtime: a path, or an "
         "installed "
         "version\n.TP\n\\fBOUNCE_RUNNER\\fR\nthe path of ounce\\-runner, the program that runs models\n");
  std::vector<std::string> others;
  for (const Verb* other : all_verbs(program)) {
    const bool is_near = other == &program || other->path.size() == 2 || other->path[1] == verb.path.back();
    if (other != &verb && is_near) others.push_back(fmt::format("\\fB{}\\fR(1)", roff(other->words("-"))));
  }
  append(page, ".SH SEE ALSO\n{}\n", fmt::join(others, ",\n"));
  return page;
}

}  // namespace

namespace man_verb {

struct Arguments {
  std::vector<std::string> words;
  bool list = false;
};

void declare(verbs::Options& options, Arguments& arguments) {
  options.add_option("verb", arguments.words, "The verb (default: the program itself)");
  options.add_flag("--list", arguments.list, "Print the names of all pages instead");
}

int run(const Arguments& arguments, verbs::Host& host, const verbs::Options&) {
  const Verb program = verb_tree();
  const std::vector<const Verb*> pages = all_verbs(program);
  if (arguments.list) {
    for (const Verb* verb : pages) host.say(verbs::Stream::kResults, verb->words("-") + "\n");
    return 0;
  }
  std::vector<std::string> path = program.path;
  path.insert(path.end(), arguments.words.begin(), arguments.words.end());
  for (const Verb* verb : pages) {
    if (verb->path != path) continue;
    host.say(verbs::Stream::kResults, man_page(*verb, program, version()));
    return 0;
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("'{}' is not a verb of ounce; 'ounce man --list' lists the pages",
                          fmt::join(arguments.words, " ")));
}

}  // namespace man_verb

extern constinit const verbs::VerbInfo kMan = {
    .name = "man",
    .summary = "Print the manual page of a verb. Example: ounce man quantize | man -l -",
    .audience = verbs::Audience::kHidden,
    .call = verbs::call_of<man_verb::Arguments, man_verb::declare, man_verb::run>};

}  // namespace ounce::cli
