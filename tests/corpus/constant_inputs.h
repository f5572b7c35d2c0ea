// Makes weights of a model's inputs. The backend tests hand even the weights of a Conv in as inputs; as initializers
// they are what a real model has.
#pragma once

#include <string>
#include <vector>

#include "corpus/backend_tests.h"

namespace ounce::test {

// `model` (the bytes of a ModelProto) with the chosen inputs of its main graph turned into initializers. `inputs` are
// the values of the graph's inputs, in order.
std::string with_constant_inputs(const std::string& model, const std::vector<TestInput>& inputs, const std::vector<bool>& is_constant);

}  // namespace ounce::test
