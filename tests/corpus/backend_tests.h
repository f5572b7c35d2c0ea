// The ONNX backend test suite as Debian's libonnx-testdata installs it: small models of every op, with their
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
// "node/test_abs", for people.
std::string name_of_model(const std::filesystem::path& model);

struct TestInput {
  std::string message;  // a TensorProto
  runtime::Tensor tensor;
};
// The inputs of the model's first data set, in the order of the graph's inputs. Nothing when one of them is a
// sequence, an optional or of strings.
std::optional<std::vector<TestInput>> test_inputs(const std::filesystem::path& model);

}  // namespace ounce::test
