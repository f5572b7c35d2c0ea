#include "target/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <vector>

#include "target/provider.h"
#include "target/support_matrix.h"

namespace ounce::target {
namespace {

struct Place {
  std::string_view name, system, machine;
};

constexpr auto kPlaces = std::to_array<Place>({
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

constexpr auto kCpus = std::to_array<std::string_view>({"avx2", "avx512", "vnni"});

#if defined(__aarch64__)
constexpr std::string_view kHere = "linux-arm64";
#else
constexpr std::string_view kHere = "linux-x64";
#endif

[[noreturn]] void refuse_name(std::string_view text) {
  std::vector<std::string_view> places, names;
  for (const Place& place : kPlaces) places.push_back(place.name);
  for (const Provider& provider : providers()) names.push_back(provider.name);
  throw Error(
      ErrorCode::kUsage,
      fmt::format(
          "`target` '{}' is no target: a place and a version such as linux-x64@1.30.0 ({}), host, "
          "or a provider ({}); behind a place may stand a provider and, on x64, what the CPU has ({}): "
          "linux-x64@1.30.0+vnni",
          text, fmt::join(places, ", "), fmt::join(names, ", "), fmt::join(kCpus, ", ")));
}

std::string newest_of(std::string_view machine) {
  std::string newest;
  for (const Release& release : SupportMatrix::measured().releases()) {
    if (release.machine == machine) newest = release.version;  // in their order
  }
  return newest;
}

}  // namespace

Target parse_target(std::string_view text) {
  Target target;
  target.name = text;
  target.provider = "cpu";
  if (find_provider(text) != nullptr && !text.empty() && text != "cpu") {
    target.provider = text;
    return target;
  }
  std::string_view rest = text.empty() || text == "cpu" ? "host" : text;
  for (std::size_t plus = rest.rfind('+'); plus != std::string_view::npos; plus = rest.rfind('+')) {
    const std::string_view word = rest.substr(plus + 1);
    const bool is_cpu = std::find(kCpus.begin(), kCpus.end(), word) != kCpus.end();
    const bool is_second = is_cpu ? !target.cpu.empty() : target.provider != "cpu";
    if (is_second || (!is_cpu && (word.empty() || find_provider(word) == nullptr))) refuse_name(text);
    (is_cpu ? target.cpu : target.provider) = word;
    rest = rest.substr(0, plus);
  }
  const std::size_t at = rest.find('@');
  std::string_view place = rest.substr(0, at);
  if (place == "host") place = kHere;
  if (at != std::string_view::npos) target.version = rest.substr(at + 1);
  const auto* found =
      std::find_if(kPlaces.begin(), kPlaces.end(), [&](const Place& known) { return known.name == place; });
  const bool is_version = std::all_of(target.version.begin(), target.version.end(),
                                      [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  if (found == kPlaces.end() || !is_version || (at != std::string_view::npos && target.version.empty()))
    refuse_name(text);
  target.system = found->system;
  target.machine = found->machine;
  if (!target.cpu.empty() && target.machine != "x64") refuse_name(text);
  if (target.version.empty()) target.version = newest_of(target.machine);
  return target;
}

}  // namespace ounce::target
