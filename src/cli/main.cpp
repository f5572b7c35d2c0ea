// The main function: parse, choose the verb, turn whatever happens into one line and an exit code.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/cpus.h>
#include <ounce/error.h>
#include <ounce/file_guard.h>
#include <ounce/runtime.h>
#include <ounce/version.h>
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
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/terminal.h"
#include "cli/verb_tree.h"
#include "results/results.h"

namespace ounce::cli {
namespace {

constexpr int kUsageExit = 2, kIoExit = 4;

// All that this process does is stopped by one signal.
Progress& whole_run() {
  static Progress progress;
  return progress;
}

extern "C" void on_stop(int) { whole_run().stop(); }

// At once, from wherever it is: nothing was put in place yet.
[[noreturn]] void end_with(std::string_view message) {
  static std::atomic_flag is_first;
  while (is_first.test_and_set()) ::pause();  // another thread had the same fate and is about to exit
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(kIoExit);
}

// A mapped file that somebody truncates while it is read ends here, at once: the library's own guard would
// have to wait until the call notices.
extern "C" void on_bus_error(int) {
  end_with("ounce: a model file became shorter while it was read; nothing was written\n");
}

void on_no_memory() { end_with("ounce: out of memory\n"); }

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends at once
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  action.sa_handler = on_bus_error;
  action.sa_flags = 0;
  ::sigaction(SIGBUS, &action, nullptr);
  // Beyond the limit of a file's size (ulimit -f) a write fails with EFBIG instead, which is an error like a
  // full disk. Runners inherit this.
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

// A stream that is closed would give its number to the next file that is opened, and what is printed would go
// there. What stands in for it can be read only, so that printing fails as it should.
void fill_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    [[maybe_unused]] const int filled = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// What was printed is a result too.
int after_flush(int code, Terminal& terminal) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  terminal.complain(fmt::format("cannot print: {}", std::strerror(errno)));
  return kIoExit;
}

// The version alone on its line, for scripts; behind it what a report of a bug needs.
std::string version_text() {
  const BuildInfo build = build_info();
  const std::vector<std::string> runtimes = installed_runtimes();
  return fmt::format(
      "{}\nbuilt with {} for {}{}\nkernels for {}; this CPU runs models as {}\nONNX Runtime: {}",
      build.version, build.compiler, build.c_library,
      build.commit.empty() ? "" : fmt::format(", commit {}", build.commit), fmt::join(build.kernels, ", "),
      this_cpu(),
      runtimes.empty() ? "none is here; 'pip install onnxruntime' brings it"
                       : fmt::format("{}", fmt::join(runtimes, ", ")));
}

int run(int argc, char** argv, Terminal& terminal) {
  Parser commands(program_verbs(), version_text);
  CLI::App& parser = commands.app();
  const auto show_help = [&](CLI::App& app, HelpLength length) {
    terminal.say(verbs::Stream::kResults, help_text(app, length, terminal.help_width()));
    return 0;
  };
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) return show_help(parser, HelpLength::kShort);
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
    parser.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return show_help(asked_about(parser), HelpLength::kShort);
  } catch (const CLI::CallForAllHelp&) {
    return show_help(asked_about(parser), HelpLength::kAll);
  } catch (const CLI::CallForVersion& request) {
    return parser.exit(request);
  } catch (const CLI::ParseError& error) {
    terminal.complain(explain(error, parser, words));
    return dynamic_cast<const CLI::FileError*>(&error) != nullptr ? kIoExit : kUsageExit;
  }
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
  install_signal_handlers();
  Terminal terminal;
  try {
    return after_flush(run(argc, argv, terminal), terminal);
  } catch (...) {
    const ounce::verbs::Failure failure = ounce::verbs::current_failure();
    terminal.complain(failure.message);
    return failure.exit_code;
  }
}
