// The JSON documents that a report shows. They are untrusted: a value that is missing or has another type
// reads as absent.
//
//   const Run run = parse_run(text, "verify.json");
//   const std::string verdict = words(first(run.document, "results"), "verdict");
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::report::html {

using Json = nlohmann::ordered_json;

// A key is the name of a member, or a path: "latency.p50_ns".
const Json& member(const Json& object, std::string_view key);  // null if there is none
const Json& list(const Json& object, std::string_view key);    // an empty list if there is none
const Json& first(const Json& object, std::string_view key);   // the first entry of a list, or null
std::string words(const Json& object, std::string_view key);   // empty if there is no text
std::optional<double> figure(const Json& object, std::string_view key);
bool is_true(const Json& object, std::string_view key);
std::string file_name(const Json& object, std::string_view key);  // of the path at `key`

struct Run {
  std::string name;  // of the file; empty for the current run
  Json document;
};

// The verbs whose documents can be rendered.
const std::vector<std::string>& drawn_verbs();

// Parses an untrusted file. Throws Error{kBadInput}.
Run parse_run(std::string_view text, const std::string& name);

// Throws Error{kBadInput} with the name of the run if its document is of another verb.
void require_drawn(const Run& run);

// Documents of schema version 1, which `ounce report` still reads.
//
//   if (is_version1(document)) document = from_version1(document);

bool is_version1(const Json& document);

// Converts the keys that reports use to version 2. Values that are missing or have another type stay missing.
Json from_version1(const Json& document);

}  // namespace ounce::report::html
