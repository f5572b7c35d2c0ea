// The target of a TFLite model: a platform, a release of LiteRT (or TensorFlow Lite on older phones), and
// optionally an accelerator.
//
//   android-arm64@litert-2.3.0     android-arm64@tflite-2.9.0     linux-x64@litert-2.3.0+edgetpu     host
#pragma once

#include <string>
#include <string_view>

#include "target/target.h"

namespace ounce::target {

struct LitertTarget {
  std::string name;         // as given by the user
  std::string system;       // "android", "linux" …
  std::string machine;      // "arm64", "x64"
  std::string runtime;      // "litert", "tflite"
  std::string version;      // "2.3.0"; by default the newest measured release
  std::string accelerator;  // "nnapi" …; empty: CPU only
};

// Reads a target. An empty text is this machine. Throws Error{kUsage} with the valid targets.
LitertTarget parse_litert_target(std::string_view text);

}  // namespace ounce::target
