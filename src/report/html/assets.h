// The style sheet and the script of a page: page.css and page.js as they stand beside this file.
#pragma once

#include <string_view>

namespace ounce::report::html {

std::string_view style_sheet();
std::string_view script();

}  // namespace ounce::report::html
