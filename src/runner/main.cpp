// ounce-runner MEMORY [CPU]: runs models for another process, so that a crash does not end that process. The
// processes exchange messages on standard input and output (src/runtime/wire.h). MEMORY limits the address
// space in bytes; 0: no limit. CPU is an older CPU to emulate (src/runtime/masked_cpu.h).

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
  // Exits with kRefusedExit if any library runs out of memory.
  ounce::when_memory_runs_out([] { ::_exit(ounce::runtime::kRefusedExit); });
  const auto masked = argc == 3 ? ounce::runtime::masked_cpu_named(argv[2]) : std::nullopt;
  if (argc < 2 || argc > 3 || (argc == 3 && !masked)) {
    std::fputs("ounce-runner: this program is started by ounce and cannot be used directly\n", stderr);
    return 2;
  }
  if (masked && !ounce::runtime::mask_cpu(*masked)) {
    std::fprintf(stderr, "ounce-runner: this CPU cannot emulate %s\n", argv[2]);
    return 3;
  }
  // Ends this process when the other process closes the connection, even during a run. (PR_SET_PDEATHSIG
  // would end it together with the thread that started it.)
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
  ::signal(SIGXFSZ, SIG_IGN);  // writing beyond the file size limit fails with an error instead
  const unsigned long long memory = std::strtoull(argv[1], nullptr, 10);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const bool can_limit_memory = false;  // the sanitizer's shadow memory exceeds any limit
#else
  const bool can_limit_memory = true;
#endif
  if (memory != 0 && can_limit_memory) limit(RLIMIT_AS, static_cast<rlim_t>(memory));
  // Redirect the standard output of libraries, so that it does not mix with the messages.
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return ounce::runtime::kRefusedExit;
  return ounce::runtime::serve(STDIN_FILENO, out);
}
