// Takes initializers off the list of inputs.
//
//   inputs x, w; initializer w     becomes     inputs x; initializer w
//
// From IR 4 on an initializer that is listed as an input is a default value, which a caller may replace: a
// runtime neither folds it nor packs it, and nobody may store it in another way. Old exporters list every
// weight, and mean none of that. (Before IR 4 the list is a matter of form, and stays.)
#pragma once

#include <string>
#include <vector>

#include "onnx/model.h"

namespace ounce::passes {

// Their names, in the order of the list.
std::vector<std::string> listed_constants(const onnx::Model& model);

void unlist_constants(onnx::Model& model);

// What to say of them; empty when there are none.
std::string sentence_of_unlisted(const std::vector<std::string>& names);

}  // namespace ounce::passes
