#include "evaluate/models/reference_outputs.h"

#include <gmock/gmock.h>

#include "support/tiny_models.h"

namespace ounce::evaluate {
namespace {

using data::test::numbers_of;
using data::test::tensor_of;
using testing::ElementsAre;

// Multiplies its input by a factor, and counts its runs.
class Times : public runtime::Executor {
 public:
  Times(float factor, int& runs) : factor_(factor), runs_(runs) {}
  const std::vector<data::ValueDescription>& inputs() const override { return none_; }
  const std::vector<data::ValueDescription>& outputs() const override { return none_; }
  const std::string& library_version() const override { return version_; }
  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    ++runs_;
    given_ = tensor_of<float>({1}, {factor_ * numbers_of<float>(inputs[0]).at(0)});
    views_ = {given_};
    return views_;
  }

 private:
  float factor_;
  int& runs_;
  std::vector<data::ValueDescription> none_;
  std::string version_;
  data::Tensor given_;
  std::vector<data::TensorView> views_;
};

// Batch i has the value i and two names.
class KeptFeed : public data::Feed {
 public:
  std::uint64_t batches() const override { return 10; }
  std::uint64_t samples() const override { return 20; }
  void read(std::uint64_t index, data::Batch& batch) override {
    ++reads;
    batch.inputs = {tensor_of<float>({1}, {static_cast<float>(index)})};
    batch.names = {"a", "b"};
  }
  int reads = 0;
};

struct ReferenceOutputsTest : testing::Test {
  StatefulExecutor times(float factor) { return {std::make_unique<Times>(factor, runs), {}}; }
  std::vector<float> kept_values(const ReferenceOutputs& kept) {
    std::vector<float> values;
    for (const ReferenceRun& run : kept.runs()) values.push_back(numbers_of<float>(run.outputs[0]).at(0));
    return values;
  }
  int runs = 0;
  KeptFeed feed;
};

TEST_F(ReferenceOutputsTest, KeepsWhatTheOriginalGaveInTheOrderOfTheBatches) {
  StatefulExecutor original = times(2);
  const ReferenceOutputs kept(original, feed, {1, 4, 7}, 1000);
  EXPECT_THAT(kept_values(kept), ElementsAre(2, 8, 14));
  EXPECT_EQ(kept.samples(), 6U);
  EXPECT_FALSE(kept.is_cut());
  EXPECT_TRUE(kept.runs()[0].batch.inputs.empty());
  EXPECT_EQ(kept.runs()[0].batch.names.size(), 2U);
}

TEST_F(ReferenceOutputsTest, AnotherModelMeetsTheSameInputsAndTheOriginalIsNotAskedAgain) {
  StatefulExecutor original = times(2);
  const ReferenceOutputs kept(original, feed, {1, 4}, 1000);
  runs = 0;
  StatefulExecutor other = times(3);
  std::vector<float> both;
  kept.replay(other, feed, [&](const ReferenceRun& run, auto given) {
    both.push_back(numbers_of<float>(run.outputs[0]).at(0));
    both.push_back(numbers_of<float>(given[0]).at(0));
    return true;
  });
  EXPECT_THAT(both, ElementsAre(2, 3, 8, 12));
  EXPECT_EQ(runs, 2);
}

TEST_F(ReferenceOutputsTest, EndsWhenThatIsEnough) {
  StatefulExecutor original = times(2), other = times(3);
  const ReferenceOutputs kept(original, feed, {1, 4, 5}, 1000);
  runs = 0;
  kept.replay(other, feed, [](const ReferenceRun&, auto) { return false; });
  EXPECT_EQ(runs, 1);
}

TEST_F(ReferenceOutputsTest, KeepsWhatFitsAndTheFirstOneAlways) {
  StatefulExecutor original = times(2);
  const ReferenceOutputs none(original, feed, {3, 4, 5}, 0);
  EXPECT_THAT(kept_values(none), ElementsAre(6));
  EXPECT_TRUE(none.is_cut());
  const ReferenceOutputs two(original, feed, {3, 4, 5}, 2 * sizeof(float));
  EXPECT_THAT(kept_values(two), ElementsAre(6, 8));
  EXPECT_TRUE(two.is_cut());
}

TEST_F(ReferenceOutputsTest, InputsAreKeptWhereTheyAreWanted) {
  StatefulExecutor original = times(2);
  const ReferenceOutputs kept(original, feed, {3, 4}, 3 * sizeof(float), ReferenceOutputs::Inputs::kKept);
  ASSERT_EQ(kept.runs().size(), 1U);  // inputs count toward the limit, too
  EXPECT_EQ(numbers_of<float>(kept.runs()[0].batch.inputs.at(0)).at(0), 3);
}

// Returns its input, and counts its runs.
class CountingEcho final : public runtime::Executor {
 public:
  explicit CountingEcho(int& runs) : runs_(runs) {}
  const std::vector<data::ValueDescription>& inputs() const override { return values_; }
  const std::vector<data::ValueDescription>& outputs() const override { return values_; }
  const std::string& library_version() const override { return version_; }
  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    ++runs_;
    views_.assign(inputs.begin(), inputs.end());
    return views_;
  }

