#include "quant/reconstruct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "quant/linear.h"
#include "support/error_of.h"

namespace ounce::quant {
namespace {

const ForEach kThreads = [](std::size_t steps, const std::function<void(std::size_t)>& run) {
  std::thread even([&] {
    for (std::size_t i = 0; i < steps; i += 2) run(i);
  });
  for (std::size_t i = 1; i < steps; i += 2) run(i);
  even.join();
};

using Values = std::vector<float>;

Values gaussian(std::size_t rows, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Values values(rows * n);
  for (float& value : values) value = normal(random);
  return values;
}

// Similar to outputs of a ReLU: never negative, of different energies, and correlated by a few common
// factors, which are the same for every seed.
Values relu_rows(std::size_t rows, std::size_t k, unsigned seed) {
  const std::size_t causes = k / 8 + 1;
  const Values mix = gaussian(k, causes, 77), shift = gaussian(1, k, 78), energy = gaussian(1, k, 79);
  const Values cause = gaussian(rows, causes, seed), noise = gaussian(rows, k, seed + 1);
  Values x(rows * k);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < k; ++i) {
      float sum = 0;
      for (std::size_t c = 0; c < causes; ++c) sum += mix[i * causes + c] * cause[r * causes + c];
      sum = sum / std::sqrt(static_cast<float>(causes)) + (shift[i] + noise[r * k + i]) / 2;
      x[r * k + i] = std::max(sum, 0.0F) * std::exp(energy[i] / 2);
    }
  }
  return x;
}

std::vector<float> gram_of(const Values& x, std::size_t k) {
  const std::size_t rows = x.size() / k;
  std::vector<double> sums(k * k);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) sums[i * k + j] += static_cast<double>(x[r * k + i] * x[r * k + j]);
    }
  }
  Values gram(k * k);
  for (std::size_t i = 0; i < gram.size(); ++i)
    gram[i] = static_cast<float>(sums[i] / static_cast<double>(rows));
  return gram;
}

// Weights with all data that a reconstruction needs.
struct Layer {
  Values weights;
  std::size_t k;
  LinearFormat format;
  std::vector<std::vector<float>> gram;
  std::vector<kernels::Affine> affine;
  float damping = 0.01F;
  std::size_t block = 0;

  Layer(Values w, std::size_t inputs, const LinearFormat& f, std::vector<std::vector<float>> h,
        std::size_t block_size = 0)
      : weights(std::move(w)), k(inputs), format(f), gram(std::move(h)), block(block_size) {
    const std::size_t size = block == 0 ? k : block;
    const FloatSource source({reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float)},
                             FloatType::kFloat32);
    const Layout layout{1, 1, weights.size() / size, size};
    affine = find_affine(source, layout, format, find_ranges(source, layout, run_serially),
                         ScaleMethod::kAbsMax, run_serially);
  }

  LayerToRound view() const { return {weights, k, affine, block, format.codes, gram, damping}; }

  std::vector<std::uint8_t> nearest() const {
    std::vector<std::uint8_t> codes(weights.size());
    kernels::quantize_runs(reinterpret_cast<const std::byte*>(weights.data()), affine.size(),
                           weights.size() / affine.size(), affine.data(), format.codes, codes.data());
    return codes;
  }

  double weight_error(const std::vector<std::uint8_t>& codes, std::size_t i) const {
    const kernels::Affine& by = affine[i / (weights.size() / affine.size())];
    const int code = format.sign == kernels::CodeSign::kSigned
                         ? static_cast<int>(static_cast<std::int8_t>(codes[i]))
                         : static_cast<int>(codes[i]);
    return static_cast<double>(weights[i]) -
           static_cast<double>((static_cast<float>(code) - by.zero) * by.scale);
  }

  // eᵀ H e of one channel, computed directly.
  double error(const std::vector<std::uint8_t>& codes, std::size_t channel,
               const std::vector<float>& h) const {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) {
        sum += weight_error(codes, channel * k + i) * static_cast<double>(h[i * k + j]) *
               weight_error(codes, channel * k + j);
      }
    }
    return sum;
  }
  double error(const std::vector<std::uint8_t>& codes) const {
    const std::size_t channels = weights.size() / k, per_group = channels / gram.size();
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += error(codes, c, gram[c / per_group]);
    return sum;
  }
};

struct Rounded {
  std::vector<std::uint8_t> codes;
  OutputError error;
};

Rounded round_layer(const Layer& layer, const ForEach& for_each = run_serially) {
  Rounded rounded;
  rounded.codes.resize(layer.weights.size());
  rounded.error = round_for_output(layer.view(), for_each, rounded.codes.data());
  return rounded;
}

const std::vector<LinearFormat> kRoundedFormats = {kSymmetricInt8, kAsymmetricInt8, kSymmetricInt4,
                                                   linear_format(4, false), linear_format(4, true)};

