#include "evaluate/models/reference_outputs.h"

#include <gtest/gtest.h>

namespace ounce::evaluate {
namespace {

// Gives its input back, and counts.
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

TEST(RememberedRuns, AnswersWhatWasSeenAndRunsTheRest) {
  int runs = 0;
  const auto remembered = std::make_shared<RememberedRuns>(100);
  const auto first = remember(std::make_unique<CountingEcho>(runs), remembered);
  EXPECT_EQ(run(*first, bytes("abc")), "abc");
  EXPECT_EQ(run(*first, bytes("abd")), "abd");
  EXPECT_EQ(run(*first, bytes("abc")), "abc");
  EXPECT_EQ(runs, 2);
  const auto second = remember(std::make_unique<CountingEcho>(runs), remembered);
  EXPECT_EQ(run(*second, bytes("abd")), "abd");
  EXPECT_EQ(runs, 2);
}

TEST(RememberedRuns, OtherShapesAreOtherInputs) {
  int runs = 0;
  const auto model = remember(std::make_unique<CountingEcho>(runs), std::make_shared<RememberedRuns>(100));
  run(*model, bytes("abcd"));
  run(*model, data::Tensor{ElementType::kUint8, {2, 2}, "abcd"});
  EXPECT_EQ(runs, 2);
}

TEST(RememberedRuns, WhatDoesNotFitIsRunAgain) {
  int runs = 0;
  const auto model = remember(std::make_unique<CountingEcho>(runs), std::make_shared<RememberedRuns>(4));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(*model, bytes("abc")), "abc");
    EXPECT_EQ(run(*model, bytes("xyz")), "xyz");
  }
  EXPECT_EQ(runs, 3);
}

TEST(RememberedRuns, AnotherModelKnowsNothing) {
  int runs = 0;
  const auto remembered = std::make_shared<RememberedRuns>(100);
  const auto model = remember(std::make_unique<CountingEcho>(runs), remembered);
  remembered->use_for("a");
  run(*model, bytes("abc"));
  remembered->use_for("a");
  run(*model, bytes("abc"));
  EXPECT_EQ(runs, 1);
  remembered->use_for("b");
  run(*model, bytes("abc"));
  EXPECT_EQ(runs, 2);
}

TEST(RememberedRuns, NothingIsRememberedWithoutAPlaceForIt) {
  int runs = 0;
  const auto model = remember(std::make_unique<CountingEcho>(runs), nullptr);
  run(*model, bytes("abc"));
  run(*model, bytes("abc"));
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace ounce::evaluate
