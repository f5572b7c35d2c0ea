// Where a model is to run: a system, a processor, a release of ONNX Runtime, perhaps an accelerator.
//
//   linux-x64@1.30.0     android-arm64@1.22.0     ios-arm64@1.20     ort-web@1.18.0     host     cuda
//   android-arm64@1.22.0+nnapi     linux-x64@1.30.0+vnni     windows-x64@1.22.0+avx2
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ounce::target {

struct Target {
  std::string name;      // as it was asked for
  std::string system;    // "linux", "android", "ios", "macos", "windows", "web"; empty for a provider alone
  std::string machine;   // "x64", "arm64", "wasm"
  std::string version;   // "1.22.0"; of the newest measured release when none was asked for
  std::string provider;  // of ONNX Runtime: "cpu", "cuda" …
  std::string cpu;       // what an x64 CPU has: "vnni", or only "avx512" or "avx2"; empty: unknown

  bool is_place() const { return !system.empty(); }
};

// Empty text is the CPU of this machine. Throws Error{kUsage} that says what there is: for words that are no
// target, and for releases that cannot be ones of those that were measured (older than all of them, or of
// another major version).
Target parse_target(std::string_view text);

// The version of the newest release that was measured on a machine; empty: none was.
std::string newest_measured(std::string_view machine);

// The processors that ONNX Runtime computes on, by the names of its execution providers.

struct Provider {
  std::string_view name;
  bool computes_fp16, computes_bf16;  // rather than converting to FP32 and back around every op
};

std::span<const Provider> providers();
// Null for unknown names; the CPU for an empty one.
const Provider* find_provider(std::string_view name);

}  // namespace ounce::target