TEST(Reconstruct, HalvesTheOutputErrorOfCorrelatedInputsOnRowsItHasNotSeen) {
  constexpr std::size_t kInputs = 144, kRows = 4096;
  const auto seen = gram_of(relu_rows(kRows, kInputs, 1), kInputs);
  const auto unseen = gram_of(relu_rows(kRows, kInputs, 100), kInputs);
  for (const LinearFormat& format : kRoundedFormats) {
    const Layer layer(gaussian(16, kInputs, 3), kInputs, format, {seen});
    const Rounded rounded = round_layer(layer);
    EXPECT_LT(rounded.error.achieved, 0.4 * rounded.error.nearest);
    double nearest = 0, achieved = 0;
    for (std::size_t channel = 0; channel < 16; ++channel) {
      nearest += layer.error(layer.nearest(), channel, unseen);
      achieved += layer.error(rounded.codes, channel, unseen);
    }
    EXPECT_LT(achieved, 0.45 * nearest);
  }
}

TEST(Reconstruct, ReportsTheErrorsThatTheCodesHave) {
  const Layer layer(gaussian(8, 50, 3), 50, kSymmetricInt8, {gram_of(relu_rows(500, 50, 1), 50)});
  const Rounded rounded = round_layer(layer);
  EXPECT_NEAR(rounded.error.nearest / layer.error(layer.nearest()), 1, 1e-9);
  EXPECT_NEAR(rounded.error.achieved / layer.error(rounded.codes), 1, 1e-9);
}

TEST(Reconstruct, IsNeverWorseThanNearestInAnyChannel) {
  for (const std::size_t k : {1U, 2U, 9U, 16U, 33U, 100U}) {
    for (const std::size_t rows : {1U, 5U, 400U}) {
      for (const LinearFormat& format : kRoundedFormats) {
        const Layer layer(gaussian(8, k, 5), k, format, {gram_of(relu_rows(rows, k, 1), k)});
        const Rounded rounded = round_layer(layer);
        const auto nearest = layer.nearest();
        for (std::size_t channel = 0; channel < 8; ++channel) {
          const double before = layer.error(nearest, channel, layer.gram[0]);
          EXPECT_LE(layer.error(rounded.codes, channel, layer.gram[0]), before * (1 + 1e-9) + 1e-12)
              << "k " << k << ", rows " << rows;
        }
        EXPECT_LE(rounded.error.achieved, rounded.error.nearest);
      }
    }
  }
}

TEST(Reconstruct, TakesOneOfTheTwoCodesNextToEachWeight) {
  for (const LinearFormat& format : kRoundedFormats) {
    const Layer layer(gaussian(8, 64, 9), 64, format, {gram_of(relu_rows(300, 64, 1), 64)});
    const auto nearest = layer.nearest(), codes = round_layer(layer).codes;
    std::size_t changed = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == nearest[i]) continue;
      ++changed;
      const double before = layer.weight_error(nearest, i), after = layer.weight_error(codes, i);
      EXPECT_LT(before * after, 0) << "not on the other side";
      EXPECT_NEAR(std::abs(before - after) / static_cast<double>(layer.affine[i / 64].scale), 1, 1e-4);
      const int code = format.codes.lo < 0 ? static_cast<int>(static_cast<std::int8_t>(codes[i]))
                                           : static_cast<int>(codes[i]);
      EXPECT_GE(code, format.codes.lo);
      EXPECT_LE(code, format.codes.hi);
    }
    EXPECT_GT(changed, 0U);
  }
}

// The smallest error over all choices of neighboring quantized values.
double least_error(const Layer& layer, std::size_t channel) {
  const std::size_t k = layer.k;
  std::vector<double> now(k), step(k);
  const auto nearest = layer.nearest();
  for (std::size_t i = 0; i < k; ++i) {
    now[i] = layer.weight_error(nearest, channel * k + i);
    const double side = now[i] > 0 ? 1 : -1;
    const std::uint8_t code = nearest[channel * k + i];
    const int number = static_cast<int>(static_cast<std::int8_t>(code)) + static_cast<int>(side);
    const bool exists = now[i] != 0 && number >= layer.format.codes.lo && number <= layer.format.codes.hi;
    step[i] = exists ? -side * static_cast<double>(layer.affine[channel].scale) : 0;
  }
  double least = std::numeric_limits<double>::infinity();
  for (unsigned choice = 0; choice < 1U << k; ++choice) {
    std::vector<double> e(k);
    for (std::size_t i = 0; i < k; ++i) e[i] = now[i] + ((choice >> i & 1U) != 0 ? step[i] : 0);
    double error = 0;
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j)
        error += e[i] * static_cast<double>(layer.gram[0][i * k + j]) * e[j];
    }
    least = std::min(least, error);
  }
  return least;
}

