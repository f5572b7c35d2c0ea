// What all our JSON documents have in common.
#pragma once

#include <ounce/bench.h>
#include <ounce/load_memory.h>

#include <nlohmann/json.hpp>
#include <cmath>
#include <optional>
#include <string>

namespace ounce::report {

inline constexpr int kSchemaVersion = 1;

// JSON has no infinity and no NaN: null stands for them, and something beside it says which.
inline nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

// A document of ours as text: names that are not UTF-8 are repaired rather than refused.
std::string dump(const nlohmann::ordered_json& document);

// {"peak": …, "stays": …} in bytes; null where nobody knows.
inline nlohmann::ordered_json memory_json(const std::optional<LoadMemory>& memory) {
  if (!memory) return nullptr;
  return {{"peak", memory->peak}, {"stays", memory->stays}};
}

// {"ratio": …, "low": …, "high": …, "rounds": …, "measurable": …, "load": …, "reliable": …}
inline nlohmann::ordered_json speed_json(const SpeedUp& speed) {
  return {{"ratio", speed.ratio},
          {"low", speed.low},
          {"high", speed.high},
          {"rounds", speed.rounds},
          {"measurable", speed.is_measurable},
          {"load", speed.load > 0 ? nlohmann::ordered_json(speed.load) : nlohmann::ordered_json(nullptr)},
          {"reliable", speed.is_reliable}};
}

}  // namespace ounce::report
