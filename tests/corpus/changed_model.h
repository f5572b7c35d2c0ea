// Changes models, message by message. The backend tests pass even the weights of a Conv as inputs; these
// functions turn them into initializers, as in real models.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ounce::test {

// Turns some inputs of the main graph of `model` (a serialized ModelProto) into initializers, given by name
// as serialized TensorProtos.
std::string with_constant_inputs(const std::string& model,
                                 const std::map<std::string, std::string>& constants);

// Changes the version of the default operator set of `model`, but not its nodes.
std::string with_opset(const std::string& model, std::int64_t version);

}  // namespace ounce::test
