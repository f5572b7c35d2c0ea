// For tests of passes: models as text, and models run before and after.
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

// A line an initializer, a line a node with its integers and texts; bodies are indented, functions come last.
std::string text_of(const onnx::Model& model);

// Both give the same on random inputs, in every version of the runtime that set-up brought: no output differs
// by more than this share of its largest value. What was written also passes graph::validate.
void expect_same_outputs(const std::string& before, const onnx::Model& after, double tolerance = 1e-5);

// Values between -1 and 1 that look random and are not.
std::vector<float> noise(const std::vector<std::int64_t>& dims, std::uint32_t seed = 1);

inline constexpr double kEightBits = 0.03;  // of the largest value: what eight bits may cost …
inline constexpr double kSevenBits = 2 * kEightBits;
// … and codes whose products saturate on no CPU, whatever the weights are.
inline constexpr quant::LinearFormat kSevenBitCodes{{-64, 64}, kernels::CodeSign::kSigned, 0, true, false};
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string float_attribute(const std::string& name, float value);
std::string floats_attribute(const std::string& name, const std::vector<float>& values);
using ounce::test::ints_attribute;
std::string string_attribute(const std::string& name, const std::string& value);
std::string reference_attribute(const std::string& name, const std::string& refers_to, int type);
std::string ints_tensor(const std::string& name, const std::vector<std::int64_t>& values);

}  // namespace ounce::passes::test
