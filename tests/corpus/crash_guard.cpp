#include "corpus/crash_guard.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace ounce::test {
namespace {

// Runs the jobs first, first + stride, … in one child, which reports through a pipe: "begin i", "line TEXT",
// "end".
struct Child {
  std::size_t first, stride;
  pid_t process = -1;
  std::FILE* pipe = nullptr;
};

[[noreturn]] void work(const Child& child, int output, std::size_t count, unsigned seconds,
                       const std::function<std::vector<std::string>(std::size_t)>& job) {
  std::FILE* const out = ::fdopen(output, "w");
  for (std::size_t i = child.first; i < count; i += child.stride) {
    fmt::print(out, "begin {}\n", i);
    std::fflush(out);
    ::alarm(seconds);
    for (const std::string& line : job(i)) fmt::print(out, "line {}\n", line);
    ::alarm(0);
    fmt::print(out, "end\n");
    std::fflush(out);
  }
  ::_exit(0);  // skips the destructors of the parent's objects
}

void start(Child& child, std::size_t count, unsigned seconds,
           const std::function<std::vector<std::string>(std::size_t)>& job) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("cannot create a pipe");
  child.process = ::fork();
  if (child.process < 0) throw std::runtime_error("cannot create a process");
  if (child.process == 0) {
    ::close(ends[0]);
    work(child, ends[1], count, seconds, job);
  }
  ::close(ends[1]);
  child.pipe = ::fdopen(ends[0], "r");
}

// Reads the output of a child until it ends. Returns the job in which it died, or `count`.
std::size_t collect(Child& child, std::size_t count, std::vector<GuardedResult>& results) {
  char* buffer = nullptr;
  std::size_t capacity = 0, current = count;
  for (ssize_t size = 0; (size = ::getline(&buffer, &capacity, child.pipe)) > 0;) {
    const std::string line(buffer, static_cast<std::size_t>(size - 1));
    if (line.starts_with("begin ")) current = std::stoul(line.substr(6));
    if (line.starts_with("line ") && current < count) results[current].lines.push_back(line.substr(5));
    if (line == "end") current = count;
  }
  std::free(buffer);  // allocated by getline
  std::fclose(child.pipe);
  int status = 0;
  ::waitpid(child.process, &status, 0);
  if (current < count) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    results[current].crash = signal == SIGALRM ? "took too long"
                             : signal != 0     ? fmt::format("killed by signal {}", signal)
                                               : fmt::format("ended with status {}", WEXITSTATUS(status));
  }
  return current;
}

}  // namespace

std::vector<GuardedResult> run_guarded(std::size_t count, unsigned processes, unsigned seconds_per_job,
                                       const std::function<std::vector<std::string>(std::size_t)>& job) {
  std::vector<GuardedResult> results(count);
  std::vector<Child> children;
  for (unsigned i = 0; i < processes; ++i) children.push_back({i, processes});
  for (Child& child : children) start(child, count, seconds_per_job, job);
  // Children are read one after another. A child whose pipe (64 KiB) is full only waits.
  for (Child& child : children) {
    for (std::size_t died_in = 0; (died_in = collect(child, count, results)) < count;) {
      child.first = died_in + child.stride;
      if (child.first >= count) break;
      start(child, count, seconds_per_job, job);
    }
  }
  return results;
}

}  // namespace ounce::test
