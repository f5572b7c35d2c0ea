// Emulates an older CPU by masking CPUID: this process no longer finds the instructions that the older CPU
// lacks, so it uses the same kernels, at full speed and without an emulator.
//
// Intel's CPUs from Ivy Bridge on, and newer ones of AMD, can make CPUID fault (arch_prctl(2),
// ARCH_SET_CPUID); the handler answers without the hidden features. Libraries must be opened after that.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ounce::runtime {

enum class MaskedCpu {
  kAvx2,    // as Intel's Haswell and AMD's Zen to Zen 3: no AVX-512, no VNNI
  kAvx512,  // as Intel's Skylake-X: AVX-512 without VNNI
};

const char* name_of(MaskedCpu cpu);  // "avx2", "avx512"
std::optional<MaskedCpu> masked_cpu_named(std::string_view name);

// True if this machine can emulate that CPU: it needs all of its features, and faults for CPUID.
bool can_mask(MaskedCpu cpu) noexcept;

// Masks this thread and those that it starts from here on. False when it is not possible.
bool mask_cpu(MaskedCpu cpu) noexcept;

// Architectures, as `uname -m` prints them.
std::string this_machine();                       // "x86_64"
std::string machine_of(const std::string& name);  // "aarch64" for "arm64", as some systems call it
// The architecture of an emulator: "aarch64" for "/usr/bin/qemu-aarch64-static -L …"; empty for anything
// else.
std::string emulated_machine(const std::string& launcher);

}  // namespace ounce::runtime
