// The visitor that makes JSON of a struct with fields(). Included only where a struct's fields are listed
// before.
#pragma once

#include <ounce/names.h>

#include <nlohmann/json.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fields.h"
#include "report/option_words.h"
#include "results/values.h"

namespace ounce::results {

class JsonWriter {
 public:
  using Json = nlohmann::ordered_json;

  template <class T>
  void operator()(const char* name, const T& value, const char*) {
    made_[name] = json_of(value);
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
      return std::isfinite(value) ? Json(value) : Json(nullptr);
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
  Json made_ = Json::object();
};

}  // namespace ounce::results
