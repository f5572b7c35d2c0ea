#include "evaluate/models/open.h"

#include <gmock/gmock.h>

#include "support/error_of.h"
#include "support/tiny_models.h"

namespace ounce::evaluate {
namespace {

using data::test::numbers_of;
using data::test::tensor_of;
using ounce::test::error_of;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

// next = state + x; y = next · 2; count has another type.
ModelBuilder sum_model() {
  ModelBuilder model(13, 7);
  model.input("state", kFloat, {1}).input("x", kFloat, {1});
  model.output("y", kFloat, {1}).output("next", kFloat, {1}).output("count", kInt64, {1});
  model.node("Add", {"state", "x"}, {"next"}).node("Add", {"next", "next"}, {"y"});
  model.node("Shape", {"x"}, {"count"});
  return model;
}

struct StatefulExecutorTest : testing::Test {
  static float y(StatefulExecutor& stepper, float x, bool starts, float state = 0) {
    data::Batch batch;
    batch.inputs = {tensor_of<float>({1}, {state}), tensor_of<float>({1}, {x})};
    batch.starts_sequence = starts;
    return numbers_of<float>(stepper.run(batch)[0]).at(0);
  }
  std::string refusal(const std::map<std::string, std::string>& carry) const {
    const Error error = error_of([&] { models.step("m", sum_model(), carry); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), testing::StartsWith("`carry`: "));
    return error.what();
  }
  test::TinyModels models;
};

TEST_F(StatefulExecutorTest, CarriesAStateUntilASequenceBeginsAnew) {
  StatefulExecutor stepper = models.step("m", sum_model(), {{"state", "next"}});
  EXPECT_EQ(y(stepper, 1, true), 2);
  EXPECT_EQ(y(stepper, 2, false, 1000), 6);  // a state in the batch is used only at the start
  EXPECT_EQ(y(stepper, 3, false), 12);
  EXPECT_EQ(y(stepper, 1, true, 10), 22);
  EXPECT_EQ(y(stepper, 1, false), 24);
}

TEST_F(StatefulExecutorTest, WithoutCarryEveryRunStandsAlone) {
  StatefulExecutor stepper = models.step("m", sum_model());
  EXPECT_EQ(y(stepper, 1, true), 2);
  EXPECT_EQ(y(stepper, 1, false), 2);
}

TEST_F(StatefulExecutorTest, CountsTheTimeInsideTheRuntime) {
  StatefulExecutor stepper = models.step("m", sum_model());
  EXPECT_EQ(stepper.seconds(), 0);
  y(stepper, 1, true);
  const double once = stepper.seconds();
  EXPECT_GT(once, 0);
  y(stepper, 1, true);
  EXPECT_GT(stepper.seconds(), once);
  EXPECT_EQ(stepper.model().inputs().size(), 2U);
}

TEST_F(StatefulExecutorTest, NamesThatTheModelDoesNotHaveAreRefused) {
  EXPECT_THAT(refusal({{"stat", "next"}}), HasSubstr("no input 'stat'; it has state, x"));
  EXPECT_THAT(refusal({{"state", "nxt"}}), HasSubstr("no output 'nxt'; it has y, next, count"));
}

TEST_F(StatefulExecutorTest, AStateOfAnotherTypeIsRefused) {
  EXPECT_THAT(refusal({{"state", "count"}}), HasSubstr("different types"));
}

}  // namespace
}  // namespace ounce::evaluate
