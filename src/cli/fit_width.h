// Tables that are wider than the terminal, made to fit it: the least important columns of figures are left
// out, then the widest columns of words are cut, with "…" where something is missing; the first column is cut
// last, and the other figures stay whole. Text that is no table is left to the terminal, which
// wraps it.
#pragma once

#include <cstddef>
#include <string>

namespace ounce::cli {

// Lines of ours, with whatever tables report::Table made of them.
std::string fit_width(const std::string& text, std::size_t width);

// Help as CLI11 prints it, with descriptions wrapped below themselves.
std::string wrap_help(const std::string& text, std::size_t width);

}  // namespace ounce::cli
