#include "runtime/machine.h"

#include <sys/utsname.h>

#include <string_view>

namespace ounce::runtime {
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
