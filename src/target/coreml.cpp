#include "target/coreml.h"

#include <algorithm>
#include <array>

namespace ounce::target {
namespace {

// From coremltools 9.
constexpr auto kSystems = std::to_array<CoremlSystem>({
    {"ios15", "macos12", 6, "CoreML5", false, false},
    {"ios16", "macos13", 7, "CoreML6", true, false},
    {"ios17", "macos14", 8, "CoreML7", true, false},
    {"ios18", "macos15", 9, "CoreML8", true, true},
    {"ios26", "macos26", 10, "CoreML9", true, true},
});

struct Unit {
  std::string_view name;
  ComputeUnit unit;
};
constexpr auto kUnits = std::to_array<Unit>({
    {"ane", ComputeUnit::kNeuralEngine},
    {"cpu", ComputeUnit::kCpu},
    {"gpu", ComputeUnit::kGpu},
});

}  // namespace

std::span<const CoremlSystem> coreml_systems() { return kSystems; }

const CoremlSystem* find_coreml_system(std::int64_t version) {
  const auto* const found = std::find_if(kSystems.begin(), kSystems.end(),
                                         [&](const CoremlSystem& row) { return row.version == version; });
  return found == kSystems.end() ? nullptr : found;
}

std::optional<CoremlTarget> parse_coreml_target(std::string_view text) {
  const std::size_t plus = text.find('+');
  const std::string_view name = text.substr(0, plus);
  const auto* const system = std::find_if(kSystems.begin(), kSystems.end(), [&](const CoremlSystem& row) {
    return row.ios == name || row.macos == name;
  });
  if (system == kSystems.end()) return std::nullopt;
  CoremlTarget target{std::string(text), system, ComputeUnit::kAny};
  if (plus == std::string_view::npos) return target;
  const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(),
                                        [&](const Unit& row) { return row.name == text.substr(plus + 1); });
  if (unit == kUnits.end()) return std::nullopt;
  target.unit = unit->unit;
  return target;
}

}  // namespace ounce::target
