#include "evaluate/compare/comparison.h"

#include <gmock/gmock.h>

#include "support/tiny_models.h"

namespace ounce::evaluate {
namespace {

using data::test::tensor_of;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

// A model that computes y from x [N, T] with the given nodes; constants: "big" is 5, "one" is 1.
ModelBuilder model_of(const std::function<void(ModelBuilder&)>& nodes, int type = kFloat) {
  ModelBuilder model(13, 7);
  model.add(11, test::free_value("x", type, {"N", "T"})).add(12, test::free_value("y", type, {"N", "T"}));
  nodes(model);
  return model;
}

const ModelBuilder kPassedOn = model_of([](ModelBuilder& m) { m.node("Identity", {"x"}, {"y"}); });

struct EdgeCasesTest : testing::Test {
  std::vector<EdgeCase> run(const ModelBuilder& reference, const ModelBuilder& candidate,
                            data::Tensor x = tensor_of<float>({1, 4}, {-1, 0.5, 0.25, 1})) {
    StatefulExecutor ours = models.step("a", reference), theirs = models.step("b", candidate);
    VerifyOptions options;
    Comparison comparison(ours, theirs, options);
    data::Batch batch;
    batch.inputs = {std::move(x)};
    batch.names = {"a"};
    test::ListedFeed feed({batch});
    comparison.run(feed, nullptr);
    return run_edge_cases(models.write("a", reference), ours, theirs, ours.model().inputs(), comparison,
                          options.data);
  }
  static EdgeCase find(const std::vector<EdgeCase>& cases, const std::string& name) {
    for (const EdgeCase& one : cases) {
      if (one.name == name) return one;
    }
    ADD_FAILURE() << "no case " << name;
    return {};
  }
  test::TinyModels models;
};

TEST_F(EdgeCasesTest, IdenticalModelsPassAll) {
  const std::vector<EdgeCase> cases = run(kPassedOn, kPassedOn);
  EXPECT_THAT(cases, Each(Field(&EdgeCase::passed, true)));
  EXPECT_THAT(cases, Each(Field(&EdgeCase::finding, "identical")));
  std::vector<std::string> names;
  for (const EdgeCase& one : cases) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("all zero", "all lowest", "all highest", "all in the middle", "noise",
                                 "8 times the range", "batch of 1", "batch of 16", "shortest sequence",
                                 "sequence of 4 times the length"));
}

TEST_F(EdgeCasesTest, OfLargeSamplesTwoAreABatch) {
  ModelBuilder wide(13, 7);
  wide.input("x", kFloat, {-1, 100'000}).output("y", kFloat, {-1, 100'000}).node("Identity", {"x"}, {"y"});
  const std::vector<EdgeCase> cases =
      run(wide, wide, tensor_of<float>({1, 100'000}, std::vector<float>(100'000, 0.5F)));
  EXPECT_TRUE(find(cases, "batch of 2").passed);
}

TEST_F(EdgeCasesTest, FixedShapesLeaveOutBatchesAndSequences) {
  ModelBuilder fixed(13, 7);
  fixed.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 4}).node("Identity", {"x"}, {"y"});
  EXPECT_EQ(run(fixed, fixed).size(), 6U);
}

TEST_F(EdgeCasesTest, ASmallDifferencePassesAndIsTold) {
  const ModelBuilder close = model_of([](ModelBuilder& m) {
    m.initializer("w", {}, {1.01F}).node("Mul", {"x", "w"}, {"y"});
  });
  const std::vector<EdgeCase> cases = run(kPassedOn, close);
  EXPECT_THAT(cases, Each(Field(&EdgeCase::passed, true)));
  EXPECT_EQ(find(cases, "all highest").finding, "40.0 dB");
  EXPECT_EQ(find(cases, "all zero").finding, "identical");
}

// sqrt(9 − x²) is NaN beyond 3.
TEST_F(EdgeCasesTest, NanWhereTheReferenceHasNoneFails) {
  const ModelBuilder breaks = model_of([](ModelBuilder& m) {
    m.initializer("nine", {}, {9}).node("Mul", {"x", "x"}, {"s"}).node("Sub", {"nine", "s"}, {"d"});
    m.node("Sqrt", {"d"}, {"r"}).node("Sub", {"r", "r"}, {"zero"}).node("Add", {"x", "zero"}, {"y"});
  });
  const std::vector<EdgeCase> cases = run(kPassedOn, breaks);
  EXPECT_TRUE(find(cases, "all highest").passed);
  const EdgeCase beyond = find(cases, "8 times the range");
  EXPECT_FALSE(beyond.passed);
  EXPECT_EQ(beyond.finding, "output 'y' has 4 NaN or infinite values where the reference is finite");
  EXPECT_THAT(run(breaks, breaks), Each(Field(&EdgeCase::passed, true)));  // the reference has them too
}

