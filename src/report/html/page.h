// A self-contained HTML report of one or several runs. It loads nothing from the network.
//
//   const std::string html = page({{"verify.json", document}});
//
// The report is rendered from the documents that --json prints. Names in these documents are untrusted: all
// of them are escaped (section.h), and the content security policy of the page allows only its own script.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ounce::report::html {

struct Run {
  std::string name;  // of the file; empty for the current run
  nlohmann::ordered_json document;
};

// The verbs whose documents can be rendered.
const std::vector<std::string>& drawn_verbs();

// The first bytes of every report, which distinguish it from other files.
std::string_view page_start();

// Parses an untrusted file. Throws Error{kBadInput}.
Run parse_run(std::string_view text, const std::string& name);

// Throws Error{kBadInput} with the name of a run whose document is of another verb.
std::string page(const std::vector<Run>& runs);

// Documents of schema version 1, which `ounce report` still reads.
//
//   if (is_version1(document)) document = from_version1(document);

bool is_version1(const nlohmann::ordered_json& document);

// Converts the keys that reports use to version 2. Values that are missing or have another type stay missing.
nlohmann::ordered_json from_version1(const nlohmann::ordered_json& document);

}  // namespace ounce::report::html
