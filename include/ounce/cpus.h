// Compares the outputs of a model on other CPUs with those on this CPU.
//
// INT8 results differ between CPUs: on x86 without VNNI, sums of 8-bit products may saturate. Models are
// therefore also run on emulated CPUs: an older x86 CPU by masking CPUID features of this one or by
// qemu-x86_64, arm64 by qemu-aarch64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ounce {

struct CpuComparison {
  std::string cpu;              // "avx2", "avx512", "arm64"
  std::string how;              // method, such as "qemu-aarch64"; empty: cannot emulate
  std::string runtime_version;  // on the other CPU
  std::string why_not;          // why it was not run, or how it failed
  std::uint64_t samples = 0;
  // SQNR of the model on the other CPU relative to this CPU; infinite if bit-identical. Predictions (top-1 of
  // outputs with classes), and changed predictions.
  double sqnr_db = 0;
  std::uint64_t answers = 0, flips = 0;
  // The same for the original model, which shows the effect of FP32 rounding alone.
  double reference_sqnr_db = 0;
  std::uint64_t reference_flips = 0;

  bool is_run() const { return samples != 0; }
  // Accepts 40 dB, or 6 dB less than the original if that differs more. Changed predictions do not count,
  // because a difference in the last bit of a float can move a quantized value and swap nearly equal classes.
  bool is_same() const {
    const bool differs = reference_sqnr_db > 0 && reference_sqnr_db < 46;
    return is_run() && sqnr_db >= (differs ? reference_sqnr_db - 6 : 40);
  }
};

// Returns the CPUs that can be named: "avx2", "avx512", "arm64".
std::vector<std::string> known_cpus();

// Returns the CPUs with different INT8 arithmetic that this machine can emulate: "avx2", "arm64".
std::vector<std::string> other_cpus();

// Returns the instruction set of this CPU: "avx512 vnni", "avx2 vnni", "avx512", "avx2", "sse", "arm64".
std::string this_cpu();

}  // namespace ounce
