// What a model gives on other CPUs than this one.
//
// Integer arithmetic is not the same everywhere: on x86 without VNNI sums of 8-bit products may saturate. So
// models are run on other CPUs, too, where something here can show them: an older x86 is shown by a newer one
// that hides what the older one lacks, or by qemu-x86_64; arm64 by qemu-aarch64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ounce {

struct CpuComparison {
  std::string cpu;              // "avx2", "avx512", "arm64"
  std::string how;              // "shown by this CPU", "qemu-aarch64"; empty when nothing here shows it
  std::string runtime_version;  // there
  std::string why_not;          // it was not run, or failed there
  std::uint64_t samples = 0;
  // The model there against the model here: infinite when all outputs are equal to the bit; answers (top-1 of
  // outputs with classes) that are others there.
  double sqnr_db = 0;
  std::uint64_t answers = 0, flips = 0;
  // The original there against the original here: what floats alone make of another CPU.
  double reference_sqnr_db = 0;
  std::uint64_t reference_flips = 0;

  bool is_run() const { return samples != 0; }
  // 40 dB are the same model, or 6 dB less than the original has if its floats differ more. Where integers
  // follow floats, the last bit of a float may move a code, and answers that were nearly equal change places;
  // so flips are counted, and do not decide.
  bool is_same() const {
    const bool differs = reference_sqnr_db > 0 && reference_sqnr_db < 46;
    return is_run() && sqnr_db >= (differs ? reference_sqnr_db - 6 : 40);
  }
};

// All that models may be asked to run on: "avx2", "avx512", "arm64".
std::vector<std::string> known_cpus();

// The other CPUs that can be shown here, of those that decide about integer arithmetic: "avx2", "arm64".
std::vector<std::string> other_cpus();

// What this CPU's kernels are made for: "avx512 vnni", "avx2 vnni", "avx512", "avx2", "sse", "arm64"
std::string this_cpu();

}  // namespace ounce