ModelBuilder exploding(int type, const std::string& five) {
  return model_of(
      [&](ModelBuilder& m) {
        m.initializer(ounce::test::tensor("five", type, {}, five));
        m.node("Mul", {"x", "x"}, {"s"}).node("Mul", {"s", "x"}, {"c"}).node("Mul", {"c", "five"}, {"y"});
      },
      type);
}

// 5·x³ differs from x by 2552 at 8.
TEST_F(EdgeCasesTest, AnExplosionFails) {
  const EdgeCase beyond =
      find(run(kPassedOn, exploding(kFloat, ounce::test::raw_floats({5}))), "8 times the range");
  EXPECT_FALSE(beyond.passed);
  EXPECT_THAT(beyond.finding, HasSubstr("explodes"));
}

// ArgMin instead of ArgMax: the label always changes, which is reported but does not fail.
TEST_F(EdgeCasesTest, LabelsThatChangeAreToldAndAreNoExplosion) {
  const auto index_of = [](const char* op) {
    ModelBuilder model(13, 7);
    model.add(11, test::free_value("x", kFloat, {"N", "T"}));
    model.add(12, test::free_value("y", ounce::test::kInt64, {"N"}));
    model.node(op, {"x"}, {"y"},
               {ounce::test::int_attribute("axis", 1), ounce::test::int_attribute("keepdims", 0)});
    return model;
  };
  const EdgeCase noise = find(run(index_of("ArgMax"), index_of("ArgMin")), "noise");
  EXPECT_TRUE(noise.passed);
  EXPECT_EQ(noise.finding, "1 of 1 labels changed");
}

TEST_F(EdgeCasesTest, AnExplosionOfAnotherFloatTypeFailsToo) {
  constexpr int kDouble = 11;
  const ModelBuilder identity = model_of([](ModelBuilder& m) { m.node("Identity", {"x"}, {"y"}); }, kDouble);
  const std::string five = tensor_of<double>({1}, {5}).bytes;
  const auto cases = run(identity, exploding(kDouble, five), tensor_of<double>({1, 4}, {-1, 0.5, 0.25, 1}));
  EXPECT_FALSE(find(cases, "8 times the range").passed);
}

// A Reshape to four columns accepts only multiples of four.
TEST_F(EdgeCasesTest, WhatOnlyTheCandidateDoesNotTakeFails) {
  const ModelBuilder rigid = model_of([](ModelBuilder& m) {
    const std::string shape = tensor_of<std::int64_t>({2}, {-1, 4}).bytes;
    m.initializer(ounce::test::tensor("shape", ounce::test::kInt64, {2}, shape));
    m.node("Reshape", {"x", "shape"}, {"r"}).node("Shape", {"x"}, {"dims"});
    m.node("Reshape", {"r", "dims"}, {"y"});
  });
  const EdgeCase shortest = find(run(kPassedOn, rigid), "shortest sequence");
  EXPECT_FALSE(shortest.passed);
  EXPECT_THAT(shortest.finding, HasSubstr("does not run: "));
  const EdgeCase both = find(run(rigid, rigid), "shortest sequence");
  EXPECT_TRUE(both.passed);
  EXPECT_THAT(both.finding, HasSubstr("skipped: the reference does not accept it"));
  EXPECT_TRUE(find(run(rigid, kPassedOn), "shortest sequence").passed);
}

TEST_F(EdgeCasesTest, IdsStayInsideTheirTable) {
  ModelBuilder model(13, 7);
  model.add(11, test::free_value("ids", ounce::test::kInt64, {"N"}))
      .add(12, test::free_value("y", kFloat, {"N"}));
  model.initializer("table", {3}, {1, 2, 3}).node("Gather", {"table", "ids"}, {"y"});
  const auto cases = run(model, model, tensor_of<std::int64_t>({2}, {0, 2}));
  EXPECT_THAT(cases, Each(Field(&EdgeCase::finding, "identical")));
}

}  // namespace
}  // namespace ounce::evaluate