struct AgainstTheBest {
  double share = 0;  // of the error, if the best choices were made
  double hits = 0;   // share of channels with the best choices
};

AgainstTheBest compare_with_best(std::size_t k, float damping) {
  constexpr std::size_t kChannels = 64;
  Layer layer(gaussian(kChannels, k, 11), k, kSymmetricInt8, {gram_of(relu_rows(500, k, 1), k)});
  layer.damping = damping;
  const Rounded rounded = round_layer(layer);
  AgainstTheBest result;
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    const double best = least_error(layer, channel);
    const double achieved = layer.error(rounded.codes, channel, layer.gram[0]);
    EXPECT_GE(achieved, best * (1 - 1e-4));
    result.share += best / rounded.error.achieved;
    result.hits += achieved <= best * 1.001 + 1e-12 ? 1.0 / kChannels : 0;
  }
  return result;
}

TEST(Reconstruct, OfFewInputsIsTheBestOfAllChoices) {
  for (const std::size_t k : {1U, 2U, 3U, 6U, 9U, 10U}) {
    const AgainstTheBest result = compare_with_best(k, 1e-6F);
    EXPECT_GT(result.share, 0.999) << "k " << k;
    EXPECT_GT(result.hits, 0.95) << "k " << k;
    EXPECT_GT(compare_with_best(k, 0.01F).share, 0.97) << "k " << k;
  }
}

TEST(Reconstruct, IsCloseToTheBestOfAllChoicesWhereTheSearchIsNotComplete) {
  for (const std::size_t k : {11U, 12U, 13U}) {
    const AgainstTheBest result = compare_with_best(k, 1e-4F);
    EXPECT_GT(result.share, 0.9) << "k " << k;
    EXPECT_GT(result.hits, 0.5) << "k " << k;
    RecordProperty("share_of_best_k" + std::to_string(k), std::to_string(result.share));
    RecordProperty("hits_k" + std::to_string(k), std::to_string(result.hits));
  }
}

TEST(Reconstruct, KeepsTheMeanOfTheOutput) {
  constexpr std::size_t kInputs = 128;
  const Values x = relu_rows(2000, kInputs, 1);
  const Layer layer(gaussian(8, kInputs, 3), kInputs, kSymmetricInt4, {gram_of(x, kInputs)});
  std::vector<double> mean(kInputs);
  for (std::size_t i = 0; i < x.size(); ++i) mean[i % kInputs] += static_cast<double>(x[i]) / 2000;
  const auto shift = [&](const std::vector<std::uint8_t>& codes) {
    double sum = 0;
    for (std::size_t channel = 0; channel < 8; ++channel) {
      double mean_error = 0;
      for (std::size_t i = 0; i < kInputs; ++i)
        mean_error += layer.weight_error(codes, channel * kInputs + i) * mean[i];
      sum += mean_error * mean_error;
    }
    return sum;
  };
  EXPECT_LT(shift(round_layer(layer).codes), 0.05 * shift(layer.nearest()));
}

TEST(Reconstruct, WithoutInputsIsNearest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float value : {0.0F, nan, std::numeric_limits<float>::infinity()}) {
    const Layer layer(gaussian(4, 20, 3), 20, kSymmetricInt8, {Values(400, value)});
    const Rounded rounded = round_layer(layer);
    EXPECT_EQ(rounded.codes, layer.nearest());
    EXPECT_EQ(rounded.error.nearest, 0);
    EXPECT_EQ(rounded.error.achieved, 0);
  }
}

TEST(Reconstruct, OfInputsThatDoNotMoveTogetherIsNearest) {
  Values diagonal(400);
  for (std::size_t i = 0; i < 20; ++i) diagonal[i * 20 + i] = static_cast<float>(i);
  const Layer layer(gaussian(4, 20, 3), 20, kSymmetricInt8, {diagonal});
  EXPECT_EQ(round_layer(layer).codes, layer.nearest());
}

TEST(Reconstruct, WorksWithoutDampingWhereHHasNoFullRank) {
  Layer layer(gaussian(4, 60, 3), 60, kSymmetricInt8, {gram_of(relu_rows(3, 60, 1), 60)});
  layer.damping = 0;
  const Rounded rounded = round_layer(layer);
  EXPECT_LT(rounded.error.achieved, 0.1 * rounded.error.nearest);
}