 private:
  int& runs_;
  std::vector<data::ValueDescription> values_;
  std::vector<data::TensorView> views_;
  std::string version_ = "1.2.3";
};

data::Tensor bytes(const std::string& text) {
  return {ElementType::kUint8, {static_cast<std::int64_t>(text.size())}, text};
}

std::string run(runtime::Executor& model, const data::Tensor& input) {
  const std::vector<data::TensorView> inputs = {input};
  return std::string(model.run(inputs).front().bytes);
}

TEST(AnswerFromTest, AnswersWhatWasSeenAndRunsTheRest) {
  int runs = 0;
  const auto kept = std::make_shared<ReferenceOutputs>(100);
  const auto first = answer_from(kept, std::make_unique<CountingEcho>(runs));
  EXPECT_EQ(run(*first, bytes("abc")), "abc");
  EXPECT_EQ(run(*first, bytes("abd")), "abd");
  EXPECT_EQ(run(*first, bytes("abc")), "abc");
  EXPECT_EQ(runs, 2);
  const auto second = answer_from(kept, std::make_unique<CountingEcho>(runs));
  EXPECT_EQ(run(*second, bytes("abd")), "abd");
  EXPECT_EQ(runs, 2);
}

TEST(AnswerFromTest, OtherShapesAreOtherInputs) {
  int runs = 0;
  const auto model =
      answer_from(std::make_shared<ReferenceOutputs>(100), std::make_unique<CountingEcho>(runs));
  run(*model, bytes("abcd"));
  run(*model, data::Tensor{ElementType::kUint8, {2, 2}, "abcd"});
  EXPECT_EQ(runs, 2);
}

TEST(AnswerFromTest, WhatDoesNotFitIsRunAgain) {
  int runs = 0;
  const auto model = answer_from(std::make_shared<ReferenceOutputs>(4), std::make_unique<CountingEcho>(runs));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(*model, bytes("abc")), "abc");
    EXPECT_EQ(run(*model, bytes("xyz")), "xyz");
  }
  EXPECT_EQ(runs, 3);
}

TEST(AnswerFromTest, AnotherModelKnowsNothing) {
  int runs = 0;
  const auto kept = std::make_shared<ReferenceOutputs>(100);
  const auto model = answer_from(kept, std::make_unique<CountingEcho>(runs));
  kept->use_for("a");
  run(*model, bytes("abc"));
  kept->use_for("a");
  run(*model, bytes("abc"));
  EXPECT_EQ(runs, 1);
  kept->use_for("b");
  run(*model, bytes("abc"));
  EXPECT_EQ(runs, 2);
}

TEST(AnswerFromTest, NothingIsRememberedWithoutAPlaceForIt) {
  int runs = 0;
  const auto model = answer_from(nullptr, std::make_unique<CountingEcho>(runs));
  run(*model, bytes("abc"));
  run(*model, bytes("abc"));
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace ounce::evaluate
