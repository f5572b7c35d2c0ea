// Versions of ONNX Runtime, and folders that are named after them.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>

namespace ounce::runtime {

struct Version {
  unsigned major = 0, minor = 0, patch = 0;
  bool operator<(const Version& other) const {
    return std::tie(major, minor, patch) < std::tie(other.major, other.minor, other.patch);
  }
};

// "1.22.0"; nothing for "1.30.0-aarch64", which is for another machine.
inline std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (unsigned* part : {&version.major, &version.minor, &version.patch}) {
    if (part != &version.major) {
      if (at == end || *at != '.') return std::nullopt;
      ++at;
    }
    const auto [next, failure] = std::from_chars(at, end, *part);
    if (failure != std::errc()) return std::nullopt;
    at = next;
  }
  return at == end ? std::optional(version) : std::nullopt;
}

}  // namespace ounce::runtime
