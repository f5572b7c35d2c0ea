// Documents of schema version 1, which `ounce report` reads as long as version 2 is new.
//
//   if (is_version1(document)) document = from_version1(document);
#pragma once

#include <nlohmann/json.hpp>

namespace ounce::report::html {

bool is_version1(const nlohmann::ordered_json& document);

// The same document with the keys of version 2, as far as pages are drawn from them. Of a document that is
// somebody else's, what is missing or of another type stays missing.
nlohmann::ordered_json from_version1(const nlohmann::ordered_json& document);

}  // namespace ounce::report::html
