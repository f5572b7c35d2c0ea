#include "search/tune/repair.h"

#include <gmock/gmock.h>

#include "support/scripted_evaluator.h"

namespace ounce::search {
namespace {

using test::Script;
using test::ScriptedSearch;
using testing::ElementsAre;
using testing::IsEmpty;

// `times`: of each layer in INT8, relative to its time in FP32.
Script chain(const std::vector<double>& times) {
  Script script;
  for (std::size_t i = 0; i < times.size(); ++i)
    script.layers.push_back({"l" + std::to_string(i), 1000, {}, "Conv", {{Format::kInt8, times[i]}}});
  return script;
}

// Every transition between INT8 and FP32 costs a share of a layer's time.
Script with_borders(Script script, double cost) {
  const std::size_t count = script.layers.size();
  script.speed = [count, cost](const Recipe& recipe, double speed, int) {
    double borders = 0;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      const bool a = recipe.nodes.contains("l" + std::to_string(i));
      const bool b = recipe.nodes.contains("l" + std::to_string(i + 1));
      borders += a != b ? 1 : 0;
    }
    const auto layers = static_cast<double>(count);
    return layers / (layers / speed + borders * cost);
  };
  return script;
}

std::vector<std::string> found(const Script& script, double seconds = 600) {
  ScriptedSearch run(script, {.seconds = seconds});
  Recipe recipe;
  recipe.format = Format::kInt8;
  std::vector<std::string> names;
  const auto has_time = [&](double wanted) { return run.clock.left() > wanted; };
  for (const LayerCost& group : faster_in_floats(run.evaluator, recipe, has_time))
    names.insert(names.end(), group.outputs.begin(), group.outputs.end());
  return names;
}

TEST(FasterInFloats, NothingLeavesIntegersThatAreFast) {
  EXPECT_THAT(found(chain({.5, .5, .5, .5, .5, .5, .5, .5})), IsEmpty());
}

TEST(FasterInFloats, OneSlowLayerIsFound) {
  EXPECT_THAT(found(chain({.5, .5, .5, .5, .5, 2, .5, .5})), ElementsAre("l5"));
}

// Moving one layer at a time would not help, because two transitions cost more than the layer gains.
TEST(FasterInFloats, LayersThatOnlyPayTogetherLeaveTogether) {
  EXPECT_THAT(found(with_borders(chain({1.5, 1.5, 1.5, 1.5, .4, .4, .4, .4}), .8)),
              ElementsAre("l0", "l1", "l2", "l3"));
}

TEST(FasterInFloats, WithoutTimeNothingIsTried) { EXPECT_THAT(found(chain({2, 2, .5, .5}), .1), IsEmpty()); }

}  // namespace
}  // namespace ounce::search
