// What all our JSON documents have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <cmath>
#include <string>

namespace ounce::report {

inline constexpr int kSchemaVersion = 1;

// JSON has no infinity and no NaN: null stands for them, and something beside it says which.
inline nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

// A document of ours as text: names that are not UTF-8 are repaired rather than refused.
std::string dump(const nlohmann::ordered_json& document);

}  // namespace ounce::report
