// The platforms (systems and processors) that models run on, independent of the runtime.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace ounce::target {

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

}  // namespace ounce::target
