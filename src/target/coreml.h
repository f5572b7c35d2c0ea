// Apple's systems as targets of Core ML models: which opset each has, and what runs well on its compute
// units.
//
//   ios16     ios18     macos15     ios18+ane     macos15+gpu     ios17+cpu
//
// A system runs models of its own opset and of older ones. What runs well is of Apple's guide to
// coremltools.optimize ("Overview", "Performance"); no device has been measured.
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
  bool has_blocks;              // 4-bit integers, scales of blocks, several lookup tables, 3 bits
};

enum class ComputeUnit : std::uint8_t { kAny, kCpu, kGpu, kNeuralEngine };

struct CoremlTarget {
  std::string name;  // as it was asked for
  const CoremlSystem* system = nullptr;
  ComputeUnit unit = ComputeUnit::kAny;
};

std::span<const CoremlSystem> coreml_systems();
// The system of a specification's version; null for one that is older or newer than all.
const CoremlSystem* find_coreml_system(std::int64_t version);

// Nothing if the text is no such target.
std::optional<CoremlTarget> parse_coreml_target(std::string_view text);

}  // namespace ounce::target
