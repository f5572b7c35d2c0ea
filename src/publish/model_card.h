// The part of a README.md that is ours: a table of what was measured, between two markers. Everything else in
// the file stays as it is.
#pragma once

#include <ounce/publish.h>

#include <string>

namespace ounce::publication {

inline constexpr const char* kCardBegin = "<!-- ounce:begin -->";
inline constexpr const char* kCardEnd = "<!-- ounce:end -->";

// With its markers.
std::string card_section(const PublishResult& result);

// `section` in the place of the one that `readme` has, or behind its end. An empty one becomes a card with
// `title`. Throws Error{kBadInput} when a marker stands alone.
std::string with_section(const std::string& readme, const std::string& section, const std::string& title,
                         const std::string& where);

}  // namespace ounce::publication
