#include "formats/onnx/prepare/fold_weights.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/prepare/remove_nodes.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"

namespace ounce::passes {
namespace {

using ounce::test::GraphBuilder;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using test::expect_same_outputs;
using test::ints_attribute;
using test::noise;
using test::text_of;

std::string folded(const std::string& bytes, std::size_t count) {
  onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  EXPECT_EQ(fold_constants(model).count, count);
  remove_dead_nodes(model);
  expect_same_outputs(bytes, model, 1e-6);
  return text_of(model);
}

TEST(FoldConstants, ATransposedWeightIsMadeOnceForAll) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3}).output("z", kFloat, {2, 3});
  model.initializer("w", {3, 4}, noise({3, 4}));
  model.node("Transpose", {"w"}, {"t"}).node("MatMul", {"x", "t"}, {"y"}).node("MatMul", {"x", "t"}, {"z"});
  EXPECT_EQ(folded(model.bytes(), 2), "q0 = float32[4,3]\nMatMul(x, q0) -> y\nMatMul(x, q0) -> z\n");
}

TEST(FoldConstants, AConvTakesItsReshapedWeight) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 3, 3, 3});
  model.initializer("w", {3, 18}, noise({3, 18})).initializer(test::ints_tensor("s", {3, 2, 3, 3}));
  model.node("Reshape", {"w", "s"}, {"t"}).node("Conv", {"x", "t"}, {"y"});
  EXPECT_EQ(folded(model.bytes(), 1), "q0 = float32[3,2,3,3]\nConv(x, q0) -> y\n");
}

TEST(FoldConstants, AReshapedBiasBehindAConvBecomesAConstant) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 3, 3, 3});
  model.initializer("w", {3, 2, 3, 3}, noise({3, 2, 3, 3})).initializer("b", {3}, noise({3}));
  model.initializer(test::ints_tensor("s", {1, -1, 1, 1}));
  model.node("Conv", {"x", "w"}, {"c"}).node("Reshape", {"b", "s"}, {"t"}).node("Add", {"c", "t"}, {"y"});
  EXPECT_EQ(folded(model.bytes(), 1),
            "w = float32[3,2,3,3]\nq0 = float32[1,3,1,1]\nConv(x, w) -> c\nAdd(c, q0) -> y\n");
}

TEST(FoldConstants, AnAddendThatIsNoBiasOrIsTakenElsewhereStays) {
  ModelBuilder table;
  table.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3});
  table.initializer("w", {4, 3}, noise({4, 3})).initializer("p", {6}, noise({6}));
  table.initializer(test::ints_tensor("s", {2, 3}));
  table.node("Gemm", {"x", "w"}, {"g"}).node("Reshape", {"p", "s"}, {"t"}).node("Add", {"g", "t"}, {"y"});
  folded(table.bytes(), 0);

  ModelBuilder twice;
  twice.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3}).output("z", kFloat, {2, 3});
  twice.initializer("w", {4, 3}, noise({4, 3})).initializer("b", {3}, noise({3}));
  twice.initializer(test::ints_tensor("s", {1, 3}));
  twice.node("Gemm", {"x", "w"}, {"g"}).node("Reshape", {"b", "s"}, {"t"}).node("Add", {"g", "t"}, {"y"});
  twice.node("Mul", {"g", "t"}, {"z"});
  folded(twice.bytes(), 0);
}

TEST(FoldConstants, WhatIsComputedOrNoWeightStays) {
  ModelBuilder model;
  model.input("x", kFloat, {3, 4}).output("y", kFloat, {3, 3}).output("z", kFloat, {3, 4});
  model.initializer("w", {4, 3}, noise({4, 3}));
  model.node("Transpose", {"x"}, {"t"}).node("MatMul", {"x", "t"}, {"y"});
  model.node("Transpose", {"w"}, {"u"}).node("Add", {"x", "u"}, {"z"});
  folded(model.bytes(), 0);
}

TEST(FoldConstants, ATiedTableStaysOne) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3}).output("z", kFloat, {1, 4});
  model.initializer("w", {3, 4}, noise({3, 4})).initializer(test::ints_tensor("i", {1}));
  model.node("Transpose", {"w"}, {"t"}).node("MatMul", {"x", "t"}, {"y"}).node("Gather", {"w", "i"}, {"z"});
  folded(model.bytes(), 0);
}

TEST(FoldConstants, ABranchTakesWhatIsMadeOutside) {
  GraphBuilder branch;
  branch.output("b", kFloat, {2, 3}).node("MatMul", {"x", "t"}, {"b"});
  GraphBuilder other;
  other.output("o", kFloat, {2, 3}).node("MatMul", {"x", "t"}, {"p"}).node("Neg", {"p"}, {"o"});
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3});
  model.initializer("w", {3, 4}, noise({3, 4}));
  model.initializer(ounce::test::tensor("c", 9, {}, std::string(1, '\1')));
  model.node("Transpose", {"w"}, {"t"});
  model.node("If", {"c"}, {"y"},
             {ounce::test::graph_attribute("then_branch", branch.bytes()),
              ounce::test::graph_attribute("else_branch", other.bytes())});
  folded(model.bytes(), 2);
}

}  // namespace
}  // namespace ounce::passes
