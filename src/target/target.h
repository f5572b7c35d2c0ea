// The target of an ONNX model: a platform and a release of ONNX Runtime, optionally an execution provider and
// CPU features.
//
//   linux-x64@1.30.0     android-arm64@1.22.0     ios-arm64@1.20     ort-web@1.18.0     host     cuda
//   android-arm64@1.22.0+nnapi     linux-x64@1.30.0+vnni     windows-x64@1.22.0+avx2
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::target {

// The platforms (systems and processors) that models run on, independent of the runtime.
struct Place {
  std::string_view name, system, machine;
};

inline constexpr auto kPlaces = std::to_array<Place>({
    {"android-arm64", "android", "arm64"},
    {"ios-arm64", "ios", "arm64"},
    {"linux-arm64", "linux", "arm64"},
    {"linux-x64", "linux", "x64"},
    {"macos-arm64", "macos", "arm64"},
    {"macos-x64", "macos", "x64"},
    {"ort-web", "web", "wasm"},
    {"windows-arm64", "windows", "arm64"},
    {"windows-x64", "windows", "x64"},
});

#if defined(__aarch64__)
inline constexpr std::string_view kHere = "linux-arm64";
#else
inline constexpr std::string_view kHere = "linux-x64";
#endif

// Finds a platform by name; "host" is this machine. Null for unknown names.
inline const Place* find_place(std::string_view name) {
  if (name == "host") name = kHere;
  const auto* const found =
      std::find_if(kPlaces.begin(), kPlaces.end(), [&](const Place& known) { return known.name == name; });
  return found == kPlaces.end() ? nullptr : found;
}

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

// For the lines of the data files in this folder: a text without spaces at its ends, and the parts of a text
// between separators, without empty parts.
std::string_view trimmed(std::string_view text);
std::vector<std::string_view> words_of(std::string_view text, std::string_view separator = " ");

}  // namespace ounce::target
