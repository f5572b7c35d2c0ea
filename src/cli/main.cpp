// The main function: parses the command line, runs the verb, and turns errors into one line and an exit code.

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <ounce/error.h>
#include <ounce/runtime.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/machine.h"
#include "cli/parser.h"
#include "cli/terminal.h"
#include "cli/verb_tree.h"
#include "report/messages.h"
#include "results/results.h"

namespace ounce::cli {
namespace {

constexpr int kUsageExit = 2, kIoExit = 4;

// A signal stops all work of this process through this object.
Progress& whole_run() {
  static Progress progress;
  return progress;
}

extern "C" void on_stop(int) { whole_run().stop(); }

// Ends the process at once. This is safe in any code, because outputs get their names only when complete.
[[noreturn]] void end_with(std::string_view message) {
  static std::atomic_flag is_first;
  while (is_first.test_and_set()) ::pause();  // another thread is already exiting
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(kIoExit);
}

// Ends the program at once if a mapped file is truncated while it is read. The guard of the library would
// continue until the end of the call.
extern "C" void on_bus_error(int) {
  end_with("ounce: a model file was truncated while it was read; nothing was written\n");
}

void on_no_memory() { end_with("ounce: out of memory\n"); }

// Work on weights allocates and frees tiles of 1 MiB. By default malloc returns such memory to the system at
// once, and page faults take as long as the arithmetic.
void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD
  constexpr int kLargestKept = 16 << 20, kLargestOnHeap = 4 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kLargestKept);
  ::mallopt(M_MMAP_THRESHOLD, kLargestOnHeap);
#endif
}

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the program at once
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  action.sa_handler = on_bus_error;
  action.sa_flags = 0;
  ::sigaction(SIGBUS, &action, nullptr);
  // A write beyond the file size limit (ulimit -f) then fails with EFBIG, an error like a full disk. Runner
  // processes inherit this.
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

// Replaces closed standard streams by streams that fail. Otherwise the next opened file gets the number of
// the closed stream, and printing writes into that file.
void fill_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    [[maybe_unused]] const int filled = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Fails if the output could not be printed.
int after_flush(int code, Terminal& terminal) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  terminal.complain(fmt::format("cannot print: {}", std::strerror(errno)));
  return kIoExit;
}

// The version alone on its line, for scripts, then the details for a bug report.
std::string version_text() {
  const BuildInfo build = build_info();
  const std::vector<std::string> runtimes = installed_runtimes();
  return fmt::format(
      "{}\nbuilt with {} for {}{}\nkernels for {}; this CPU runs models as {}\nONNX Runtime: {}",
      build.version, build.compiler, build.c_library,
      build.commit.empty() ? "" : fmt::format(", commit {}", build.commit), fmt::join(build.kernels, ", "),
      this_cpu(),
      runtimes.empty() ? "none found; install it with 'pip install onnxruntime'"
                       : fmt::format("{}", fmt::join(runtimes, ", ")));
}

enum class HelpLength { kShort, kAll };

bool is_everyday(const CLI::Option& option, const verbs::VerbInfo& info) {
  if (option.get_positional() || option.get_required() || info.everyday.empty()) return true;
  const std::vector<std::string>& names = option.get_lnames();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == "help" || name == "help-all" ||
           std::find(info.everyday.begin(), info.everyday.end(), "--" + name) != info.everyday.end();
  });
}

// Hides the options that are not for everyday use by an empty group, and shows the others in one group.
// Returns the number of hidden options.
std::size_t hide_the_rest(CLI::App& verb, const verbs::VerbInfo& info) {
  std::size_t hidden = 0;
  for (CLI::Option* option : verb.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    if (is_everyday(*option, info)) {
      option->group("Options");
    } else {
      option->group("");
      ++hidden;
    }
  }
  return hidden;
}

std::string examples_of(const verbs::VerbInfo* info) {
  if (info == nullptr || info->examples.empty()) return {};
  std::string text = "\nExamples:\n";
  for (const std::string_view line : info->examples) text += fmt::format("  {}\n", line);
  return text;
}

// The keys of --expert, with their help.
std::string expert_keys_of(const verbs::VerbInfo& info, const std::string& name) {
  if (info.call == nullptr) return {};
  const std::unique_ptr<verbs::VerbCall> call = info.call(name);
  std::string text;
  for (const verbs::Option& option : call->options.all()) {
    if (!option.is_expert) continue;
    constexpr std::size_t kColumn = 28;  // of descriptions in CLI11, less its indent
    std::string key = option.long_names.front();
    if (!option.choices().empty()) key += fmt::format(":{{{}}}", fmt::join(option.choices(), ","));
    text += fmt::format("  {:<{}}{}{}\n", key, kColumn, key.size() < kColumn ? "" : " ", option.help);
  }
  return text.empty() ? text : "\nExpert options (--expert KEY=VALUE):\n" + text;
}

