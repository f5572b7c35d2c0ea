// A JSON document of a run as a summary for continuous integration: JUnit XML with a test case per result,
// and Markdown with a table.
#pragma once

#include <string>

#include "report/html/document.h"

namespace ounce::report::html {

// The first bytes of each, by which Ounce recognizes its files.
inline constexpr const char* kJunitStart =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ounce ";
inline constexpr const char* kMarkdownStart = "<!-- ounce -->\n";

// `exit_code` of the run: if it is not 0 although no result failed, there is a case for the run itself.
std::string junit_of(const Json& document, int exit_code);
std::string markdown_of(const Json& document, int exit_code);

}  // namespace ounce::report::html
