// The files of the report that are embedded into the program: page.html, page.css, and the scripts as one.
#pragma once

#include <string_view>

namespace ounce::report::html {

std::string_view page_template();
std::string_view style_sheet();
std::string_view script();

}  // namespace ounce::report::html
