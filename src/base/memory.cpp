#include "base/memory.h"

#include <fstream>
#include <limits>
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

}  // namespace ounce
