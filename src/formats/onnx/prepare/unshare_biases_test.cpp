#include "formats/onnx/prepare/fold_weights.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using test::expect_same_outputs;
using test::noise;
using test::text_of;

std::string owned(const std::string& bytes, std::size_t count) {
  onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  EXPECT_EQ(unshare_biases(model).count, count);
  expect_same_outputs(bytes, model, 1e-6);
  return text_of(model);
}

TEST(OwnBiases, SharedOnesAreCopied) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 3, 3, 3}).output("z", kFloat, {1, 3, 3, 3});
  model.initializer("w", {3, 2, 3, 3}, noise({3, 2, 3, 3})).initializer("b", {3}, noise({3}));
  model.node("Conv", {"x", "w", "b"}, {"y"}).node("Conv", {"x", "w", "b"}, {"z"});
  EXPECT_THAT(owned(model.bytes(), 2), testing::HasSubstr("Conv(x, w, q0) -> y\nConv(x, w, q1) -> z\n"));
}

TEST(OwnBiases, ShapesOfGemmBecomeOneValueAChannel) {
  for (const Dims& dims : {Dims{1, 3}, Dims{1}, Dims{}, Dims{1, 1}}) {
    ModelBuilder model;
    model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3});
    model.initializer("w", {4, 3}, noise({4, 3})).initializer("b", dims, noise(dims));
    model.node("Gemm", {"x", "w", "b"}, {"y"});
    EXPECT_THAT(owned(model.bytes(), 1), testing::HasSubstr("q0 = float32[3]"));
  }
}

TEST(OwnBiases, WhatDependsOnTheRowStays) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3});
  model.initializer("w", {4, 3}, noise({4, 3})).initializer("b", {2, 1}, noise({2, 1}));
  model.node("Gemm", {"x", "w", "b"}, {"y"});
  owned(model.bytes(), 0);
}

TEST(OwnBiases, OnesOfTheirOwnStay) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 4}).output("y", kFloat, {2, 3});
  model.initializer("w", {4, 3}, noise({4, 3})).initializer("b", {3}, noise({3}));
  model.node("Gemm", {"x", "w", "b"}, {"y"});
  owned(model.bytes(), 0);
}

}  // namespace
}  // namespace ounce::passes
