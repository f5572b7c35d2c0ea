// The words of conditions, and what they ask of a node.
//
//   unmet_word("2-D windows, constant weights", view)       // "constant weights", or "" when all is well
//
// A condition has several words, with ", " between them.
#pragma once

#include <string_view>

#include "target/ort/node_view.h"

namespace ounce::target {

// The first word that a node does not meet; empty when it meets all. The condition has known words.
std::string_view unmet_word(std::string_view condition, const NodeView& view);

bool has_known_words(std::string_view condition);

}  // namespace ounce::target
