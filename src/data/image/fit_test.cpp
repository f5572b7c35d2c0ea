#include "data/image/image.h"

#include <gmock/gmock.h>

#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Dims fitted(const Dims& sample, const Dims& input, bool is_whole = false) {
  return fit(sample, test::described("x", ElementType::kFloat, input), is_whole, "a.npy[0]");
}

std::string refusal(const Dims& sample, const Dims& input, bool is_whole = false) {
  const Error error = error_of([&] { fitted(sample, input, is_whole); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_EQ(error.where(), "a.npy[0]");
  return error.what();
}

TEST(FitTest, ImagesOfTheOtherLayoutAreToldHowToFit) {
  const auto refused = [](const Dims& sample, const Dims& input, bool is_image) {
    return std::string(error_of([&] {
                         fit(sample, test::described("x", ElementType::kFloat, input), false, "a.npy[0]",
                             is_image);
                       }).what());
  };
  EXPECT_THAT(refused({32, 32, 3}, {-1, 3, 32, 32}, true),
              HasSubstr("set `layout=nchw`, the layout of the model's input"));
  EXPECT_THAT(refused({32, 48, 3}, {-1, 3, 32, 48}, false), HasSubstr("transpose the data to [3,32,48]"));
  EXPECT_THAT(refused({3, 32, 48}, {-1, 32, 48, 3}, true), HasSubstr("transpose the data to [32,48,3]"));
  EXPECT_THAT(refused({32, 32, 3}, {-1, 3, 64, 64}, true), testing::Not(HasSubstr("layout")));
}

TEST(FitTest, TheBatchAxisIsAdded) {
  EXPECT_THAT(fitted({8000}, {-1, 8000}), ElementsAre(1, 8000));
  EXPECT_THAT(fitted({3, 4, 5}, {-1, 3, -1, -1}), ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(fitted({}, {-1}), ElementsAre(1));
}

TEST(FitTest, AnInputWithoutABatchAxisTakesTheSampleAsItIs) {
  EXPECT_THAT(fitted({8000}, {8000}), ElementsAre(8000));
  EXPECT_THAT(fitted({7}, {-1}), ElementsAre(7));
  EXPECT_THAT(fitted({2, 3}, {}), ElementsAre(2, 3));  // unknown rank
  EXPECT_THAT(fitted({}, {}), IsEmpty());
}

TEST(FitTest, AxesOfOneEntryComeAndGo) {
  EXPECT_THAT(fitted({8000}, {-1, 1, 8000}), ElementsAre(1, 1, 8000));
  EXPECT_THAT(fitted({28, 28}, {-1, 1, 28, 28}), ElementsAre(1, 1, 28, 28));
  EXPECT_THAT(fitted({28, 28, 1}, {-1, 28, 28}), ElementsAre(1, 28, 28));
  EXPECT_THAT(fitted({1, 5}, {-1, 1, -1}), ElementsAre(1, 1, 5));
  EXPECT_THAT(fitted({}, {-1, 1}), ElementsAre(1, 1));
}

TEST(FitTest, AFixedBatchIsFilledBySeveralSamples) {
  EXPECT_THAT(fitted({3}, {4, 3}), ElementsAre(1, 3));
  EXPECT_THAT(fitted({3}, {4, 1, 3}), ElementsAre(1, 1, 3));
}

TEST(FitTest, AWholeSampleHasItsBatchAxis) {
  EXPECT_THAT(fitted({2, 3}, {-1, 3}, true), ElementsAre(2, 3));
  EXPECT_THAT(refusal({3}, {-1, 3}, true), HasSubstr("a sample is [3], but the input 'x' is float32[?,3]"));
}

TEST(FitTest, WhatDoesNotFitIsRefused) {
  EXPECT_THAT(refusal({8001}, {-1, 8000}), HasSubstr("[8001]"));
  refusal({3, 224, 224}, {-1, 224, 224, 3});
  refusal({2, 3}, {-1, 6});
  refusal({2, 8000}, {-1, 1, 8000});
  refusal({0}, {-1, 3});
}

}  // namespace
}  // namespace ounce::data
