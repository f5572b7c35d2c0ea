// An older CPU shown by a newer one: this process no longer finds the instructions that the older one lacks,
// and so takes the same kernels as there, at full speed and without an emulator.
//
// Programs ask for a CPU's instructions by one of them, CPUID. Intel's CPUs from Ivy Bridge on, and newer
// ones of AMD, can let it fault (arch_prctl(2), ARCH_SET_CPUID); the fault is caught, and the answer given
// without what is to be hidden. It holds for whoever asks after that, so libraries must be opened later.
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

// Can this machine show that CPU? It must have what that one has, and faults for CPUID.
bool can_mask(MaskedCpu cpu) noexcept;

// From here on, in this thread and those that it starts. False when it cannot be done.
bool mask_cpu(MaskedCpu cpu) noexcept;

// Architectures, in the words of `uname -m`.

std::string this_machine();                       // "x86_64"
std::string machine_of(const std::string& name);  // "aarch64" for "arm64", which some systems say
// What an emulator runs: "aarch64" for "/usr/bin/qemu-aarch64-static -L …"; empty for anything else.
std::string emulated_machine(const std::string& launcher);

}  // namespace ounce::runtime
