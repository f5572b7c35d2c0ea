#include "evaluate/models/reference_outputs.h"

#include <gmock/gmock.h>

#include "support/tiny_models.h"

namespace ounce::evaluate {
namespace {

using data::test::numbers_of;
using data::test::tensor_of;
using testing::ElementsAre;

// Gives its input times a factor, and counts how often it was asked.
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

// Batch i is the number i, and has two names.
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

struct KeptRunsTest : testing::Test {
  Stepper times(float factor) { return {std::make_unique<Times>(factor, runs), {}}; }
  std::vector<float> kept_values(const KeptRuns& kept) {
    std::vector<float> values;
    for (const KeptRun& run : kept.runs()) values.push_back(numbers_of<float>(run.outputs[0]).at(0));
    return values;
  }
  int runs = 0;
  KeptFeed feed;
};

TEST_F(KeptRunsTest, KeepsWhatTheOriginalGaveInTheOrderOfTheBatches) {
  Stepper original = times(2);
  const KeptRuns kept(original, feed, {1, 4, 7}, 1000);
  EXPECT_THAT(kept_values(kept), ElementsAre(2, 8, 14));
  EXPECT_EQ(kept.samples(), 6U);
  EXPECT_FALSE(kept.is_cut());
  EXPECT_TRUE(kept.runs()[0].batch.inputs.empty());
  EXPECT_EQ(kept.runs()[0].batch.names.size(), 2U);
}

TEST_F(KeptRunsTest, AnotherModelMeetsTheSameInputsAndTheOriginalIsNotAskedAgain) {
  Stepper original = times(2);
  const KeptRuns kept(original, feed, {1, 4}, 1000);
  runs = 0;
  Stepper other = times(3);
  std::vector<float> both;
  kept.replay(other, feed, [&](const KeptRun& run, auto given) {
    both.push_back(numbers_of<float>(run.outputs[0]).at(0));
    both.push_back(numbers_of<float>(given[0]).at(0));
    return true;
  });
  EXPECT_THAT(both, ElementsAre(2, 3, 8, 12));
  EXPECT_EQ(runs, 2);
}

TEST_F(KeptRunsTest, EndsWhenThatIsEnough) {
  Stepper original = times(2), other = times(3);
  const KeptRuns kept(original, feed, {1, 4, 5}, 1000);
  runs = 0;
  kept.replay(other, feed, [](const KeptRun&, auto) { return false; });
  EXPECT_EQ(runs, 1);
}

TEST_F(KeptRunsTest, KeepsWhatFitsAndTheFirstOneAlways) {
  Stepper original = times(2);
  const KeptRuns none(original, feed, {3, 4, 5}, 0);
  EXPECT_THAT(kept_values(none), ElementsAre(6));
  EXPECT_TRUE(none.is_cut());
  const KeptRuns two(original, feed, {3, 4, 5}, 2 * sizeof(float));
  EXPECT_THAT(kept_values(two), ElementsAre(6, 8));
  EXPECT_TRUE(two.is_cut());
}

TEST_F(KeptRunsTest, InputsAreKeptWhereTheyAreWanted) {
  Stepper original = times(2);
  const KeptRuns kept(original, feed, {3, 4}, 3 * sizeof(float), KeptRuns::Inputs::kKept);
  ASSERT_EQ(kept.runs().size(), 1U);  // they count as well
  EXPECT_EQ(numbers_of<float>(kept.runs()[0].batch.inputs.at(0)).at(0), 3);
}

}  // namespace
}  // namespace ounce::evaluate
