// Tests the choices and the budget of the search, with scripted measurements and a virtual clock.
#include "search/tune/search.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "quantize/recipe_json.h"
#include "search/tune/evaluator.h"
#include "support/scripted_evaluator.h"

namespace ounce::search {
namespace {

using test::Script;
using test::ScriptedLayer;
using test::ScriptedSearch;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Pair;

ScriptedLayer layer(const std::string& name, double static_noise) {
  return {
      name,
      1000,
      {{Format::kW8, 1e-5}, {Format::kW4, 1e-2}, {Format::kInt8, static_noise}, {Format::kInt8Dynamic, 2e-5}},
      "Conv",
      {{Format::kInt8, 0.5}, {Format::kInt8Dynamic, 0.9}}};
}

// Five layers; "third" loses all accuracy in INT8.
Script one_fatal_layer() {
  Script script;
  for (const char* name : {"first", "second", "third", "fourth", "fifth"})
    script.layers.push_back(layer(name, std::string(name) == "third" ? 0.5 : 5e-5));
  script.layers[2].noise[Format::kInt8Dynamic] = 0.5;
  return script;
}

Script all_layers_are_fine() {
  Script script;
  for (const char* name : {"first", "second", "third"}) script.layers.push_back(layer(name, 5e-5));
  return script;
}

TEST(SearchTest, WhatIsFastAndPassesWins) {
  ScriptedSearch run(all_layers_are_fine(), {.seconds = 600});
  run.run();
  EXPECT_EQ(run.best().trial.name, "int8");
  EXPECT_TRUE(run.search.is_complete());
}

std::vector<std::string> names_of(const Search& search) {
  std::vector<std::string> names;
  for (const Candidate& candidate : search.candidates()) names.push_back(candidate.trial.name);
  return names;
}

// On a busy machine any speed ratio may be measured, such as 18.7 for weight-only formats.
TEST(SearchTest, AnUnreliableTimingDecidesNothing) {
  std::set<std::string> bests;
  for (const double nonsense : {0.1, 1.0, 18.7}) {
    Script script = all_layers_are_fine();
    script.is_quiet = [](int) { return false; };
    script.speed = [&](const Recipe& recipe, double speed, int) {
      return recipe.format == Format::kW16 ? nonsense : speed;
    };
    ScriptedSearch run(script, {.seconds = 600}, Objective::kLatency);
    run.run();
    bests.insert(run.best().trial.name);
    for (const Candidate& candidate : run.search.candidates()) {
      EXPECT_FALSE(candidate.trial.is_timed);
      EXPECT_FALSE(candidate.trial.is_slower);
      EXPECT_EQ(candidate.trial.speed_up.ratio, 1);
    }
    EXPECT_THAT(run.search.notes(), Contains(HasSubstr("the machine was too busy to time")));
  }
  EXPECT_EQ(bests.size(), 1U);
  EXPECT_FALSE(bests.contains("w16"));
}

TEST(SearchTest, ATimingThatWasNotReliableIsRepeated) {
  Script script = all_layers_are_fine();
  script.is_quiet = [](int timing) { return timing != 2; };  // busy while static INT8 is timed
  ScriptedSearch run(script, {.seconds = 600});
  run.run();
  EXPECT_EQ(run.best().trial.name, "int8");
  EXPECT_TRUE(run.best().trial.is_timed);
}

// Dequantizing at run time costs an unknown amount of time.
TEST(SearchTest, ForMemoryAModelHasToProveItsSpeed) {
  Script script = all_layers_are_fine();
  script.is_quiet = [](int) { return false; };
  script.memory = [](const Recipe& recipe) { return recipe.memory == MemoryUse::kLow ? 0.2 : 1.0; };
  ScriptedSearch run(script, {.seconds = 600}, Objective::kMemory);
  run.run();
  EXPECT_EQ(run.search.best(), nullptr);
  EXPECT_EQ(run.search.candidates()[0].trial.reason, "not timed, as the machine was too busy");
}

TEST(SearchTest, EveryRejectedModelHasItsReason) {
  Script script = one_fatal_layer();
  script.judged = [](const Recipe&, TuneTrial& trial) {
    if (!trial.passed) trial.verdict = "failed: too much noise";
  };
  script.speed = [](const Recipe& recipe, double speed, int) {
    return recipe.format == Format::kW16 ? 0.5 : speed;
  };
  ScriptedSearch run(script, {.seconds = 600});
  std::vector<TuneTrial> told;
  run.options.on_trial = [&](const TuneTrial& trial) { told.push_back(trial); };
  run.run();
  ASSERT_EQ(told.size(), run.search.candidates().size());
  for (const TuneTrial& trial : told) EXPECT_EQ(trial.reason.empty(), is_eligible(trial)) << trial.name;
  EXPECT_THAT(told, Contains(Field(&TuneTrial::reason, "too much noise")));
  EXPECT_THAT(told, Contains(Field(&TuneTrial::reason, "slower than the original (0.50 ×)")));
}

TEST(SearchTest, StaticThatCannotBeMadeIsACandidateWithItsReason) {
  Script script = all_layers_are_fine();
  script.static_problem = "INT8 loses too much accuracy";
  ScriptedSearch run(script, {.seconds = 600});
  run.run();
  EXPECT_THAT(run.search.candidates(),
              Contains(Field(&Candidate::trial, AllOf(Field(&TuneTrial::name, "int8"),
                                                      Field(&TuneTrial::problem, script.static_problem)))));
  EXPECT_NE(run.search.best(), nullptr);
}

// w16 can win only if w8 fails; before that the time is better spent on other formats.
TEST(SearchTest, SixteenBitsComeEarlyOnlyWhenEightFail) {
  ScriptedSearch fine(all_layers_are_fine(), {.seconds = 600});
  fine.run();
  const std::vector<std::string> names = names_of(fine.search);
  ASSERT_GE(names.size(), 4U);
  EXPECT_EQ(std::vector(names.begin(), names.begin() + 3),
            (std::vector<std::string>{"w8", "int8-dynamic", "int8"}));
  EXPECT_THAT(names, Contains("w16"));
  Script script = all_layers_are_fine();
  for (ScriptedLayer& layer : script.layers) layer.noise[Format::kW8] = 0.5;
  ScriptedSearch broken(script, {.seconds = 600});
  broken.run();
  EXPECT_EQ(names_of(broken.search).at(1), "w16");
}

// Settings from the least memory to the highest speed are tried until one is fast enough.
TEST(SearchTest, ForMemoryTheLeastThatIsFastEnoughWins) {
  Script script = one_fatal_layer();
  for (ScriptedLayer& layer : script.layers)
    layer.noise[Format::kInt8] = layer.noise[Format::kInt8Dynamic] = 0.5;
  script.memory = [](const Recipe& recipe) {
    return recipe.memory == MemoryUse::kLow    ? 0.2
           : recipe.memory == MemoryUse::kFast ? 1.0
                                               : 1 - 2 * recipe.decode_share;
  };
  script.speed = [](const Recipe& recipe, double speed, int) {
    return recipe.memory == MemoryUse::kLow        ? 0.5
           : recipe.memory == MemoryUse::kBalanced ? 1 - recipe.decode_share
                                                   : speed;
  };
  ScriptedSearch run(script, {.seconds = 600}, Objective::kMemory);
  run.run();
  EXPECT_EQ(run.best().trial.name, "w8, 10 % for dequantizing");
  EXPECT_DOUBLE_EQ(run.best().trial.memory_ratio, 0.8);
}

// Products with a single row are memory-bound, so low-bit weights make them faster.
TEST(SearchTest, FewBitsInKernelsWinWhereTheyAreFaster) {
  Script script = all_layers_are_fine();
  for (ScriptedLayer& layer : script.layers) {
    layer.noise[Format::kNbits4] = 1e-4;
    layer.time[Format::kNbits4] = 0.25;
  }
  ScriptedSearch run(script, {.seconds = 600}, Objective::kLatency);
  run.run();
  EXPECT_EQ(run.best().trial.name, "nbits4");
  EXPECT_EQ(run.best().recipe.nbits.method, WeightMethod::kRtn);
  EXPECT_EQ(run.best().recipe.nbits.accuracy_level, AccuracyLevel::k4);

  ScriptedSearch for_size(script, {.seconds = 600}, Objective::kSize);  // w4 is smaller
  for_size.run();
  for (const Candidate& candidate : for_size.search.candidates())
    EXPECT_FALSE(is_nbits(candidate.recipe.format)) << candidate.trial.name;
}

TEST(SearchTest, TheFatalLayerAloneLeavesTheIntegers) {
  ScriptedSearch run(one_fatal_layer(), {.seconds = 600});
  run.run();
  EXPECT_EQ(run.best().recipe.format, Format::kInt8);
  EXPECT_THAT(run.best().recipe.nodes, ElementsAre(Pair("third", Format::kW8)));
}

TEST(SearchTest, LayersThatIntegersSlowDownComputeOnFloats) {
  Script script = all_layers_are_fine();
  script.layers[0].time[Format::kInt8] = 1.5;
  ScriptedSearch run(script, {.seconds = 600});
  run.run();
  EXPECT_THAT(run.best().recipe.nodes, Contains(Pair("first", Format::kW8)));
  EXPECT_FALSE(run.best().recipe.nodes.contains("second"));
}

TEST(SearchTest, WhatTheHeldOutDataRefusesIsNotTaken) {
  Script script = all_layers_are_fine();
  script.adopt = [](const Candidate& best) { return !best.recipe.is_integer(); };
  ScriptedSearch run(script, {.seconds = 600});
  run.run();
  EXPECT_FALSE(run.best().recipe.is_integer());
}

// The time is up while the first candidate is judged on held-out data.
TEST(SearchTest, WhatPassedIsProvedEvenWhenTimeIsUp) {
  Script script = all_layers_are_fine();
  int asked = 0;
  script.adopt = [&](const Candidate&) {
    if (++asked == 1) throw Error(ErrorCode::kCancelled, "the time is up");
    return true;
  };
  ScriptedSearch run(script, {.seconds = 600});
  run.run();
  EXPECT_EQ(run.best().trial.name, "w8");
  EXPECT_EQ(asked, 2);
}

// With too few samples nothing can pass: only the safe formats are tried, to find the closest model.
TEST(SearchTest, TooFewSamplesForAnyModelEndTheSearch) {
  Script script = all_layers_are_fine();
  ScriptedSearch* running = nullptr;
  script.adopt = [&](const Candidate&) {
    running->search.note_too_few_samples();
    return false;
  };
  ScriptedSearch run(script, {.seconds = 600});
  running = &run;
  run.run();
  EXPECT_EQ(run.search.best(), nullptr);
  EXPECT_EQ(run.evaluator.judged, 2);
  EXPECT_TRUE(run.search.is_complete());
}

// Only half of the data judges candidates that depend on the data. They are not repaired if they have no
// chance to pass.
TEST(SearchTest, WhatSoFewSamplesCannotShowIsNotRepaired) {
  Script script = one_fatal_layer();
  script.judged = [](const Recipe& recipe, TuneTrial& trial) {
    if (!recipe.is_integer()) return;
    trial.passed = false;
    trial.has_too_few_samples = true;
  };
  ScriptedSearch run(script, {.seconds = 600});
  run.run();
  EXPECT_FALSE(run.best().recipe.is_integer());
  EXPECT_THAT(
      run.search.candidates(),
      testing::Each(Field(&Candidate::recipe,
                          Field(&Recipe::nodes, testing::Not(Contains(Pair("third", Format::kW8)))))));
}

TEST(SearchTest, WhatIsSlowerThanTheOriginalIsNoAnswer) {
  Script script = all_layers_are_fine();
  script.speed = [](const Recipe&, double, int) { return 0.8; };
  ScriptedSearch run(script, {.seconds = 600});
  run.run();
  EXPECT_EQ(run.search.best(), nullptr);
  EXPECT_THAT(run.search.candidates(),
              Contains(Field(&Candidate::trial, Field(&TuneTrial::is_slower, true))));
}

// The last timed comparison decides, and candidates keep its times.
TEST(SearchTest, WhatTurnsOutSlowerInTheEndIsNoAnswerAndSaysSo) {
  Script script = all_layers_are_fine();
  script.adopt = [](const Candidate& best) { return best.trial.name == "int8"; };
  int timings = 1'000'000;
  {
    ScriptedSearch first(script, {.seconds = 600});
    first.run();
    timings = first.evaluator.timings;
  }
  script.speed = [&](const Recipe&, double speed, int timing) { return timing >= timings - 1 ? 0.8 : speed; };
  ScriptedSearch run(script, {.seconds = 600});
  run.run();
  ASSERT_EQ(run.search.best(), nullptr);
  const auto found = std::find_if(run.search.candidates().begin(), run.search.candidates().end(),
                                  [](const Candidate& c) { return c.trial.name == "int8"; });
  ASSERT_NE(found, run.search.candidates().end());
  EXPECT_TRUE(found->trial.passed);
  EXPECT_TRUE(found->trial.is_slower);
}

TEST(SearchTest, CandidatesKnowTheirPlaces) {
  ScriptedSearch run(one_fatal_layer(), {.seconds = 600});
  run.run();
  for (std::size_t i = 0; i < run.search.candidates().size(); ++i)
    EXPECT_EQ(run.search.candidates()[i].number, i);
}

TEST(SearchTest, ATimeIsKeptHoweverSlowTheMachineIs) {
  for (const double slowness : {0.1, 1.0, 7.0, 50.0}) {
    for (const double seconds : {5.0, 30.0, 120.0}) {
      Script script = one_fatal_layer();
      script.judge_seconds *= slowness;
      script.noise_seconds *= slowness;
      script.load_seconds *= slowness;
      ScriptedSearch run(script, {.seconds = seconds});
      run.run();
      EXPECT_LE(run.now, 1.1 * seconds) << slowness << " " << seconds;
    }
  }
}

TEST(SearchTest, WhatIsLeftOutForLackOfTimeIsSaid) {
  ScriptedSearch run(one_fatal_layer(), {.seconds = 5});
  run.run();
  EXPECT_FALSE(run.search.is_complete());
  ScriptedSearch none(one_fatal_layer(), {.seconds = 1e-6});
  none.run();
  EXPECT_TRUE(none.search.candidates().empty());
  EXPECT_FALSE(none.search.is_complete());
}

TEST(SearchTest, ANumberOfModelsIsKept) {
  for (std::uint64_t models = 1; models < 60; ++models) {
    ScriptedSearch run(one_fatal_layer(), {.models = models});
    run.run();
    EXPECT_LE(run.clock.elapsed(), static_cast<double>(models));
    EXPECT_GE(run.search.candidates().size(), 1U);
    ASSERT_NE(run.search.best(), nullptr) << models;
  }
}

TEST(SearchTest, ANumberOfModelsGivesTheSameOnEveryMachine) {
  for (const std::uint64_t models : {3U, 12U, 40U, 200U}) {
    ScriptedSearch fast(one_fatal_layer(), {.models = models});
    fast.run();
    Script slow_script = one_fatal_layer();
    slow_script.judge_seconds = 1e6;
    slow_script.speed = [](const Recipe&, double, int timing) { return timing % 2 == 0 ? 0.1 : 9; };
    ScriptedSearch slow(slow_script, {.models = models});
    slow.run();
    EXPECT_EQ(quantization::to_json(slow.best().recipe), quantization::to_json(fast.best().recipe)) << models;
    EXPECT_EQ(slow.search.candidates().size(), fast.search.candidates().size());
    EXPECT_EQ(slow.evaluator.timings, 0);  // nothing is timed
    EXPECT_FALSE(slow.best().trial.is_timed);
  }
}

TEST(SearchTest, WithoutTimesIntegersAreTakenToBeFaster) {
  ScriptedSearch run(all_layers_are_fine(), {.models = 40});
  run.run();
  EXPECT_EQ(run.best().trial.name, "int8");
  ScriptedSearch small(all_layers_are_fine(), {.models = 40}, Objective::kSize);
  small.run();
  EXPECT_LE(small.best().trial.bytes, run.best().trial.bytes);
}

}  // namespace
}  // namespace ounce::search
