// Test support for models in another process: inputs, a model that negates them, and a model that never ends.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "data/tensor.h"
#include "support/model_builder.h"

namespace ounce::test {

inline data::Tensor floats(data::Dims dims, const std::vector<float>& values) {
  data::Tensor tensor{ElementType::kFloat, std::move(dims), std::string(values.size() * sizeof(float), '\0')};
  std::copy(values.begin(), values.end(), data::values_of<float>(tensor).begin());
  return tensor;
}

inline std::string negation() {
  ModelBuilder model(13, 7);
  model.input("x", kFloat, {2}).output("y", kFloat, {2}).node("Neg", {"x"}, {"y"});
  return model.bytes();
}

// A Loop that never ends.
inline std::string endless() {
  GraphBuilder body;
  body.input("i", kInt64, {}).input("c", 9, {}).input("v", kFloat, {2});
  body.output("c2", 9, {}).output("v2", kFloat, {2});
  body.node("Identity", {"c"}, {"c2"}).node("Neg", {"v"}, {"v2"});
  ModelBuilder model(13, 7);
  model.input("x", kFloat, {2}).output("y", kFloat, {2});
  model.initializer(tensor("trips", kInt64, {}, std::string(7, '\xff') + '\x7f'));
  model.initializer(tensor("true", 9, {}, std::string(1, '\1')));
  model.node("Loop", {"trips", "true", "x"}, {"y"}, {graph_attribute("body", body.bytes())});
  return model.bytes();
}

}  // namespace ounce::test
