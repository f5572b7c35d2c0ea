// Apple's systems as targets of Core ML models, with the opset of each of them.
//
//   ios16     ios18     macos15     ios18+ane     macos15+gpu     ios17+cpu
//
// A system runs models of its own opset and of older ones. Recommendations for compute units come from
// Apple's guide to coremltools.optimize ("Overview", "Performance"); no device was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ounce::target {

// A generation of systems.
struct CoremlSystem {
  std::string_view ios, macos;  // "ios18", "macos15"
  std::int64_t version;         // of the specification
  std::string_view opset;       // "CoreML8"
  bool has_constexpr;           // compressed weights in ML Programs
  bool has_blocks;              // 4-bit integers, per-block scales, grouped lookup tables, 3-bit palettes
};

enum class ComputeUnit : std::uint8_t { kAny, kCpu, kGpu, kNeuralEngine };

struct CoremlTarget {
  std::string name;  // as given by the user
  const CoremlSystem* system = nullptr;
  ComputeUnit unit = ComputeUnit::kAny;
};

std::span<const CoremlSystem> coreml_systems();
// The system of a specification version; null for unknown versions.
const CoremlSystem* find_coreml_system(std::int64_t version);

// Returns nullopt if the text is not a Core ML target.
std::optional<CoremlTarget> parse_coreml_target(std::string_view text);

}  // namespace ounce::target
