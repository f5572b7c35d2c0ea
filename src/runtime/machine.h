// Architectures, in the words of `uname -m`.
#pragma once

#include <string>

namespace ounce::runtime {

std::string this_machine();                       // "x86_64"
std::string machine_of(const std::string& name);  // "aarch64" for "arm64", which some systems say
// What an emulator runs: "aarch64" for "/usr/bin/qemu-aarch64-static -L …"; empty for anything else.
std::string emulated_machine(const std::string& launcher);

}  // namespace ounce::runtime
