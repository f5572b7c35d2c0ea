// sensitivity() on a network with one layer that INT8 destroys.
#include <gmock/gmock.h>
#include <ounce/search.h>

#include <cmath>
#include <fstream>

#include "search/sensitivity/findings.h"
#include "support/error_of.h"
#include "support/fatal_layer.h"
#include "support/npy_bytes.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using test::error_of;
using test::FatalLayer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct SensitivityTest : testing::Test {
  SensitivityTest() {
    const FatalLayer fatal;
    test::write_file(model, fatal.model);
    test::write_file(folder / "x.npy",
                     search::test::npy_bytes(FatalLayer::kSamples, FatalLayer::kWidth, fatal.inputs));
    options.data.path = folder / "x.npy";
    options.cache = folder / "cache";
    options.format = Format::kW8;
  }
  SensitivityResult run() { return sensitivity(model, options); }
  std::filesystem::path journal() {
    for (const auto& entry : std::filesystem::directory_iterator(options.cache)) return entry.path();
    return {};
  }
  test::TemporaryFolder folder;
  std::filesystem::path model = folder / "fatal.onnx";
  SensitivityOptions options;
};

std::vector<std::string> names_of(const SensitivityResult& result) {
  std::vector<std::string> names;
  for (const GroupSensitivity& group : result.groups) names.push_back(group.name);
  return names;
}

void expect_same(const SensitivityResult& a, const SensitivityResult& b) {
  EXPECT_EQ(names_of(a), names_of(b));
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    EXPECT_EQ(a.groups[i].alone_db, b.groups[i].alone_db);
    EXPECT_EQ(a.groups[i].without_db, b.groups[i].without_db);
    EXPECT_EQ(a.groups[i].estimated_db, b.groups[i].estimated_db);
  }
  EXPECT_EQ(a.all_db, b.all_db);
  EXPECT_EQ(a.exclude, b.exclude);
  EXPECT_EQ(a.exclude_db, b.exclude_db);
  EXPECT_EQ(a.findings, b.findings);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.runtime_version, b.runtime_version);
}

TEST_F(SensitivityTest, TheFatalLayerIsTheWorstInEveryFormat) {
  for (const Format format : {Format::kW8, Format::kW4, Format::kInt8Dynamic, Format::kInt8}) {
    SCOPED_TRACE(static_cast<int>(format));
    options.format = format;
    const SensitivityResult result = run();
    ASSERT_EQ(result.groups.size(), 5U);
    EXPECT_EQ(result.groups[0].name, FatalLayer::kLayer);
    EXPECT_GT(result.groups[0].without_db, result.groups[0].alone_db);
    EXPECT_GT(result.groups[0].share, 0.5);
    EXPECT_LT(result.all_db, 10);
  }
}

TEST_F(SensitivityTest, WhatIsLeftOutReachesWhatWasSaidWithQuantize) {
  for (const Format format : {Format::kW8, Format::kInt8Dynamic, Format::kInt8}) {
    SCOPED_TRACE(static_cast<int>(format));
    options.format = format;
    options.min_sqnr = 25;
    const SensitivityResult result = run();
    EXPECT_TRUE(result.is_enough);
    EXPECT_GE(result.exclude_db, 25);
    EXPECT_THAT(result.exclude, ElementsAre("^third$"));
    QuantizeOptions how;
    how.recipe.format = format;
    how.recipe.nodes = result.nodes;
    if (result.nodes.empty()) how.recipe.exclude = result.exclude;  // the excluded layers need FP32 weights
    how.recipe.fp16_budget = 0;
    how.recipe.integer.search = how.recipe.integer.equalize = false;
    how.trial.data = options.data;
    quantize(model, folder / "small.onnx", how);
    VerifyOptions against;
    against.data = options.data;
    against.edge_cases = false;
    EXPECT_NEAR(verify(model, folder / "small.onnx", against).outputs.at(0).sqnr_db, result.exclude_db, 0.01);
  }
}

TEST_F(SensitivityTest, FirstAndLastAreMarked) {
  const SensitivityResult result = run();
  for (const GroupSensitivity& group : result.groups) {
    EXPECT_EQ(group.is_first, group.name == "first");
    EXPECT_EQ(group.is_last, group.name == "fifth");
    EXPECT_FALSE(group.is_attention);
  }
}

