#include "runtime/masked_cpu.h"

#include <sys/utsname.h>

#include <string_view>

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <initializer_list>

namespace ounce::runtime {
namespace {

constexpr int kGetCpuid = 0x1011,
              kSetCpuid = 0x1012;  // ARCH_GET_CPUID, ARCH_SET_CPUID; missing in older headers
constexpr std::uint32_t kFeatures = 7;

constexpr std::uint32_t bits(std::initializer_list<int> numbers) {
  std::uint32_t mask = 0;
  for (const int number : numbers) mask |= 1U << static_cast<unsigned>(number);
  return mask;
}

struct Registers {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
};

// Feature bits of CPUID leaf 7: those of Skylake-X, and later ones.
constexpr std::uint32_t kAvx2 = bits({5});
constexpr std::uint32_t kAvx512 = bits({16, 17, 28, 30, 31});  // F, DQ, CD, BW, VL
constexpr Registers kLater{
    .a = 0,
    .b = bits({21, 26, 27}),                  // IFMA, PF, ER
    .c = bits({1, 6, 8, 9, 10, 11, 12, 14}),  // VBMI, VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ
    .d = bits({2, 3, 8, 22, 23, 24, 25})};    // 4VNNIW, 4FMAPS, VP2INTERSECT, AMX and FP16
// Feature bits of leaf 7, subleaf 1: AVX-VNNI, BF16, AMX-FP16, AVX-IFMA; VNNI-INT8, NE-CONVERT, AMX-COMPLEX,
// VNNI-INT16, AVX10.
constexpr Registers kLaterStill{.a = bits({4, 5, 21, 23}), .b = 0, .c = 0, .d = bits({4, 5, 8, 10, 19})};

std::atomic<bool> hides_avx512{false};

bool let_cpuid_fault(bool fault) noexcept { return ::syscall(SYS_arch_prctl, kSetCpuid, fault ? 0 : 1) == 0; }

// True if CPUID faulting is supported: sets it to its current state.
bool can_let_cpuid_fault() noexcept {
  const bool faults = ::syscall(SYS_arch_prctl, kGetCpuid, 0) == 0;
  return let_cpuid_fault(faults);
}

Registers ask(std::uint32_t leaf, std::uint32_t page) noexcept {
  Registers found;
  __cpuid_count(leaf, page, found.a, found.b, found.c, found.d);
  return found;
}

Registers masked(std::uint32_t leaf, std::uint32_t page, Registers found) noexcept {
  if (leaf != kFeatures || page > 1) return found;
  const Registers& hidden = page == 0 ? kLater : kLaterStill;
  found.a &= ~hidden.a;
  found.b &= ~hidden.b;
  found.c &= ~hidden.c;
  found.d &= ~hidden.d;
  if (page == 0 && hides_avx512.load(std::memory_order_relaxed)) found.b &= ~kAvx512;
  return found;
}

// Handles faults of CPUID. Any other fault removes this handler and happens again, which ends the process.
extern "C" void answer_cpuid(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* const instruction = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  if (instruction[0] != 0x0f || instruction[1] != 0xa2) {
    ::signal(SIGSEGV, SIG_DFL);
    return;
  }
  const int error = errno;
  const auto leaf = static_cast<std::uint32_t>(registers[REG_RAX]);
  const auto page = static_cast<std::uint32_t>(registers[REG_RCX]);
  let_cpuid_fault(false);
  const Registers found = masked(leaf, page, ask(leaf, page));
  let_cpuid_fault(true);
  registers[REG_RAX] = found.a;
  registers[REG_RBX] = found.b;
  registers[REG_RCX] = found.c;
  registers[REG_RDX] = found.d;
  registers[REG_RIP] += 2;
  errno = error;
}

}  // namespace

bool can_mask(MaskedCpu cpu) noexcept {
  Registers found;
  if (__get_cpuid_count(kFeatures, 0, &found.a, &found.b, &found.c, &found.d) == 0) return false;
  const std::uint32_t has = found.b;
  if ((has & kAvx2) == 0 || (cpu == MaskedCpu::kAvx512 && (has & kAvx512) != kAvx512)) return false;
  return can_let_cpuid_fault();
}

bool mask_cpu(MaskedCpu cpu) noexcept {
  if (!can_mask(cpu)) return false;
  hides_avx512 = cpu == MaskedCpu::kAvx2;
  struct sigaction action {};
  action.sa_sigaction = answer_cpuid;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return ::sigaction(SIGSEGV, &action, nullptr) == 0 && let_cpuid_fault(true);
}

}  // namespace ounce::runtime

#else

namespace ounce::runtime {

bool can_mask(MaskedCpu) noexcept { return false; }
bool mask_cpu(MaskedCpu) noexcept { return false; }

}  // namespace ounce::runtime

#endif

namespace ounce::runtime {

const char* name_of(MaskedCpu cpu) { return cpu == MaskedCpu::kAvx2 ? "avx2" : "avx512"; }

std::optional<MaskedCpu> masked_cpu_named(std::string_view name) {
  for (const MaskedCpu cpu : {MaskedCpu::kAvx2, MaskedCpu::kAvx512}) {
    if (name == name_of(cpu)) return cpu;
  }
  return std::nullopt;
}

namespace {

constexpr std::string_view kQemu = "qemu-", kStatic = "-static";

}  // namespace

std::string machine_of(const std::string& name) { return name == "arm64" ? "aarch64" : name; }

std::string this_machine() {
  utsname system{};
  return ::uname(&system) == 0 ? machine_of(system.machine) : std::string();
}

std::string emulated_machine(const std::string& launcher) {
  std::string program = launcher.substr(0, launcher.find(' '));
  program.erase(0, program.rfind('/') + 1);
  if (!program.starts_with(kQemu)) return {};
  program.erase(0, kQemu.size());
  if (program.ends_with(kStatic)) program.resize(program.size() - kStatic.size());
  return machine_of(program);
}

}  // namespace ounce::runtime
