#include "report/html/document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.h"

namespace ounce::report::html {

const Json& member(const Json& object, std::string_view key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const std::size_t dot = std::min(key.find('.'), key.size());
  const auto found = object.find(key.substr(0, dot));
  if (found == object.end()) return kNothing;
  return dot == key.size() ? *found : member(*found, key.substr(dot + 1));
}

const Json& list(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::array();
  const Json& found = member(object, key);
  return found.is_array() ? found : kEmpty;
}

const Json& first(const Json& object, std::string_view key) {
  static const Json kNothing;
  const Json& all = list(object, key);
  return all.empty() ? kNothing : all[0];
}

std::string words(const Json& object, std::string_view key) {
  const Json& found = member(object, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::optional<double> figure(const Json& object, std::string_view key) {
  const Json& found = member(object, key);
  return found.is_number() && std::isfinite(found.get<double>()) ? std::optional(found.get<double>())
                                                                 : std::nullopt;
}

bool is_true(const Json& object, std::string_view key) {
  const Json& found = member(object, key);
  return found.is_boolean() && found.get<bool>();
}

std::string file_name(const Json& object, std::string_view key) {
  const std::string path = words(object, key);
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

namespace {

// A renamed key of version 1. `object` is the key of the object that has it; empty: any object.
struct Rename {
  std::string_view object, from, to;  // `to` may be a path: "latency.p50_ns"
  double factor = 0;                  // multiplies numbers; 0: keep the value
};

constexpr double kNanoseconds = 1e9;

constexpr Rename kRenames[] = {
    {"trial", "output_sqnr_db", "sqnr_db"},
    {"trial", "output_identical", "exact"},
    {"trial", "output_slice", "slice"},
    {"trial", "speed", "speed_up"},
    {"execution", "output_sqnr_db", "sqnr_db"},
    {"load_memory", "peak", "peak_bytes"},
    {"load_memory", "stays", "after_bytes"},
    {"load_memory_before", "peak", "peak_bytes"},
    {"load_memory_before", "stays", "after_bytes"},
    {"load_memory_after", "peak", "peak_bytes"},
    {"load_memory_after", "stays", "after_bytes"},
    {"activations", "low", "range.low"},
    {"activations", "high", "range.high"},
    {"activations", "clipped_share", "histogram.clipped_share"},
    {"batches", "mean", "latency.mean_ns", kNanoseconds},
    {"batches", "p50", "latency.p50_ns", kNanoseconds},
    {"batches", "p90", "latency.p90_ns", kNanoseconds},
    {"batches", "p99", "latency.p99_ns", kNanoseconds},
    {"batches", "min", "latency.min_ns", kNanoseconds},
    {"batches", "quantiles", "latency.quantiles_ns", kNanoseconds},
    {"baseline", "p50_seconds", "latency.p50_ns", kNanoseconds},
    {"", "identical", "exact"},
    {"", "peak_memory", "peak_memory_bytes"},
    {"", "top1_agreement", "agreement"},
    {"", "first_seconds", "first_run_ns", kNanoseconds},
    {"", "load_seconds", "load_ns", kNanoseconds},
    {"", "cold_start_seconds", "cold_start_ns", kNanoseconds},
    {"", "seconds", "duration_ns", kNanoseconds},
};

Json scaled(const Json& value, double factor) {
  if (factor == 0) return value;
  if (value.is_number()) return std::round(value.get<double>() * factor);
  if (!value.is_array()) return nullptr;
  Json all = Json::array();
  for (const Json& one : value) all.push_back(one.is_number() ? scaled(one, factor) : Json(nullptr));
  return all;
}

void put(Json& object, std::string_view path, Json value) {
  const std::size_t dot = path.find('.');
  if (dot == path.npos) {
    object[std::string(path)] = std::move(value);
    return;
  }
  Json& inner = object[std::string(path.substr(0, dot))];
  if (!inner.is_object()) inner = Json::object();
  put(inner, path.substr(dot + 1), std::move(value));
}

const Rename* rename_of(std::string_view object, std::string_view key) {
  // Only methods of advise renamed this key; outputs of verify still have it.
  if (key == "top1_agreement" && object != "methods") return nullptr;
  for (const Rename& rename : kRenames) {
    if (rename.from == key && (rename.object.empty() || rename.object == object)) return &rename;
  }
  return nullptr;
}

// `name`: the key of the value, or of the list that contains it.
Json renamed(const Json& value, std::string_view name) {
  if (value.is_array()) {
    Json all = Json::array();
    for (const Json& one : value) all.push_back(renamed(one, name));
    return all;
  }
  if (!value.is_object()) return value;
  Json made = Json::object();
  for (const auto& [key, inner] : value.items()) {
    if (const Rename* const rename = rename_of(name, key)) {
      put(made, rename->to, scaled(renamed(inner, rename->to), rename->factor));
    } else {
      made[key] = renamed(inner, key);
    }
  }
  return made;
}

Json& changeable_list(Json& object, const char* key) {
  Json& found = object[key];
  if (!found.is_array()) found = Json::array();
  return found;
}

// Converts differences between the versions that are not renamed keys.
void adapt(const std::string& verb, const Json& document, Json& result) {
  if (verb == "quantize") result["dry_run"] = is_true(document, "dry_run");
  if (verb == "verify") {
    result["reference"] = words(document, "reference");
    for (Json& output :
         result["outputs"].is_array() ? result["outputs"] : result["outputs"] = Json::array()) {
      if (!output.is_object()) continue;
      if (!output.contains("judged")) output["judged"] = !is_true(output, "state");
      output["labels"] = words(output, "kind") == "labels";
    }
  }
  if (verb == "sensitivity") {
    result["min_sqnr_db"] = member(document, "min_sqnr");
    Json nodes = Json::object();
    for (const Json& node : list(result, "nodes")) nodes[words(node, "name")] = words(node, "format");
    result["nodes"] = std::move(nodes);
  }
  if (verb != "advise") return;
  for (Json& method : changeable_list(result, "methods")) {
    if (!method.is_object() || !member(method, "speed_up").is_object()) continue;
    if (!method["speed_up"].contains("reliable")) method["speed_up"]["reliable"] = true;
  }
}

}  // namespace

bool is_version1(const Json& document) {
  const Json& version = member(document, "schema_version");
  return version.is_number() && version == 1;
}

Json from_version1(const Json& document) {
  const std::string verb = words(document, "verb");
  Json results = Json::array(), errors = Json::array();
  const bool is_one = verb == "bench" || verb == "diff";
  const Json whole = Json::array({document});
  for (const Json& entry : is_one ? whole : list(document, verb == "verify" ? "candidates" : "models")) {
    if (const std::string message = words(entry, "error"); !message.empty()) {
      errors.push_back(
          {{"model", words(entry, verb == "verify" ? "candidate" : "model")}, {"message", message}});
      continue;
    }
    Json result = renamed(entry, "results");
    if (result.is_object()) adapt(verb, document, result);
    results.push_back(std::move(result));
  }
  return {{"schema_version", 2},
          {"verb", verb},
          {"command", words(document, "command")},
          {"results", std::move(results)},
          {"errors", std::move(errors)}};
}

const std::vector<std::string>& drawn_verbs() {
  static const std::vector<std::string> kAll = {"quantize", "verify", "bench", "sensitivity", "tune",
                                                "advise",   "check",  "diff",  "inspect"};
  return kAll;
}

Run parse_run(std::string_view text, const std::string& name) {
  constexpr JsonLimits kLimits = {.depth = 16, .bytes = std::size_t{64} << 20};
  const Json document = parse_json<Json>(text, kLimits, name);
  return {name, is_version1(document) ? from_version1(document) : document};
}

void require_drawn(const Run& run) {
  const std::string verb = words(run.document, "verb");
  const std::vector<std::string>& verbs = drawn_verbs();
  if (std::find(verbs.begin(), verbs.end(), verb) != verbs.end()) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{}; a report needs a document that 'ounce VERB --json' printed, of {}",
                  verb.empty() ? "is not a document of Ounce" : fmt::format("is a document of '{}'", verb),
                  fmt::join(verbs, ", ")),
      run.name);
}

}  // namespace ounce::report::html
