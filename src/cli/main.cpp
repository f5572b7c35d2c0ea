// The main function: parse, choose the verb, turn whatever happens into one line and an exit code.

#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/version.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/cancel.h"
#include "base/out_of_memory.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/say.h"
#include "cli/suggestion.h"
#include "report/option_words.h"

namespace ounce::cli {
namespace {

constexpr int kUsageExit = 2, kIoExit = 4, kBugExit = 70;

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

// A mapped file that somebody truncates while it is read ends here.
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
int after_flush(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  complain(fmt::format("cannot print: {}", std::strerror(errno)));
  return kIoExit;
}

int run(int argc, char** argv) {
  CLI::App parser("ONNX models made small and fast, with proof that they still work.", "ounce");
  parser.set_version_flag("--version", version());
  add_config_option(parser);
  parser.require_subcommand(1);
  parser.footer(
      "Exit codes: 0 done, 1 gate failed, 2 bad usage or bad input, 3 not supported, 4 I/O, 70 a bug of "
      "ours.\n"
      "'ounce VERB --help' explains a verb.");
  parser.fallthrough();  // --config may stand behind the verb
  const std::vector<Command> commands = {add_inspect(parser),  add_quantize(parser), add_calibrate(parser),
                                         add_verify(parser),   add_bench(parser),    add_sensitivity(parser),
                                         add_tune(parser),     add_advise(parser),   add_check(parser),
                                         add_contract(parser), add_copy(parser),     add_publish(parser),
                                         add_prove(parser),    add_demo(parser)};
  try {
    parser.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return parser.exit(help);
  } catch (const CLI::CallForVersion& request) {
    return parser.exit(request);
  } catch (const CLI::ParseError& error) {
    complain(explain(error, parser, argc, argv));
    return dynamic_cast<const CLI::FileError*>(&error) != nullptr ? kIoExit : kUsageExit;
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kUsageExit;
}

}  // namespace
}  // namespace ounce::cli

int main(int argc, char** argv) {
  using namespace ounce::cli;
  fill_standard_streams();
  ounce::when_memory_runs_out(on_no_memory);
  const ounce::Call call(&whole_run());
  install_signal_handlers();
  try {
    return after_flush(run(argc, argv));
  } catch (const ounce::Error& error) {
    complain(ounce::report::with_options(error));
    return ounce::exit_code(error.code());
  } catch (const std::bad_alloc&) {
    complain("out of memory");
    return kIoExit;
  } catch (const std::system_error& error) {
    complain(error.what());
    return kIoExit;
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}; please report it", error.what()));
    return kBugExit;
  }
}
