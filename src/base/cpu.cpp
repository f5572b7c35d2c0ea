#include "base/cpu.h"

#include <fmt/format.h>

#include <fstream>
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
  // Leaf 1: the bits of c (SSE3 … AVX, F16C) but for the one of a hypervisor; then the two pages of leaf 7.
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
    // x86 says its model, ARM the number of its part.
    if (!line.starts_with("model name") && !line.starts_with("CPU part")) continue;
    name = line.substr(line.find(':') + 1);
    break;
  }
  return name + " x " + std::to_string(std::thread::hardware_concurrency());
}

}  // namespace ounce
