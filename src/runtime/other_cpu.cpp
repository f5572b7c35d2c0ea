#include "runtime/executor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "runtime/hosted.h"
#include "runtime/masked_cpu.h"
#include "runtime/ort/library.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

// Libraries for emulated programs, installed by Debian's cross compiler.
constexpr const char* kArm64Libraries = "/usr/aarch64-linux-gnu";

// Finds an emulator: the value of the environment variable, or the program in PATH; empty if there is none.
std::string emulator(const char* variable, const std::string& program) {
  const char* const named = std::getenv(variable);
  if (named != nullptr && *named != '\0') return named;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return program;
  }
  return {};
}

[[noreturn]] void refuse(const std::string& cpu, const std::string& why) {
  throw Error(ErrorCode::kUnsupported, fmt::format("this machine cannot run models on {}: {}", cpu, why));
}

CpuAccess on_older_x64(const std::string& name, MaskedCpu cpu, ExecutorOptions options) {
  if (this_machine() != "x86_64") refuse(name, "this machine is not x64");
  if (can_mask(cpu)) {
    if (!options.isolate) options.isolate = Limits{};
    options.masked = cpu;
    options.remote.reset();
    return {std::move(options), "emulated by masking CPUID", false};
  }
  if (cpu == MaskedCpu::kAvx512)
    refuse(name, "this CPU cannot emulate it, and emulators do not support AVX-512");
  const std::string program = emulator("OUNCE_QEMU_X86_64", "qemu-x86_64");
  if (program.empty())
    refuse(name, "this CPU cannot emulate it, and qemu-x86_64 (package qemu-user) is not installed");
  options.isolate.reset();  // emulators are slow: no time limit
  options.remote = RemoteOptions{};
  options.remote->launcher = program + " -cpu Haswell";
  options.remote->library = options.library;
  options.remote->litert = options.litert;
  return {std::move(options), "qemu-x86_64", true};
}

// The same release of ONNX Runtime as on this machine if it is installed for arm64, else the newest installed
// one.
std::string library_for_arm64(const std::string& wanted) {
  const fs::path here = Library::find(wanted);
  const std::string version = here.parent_path().parent_path().filename().string();
  const std::vector<fs::path> there = Library::installed("aarch64");
  if (there.empty())
    refuse("arm64", "ONNX Runtime for arm64 is not installed (./setup runtime 1.22.0:aarch64)");
  const auto same = std::find_if(there.begin(), there.end(), [&](const fs::path& library) {
    return library.parent_path().parent_path().filename() == version + "-aarch64";
  });
  return (same == there.end() ? there.front() : *same).string();
}

CpuAccess on_arm64(ExecutorOptions options) {
  if (this_machine() == "aarch64") return {std::move(options), "this CPU", false, true};
  const std::string program = emulator("OUNCE_QEMU_AARCH64", "qemu-aarch64");
  if (program.empty()) refuse("arm64", "qemu-aarch64 (package qemu-user) is not installed");
  if (find_runner_named("ounce-runner-arm64").empty())
    refuse("arm64", "ounce-runner-arm64 was not found next to this program");
  options.isolate.reset();  // emulators are slow: no time limit
  options.remote = RemoteOptions{};
  options.remote->launcher = fmt::format("{} -L {}", program, kArm64Libraries);
  options.remote->library = library_for_arm64(options.library);
  return {std::move(options), "qemu-aarch64", true};
}

}  // namespace

const std::vector<std::string>& other_cpu_names() {
  static const std::vector<std::string> names = {"avx2", "avx512", "arm64"};
  return names;
}

CpuAccess on_cpu(const std::string& name, const ExecutorOptions& options) {
  if (name == "arm64") return on_arm64(options);
  if (const auto masked = masked_cpu_named(name)) return on_older_x64(name, *masked, options);
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown CPU '{}'; CPUs: {}", name, fmt::join(other_cpu_names(), ", ")));
}

}  // namespace ounce::runtime
