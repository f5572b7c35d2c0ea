// ounce-runner MEMORY [CPU]: runs models for another process, which sends messages on standard input and
// output (src/runtime/wire.h) and survives any crash of this one. MEMORY limits the address space in bytes;
// 0: no limit. CPU is an older one to emulate (src/runtime/masked_cpu.h).

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "base/machine.h"
#include "runtime/masked_cpu.h"
#include "runtime/wire.h"

namespace {

void limit(auto resource, rlim_t value) {
  const rlimit limits{value, value};
  ::setrlimit(resource, &limits);
}

}  // namespace

int main(int argc, char** argv) {
  // A library that runs out of memory may end the process.
  ounce::when_memory_runs_out([] { ::_exit(ounce::runtime::kRefusedExit); });
  const auto masked = argc == 3 ? ounce::runtime::masked_cpu_named(argv[2]) : std::nullopt;
  if (argc < 2 || argc > 3 || (argc == 3 && !masked)) {
    std::fputs("ounce-runner: started by ounce, not by hand\n", stderr);
    return 2;
  }
  if (masked && !ounce::runtime::mask_cpu(*masked)) {
    std::fprintf(stderr, "ounce-runner: this CPU cannot show %s\n", argv[2]);
    return 3;
  }
  // Ends this process when the other side closes, even while a model keeps it busy. (PR_SET_PDEATHSIG would
  // end it with the thread that started it.)
  try {
    std::thread([] {
      pollfd other_side{STDIN_FILENO, POLLRDHUP, 0};
      while (::poll(&other_side, 1, -1) < 0) {
      }
      ::_exit(0);
    }).detach();
  } catch (const std::exception&) {
    return ounce::runtime::kRefusedExit;
  }
  limit(RLIMIT_CORE, 0);
  ::signal(SIGXFSZ, SIG_IGN);  // beyond the limit of a file's size a write fails instead
  const unsigned long long memory = std::strtoull(argv[1], nullptr, 10);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const bool can_limit_memory = false;  // the sanitizer's shadow is larger than any limit
#else
  const bool can_limit_memory = true;
#endif
  if (memory != 0 && can_limit_memory) limit(RLIMIT_AS, static_cast<rlim_t>(memory));
  // The output of a library must not get between the messages.
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return ounce::runtime::kRefusedExit;
  return ounce::runtime::serve(STDIN_FILENO, out);
}
