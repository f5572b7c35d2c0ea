#include "formats/onnx/graph/index.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"

namespace ounce::graph {
namespace {

using test::kFloat;
using test::ModelBuilder;
using test::Strings;

// The error for a model with this node; empty if it is valid.
std::string refusal_of(const std::string& node, std::int64_t opset = 17) {
  ModelBuilder model(opset);
  model.input("x", kFloat, {1}).input("w", kFloat, {1}).add(1, node);
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  try {
    validate(read);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.what();
  }
}

TEST(OpParameters, AnOpHasWhatItCannotBeWithout) {
  EXPECT_EQ(refusal_of(test::node("Conv", {"x", "w"}, {"y"}, {}, "c")), "");
  EXPECT_EQ(refusal_of(test::node("Conv", {"x"}, {"y"}, {}, "c")),
            "node 'c' lacks its input 1: it is no Conv of opset 17");
  EXPECT_EQ(refusal_of(test::node("Conv", {"", "w"}, {"y"}, {}, "c")),
            "node 'c' lacks its input 0: it is no Conv of opset 17");
  EXPECT_EQ(refusal_of(test::node("Conv", {"x", "w"}, {}, {}, "c")),
            "node 'c' has 0 outputs: it is no Conv of opset 17");
  EXPECT_EQ(refusal_of(test::node("Conv", {"x", "w", "x", "x"}, {"y"}, {}, "c")),
            "node 'c' has 4 inputs: it is no Conv of opset 17");
}

TEST(OpParameters, WhatAnOpNeedsIsAMatterOfItsOpset) {
  const std::string clip = test::node("Clip", {"x", "", "w"}, {"y"}, {}, "c");
  EXPECT_EQ(refusal_of(clip, 11), "");
  EXPECT_EQ(refusal_of(clip, 9), "node 'c' has 3 inputs: it is no Clip of opset 9");
}

TEST(OpParameters, SomeTakeAnyNumber) {
  EXPECT_EQ(refusal_of(test::node("Concat", {"x", "w", "x", "w"}, {"y"})), "");
  EXPECT_EQ(refusal_of(test::node("Concat", {}, {"y"}, {}, "c")),
            "node 'c' lacks its input 0: it is no Concat of opset 17");
}

TEST(OpParameters, OpsOfOthersAreTheirAffair) {
  EXPECT_EQ(refusal_of(test::node("Conv", {}, {}, {}, "c", "com.example")), "");
  EXPECT_EQ(refusal_of(test::node("NobodyKnowsIt", {}, {"y"})), "");
}

}  // namespace
}  // namespace ounce::graph
