// Where a TFLite model is to run: a system, a processor, a release of LiteRT, or of TensorFlow Lite on older
// phones, and perhaps an accelerator.
//
//   android-arm64@litert-2.3.0     android-arm64@tflite-2.9.0     linux-x64@litert-2.3.0+edgetpu     host
#pragma once

#include <string>
#include <string_view>

namespace ounce::target {

struct LitertTarget {
  std::string name;         // as it was asked for
  std::string system;       // "android", "linux" …
  std::string machine;      // "arm64", "x64"
  std::string runtime;      // "litert", "tflite"
  std::string version;      // "2.3.0"; the newest measured release when none was asked for
  std::string accelerator;  // "nnapi" …; empty: the CPU alone
};

// Empty text is this machine. Throws Error{kUsage} that says what there is.
LitertTarget parse_litert_target(std::string_view text);

}  // namespace ounce::target
