#include "formats/onnx/graph/index.h"

#include <gtest/gtest.h>

#include <set>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/read_model.h"

namespace ounce::graph {
namespace {

using ounce::test::read;
using test::field;
using test::graph_attribute;
using test::GraphBuilder;
using test::kFloat;
using test::ModelBuilder;

TEST(NamesTest, FreshNamesAreShortAndDifferent) {
  onnx::Model model = read(ModelBuilder().bytes());
  Names names(model);
  EXPECT_EQ(names.fresh("q"), "q0");
  EXPECT_EQ(names.fresh("q"), "q1");
  EXPECT_EQ(names.fresh("s"), "s0");
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(std::string(names.fresh("n"))).second);
}

// "q1" with number 0 could collide with "q" with number 10.
TEST(NamesTest, PrefixesThatEndInDigitsDoNotCollide) {
  onnx::Model model = read(ModelBuilder().bytes());
  Names names(model);
  std::set<std::string> seen;
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(seen.insert(std::string(names.fresh("q"))).second);
    EXPECT_TRUE(seen.insert(std::string(names.fresh("q1"))).second);
  }
}

TEST(NamesTest, FreshNamesLiveAsLongAsTheModel) {
  onnx::Model model = read(ModelBuilder().bytes());
  std::vector<onnx::Bytes> kept;
  {
    Names names(model);
    for (int i = 0; i < 100; ++i)
      kept.push_back(names.fresh("a_prefix_that_does_not_fit_into_a_small_string_"));
  }
  const onnx::Model moved = std::move(model);
  EXPECT_EQ(kept[0], "a_prefix_that_does_not_fit_into_a_small_string_0");
  EXPECT_EQ(kept[99], "a_prefix_that_does_not_fit_into_a_small_string_99");
}

TEST(NamesTest, NeverGivesANameThatStandsAnywhereInTheModel) {
  const std::string indices = test::tensor("", test::kInt64, {0}, "");
  const std::string innermost =
      GraphBuilder().initializer("q0", {0}, {}).node("A", {"q1"}, {"q2"}, {}, "q3").bytes();
  GraphBuilder inner;
  inner.input("q4", kFloat, {1}).output("q5", kFloat, {1}).add(13, test::value_info("q6", kFloat, {1}));
  inner.node("If", {}, {}, {graph_attribute("b", innermost)});
  const std::string training = GraphBuilder().initializer("q7", {0}, {}).node("A", {}, {"q8"}).bytes();
  const std::string function =
      field(4, std::string("q9")) + field(5, std::string("q10")) + field(6, std::string("alpha")) +
      field(7, test::node("If", {"q11"}, {"q12"},
                          {graph_attribute("b", GraphBuilder().node("A", {}, {"q13"}).bytes())})) +
      field(11, graph_attribute("default", GraphBuilder().node("A", {"q14"}, {"q15"}).bytes()));
  ModelBuilder model;
  model.input("q16", kFloat, {1})
      .output("q17", kFloat, {1})
      .initializer("q18", {0}, {})
      .node("A", {"q19"}, {"q20"}, {}, "q21");
  model.add(15, field(1, test::float_tensor("q22", {0}, {})) + field(2, indices));
  model.node("Loop", {}, {}, {graph_attribute("body", inner.bytes())});
  model.add_to_model(20, field(1, training))
      .add_to_model(20, field(2, GraphBuilder().node("A", {}, {"q23"}).bytes()));
  model.add_to_model(25, function);
  onnx::Model read_model = read(model.bytes());
  Names names(read_model);
  EXPECT_EQ(names.fresh("q"), "q24");
}

}  // namespace
}  // namespace ounce::graph
