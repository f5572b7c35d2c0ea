// Reads the ONNX backend test suite, installed by Debian's libonnx-testdata: small models of every op, with
// data.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/ort/session.h"

namespace ounce::test {

// Every model, in a fixed order.
std::vector<std::filesystem::path> backend_models();
// A readable name, such as "node/test_abs".
std::string name_of_model(const std::filesystem::path& model);

struct TestInput {
  std::string message;  // a TensorProto
  runtime::Tensor tensor;
};
// Returns the inputs of the model's first data set, in the order of the graph's inputs; nothing if one of
// them is a sequence, an optional or a tensor of strings.
std::optional<std::vector<TestInput>> test_inputs(const std::filesystem::path& model);

}  // namespace ounce::test