TEST_F(SensitivityTest, ASecondRunMeasuresNothing) {
  const SensitivityResult first = run(), second = run();
  EXPECT_GT(first.measured, 10U);
  EXPECT_EQ(first.recalled, 0U);
  EXPECT_EQ(second.measured, 0U);
  EXPECT_EQ(second.recalled, first.measured);
  expect_same(first, second);
}

TEST_F(SensitivityTest, NothingIsKeptWhenNothingIsToBe) {
  options.keep = false;
  run();
  EXPECT_FALSE(std::filesystem::exists(options.cache));
  EXPECT_EQ(run().recalled, 0U);
}

TEST_F(SensitivityTest, ARunThatWasKilledGoesOn) {
  const SensitivityResult whole = run();
  std::string lines = test::read_file(journal());
  std::size_t cut = 0;
  for (int i = 0; i < 6; ++i) cut = lines.find('\n', cut) + 1;
  test::write_file(journal(), lines.substr(0, cut + 20));  // with one incomplete line
  const SensitivityResult again = run();
  EXPECT_EQ(again.recalled, 5U);  // without the survey of the layers
  EXPECT_EQ(again.measured + again.recalled, whole.measured);
  expect_same(whole, again);
}

TEST_F(SensitivityTest, AJournalOfNonsenseIsSurvived) {
  const SensitivityResult whole = run();
  test::write_file(journal(), "nonsense\n{\"key\":\"survey\",\"seconds\":1,\"value\":[3]}\n\xff\xfe\n");
  const SensitivityResult again = run();
  EXPECT_EQ(again.measured, whole.measured);
  expect_same(whole, again);
}

TEST_F(SensitivityTest, ChangedDataIsMeasuredAnew) {
  run();
  std::string bytes = test::read_file(options.data.path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  test::write_file(options.data.path, bytes);
  EXPECT_EQ(run().recalled, 0U);
  options.samples = 32;
  EXPECT_EQ(run().recalled, 0U);
}

TEST_F(SensitivityTest, TheNumberOfThreadsChangesNothing) {
  options.keep = false;
  options.threads = 1;
  const SensitivityResult one = run();
  options.threads = 4;
  expect_same(one, run());
}

TEST_F(SensitivityTest, OnlyTheLargestEstimatesAreMeasuredWhenAsked) {
  options.measure = 2;
  const SensitivityResult result = run();
  EXPECT_EQ(result.groups.size(), 5U);
  EXPECT_TRUE(result.groups[0].is_measured);
  EXPECT_TRUE(result.groups[1].is_measured);
  EXPECT_FALSE(result.groups[2].is_measured);
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_GE(result.groups[i].estimated_db, result.groups[0].estimated_db);
    EXPECT_GE(result.groups[i].estimated_db, result.groups[1].estimated_db);
  }
}

TEST_F(SensitivityTest, GroupsAreMeasuredTogether) {
  options.grouping = Grouping::kOpType;
  const SensitivityResult result = run();
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_EQ(result.groups[0].name, "MatMul");
  EXPECT_EQ(result.groups[0].alone_db, result.all_db);
  EXPECT_EQ(result.groups[0].without_db, INFINITY);
}

TEST_F(SensitivityTest, SenselessRequestsAreRefused) {
  options.format = Format::kFp16;
  EXPECT_EQ(error_of([&] { run(); }).code(), ErrorCode::kUsage);
  options.format = Format::kInt8;
  options.data = {};
  EXPECT_EQ(error_of([&] { run(); }).code(), ErrorCode::kUsage);
  test::ModelBuilder empty;
  empty.input("x", test::kFloat, {1, 32}).output("y", test::kFloat, {1, 32}).node("Relu", {"x"}, {"y"});
  test::write_file(model, empty.bytes());
  options.format = Format::kW8;
  EXPECT_EQ(error_of([&] { run(); }).code(), ErrorCode::kUnsupported);
}

using search::choose_exclusion;
using search::GroupNoise;

// Noise that adds up exactly.
struct Adding {
  std::vector<GroupNoise> groups;
  double all = 0;
  int measured = 0;

