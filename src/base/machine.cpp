#include "base/machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <thread>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace ounce {

std::string cpu_kernels() {
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned kFeatures = 7, kAvx2 = 1U << 5, kAvx512Core = 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31;
  constexpr unsigned kAvx512Vnni = 1U << 11, kAvxVnni = 1U << 4;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) == 0 || (b & kAvx2) == 0) return "sse";
  const bool has_avx512 = (b & kAvx512Core) == kAvx512Core;
  if (has_avx512) return (c & kAvx512Vnni) != 0 ? "avx512 vnni" : "avx512";
  const bool has_vnni = __get_cpuid_count(kFeatures, 1, &a, &b, &c, &d) != 0 && (a & kAvxVnni) != 0;
  return has_vnni ? "avx2 vnni" : "avx2";
#else
  return "arm64";
#endif
}

std::string cpu_features() {
  std::string word;
  const auto add = [&](unsigned long bits) { word += fmt::format("{}{:x}", word.empty() ? "" : ".", bits); };
#if defined(__x86_64__) || defined(__i386__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Leaf 1: the bits of c (SSE3 … AVX, F16C) except the hypervisor bit; then the two pages of leaf 7.
  constexpr unsigned kHypervisor = 1U << 31;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) add(c & ~kHypervisor);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    add(b);
    add(c);
    add(d);
  }
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) add(a);
#elif defined(__linux__)
  add(::getauxval(AT_HWCAP));
  add(::getauxval(AT_HWCAP2));
#endif
  return word;
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string name = "unknown";
  for (std::string line; std::getline(info, line);) {
    // x86 reports the model name, ARM the part number.
    if (!line.starts_with("model name") && !line.starts_with("CPU part")) continue;
    name = line.substr(line.find(':') + 1);
    break;
  }
  return name + " x " + std::to_string(std::thread::hardware_concurrency());
}

namespace {

// "VmHWM:   1234 kB"
std::optional<std::uint64_t> read_kilobytes(const char* file, const std::string& key) {
  std::ifstream lines(file);
  std::string word;
  while (lines >> word) {
    std::uint64_t kilobytes = 0;
    if (word == key && lines >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t peak_memory() { return read_kilobytes("/proc/self/status", "VmHWM:").value_or(0); }

void forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5;
}

std::uint64_t resident_memory() { return read_kilobytes("/proc/self/status", "VmRSS:").value_or(0); }

std::uint64_t available_memory() {
  return read_kilobytes("/proc/meminfo", "MemAvailable:").value_or(std::numeric_limits<std::uint64_t>::max());
}

std::uint64_t installed_memory() {
  return read_kilobytes("/proc/meminfo", "MemTotal:").value_or(0) +
         read_kilobytes("/proc/meminfo", "SwapTotal:").value_or(0);
}

namespace {

std::atomic<bool> has_run_out = false;
void (*end_of_program)() = nullptr;
std::terminate_handler usual_end = nullptr;

// Sets a flag, because functions that must not throw call std::terminate() without the exception.
void on_no_memory() {
  has_run_out = true;
  throw std::bad_alloc();
}

void on_terminate() {
  if (has_run_out) end_of_program();
  usual_end();
}

// Reached in libraries with their own std::terminate().
extern "C" void on_abort(int) {
  if (has_run_out) end_of_program();
}

}  // namespace

void when_memory_runs_out(void (*end)()) {
  end_of_program = end;
  std::set_new_handler(on_no_memory);
  usual_end = std::set_terminate(on_terminate);
  std::signal(SIGABRT, on_abort);
}

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
