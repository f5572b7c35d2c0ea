// Changes models, message by message. Makes weights of a model's inputs: the backend tests hand even the
// weights of a Conv in as inputs; as initializers they are what a real model has.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ounce::test {

// `model` (the bytes of a ModelProto) with some inputs of its main graph turned into initializers:
// TensorProto by name.
std::string with_constant_inputs(const std::string& model,
                                 const std::map<std::string, std::string>& constants);

// `model` with another version of the default operator set; its nodes stay as they are.
std::string with_opset(const std::string& model, std::int64_t version);

}  // namespace ounce::test
