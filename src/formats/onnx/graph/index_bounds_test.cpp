#include "formats/onnx/graph/index.h"

#include <gmock/gmock.h>

#include <array>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"

namespace ounce::graph {
namespace {

using test::graph_attribute;
using test::GraphBuilder;
using test::int_attribute;
using test::kFloat;
using test::kInt64;
using test::ModelBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::map<std::string, std::int64_t> bounds(const ModelBuilder& model) {
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "test");
  return index_bounds(read, Index(read));
}

// ids, and a table of 30 rows and 2 columns.
ModelBuilder with_table() {
  ModelBuilder model;
  model.input("ids", kInt64, {4}).output("y", kFloat, {4, 2});
  model.initializer("table", {30, 2}, std::vector<float>(60));
  return model;
}

TEST(IndexBoundsTest, IdsStayBelowTheRowsOfTheirTable) {
  ModelBuilder model = with_table();
  model.node("Gather", {"table", "ids"}, {"y"});
  EXPECT_THAT(bounds(model), ElementsAre(Pair("ids", 30)));
}

TEST(IndexBoundsTest, RowsAreCountedAlongTheAxisOfTheGather) {
  for (const std::int64_t axis : {1, -1}) {
    ModelBuilder model = with_table();
    model.node("Gather", {"table", "ids"}, {"y"}, {int_attribute("axis", axis)});
    EXPECT_THAT(bounds(model), ElementsAre(Pair("ids", 2)));
  }
  ModelBuilder beyond = with_table();
  beyond.node("Gather", {"table", "ids"}, {"y"}, {int_attribute("axis", 7)});
  EXPECT_THAT(bounds(beyond), IsEmpty());
}

TEST(IndexBoundsTest, FollowsCastsAndReshapes) {
  ModelBuilder model = with_table();
  model.input("axes", kInt64, {1}).node("Cast", {"ids"}, {"a"});
  model.node("Unsqueeze", {"a", "axes"}, {"b"}).node("Identity", {"b"}, {"c"});
  model.node("Gather", {"table", "c"}, {"y"});
  EXPECT_THAT(bounds(model), ElementsAre(Pair("ids", 30)));
}

TEST(IndexBoundsTest, FollowsIdsThatOnlyChangePlaces) {
  ModelBuilder model = with_table();
  const std::array<std::int64_t, 4> order = {3, 2, 1, 0};
  model.initializer(
      test::tensor("order", kInt64, {4}, {reinterpret_cast<const char*>(order.data()), sizeof(order)}));
  model.node("Gather", {"ids", "order"}, {"turned"});
  model.node("Gather", {"table", "turned"}, {"y"});
  EXPECT_THAT(bounds(model), ElementsAre(Pair("ids", 30)));
}

TEST(IndexBoundsTest, TheSmallestTableDecides) {
  ModelBuilder model = with_table();
  model.initializer("small", {3}, {1, 2, 3});
  model.node("Gather", {"table", "ids"}, {"y"}).node("Gather", {"small", "ids"}, {"z"});
  EXPECT_THAT(bounds(model), ElementsAre(Pair("ids", 3)));
}

TEST(IndexBoundsTest, ATableIsFoundFromInsideABranch) {
  const std::string branch =
      GraphBuilder().node("Gather", {"table", "ids"}, {"g"}).output("g", kFloat, {4, 2}).bytes();
  ModelBuilder model = with_table();
  model.input("flag", 9, {1}).node("If", {"flag"}, {"y"}, {graph_attribute("then_branch", branch)});
  EXPECT_THAT(bounds(model), ElementsAre(Pair("ids", 30)));
}

TEST(IndexBoundsTest, ArithmeticAndOtherUsesSetNoBound) {
  ModelBuilder changed = with_table();
  changed.node("Add", {"ids", "ids"}, {"more"}).node("Gather", {"table", "more"}, {"y"});
  EXPECT_THAT(bounds(changed), IsEmpty());
  ModelBuilder data = with_table();
  data.input("places", kInt64, {1}).node("Gather", {"ids", "places"}, {"y"});  // the ids are the table
  EXPECT_THAT(bounds(data), IsEmpty());
  ModelBuilder shaped = with_table();
  shaped.input("other", kInt64, {4})
      .node("Reshape", {"other", "ids"}, {"r"})
      .node("Gather", {"table", "r"}, {"y"});
  EXPECT_THAT(bounds(shaped), ElementsAre(Pair("other", 30)));
}

TEST(IndexBoundsTest, ATableThatIsMadeAtRunTimeSetsNoBound) {
  ModelBuilder model = with_table();
  model.node("Neg", {"table"}, {"made"}).node("Gather", {"made", "ids"}, {"y"});
  EXPECT_THAT(bounds(model), IsEmpty());
}

TEST(IndexBoundsTest, AGatherWithoutInputsIsNothing) {
  ModelBuilder model = with_table();
  model.node("Gather", {"", "ids"}, {"y"});
  EXPECT_THAT(bounds(model), IsEmpty());
}

}  // namespace
}  // namespace ounce::graph
