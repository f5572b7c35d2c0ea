#include "formats/onnx/plan/integer_plan.h"

#include <gmock/gmock.h>

#include <limits>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::plan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::Not;
using testing::SizeIs;

constexpr double kKept = std::numeric_limits<double>::infinity();

// x ─ Conv ─ a ─ Conv ─ b ─ … ─ e: all of the same size.
struct Chain {
  explicit Chain(int channels, int side, std::int64_t kernel = 3) {
    const auto wide = static_cast<std::int64_t>(channels), high = static_cast<std::int64_t>(side);
    builder.input("x", test::kFloat, {1, wide, high, high});
    builder.output("e", test::kFloat, {1, wide, high, high});
    std::string from = "x";
    see("x", channels, side * side);
    for (const std::string to : {"a", "b", "c", "d", "e"}) {
      const test::Dims dims = {wide, wide, kernel, kernel};
      builder.initializer("w" + to, dims, test::ramp(dims));
      const std::int64_t pad = kernel / 2;
      builder.node("Conv", {from, "w" + to}, {to}, {test::ints_attribute("pads", {pad, pad, pad, pad})});
      see(to, channels, side * side);
      from = to;
    }
    ranges.samples = 1;
  }
  void see(const std::string& name, int channels, int positions) {
    ranges.values[name].add(test::ramp({channels, positions}), static_cast<std::size_t>(channels),
                            static_cast<std::size_t>(positions));
  }
  std::vector<FloatAssignment> assignments(const std::map<std::string, double>& noise) const {
    const std::string bytes = builder.bytes();
    const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
    const graph::Index index = graph::validate(model);
    Recipe recipe;
    recipe.format = Format::kInt8;
    recipe.integer.calibration = CalibrationMethod::kMinMax;
    return float_assignments(model, index, recipe, ranges, noise);
  }
  test::ModelBuilder builder;
  calibration::Ranges ranges;
};

std::vector<std::set<std::string>> floats_of(const std::vector<FloatAssignment>& assignments) {
  std::vector<std::set<std::string>> all;
  for (const FloatAssignment& assignment : assignments) all.push_back(assignment.floats);
  return all;
}

TEST(FloatDivisions, GoFromTheFastestToAllInFloatsAndOnlyAddToThem) {
  const auto found =
      Chain(64, 28).assignments({{"a", 1e-3}, {"b", 2e-4}, {"c", 1e-5}, {"d", 5e-5}, {"e", 1e-6}});
  ASSERT_GE(found.size(), 3U);
  EXPECT_THAT(found.front().floats, IsEmpty());
  EXPECT_THAT(found.back().floats, SizeIs(5));
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_THAT(found[i - 1].floats, IsSubsetOf(found[i].floats));
    EXPECT_GT(found[i].time, found[i - 1].time);
  }
}

TEST(FloatDivisions, TheNoisiestComesFirst) {
  const auto found =
      floats_of(Chain(64, 28).assignments({{"a", 1e-6}, {"b", 1e-6}, {"c", 1e-2}, {"d", 1e-6}, {"e", 1e-6}}));
  ASSERT_GE(found.size(), 2U);
  EXPECT_THAT(found[1], ElementsAre("c"));
}

// d has more noise than b, but b is next to a and needs no additional conversions.
TEST(FloatDivisions, WhatLiesBesideFloatsCostsLess) {
  const auto found = floats_of(
      Chain(32, 56, 1).assignments({{"a", kKept}, {"b", 1e-3}, {"c", 1e-7}, {"d", 1.2e-3}, {"e", 1e-7}}));
  ASSERT_GE(found.size(), 2U);
  EXPECT_THAT(found[0], ElementsAre("a"));
  EXPECT_THAT(found[1], ElementsAre("a", "b"));
}

TEST(FloatDivisions, NoiseDecidesWhereNothingIsFasterOnIntegers) {
  const auto found =
      floats_of(Chain(4, 2).assignments({{"a", 1e-6}, {"b", 1e-6}, {"c", 1e-6}, {"d", 1e-2}, {"e", 1e-6}}));
  ASSERT_GE(found.size(), 2U);
  EXPECT_THAT(found[0], Not(Contains("d")));
  EXPECT_THAT(found[1], ElementsAre("d"));
  EXPECT_THAT(found.back(), SizeIs(5));
}

TEST(FloatDivisions, NoNoiseAtAllIsNoReasonForAnything) {
  const auto found = floats_of(Chain(64, 28).assignments({}));
  EXPECT_THAT(found.front(), IsEmpty());
  EXPECT_THAT(found.back(), SizeIs(5));
}

}  // namespace
}  // namespace ounce::plan
