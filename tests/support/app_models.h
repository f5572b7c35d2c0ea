// Models for the tests of the app library.
#pragma once

#include <ounce/app.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::test {

using Metadata = std::vector<std::pair<std::string, std::string>>;

// y [N, 8] = x [N, 4] · w, with w stored in 8 bits and dequantized by Cast and Mul, as `--to w8` writes it.
inline ModelBuilder small_w8(const Metadata& metadata = {}, int seed = 1) {
  const auto value = [](const std::string& name, std::int64_t width) {
    const std::string shape = field(1, field(2, std::string("N"))) + field(1, field(1, width));
    return field(1, name) + field(2, field(1, field(1, std::int64_t{kFloat}) + field(2, shape)));
  };
  std::string codes;
  for (int i = 0; i < 32; ++i) codes += static_cast<char>((i * 7 + seed) % 100 - 50);
  ModelBuilder model(13, 7);
  model.add(11, value("x", 4)).add(12, value("y", 8));
  model.initializer(tensor("codes", kInt8, {4, 8}, codes)).initializer("scale", {}, {0.125F});
  model.node("Cast", {"codes"}, {"numbers"}, {int_attribute("to", kFloat)});
  model.node("Mul", {"numbers", "scale"}, {"w"}).node("MatMul", {"x", "w"}, {"y"});
  for (const auto& [key, text] : metadata) model.add_to_model(14, field(1, key) + field(2, text));
  return model;
}

// The expected output for one row.
inline std::vector<float> small_w8_of(const std::vector<float>& x, int seed = 1) {
  std::vector<float> y(8);
  for (std::size_t column = 0; column < 8; ++column) {
    for (std::size_t row = 0; row < 4; ++row) {
      const int code = (static_cast<int>(row * 8 + column) * 7 + seed) % 100 - 50;
      y[column] += x[row] * 0.125F * static_cast<float>(code);
    }
  }
  return y;
}

// A chain of small products that takes seconds to run: y = x · w · w · …
inline ModelBuilder slow_model(int nodes = 1500) {
  constexpr std::int64_t kSide = 128;
  ModelBuilder model(13, 7);
  model.input("x", kFloat, {kSide, kSide}).output("y", kFloat, {kSide, kSide});
  model.initializer("w", {kSide, kSide}, std::vector<float>(kSide * kSide, 1.0F / kSide));
  for (int i = 0; i < nodes; ++i) {
    model.node("MatMul", {i == 0 ? "x" : "v" + std::to_string(i - 1), "w"},
               {i + 1 == nodes ? "y" : "v" + std::to_string(i)});
  }
  return model;
}

inline std::filesystem::path written(const TemporaryFolder& folder, const ModelBuilder& model,
                                     const std::string& name = "model.onnx") {
  write_file(folder / name, model.bytes());
  return folder / name;
}

// Returns the status of the Failure that an action throws; kOk if it throws none.
template <class Action>
app::Status status_of(Action&& action) {
  try {
    action();
  } catch (const app::Failure& failure) {
    return failure.status();
  }
  return app::Status::kOk;
}

}  // namespace ounce::test
