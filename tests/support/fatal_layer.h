// Networks for tests of the search for mixed precision: one layer loses all accuracy in INT8, the others
// tolerate it.
//
//   const FatalLayer fatal;                      // five layers; "third" is the fatal one
//   write_file(path, fatal.model);               // x [N, 32] -> y [N, 10]
//   feed(fatal.inputs, fatal.labels);            // 64 rows, and the class of each; FP32 predicts all
//   correctly const std::string many = chain_model();      // 200 small layers; "layer100" is the fatal one
//
// The inputs of a fatal layer are pairs of equal values (2k and 2k + 1). Every row, column and block of eight
// of its weight contains 64 and -64, which cancel out over a pair. The result comes from weights below 0.2,
// less than half a step of any 8-bit scale that covers 64. 16-bit scales represent both.
// tests/cli/make_models.py makes the same models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/model_builder.h"

namespace ounce::test {

using Numbers = std::vector<double>;

// From -1 to 1, the same on every machine.
inline Numbers even_numbers(std::uint64_t seed, std::size_t count) {
  Numbers numbers(count);
  for (double& number : numbers) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    number = static_cast<double>(seed >> 40U) / 8388608.0 - 1;
  }
  return numbers;
}

inline std::vector<float> floats_of(const Numbers& numbers) {
  std::vector<float> floats;
  for (const double number : numbers) floats.push_back(static_cast<float>(number));
  return floats;
}

// A weight whose columns 2k and 2k + 1 are equal, so that its outputs are pairs.
inline Numbers twin_columns(std::uint64_t seed, std::size_t rows, std::size_t columns, double scale) {
  const Numbers halves = even_numbers(seed, rows * columns / 2);
  Numbers numbers(rows * columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = scale * halves[i / 2];
  return numbers;
}

inline Numbers fatal_weight(std::uint64_t seed, std::size_t rows, std::size_t columns, double scale) {
  Numbers numbers = twin_columns(seed, rows, columns, scale);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      if (row / 2 % 4 == column / 2 % 4) numbers[row * columns + column] = row % 2 == 1 ? -64 : 64;
  return numbers;
}

inline Numbers product(const Numbers& vector, const Numbers& weights) {
  const std::size_t columns = weights.size() / vector.size();
  Numbers sums(columns);
  for (std::size_t row = 0; row < vector.size(); ++row)
    for (std::size_t column = 0; column < columns; ++column)
      sums[column] += vector[row] * weights[row * columns + column];
  return sums;
}

class FatalLayer {
 public:
  static constexpr std::size_t kWidth = 32, kClasses = 10, kSamples = 64;
  static constexpr std::string_view kLayer = "third";

  FatalLayer() { choose_samples(); }

  std::string model = model_bytes();
  std::vector<float> inputs;  // [kSamples, kWidth]
  std::vector<std::int64_t> labels;

 private:
  struct Layer {
    std::string name;
    Numbers weight;
    std::string activation;  // an op; empty for the last one
  };

  static std::vector<Layer> layers() {
    return {{"first", twin_columns(1, kWidth, kWidth, .4), "Relu"},
            {"second", twin_columns(2, kWidth, kWidth, .4), "Tanh"},
            {std::string(kLayer), fatal_weight(3, kWidth, kWidth, .2), "Tanh"},
            {"fourth", twin_columns(4, kWidth, kWidth, .4), "Relu"},
            {"fifth", even_numbers(5, kWidth * kClasses), ""}};
  }

  static std::string model_bytes() {
    ModelBuilder builder;
    builder.input("x", kFloat, {-1, kWidth}).output("y", kFloat, {-1, kClasses});
    std::string before = "x";
    for (const Layer& layer : layers()) {
      const auto columns = static_cast<std::int64_t>(layer.weight.size() / kWidth);
      const std::string weight = layer.name + ".weight",
                        sum = layer.activation.empty() ? "y" : layer.name + ".sum";
      builder.initializer(weight, {kWidth, columns}, floats_of(layer.weight));
      builder.node("MatMul", {before, weight}, {sum}, {}, layer.name);
      before = layer.name + ".out";
      if (!layer.activation.empty()) builder.node(layer.activation, {sum}, {before}, {}, before);
    }
    return builder.bytes();
  }

  static Numbers scores_of(Numbers x, std::span<const Layer> layers) {
    for (const Layer& layer : layers) {
      x = product(x, layer.weight);
      for (double& number : x) {
        if (layer.activation == "Relu") number = std::max(number, 0.0);
        if (layer.activation == "Tanh") number = std::tanh(number);
      }
    }
    return x;
  }

  // Chooses inputs whose best class leads by a fifth of the scores' size, so that small errors change no
  // prediction.
  void choose_samples() {
    const std::vector<Layer> all = layers();
    for (std::uint64_t seed = 1001; labels.size() < kSamples; ++seed) {
      const Numbers x = even_numbers(seed, kWidth);
      const Numbers scores = scores_of(x, all);
      Numbers sorted = scores;
      std::sort(sorted.begin(), sorted.end());
      const double size = std::max(std::abs(sorted.front()), std::abs(sorted.back()));
      if (sorted[kClasses - 1] - sorted[kClasses - 2] <= 0.2 * size) continue;
      for (const double number : x) inputs.push_back(static_cast<float>(number));
      labels.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
    }
  }
};

// x [N, 20] -> y [N, 20]: each layer adds a small amount to its input; layer100 replaces it, and is fatal.
inline std::string chain_model(std::size_t count = 200, std::size_t fatal = 100) {
  constexpr std::size_t kWidth = 20;
  ModelBuilder builder;
  builder.input("x", kFloat, {-1, kWidth}).output("y", kFloat, {-1, kWidth});
  builder.initializer("little", {}, {1.0F / 32});
  std::string before = "x";
  for (std::size_t n = 0; n < count; ++n) {
    const std::string number = std::to_string(1000 + n).substr(1);  // 000, 001, …
    const std::string sum = "sum" + number, more = "more" + number, step = "step" + number;
    const std::string after = n + 1 == count ? "y" : "out" + number;
    const Numbers weight = n == fatal ? fatal_weight(10 + n, kWidth, kWidth, .2)
                                      : twin_columns(10 + n, kWidth, kWidth, n == 0 ? .6 : .3);
    builder.initializer("w" + number, {kWidth, kWidth}, floats_of(weight));
    builder.node("MatMul", {before, "w" + number}, {sum}, {}, "layer" + number);
    const bool adds = n != 0 && n != fatal;
    builder.node("Tanh", {sum}, {adds ? more : after}, {}, more);
    if (adds) {
      builder.node("Mul", {more, "little"}, {step}, {}, step);
      builder.node("Add", {before, step}, {after}, {}, "add" + number);
    }
    before = after;
  }
  return builder.bytes();
}

}  // namespace ounce::test
