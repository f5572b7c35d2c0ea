// One page that shows one run or several: a file of its own, which loads nothing and can be sent to anybody.
//
//   const std::string html = page({{"verify.json", document}});
//
// It is drawn from the documents that --json prints, so that whoever has those can draw it later. Names in
// them may be anybody's: nothing of them becomes markup (section.h), and the page allows no script but its
// own.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ounce::report::html {

struct Run {
  std::string name;  // of the file; empty for the run that is under way
  nlohmann::ordered_json document;
};

// The verbs whose documents can be drawn.
const std::vector<std::string>& drawn_verbs();

// What every page begins with, so that it can be told from other files.
std::string_view page_start();

// Of a file that anybody may have written. Throws Error{kBadInput}.
Run parse_run(std::string_view text, const std::string& name);

// Throws Error{kBadInput} that names the run when it is no document of one of them.
std::string page(const std::vector<Run>& runs);

// Documents of schema version 1, which `ounce report` reads as long as version 2 is new.
//
//   if (is_version1(document)) document = from_version1(document);

bool is_version1(const nlohmann::ordered_json& document);

// The same document with the keys of version 2, as far as pages are drawn from them. Of a document that is
// somebody else's, what is missing or of another type stays missing.
nlohmann::ordered_json from_version1(const nlohmann::ordered_json& document);

}  // namespace ounce::report::html
