#include "report/html/version1.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/html/section.h"

namespace ounce::report::html {
namespace {

// How a key of version 1 is called now. `object` is the key that the object with it has in the document;
// empty: any.
struct Rename {
  std::string_view object, from, to;  // to: "latency.p50_ns" is in an object of its own
  double factor = 0;                  // of numbers; 0: any value, as it is
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
  // Outputs of verify keep the name that the agreement of a method of advise has lost.
  if (key == "top1_agreement" && object != "methods") return nullptr;
  for (const Rename& rename : kRenames) {
    if (rename.from == key && (rename.object.empty() || rename.object == object)) return &rename;
  }
  return nullptr;
}

// `name`: the key that the value has in the object around it, or around its list.
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

// What version 2 says in another way than by another name.
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

}  // namespace ounce::report::html
