// Results as JSON: the document that --json prints, and its schema.
//
//   Document document("quantize");
//   for (const report::Row<QuantizeResult>& row : rows) document.add(row);
//   const Json json = document.json("ounce quantize model.onnx");
//   // {"schema_version": 2, "verb": "quantize", "command": "ounce …", "results": [{…}], "notes": [],
//   //  "errors": [], "next": null}
//
// The fields of each struct are listed once, in *_fields.h; adding one takes a line there. The schema in
// docs/schema/ounce-v2.json, the Python classes and docs/reference/json.md are made from these lists.
#pragma once

#include <nlohmann/json.hpp>
#include <ounce/app.hpp>
#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/publish.h>
#include <ounce/quantize.h>
#include <ounce/search.h>
#include <ounce/verify.h>
#include <ounce/work.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fields.h"
#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::results {

using Json = nlohmann::ordered_json;

inline constexpr int kSchemaVersion = 2;

// Of verbs whose result is not one struct of include/ounce.
struct ExplainedMessage {
  std::string id, title, cause, consequence, fix;
};
struct ReportPage {
  std::filesystem::path output;
  std::vector<std::string> runs;
  std::uint64_t bytes = 0;
};
struct ShadowResult {
  app::ShadowStatistics statistics;
  app::ShadowVerdict verdict;
};
struct CheckedContract {
  std::filesystem::path model;
  ContractCheck check;
};
struct MergedImportance {
  std::filesystem::path output;
};

// Defined for every struct that has a list of fields, in results.cpp.
template <class Result>
Json to_json(const Result& result);

class Document {
 public:
  explicit Document(std::string verb) : verb_(std::move(verb)) {}

  template <class Result>
  Document& add(const Result& result) {
    add_result(to_json(result));
    return *this;
  }
  template <class Result>
  Document& add(const report::Row<Result>& row) {
    if (!row.error.empty()) return add_error(row.model, row.error);
    return add(row.result);
  }
  template <class Result>
  Document& add(const std::vector<report::Row<Result>>& rows) {
    for (const auto& row : rows) add(row);
    return *this;
  }
  Document& add_error(const std::filesystem::path& model, const report::Failure& failure);

  // `next`: the command that usually follows; empty if there is none.
  Json json(const std::string& command, const std::string& next = {}) const;

 private:
  void add_result(Json result);

  std::string verb_;
  Json results_ = Json::array(), errors_ = Json::array(), notes_ = Json::array();
};

// As text: names that are not UTF-8 are repaired rather than refused.
std::string dump(const Json& document);

// The JSON schema (draft 7) of all documents.
Json schema();

// Values of fields that JSON has in another form than the struct: a time is a whole number of nanoseconds,
// and what is unknown, empty or not finite is null.
//
//   f("load_ns", nanoseconds(model.load_seconds), "creating the session");
//   f("peak_memory_bytes", nonzero(model.peak_memory), "null: not measured");
//   f("why_not", sentence(trial.why_not), "why it was not run");

// Text for people in which the library names its fields in backticks (report/recipe_command.h).
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

// The visitor that makes JSON of a struct with fields(). Included only where a struct's fields are listed
// before.

class JsonWriter {
 public:
  using Json = nlohmann::ordered_json;

  template <class T>
  void operator()(const char* name, const T& value, const char*) {
    put(name, json_of(value));
  }

  template <class T>
  static Json json_of(const T& value) {
    if constexpr (HasFields<const T>) {
      JsonWriter writer;
      fields(value, writer);
      return std::move(writer.made_);
    } else if constexpr (HasNames<T>) {
      return name_of(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return number(static_cast<double>(value));
    } else {
      return value;
    }
  }
  static Json json_of(const std::filesystem::path& path) { return path.string(); }
  static Json json_of(const Sentence& sentence) { return report::with_options(sentence.text); }
  static Json json_of(const Sentences& sentences) { return report::with_options(sentences.all); }
  template <class T>
  static Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json(nullptr);
  }
  template <class T>
  static Json json_of(const std::vector<T>& all) {
    Json made = Json::array();
    for (const T& one : all) made.push_back(json_of(one));
    return made;
  }
  template <class T>
  static Json json_of(const std::map<std::string, T>& all) {
    Json made = Json::object();
    for (const auto& [name, value] : all) made[name] = json_of(value);
    return made;
  }

 private:
  // There are hundreds of fields: their common code is compiled once.
  void put(const char* name, Json value);
  static Json number(double value);

  Json made_ = Json::object();
};

}  // namespace ounce::results
