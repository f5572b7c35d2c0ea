// Values of fields that JSON has in another form than the struct: a time is a whole number of nanoseconds,
// and what is unknown, empty or not finite is null.
//
//   f("load_ns", nanoseconds(model.load_seconds), "creating the session");
//   f("peak_memory_bytes", nonzero(model.peak_memory), "null: not measured");
//   f("why_not", sentence(trial.why_not), "why it was not run");
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ounce::results {

// Text for people in which the library names its fields in backticks (report/option_words.h).
struct Sentence {
  const std::string& text;
};
struct Sentences {
  const std::vector<std::string>& all;
};
inline Sentence sentence(const std::string& text) { return {text}; }
inline Sentences sentences(const std::vector<std::string>& all) { return {all}; }

inline std::int64_t nanoseconds(double seconds) {
  constexpr double kMost = 9e18;
  const double value = std::round(seconds * 1e9);
  return value > -kMost && value < kMost ? static_cast<std::int64_t>(value) : 0;
}
inline std::vector<std::int64_t> nanoseconds(const std::vector<double>& all) {
  std::vector<std::int64_t> made;
  for (const double seconds : all) made.push_back(nanoseconds(seconds));
  return made;
}

inline std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}
inline std::optional<double> finite(const std::optional<double>& value) {
  return value ? finite(*value) : std::nullopt;
}
template <class T>
std::optional<T> nonzero(T value) {
  return value == T() ? std::nullopt : std::optional(value);
}
inline std::optional<std::string> nonempty(const std::string& text) { return nonzero(text); }

// `value` where the condition holds, else null.
template <class T>
std::optional<T> only_if(bool condition, T value) {
  return condition ? std::optional(value) : std::nullopt;
}
inline std::optional<double> only_if(bool condition, std::optional<double> value) {
  return condition ? value : std::nullopt;
}

// A signal-to-noise ratio is infinite where all values are equal.
inline bool is_exact(double sqnr_db) { return std::isinf(sqnr_db) && sqnr_db > 0; }

}  // namespace ounce::results
