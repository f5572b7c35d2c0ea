#include "base/cpu.h"

#include <fstream>
#include <thread>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
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

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string name = "unknown";
  for (std::string line; std::getline(info, line);) {
    // x86 says its model, ARM the number of its part.
    if (!line.starts_with("model name") && !line.starts_with("CPU part")) continue;
    name = line.substr(line.find(':') + 1);
    break;
  }
  return name + " x " + std::to_string(std::thread::hardware_concurrency());
}

}  // namespace ounce
