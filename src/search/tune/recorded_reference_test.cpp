#include "search/tune/recorded_reference.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "support/error_of.h"
#include "support/fatal_layer.h"
#include "support/npy_bytes.h"
#include "support/temporary_folder.h"

namespace ounce::search {
namespace {

using ounce::test::error_of;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;

constexpr std::uint64_t kRoom = std::uint64_t{1} << 30;

// y = x · w, one number.
std::string scaled(float w) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 1}).output("y", kFloat, {1, 1});
  model.initializer("w", {1, 1}, {w}).node("MatMul", {"x", "w"}, {"y"});
  return model.bytes();
}

// A running sum: state' = state + x · w, which is also the output.
std::string summing(float w) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 1}).input("state", kFloat, {1, 1});
  model.output("y", kFloat, {1, 1}).output("next", kFloat, {1, 1});
  model.initializer("w", {1, 1}, {w}).node("MatMul", {"x", "w"}, {"step"});
  model.node("Add", {"state", "step"}, {"next"}).node("Identity", {"next"}, {"y"});
  return model.bytes();
}

struct RecordedReferenceTest : testing::Test {
  RecordedReferenceTest() {
    std::vector<float> numbers;
    for (int i = 1; i <= 10; ++i) numbers.push_back(static_cast<float>(i));
    ounce::test::write_file(folder / "x.npy", test::npy_bytes(10, 1, numbers));
    how.data.path = folder / "x.npy";
    how.edge_cases = false;
  }
  std::filesystem::path write(const std::string& name, const std::string& bytes) {
    ounce::test::write_file(folder / name, bytes);
    return folder / name;
  }
  ounce::test::TemporaryFolder folder;
  VerifyOptions how;
};

TEST_F(RecordedReferenceTest, ACandidateIsComparedAsVerifyComparesIt) {
  const auto original = write("a.onnx", scaled(1)), other = write("b.onnx", scaled(1.25F));
  const RecordedReference recording(original, how, kRoom);
  const VerifyResult ours = recording.compare(other), theirs = verify(original, other, how);
  EXPECT_EQ(ours.samples, 10U);
  EXPECT_EQ(ours.max_abs_diff, 2.5);
  EXPECT_EQ(ours.outputs.at(0).sqnr_db, theirs.outputs.at(0).sqnr_db);
  EXPECT_EQ(ours.passed, theirs.passed);
}

TEST_F(RecordedReferenceTest, SamplesAreSpreadEvenly) {
  const auto original = write("a.onnx", scaled(1)), other = write("b.onnx", scaled(2));
  const RecordedReference recording(original, how, kRoom, 5);
  EXPECT_EQ(recording.samples(), 5U);
  EXPECT_EQ(recording.available(), 10U);
  EXPECT_EQ(recording.compare(other).max_abs_diff, 9);     // of 1 3 5 7 9
  EXPECT_EQ(recording.compare(other, 2).max_abs_diff, 5);  // of 1 5
}

TEST_F(RecordedReferenceTest, WhatDoesNotFitIsLeftOut) {
  const auto original = write("a.onnx", scaled(1));
  const RecordedReference recording(original, how, 8 * 3);  // a number in and one out
  EXPECT_TRUE(recording.is_cut());
  EXPECT_EQ(recording.samples(), 3U);
  EXPECT_FALSE(RecordedReference(original, how, kRoom).is_cut());
}

TEST_F(RecordedReferenceTest, ACarriedStateShowsOverTheSequence) {
  how.data.carry["state"] = "next";
  const auto original = write("a.onnx", summing(1)), other = write("b.onnx", summing(2));
  const VerifyResult result =
      RecordedReference(original, how, kRoom, 4).compare(other);  // 1 3 6 10 and twice that
  ASSERT_EQ(result.outputs.size(), 2U);
  EXPECT_FALSE(result.outputs[0].is_state);
  EXPECT_TRUE(result.outputs[1].is_state);
  EXPECT_EQ(result.outputs[0].max_abs_diff, 10);
}

TEST_F(RecordedReferenceTest, SeveralThreadsCompareSideBySide) {
  const RecordedReference recording(write("a.onnx", scaled(1)), how, kRoom);
  std::vector<std::filesystem::path> models;
  for (int i = 0; i < 4; ++i)
    models.push_back(write(std::to_string(i) + ".onnx", scaled(static_cast<float>(i))));
  std::vector<double> largest(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { largest[i] = recording.compare(models[i]).max_abs_diff; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(largest, testing::ElementsAre(10, 0, 10, 20));
}

TEST_F(RecordedReferenceTest, ACandidateIsLoadedInAProcessOfItsOwnFirst) {
  const RecordedReference recording(write("a.onnx", scaled(1)), how, kRoom);
  const auto other = write("b.onnx", scaled(2)), runner = write("runner", "#!/bin/sh\nkill -SEGV $$");
  std::filesystem::permissions(runner, std::filesystem::perms::owner_all);
  ::setenv("OUNCE_RUNNER", runner.c_str(), 1);
  const Error error = error_of([&] { recording.compare(other); });
  ::unsetenv("OUNCE_RUNNER");
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), testing::HasSubstr("crashed"));
  EXPECT_EQ(recording.compare(other).max_abs_diff, 10);
}

TEST_F(RecordedReferenceTest, AnotherInterfaceIsRefused) {
  const RecordedReference recording(write("a.onnx", scaled(1)), how, kRoom);
  const auto other = write("b.onnx", summing(1));
  EXPECT_EQ(error_of([&] { recording.compare(other); }).code(), ErrorCode::kBadInput);
}

}  // namespace
}  // namespace ounce::search
