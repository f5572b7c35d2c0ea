#include "evaluate/metrics/token_decoder.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"
#include "support/tiny_models.h"

namespace ounce::evaluate {
namespace {

using ounce::test::error_of;
using ounce::test::field;
using ounce::test::int_attribute;
using ounce::test::kBool;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int64_t>;

// scores = [sum of all ids so far, sum of the mask, the last position]
ModelBuilder counting_model(bool is_cached) {
  ModelBuilder model(13, 7);
  model.add(11, test::free_value("input_ids", kInt64, {"N", "T"}));
  model.add(11, test::free_value("attention_mask", kInt64, {"N", "L"}));
  model.add(11, test::free_value("position_ids", kInt64, {"N", "T"}));
  model.add(12, test::free_value("scores", kFloat, {"N", "3"}));
  const auto to_float = int_attribute("to", kFloat);
  model.node("Cast", {"input_ids"}, {"ids"}, {to_float});
  model.node("Cast", {"attention_mask"}, {"mask"}, {to_float});
  model.node("Cast", {"position_ids"}, {"places"}, {to_float});
  if (is_cached) {
    model.add(11, test::free_value("past_key_values.0.key", kFloat, {"N", "P"}));
    model.add(12, test::free_value("present.0.key", kFloat, {"N", "L"}));
    model.node("Concat", {"past_key_values.0.key", "ids"}, {"present.0.key"}, {int_attribute("axis", 1)});
  }
  const std::string axis = ounce::test::tensor("axis", kInt64, {1}, std::string("\1\0\0\0\0\0\0\0", 8));
  model.initializer(axis);
  model.node("ReduceSum", {is_cached ? "present.0.key" : "ids", "axis"}, {"sum"});
  model.node("ReduceSum", {"mask", "axis"}, {"seen"});
  model.node("ReduceMax", {"places"}, {"last"},
             {field(1, std::string("axes")) + field(8, std::int64_t{1}) + field(20, std::int64_t{7})});
  model.node("Concat", {"sum", "seen", "last"}, {"scores"}, {int_attribute("axis", 1)});
  return model;
}

std::vector<float> fed(TokenDecoder& decoder, const Ids& ids) {
  const std::span<const float> scores = decoder.feed(ids);
  return {scores.begin(), scores.end()};
}

struct TokenDecoderTest : testing::Test {
  std::string refusal(const ModelBuilder& model, const std::map<std::string, std::string>& carry = {}) const {
    return error_of([&] { TokenDecoder(models.load("m", model), carry, {}); }).what();
  }
  test::TinyModels models;
};

TEST_F(TokenDecoderTest, ThePastIsKeptAndMaskAndPositionsFollow) {
  TokenDecoder decoder(models.load("m", counting_model(true)), {}, {});
  EXPECT_TRUE(decoder.is_cached());
  EXPECT_EQ(decoder.ids().name, "input_ids");
  for (int text = 0; text < 2; ++text) {
    decoder.begin();
    EXPECT_THAT(fed(decoder, {1, 2, 3}), ElementsAre(6, 3, 2));
    EXPECT_THAT(fed(decoder, {10}), ElementsAre(16, 4, 3));
    EXPECT_THAT(fed(decoder, {100}), ElementsAre(116, 5, 4));
  }
}

TEST_F(TokenDecoderTest, WithoutAPastTheWholeTextIsFed) {
  TokenDecoder decoder(models.load("m", counting_model(false)), {}, {});
  EXPECT_FALSE(decoder.is_cached());
  decoder.begin();
  EXPECT_THAT(fed(decoder, {1, 2, 3}), ElementsAre(6, 3, 2));
  EXPECT_THAT(fed(decoder, {10}), ElementsAre(16, 4, 3));
}

TEST_F(TokenDecoderTest, PairsThatAreNamedCount) {
  TokenDecoder decoder(models.load("m", counting_model(true)), {{"past_key_values.0.key", "present.0.key"}},
                       {});
  EXPECT_TRUE(decoder.is_cached());
  EXPECT_THAT(refusal(counting_model(true), {{"past_key_values.0.key", "elsewhere"}}),
              HasSubstr("no input 'past_key_values.0.key' or no output 'elsewhere'"));
}

TEST_F(TokenDecoderTest, WhatNobodyKnowsIsRefused) {
  ModelBuilder odd = counting_model(true);
  odd.add(11, test::free_value("style", kFloat, {"N", "4"}));
  EXPECT_THAT(refusal(odd), HasSubstr("unknown use of the input 'style'"));
  TokenDecoder fixed(models.load("fixed", odd), {}, {{"style", 1}});
  fixed.begin();
  EXPECT_THAT(fed(fixed, {4}), ElementsAre(4, 1, 0));

  ModelBuilder floats(13, 7);
  floats.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 2});
  floats.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(refusal(floats), HasSubstr("'x'"));
}

}  // namespace
}  // namespace ounce::evaluate
