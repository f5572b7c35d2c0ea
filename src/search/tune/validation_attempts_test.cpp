#include "search/tune/evaluator.h"

#include <gtest/gtest.h>

namespace ounce::search {
namespace {

TEST(HeldOutTriesTest, AllTriesTogetherErrNoMoreThanWasAllowed) {
  ValidationAttempts tries(0.9);
  EXPECT_NEAR(tries.confidence_of_first(), 0.95, 1e-12);
  double errs = 0;
  for (int i = 0; i < 40; ++i) {
    EXPECT_GE(tries.confidence_of_next(), tries.confidence_of_first());
    errs += 1 - tries.confidence_of_next();
    tries.note_failure();
  }
  EXPECT_LE(errs, 0.1 + 1e-12);
}

TEST(HeldOutTriesTest, WithoutConfidenceTheSamplesDecideHoweverManyFail) {
  ValidationAttempts tries(0);
  tries.note_failure();
  EXPECT_EQ(tries.confidence_of_next(), 0);
}

TEST(HeldOutTriesTest, WhatTheDataChoseIsNotMadeWithoutIt) {
  Recipe recipe;
  recipe.format = Format::kW8;
  EXPECT_TRUE(is_made_without_data(recipe));
  recipe.nodes["y"] = Format::kW16;
  EXPECT_FALSE(is_made_without_data(recipe));
  Recipe adaptive;
  adaptive.rounding = Rounding::kAdaptive;
  EXPECT_FALSE(is_made_without_data(adaptive));
  Recipe integer;
  integer.format = Format::kInt8;
  EXPECT_FALSE(is_made_without_data(integer));
}

}  // namespace
}  // namespace ounce::search
