#include "formats/onnx/edit/names.h"

#include <gtest/gtest.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"

namespace ounce::passes {
namespace {

using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;

TEST(NameSlices, GivesEachANameOfItsOwn) {
  GraphBuilder branch;
  branch.output("e", kFloat, {1}).node("Gather", {"x", "i"}, {"e"});
  ModelBuilder model;
  model.input("x", kFloat, {4}).input("i", kInt64, {1}).input("c", 9, {}).output("y", kFloat, {1});
  model.node("Gather", {"x", "i"}, {"a"}).node("Gather", {"x", "i"}, {"b"}, {}, "mine");
  model.node("Relu", {"a"}, {"n0"});  // the name of a value is also in use
  model.node(
      "If", {"c"}, {"y"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  EXPECT_EQ(name_slices(read), 3U);
  const auto& nodes = read.proto->graph->nodes;
  EXPECT_EQ(nodes[0]->name, "n1");
  EXPECT_EQ(nodes[1]->name, "mine");
  EXPECT_EQ(nodes[2]->name, "");
  EXPECT_EQ(nodes[3]->attributes[0]->graphs[0]->operator->()->nodes[0]->name, "n2");
  graph::validate(read);
  EXPECT_EQ(name_slices(read), 0U);
}

}  // namespace
}  // namespace ounce::passes
