// Test support: random weights as bytes with a chosen misalignment, mixed with given special values. The
// buffer ends with the weights, so that a sanitizer detects reads beyond them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace ounce::kernels {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Special values: zeros, subnormals, the ends of the range, halves that must round to even.
inline const std::vector<float>& awkward_floats() {
  static const std::vector<float> values = {
      0.0F,    -0.0F,   1e-45F, -1e-45F, 1e-40F, -1e-40F, 1.17549435e-38F, 3.402823466e38F, -3.402823466e38F,
      0.5F,    -0.5F,   1.5F,   -1.5F,   2.5F,   -2.5F,   0.49999997F,     -0.49999997F,    127.5F,
      -127.5F, -128.5F, 1e10F,  -1e10F};
  return values;
}

class WeightsAt {
 public:
  WeightsAt(std::size_t misalignment, const std::vector<float>& values)
      : offset_(misalignment), bytes_(misalignment + values.size() * sizeof(float)) {
    if (!values.empty()) std::memcpy(bytes_.data() + offset_, values.data(), values.size() * sizeof(float));
  }
  const std::byte* data() const { return bytes_.data() + offset_; }

 private:
  std::size_t offset_;
  std::vector<std::byte> bytes_;
};

class RandomWeights {
 public:
  explicit RandomWeights(unsigned seed) : random_(seed) {}

  std::size_t length(std::size_t most) { return random_() % (most + 1); }

  std::vector<float> normal(std::size_t n) {
    std::normal_distribution<float> distribution(0.0F, 20.0F);
    std::vector<float> values(n);
    for (float& value : values) value = distribution(random_);
    return values;
  }

  // Random values, of which one in eight is taken from `rare`.
  std::vector<float> sprinkled(std::size_t n, const std::vector<float>& rare) {
    std::vector<float> values = normal(n);
    for (float& value : values) {
      if (random_() % 8 == 0) value = rare[random_() % rare.size()];
    }
    return values;
  }

  std::vector<std::uint8_t> bytes(std::size_t n) {
    std::vector<std::uint8_t> values(n);
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random_());
    return values;
  }

  std::mt19937& engine() { return random_; }

 private:
  std::mt19937 random_;
};

}  // namespace ounce::kernels
