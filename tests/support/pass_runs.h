// Test support for passes: prints models as text, and compares the outputs of models before and after a pass.
//
//   onnx::Model model = onnx::read_model_from_memory(bytes, "model");
//   fold_batch_norm(model);
//   EXPECT_EQ(text_of(model), "w = float32[4,3,3,3]\n…\nConv(x, w, q0) -> y\n");
//   expect_same_outputs(bytes, model);
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "quant/linear.h"

namespace ounce::passes::test {

// One line per initializer and per node, with its integer and text attributes. Bodies are indented, functions
// come last.
std::string text_of(const onnx::Model& model);

// Checks that both models give the same outputs for random inputs in every installed version of the runtime:
// no output may differ by more than this share of its largest value. Also checks that the result passes
// graph::validate.
void expect_same_outputs(const std::string& before, const onnx::Model& after, double tolerance = 1e-5);

// Reproducible pseudo-random values between -1 and 1.
std::vector<float> noise(const std::vector<std::int64_t>& dims, std::uint32_t seed = 1);

inline constexpr double kEightBits = 0.03;  // tolerance for 8-bit weights, as a share of the largest value
inline constexpr double kSevenBits = 2 * kEightBits;
// 7-bit quantized values, whose products saturate on no CPU.
inline constexpr quant::LinearFormat kSevenBitCodes{{-64, 64}, kernels::CodeSign::kSigned, 0, true, false};
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string float_attribute(const std::string& name, float value);
std::string floats_attribute(const std::string& name, const std::vector<float>& values);
using ounce::test::ints_attribute;
std::string string_attribute(const std::string& name, const std::string& value);
std::string reference_attribute(const std::string& name, const std::string& refers_to, int type);
std::string ints_tensor(const std::string& name, const std::vector<std::int64_t>& values);

}  // namespace ounce::passes::test
