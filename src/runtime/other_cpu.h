// CPUs other than this machine's that models can be run on from here: older ones that this one can show
// (masked_cpu.h), and others under an emulator.
//
//   avx2      x64 without AVX-512 and VNNI        masked; else qemu-x86_64
//   avx512    x64 with AVX-512, without VNNI      masked
//   arm64     64-bit ARM                          qemu-aarch64, ounce-runner-arm64 and an ONNX Runtime for it
#pragma once

#include <string>
#include <vector>

#include "runtime/executor.h"

namespace ounce::runtime {

struct CpuAccess {
  ExecutorOptions options;   // run models there
  std::string how;           // for people: "shown by this CPU", "qemu-aarch64"
  bool is_emulated = false;  // and so takes its time
  bool is_this_one = false;  // there is no other
};

const std::vector<std::string>& other_cpu_names();

// Throws Error{kUsage} for a CPU that nobody knows, Error{kUnsupported} when nothing here runs its programs.
// `options` say how models are run here; the release of ONNX Runtime is the same there if it is installed.
CpuAccess on_cpu(const std::string& name, const ExecutorOptions& options);

}  // namespace ounce::runtime
