#include "base/memory.h"

#include <atomic>
#include <csignal>
#include <exception>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <string>

namespace ounce {
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

// The exception cannot be asked for later: functions that must not throw call std::terminate() without it.
void on_no_memory() {
  has_run_out = true;
  throw std::bad_alloc();
}

void on_terminate() {
  if (has_run_out) end_of_program();
  usual_end();
}

// A library that brings its own std::terminate() ends here.
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

}  // namespace ounce
