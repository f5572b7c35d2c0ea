// Emulates an older CPU by masking CPUID: the process does not see the instructions that the older CPU lacks,
// so it uses the older CPU's kernels, at full speed.
//
// Intel CPUs since Ivy Bridge and recent AMD CPUs can make CPUID fault (arch_prctl(2), ARCH_SET_CPUID); a
// signal handler returns the masked features. Libraries must be opened after masking.
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

// True if this machine can emulate that CPU: it must have all its features and support CPUID faulting.
bool can_mask(MaskedCpu cpu) noexcept;

// Masks CPUID for this thread and the threads that it starts from now on. Returns false if that is not
// possible.
bool mask_cpu(MaskedCpu cpu) noexcept;

// Architectures, as `uname -m` prints them.
std::string this_machine();                       // "x86_64"
std::string machine_of(const std::string& name);  // "aarch64" for "arm64", its name on some systems
// The architecture of an emulator: "aarch64" for "/usr/bin/qemu-aarch64-static -L …"; empty for anything
// else.
std::string emulated_machine(const std::string& launcher);

}  // namespace ounce::runtime