TEST(Reconstruct, LeavesZerosAndWhatIsNotFiniteAlone) {
  const float inf = std::numeric_limits<float>::infinity();
  Values weights = gaussian(4, 32, 3);
  std::fill_n(weights.begin(), 32, 0.0F);
  Layer layer(weights, 32, kSymmetricInt8, {gram_of(relu_rows(200, 32, 1), 32)});
  layer.weights[40] = inf;
  layer.weights[41] = std::numeric_limits<float>::quiet_NaN();
  layer.affine[2] = {0, 0, 0};
  layer.affine[3] = {std::numeric_limits<float>::denorm_min(), 1, 0};
  const Rounded rounded = round_layer(layer);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(rounded.codes[i], 0);
  EXPECT_EQ(rounded.codes[40], 127);
  EXPECT_EQ(rounded.codes[41], 0);
  EXPECT_TRUE(std::isfinite(rounded.error.nearest));
  EXPECT_LE(rounded.error.achieved, rounded.error.nearest);
}

TEST(Reconstruct, TreatsGroupsAsLayersOfTheirOwn) {
  const std::vector<std::vector<float>> grams = {gram_of(relu_rows(200, 9, 1), 9),
                                                 gram_of(relu_rows(200, 9, 50), 9)};
  const Values weights = gaussian(6, 9, 3);
  const Layer both(weights, 9, kSymmetricInt8, grams);
  const Layer first({weights.begin(), weights.begin() + 27}, 9, kSymmetricInt8, {grams[0]});
  const Layer second({weights.begin() + 27, weights.end()}, 9, kSymmetricInt8, {grams[1]});
  auto expected = round_layer(first).codes;
  const auto rest = round_layer(second).codes;
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(round_layer(both, kThreads).codes, expected);
}

TEST(Reconstruct, KnowsScalesOfBlocks) {
  const Layer layer(gaussian(8, 128, 3), 128, kSymmetricInt4, {gram_of(relu_rows(1000, 128, 1), 128)}, 32);
  const Rounded rounded = round_layer(layer);
  EXPECT_LT(rounded.error.achieved, 0.5 * rounded.error.nearest);
  EXPECT_NEAR(rounded.error.achieved / layer.error(rounded.codes), 1, 1e-9);
}

TEST(Reconstruct, IsTheSameForAnyNumberOfThreads) {
  const Layer layer(gaussian(16, 150, 3), 150, kSymmetricInt8, {gram_of(relu_rows(500, 150, 1), 150)});
  const Rounded serial = round_layer(layer), threads = round_layer(layer, kThreads);
  EXPECT_EQ(serial.codes, threads.codes);
  EXPECT_EQ(serial.error.achieved, threads.error.achieved);
}

TEST(Reconstruct, DampsMoreTheFewerRowsThereAre) {
  EXPECT_FLOAT_EQ(damping_for(1000, 3000), 0.1F);
  EXPECT_FLOAT_EQ(damping_for(1000, 0), 1);
  EXPECT_FLOAT_EQ(damping_for(9, 1000000), 0.01F);
}

TEST(Reconstruct, RefusesSizesThatDoNotFit) {
  const Layer layer(gaussian(4, 20, 3), 20, kSymmetricInt8, {Values(400)});
  std::vector<std::uint8_t> codes(80);
  auto wrong = layer.view();
  wrong.affine = wrong.affine.first(3);
  EXPECT_EQ(test::error_of([&] { round_for_output(wrong, run_serially, codes.data()); }).code(),
            ErrorCode::kInternal);
  wrong = layer.view();
  wrong.gram = {};
  EXPECT_EQ(test::error_of([&] { round_for_output(wrong, run_serially, codes.data()); }).code(),
            ErrorCode::kInternal);
  wrong = layer.view();
  wrong.k = 16;
  EXPECT_EQ(test::error_of([&] { round_for_output(wrong, run_serially, codes.data()); }).code(),
            ErrorCode::kInternal);
}

// A table of equal steps gives the same values as steps.
TEST(Reconstruct, TablesAreRoundedLikeSteps) {
  const std::size_t k = 48, channels = 4;
  const LinearFormat format{{-7, 7}, kernels::CodeSign::kSigned, 0, true, false};
  const Layer layer(gaussian(channels, k, 5), k, format, {gram_of(relu_rows(200, k, 6), k)});
  const Rounded linear = round_layer(layer);
  std::vector<std::vector<float>> tables(1);
  for (int step = -7; step <= 7; ++step) tables[0].push_back(static_cast<float>(step));
  LayerToRound with_table = layer.view();
  with_table.codes = {0, 14};
  with_table.tables = tables;
  std::vector<std::uint8_t> codes(layer.weights.size());
  const OutputError error = round_for_output(with_table, run_serially, codes.data());
  for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(code - 7);
  EXPECT_EQ(codes, linear.codes);
  EXPECT_EQ(error.achieved, linear.error.achieved);
  EXPECT_LT(error.achieved, 0.7 * error.nearest);
  tables.resize(3, tables[0]);
  with_table.tables = tables;
  EXPECT_EQ(test::error_of([&] { round_for_output(with_table, run_serially, codes.data()); }).code(),
            ErrorCode::kInternal);
}

}  // namespace
}  // namespace ounce::quant
