// The target of an ONNX model: a platform and a release of ONNX Runtime, optionally an execution provider and
// CPU features.
//
//   linux-x64@1.30.0     android-arm64@1.22.0     ios-arm64@1.20     ort-web@1.18.0     host     cuda
//   android-arm64@1.22.0+nnapi     linux-x64@1.30.0+vnni     windows-x64@1.22.0+avx2
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ounce::target {

struct Target {
  std::string name;      // as given by the user
  std::string system;    // "linux", "android", "ios", "macos", "windows", "web"; empty: provider only
  std::string machine;   // "x64", "arm64", "wasm"
  std::string version;   // "1.22.0"; by default the newest measured release
  std::string provider;  // execution provider: "cpu", "cuda" …
  std::string cpu;       // best feature of an x64 CPU: "vnni", "avx512" or "avx2"; empty: unknown

  bool is_place() const { return !system.empty(); }
};

// Reads a target. An empty text is the CPU of this machine. Throws Error{kUsage} with the valid targets for
// an unknown name, and for releases without any data (older than all measured ones, or of another major
// version).
Target parse_target(std::string_view text);

// True if the text names a release of LiteRT or TensorFlow Lite, whether it is valid or not. It is then a
// target of TFLite models (litert/litert_target.h).
bool names_litert(std::string_view text);

// The newest release that was measured on a machine; empty if none was.
std::string newest_measured(std::string_view machine);

// An execution provider of ONNX Runtime.
struct Provider {
  std::string_view name;
  bool computes_fp16, computes_bf16;  // has kernels; otherwise it converts to FP32 and back around every op
};

std::span<const Provider> providers();
// Null for unknown names; the CPU for an empty one.
const Provider* find_provider(std::string_view name);

}  // namespace ounce::target
