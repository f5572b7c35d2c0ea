#include "base/stopwatch.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace ounce {
namespace {

// The second number of a task's schedstat: nanoseconds on a run queue. -1 for a thread that has ended.
double wait_of_task(int tasks, const char* name) noexcept {
  std::array<char, 64> path{};
  if (std::snprintf(path.data(), path.size(), "%s/schedstat", name) >= static_cast<int>(path.size()))
    return -1;
  const int file = openat(tasks, path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  std::array<char, 128> text{};
  const ssize_t size = read(file, text.data(), text.size() - 1);
  close(file);
  unsigned long long running = 0, waiting = 0;
  if (size <= 0 || std::sscanf(text.data(), "%llu %llu", &running, &waiting) != 2) return -1;
  return 1e-9 * static_cast<double>(waiting);
}

}  // namespace

double thread_cpu_seconds() noexcept {
  timespec time{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double process_wait_seconds() noexcept {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return -1;
  double sum = 0;
  bool is_known = false;
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    const double wait = wait_of_task(dirfd(tasks), task->d_name);
    sum += std::max(0.0, wait);
    is_known = is_known || wait >= 0;
  }
  closedir(tasks);
  return is_known ? sum : -1;
}

}  // namespace ounce