// Returns "ounce contract" for "ounce contract set"; empty for the program.
std::string words_before(const CLI::App& app) {
  if (app.get_parent() == nullptr) return {};
  const std::string before = words_before(*app.get_parent());
  return (before.empty() ? "" : before + " ") + app.get_parent()->get_name();
}

// Returns the verb that --help follows, or the program.
CLI::App& asked_about(CLI::App& parser) {
  const std::vector<CLI::App*> verbs = parser.get_subcommands();
  return verbs.empty() ? parser : asked_about(*verbs.front());
}

// --help: the options for everyday use, with examples. --help-all: every option.
std::string help_text(CLI::App& app, HelpLength length, std::size_t width) {
  const verbs::VerbInfo* info =
      app.get_parent() == nullptr ? nullptr : &verbs::find_verb(program_verbs(), path_of(app));
  std::size_t hidden = 0;
  if (length == HelpLength::kShort && info != nullptr) hidden = hide_the_rest(app, *info);
  if (app.get_parent() != nullptr) app.footer("");
  std::string text = wrap_help(app.help(words_before(app)), width);
  constexpr std::string_view kUsage = "Usage: ounce [OPTIONS] SUBCOMMAND\n";
  if (const std::size_t at = text.find(kUsage); at != text.npos)
    text.replace(at, kUsage.size(), "Usage: ounce MODEL\n       ounce COMMAND MODEL [OPTIONS]\n");
  while (text.ends_with("\n\n")) text.pop_back();
  if (length == HelpLength::kAll && info != nullptr)
    text += wrap_help(expert_keys_of(*info, path_of(app)), width);
  text += examples_of(info);
  if (hidden != 0) text += fmt::format("\n{} more options: 'ounce {} --help-all'\n", hidden, path_of(app));
  return text;
}

int run(int argc, char** argv, Terminal& terminal) {
  Parser commands(program_verbs(), version_text);
  CLI::App& parser = commands.app();
  const auto show_help = [&](CLI::App& app, HelpLength length) {
    terminal.say(verbs::Stream::kResults, help_text(app, length, terminal.help_width()));
    return 0;
  };
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) return show_help(parser, HelpLength::kShort);
  use_names_of_verbs(words, program_verbs());
  if (names_model_first(words, program_verbs())) words.insert(words.begin(), "overview");  // 'ounce MODEL'
  if (words.size() == 1 && words.front() == "schema") {
    terminal.say_json(results::dump(results::schema()));
    return 0;
  }
  if (words.front() == "help") {
    // 'ounce help contract set'
    const std::string verb = fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " "));
    return show_help(words.size() == 1 ? parser : commands.app(verb), HelpLength::kShort);
  }
  try {
    parser.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return show_help(asked_about(parser), HelpLength::kShort);
  } catch (const CLI::CallForAllHelp&) {
    return show_help(asked_about(parser), HelpLength::kAll);
  } catch (const CLI::CallForVersion& request) {
    return parser.exit(request);
  } catch (const CLI::ParseError& error) {
    const bool is_io = dynamic_cast<const CLI::FileError*>(&error) != nullptr;
    const std::string message = explain(error, parser, words);
    terminal.complain(
        report::with_id(message, report::error_id(is_io ? ErrorCode::kIo : ErrorCode::kUsage, message)));
    return is_io ? kIoExit : kUsageExit;
  }
  if (commands.is_quiet()) terminal.be_quiet();
  return commands.chosen().run(terminal);
}

}  // namespace
}  // namespace ounce::cli

int main(int argc, char** argv) {
  using namespace ounce::cli;
  fill_standard_streams();
  ounce::when_memory_runs_out(on_no_memory);
  ounce::set_file_guard(false);
  const ounce::CancellationScope scope(&whole_run());
  keep_freed_memory();
  install_signal_handlers();
  Terminal terminal;
  try {
    return after_flush(run(argc, argv, terminal), terminal);
  } catch (...) {
    const ounce::verbs::Failure failure = ounce::verbs::current_failure();
    terminal.complain(failure.line());
    return failure.exit_code;
  }
}
