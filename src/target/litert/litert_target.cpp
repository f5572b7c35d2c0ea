#include "target/litert/litert_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <vector>

#include "target/accelerators.h"
#include "target/litert_matrix.h"
#include "target/target.h"

namespace ounce::target {
namespace {

constexpr auto kRuntimes = std::to_array<std::string_view>({"litert", "tflite"});

[[noreturn]] void refuse_litert_name(std::string_view text) {
  std::vector<std::string> releases;
  for (const LitertRelease& release : LitertMatrix::measured().releases()) {
    std::string name = fmt::format("{}-{}", release.runtime, release.version);
    if (std::find(releases.begin(), releases.end(), name) == releases.end())
      releases.push_back(std::move(name));
  }
  std::vector<std::string_view> names;
  for (const AcceleratorPage& page : accelerator_pages()) names.push_back(page.name);
  throw Error(
      ErrorCode::kUsage,
      fmt::format("`target` '{}' is not valid for a TFLite model: use a platform and a release such as "
                  "android-arm64@litert-2.3.0 ({}), or host; append +ACCELERATOR ({}): "
                  "android-arm64@litert-2.3.0+{}",
                  text, fmt::join(releases, ", "), fmt::join(names, ", "), names.front()));
}

// Two or three numbers separated by points.
bool is_litert_version(std::string_view text) {
  std::size_t numbers = 1, digits = 0;
  for (const char c : text) {
    if (c == '.' && digits != 0) {
      ++numbers;
      digits = 0;
    } else if (c >= '0' && c <= '9' && digits < 6) {
      ++digits;
    } else {
      return false;
    }
  }
  return digits != 0 && (numbers == 2 || numbers == 3);
}

}  // namespace

LitertTarget parse_litert_target(std::string_view text) {
  LitertTarget target;
  target.name = text;
  std::string_view rest = text.empty() ? "host" : text;
  if (const std::size_t plus = rest.find('+'); plus != std::string_view::npos) {
    target.accelerator = rest.substr(plus + 1);
    if (find_accelerator(target.accelerator) == nullptr) refuse_litert_name(text);
    rest = rest.substr(0, plus);
  }
  const std::size_t at = rest.find('@');
  const Place* const place = find_place(rest.substr(0, at));
  if (place == nullptr || place->machine == "wasm") refuse_litert_name(text);
  target.system = place->system;
  target.machine = place->machine;
  // RUNTIME or RUNTIME-VERSION
  const std::string_view release = at == std::string_view::npos ? kRuntimes[0] : rest.substr(at + 1);
  const std::size_t dash = std::min(release.find('-'), release.size());
  target.runtime = release.substr(0, dash);
  if (std::find(kRuntimes.begin(), kRuntimes.end(), target.runtime) == kRuntimes.end())
    refuse_litert_name(text);
  if (dash != release.size()) {
    target.version = release.substr(dash + 1);
    if (!is_litert_version(target.version)) refuse_litert_name(text);
    return target;
  }
  for (const LitertRelease& measured : LitertMatrix::measured().releases()) {
    if (measured.machine == target.machine && measured.runtime == target.runtime)
      target.version = measured.version;  // releases are sorted
  }
  return target;
}

}  // namespace ounce::target