  explicit Adding(const std::vector<std::pair<double, std::uint64_t>>& parts) {
    for (const auto& [noise, bytes] : parts) all += noise;
    for (const auto& [noise, bytes] : parts) groups.push_back({noise, all - noise, bytes});
  }
  search::Exclusion choose(double limit) {
    return choose_exclusion(groups, all, limit, [&](const std::set<std::size_t>& without) {
      ++measured;
      double left = all;
      for (const std::size_t i : without) left -= *groups[i].alone;
      return left;
    });
  }
};

TEST(ChooseExclusion, NothingWhenAllIsGood) {
  Adding noise({{0.1, 10}, {0.2, 10}});
  const auto chosen = noise.choose(0.5);
  EXPECT_TRUE(chosen.is_enough);
  EXPECT_THAT(chosen.groups, IsEmpty());
  EXPECT_EQ(noise.measured, 0);
}

TEST(ChooseExclusion, OneThatIsEnoughIsKnownAlready) {
  Adding noise({{8, 100}, {9, 1000}, {0.1, 1}});
  const auto chosen = noise.choose(9.5);
  EXPECT_TRUE(chosen.is_enough);
  EXPECT_THAT(chosen.groups, UnorderedElementsAre(0));  // the smaller of the two
  EXPECT_EQ(noise.measured, 0);
}

TEST(ChooseExclusion, SeveralAreChosenByTheirNoiseForAByte) {
  Adding noise({{4, 100}, {4, 100}, {4, 100000}, {0.5, 100}});
  const auto chosen = noise.choose(4.6);
  EXPECT_TRUE(chosen.is_enough);
  EXPECT_THAT(chosen.groups, UnorderedElementsAre(0, 1));
  EXPECT_LE(noise.measured, 4);  // including the tests whether one group is enough
}

TEST(ChooseExclusion, MoreIsLeftOutWhileAMeasurementMisses) {
  const std::vector<GroupNoise> groups = {{4, 20, 1}, {4, 20, 2}, {4, 20, 3}, {4, 20, 4}};
  const auto chosen = choose_exclusion(groups, 20, 1, [](const std::set<std::size_t>& without) {
    return without.size() < 3 ? 15.0 : 0.5;  // the errors of groups amplify each other
  });
  EXPECT_TRUE(chosen.is_enough);
  EXPECT_THAT(chosen.groups, UnorderedElementsAre(0, 1, 2));
}

TEST(ChooseExclusion, TheBestIsGivenWhenNothingIsEnough) {
  const std::vector<GroupNoise> groups = {{4, 20, 1}, {4, 20, 2}};
  const auto chosen = choose_exclusion(groups, 20, 1, [](const std::set<std::size_t>&) { return 10.0; });
  EXPECT_FALSE(chosen.is_enough);
  EXPECT_EQ(chosen.noise, 10);
}

SensitivityResult measured(const std::vector<double>& shares) {
  SensitivityResult result;
  result.all_db = 20;
  for (const double share : shares) {
    GroupSensitivity& group = result.groups.emplace_back();
    group.name = "layer" + std::to_string(result.groups.size());
    group.is_measured = true;
    group.share = share;
    group.weight_bytes = 100;
  }
  return result;
}

TEST(Findings, NothingStandsOutWhereAllTakeTheirShare) {
  EXPECT_THAT(search::find_findings(measured({.2, .2, .2, .2, .1, .1})),
              ElementsAre(HasSubstr("no layer is much more sensitive")));
}

TEST(Findings, FirstAndLastAreNamedOnlyWhenTheyAreAmongTheWorst) {
  SensitivityResult result = measured({.3, .2, .2, .1, .1, .1});
  result.groups[0].is_first = true;
  result.groups[5].is_last = true;
  EXPECT_THAT(search::find_findings(result),
              ElementsAre(HasSubstr("the first layer, 'layer1', is the most sensitive")));
}

TEST(Findings, OneLayerAndAttentionStandOut) {
  SensitivityResult result = measured({.8, .1, .05, .05, 0, 0});
  result.groups[0].is_attention = true;
  EXPECT_THAT(search::find_findings(result),
              ElementsAre(HasSubstr("'layer1' is by far the most sensitive: 80 % of the noise"),
                          HasSubstr("attention")));
}

}  // namespace
}  // namespace ounce
