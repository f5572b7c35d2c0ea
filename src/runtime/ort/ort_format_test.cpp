#include "runtime/ort/ort_format.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/onnx/file/reader.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/runtime_versions.h"
#include "support/temporary_folder.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;
using passes::test::noise;
using test::error_of;
using test::kFloat;
using test::ModelBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// x [1,8,6,6] ─ Conv ─ Relu ─ MatMul; the runtime fuses Conv and Relu.
std::string conv_model() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 6, 6}).output("y", kFloat, {1, 8, 4, 3});
  model.initializer("w", {8, 8, 3, 3}, noise({8, 8, 3, 3})).initializer("m", {4, 3}, noise({4, 3}, 2));
  model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"}).node("MatMul", {"r", "m"}, {"y"});
  return model.bytes();
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct OrtFormatTest : testing::TestWithParam<fs::path> {
  fs::path write(const std::string& model) const {
    test::write_file(folder / "model.onnx", model);
    return folder / "model.onnx";
  }
  static OrtOptions options(OrtStyle style = OrtStyle::kFixed, OrtMachine machine = OrtMachine::kAny) {
    return {.library = GetParam().string(), .style = style, .machine = machine};
  }
  static std::string output_of(const fs::path& model) {
    const Session session(Library::open(GetParam()), model, {});
    const std::vector<float> values = noise({1, 8, 6, 6}, 5);
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return session.run({{"x", {ElementType::kFloat, {1, 8, 6, 6}, bytes}}}).at(0).bytes;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
    return names;
  }
  static std::vector<std::string> ops_of(const fs::path& path) {
    const onnx::Model model = onnx::read_model(path);
    std::vector<std::string> ops;
    for (const auto& node : model.proto->graph->nodes) ops.emplace_back(node->op_type());
    return ops;
  }

  test::TemporaryFolder folder;
};

TEST_P(OrtFormatTest, AModelComputesTheSameInBothFormats) {
  const fs::path model = write(conv_model());
  for (const OrtStyle style : {OrtStyle::kFixed, OrtStyle::kRuntime}) {
    for (const OrtMachine machine : {OrtMachine::kAny, OrtMachine::kArm, OrtMachine::kX64}) {
      write_ort(model, folder / "model.ort", options(style, machine));
      EXPECT_EQ(content_of(folder / "model.ort").substr(4, 4), "ORTM");
      const std::string before = output_of(model), after = output_of(folder / "model.ort");
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t i = 0; i < before.size(); i += sizeof(float)) {
        EXPECT_NEAR(*reinterpret_cast<const float*>(&before[i]), *reinterpret_cast<const float*>(&after[i]),
                    1e-4F);
      }
    }
  }
}

TEST_P(OrtFormatTest, NothingButTheFileIsLeft) {
  write_ort(write(conv_model()), folder / "out.bin", options());  // any file name is allowed
  EXPECT_EQ(content_of(folder / "out.bin").substr(4, 4), "ORTM");
  EXPECT_THAT(files(), testing::UnorderedElementsAre("model.onnx", "out.bin"));
}

TEST_P(OrtFormatTest, ExternalDataBecomesPartOfTheFile) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 6, 6}).output("y", kFloat, {1, 8, 6, 6});
  model.initializer(test::external_tensor("w", {6, 6}, "w.bin", "0", "144"));
  model.node("MatMul", {"x", "w"}, {"y"});
  test::write_file(folder / "w.bin", test::raw_floats(noise({6, 6})));
  const std::string before = output_of(write(model.bytes()));
  write_ort(folder / "model.onnx", folder / "model.ort", options());
  fs::remove(folder / "w.bin");
  EXPECT_EQ(output_of(folder / "model.ort"), before);
}

TEST_P(OrtFormatTest, TheOptimisedModelShowsWhatTheRuntimeFuses) {
  write_optimized(write(conv_model()), folder / "optimized.onnx", options());
  EXPECT_THAT(ops_of(folder / "optimized.onnx"), ElementsAre("FusedConv", "MatMul"));
}

TEST_P(OrtFormatTest, LayoutsOfOneProcessorAreOnlyForThatOne) {
  const fs::path model = write(conv_model());
  for (const OrtMachine machine : {OrtMachine::kAny, OrtMachine::kArm}) {
    write_optimized(model, folder / "optimized.onnx", options(OrtStyle::kFixed, machine));
    EXPECT_THAT(ops_of(folder / "optimized.onnx"), Not(Contains("ReorderOutput")));
  }
#ifdef __x86_64__
  write_optimized(model, folder / "optimized.onnx", options(OrtStyle::kFixed, OrtMachine::kX64));
  EXPECT_THAT(ops_of(folder / "optimized.onnx"), Contains("ReorderOutput"));
#endif
}

TEST_P(OrtFormatTest, LaterOptimisationsAreNotDoneNow) {
  write_optimized(write(conv_model()), folder / "optimized.onnx", options(OrtStyle::kRuntime));
  EXPECT_THAT(ops_of(folder / "optimized.onnx"), Contains("MatMul"));
  write_ort(folder / "model.onnx", folder / "fixed.ort", options());
  write_ort(folder / "model.onnx", folder / "runtime.ort", options(OrtStyle::kRuntime));
  EXPECT_NE(content_of(folder / "fixed.ort"), content_of(folder / "runtime.ort"));
}

// y = OptionalHasElement(x). The runtime loads it, but its own format does not support optional values.
std::string optional_model() {
  const std::string floats = test::field(1, test::field(1, std::int64_t{kFloat}));
  ModelBuilder model;
  model.add(11, test::field(1, std::string("x")) + test::field(2, test::field(9, test::field(1, floats))));
  model.node("OptionalHasElement", {"x"}, {"y"}).output("y", 9, {});
  return model.bytes();
}

TEST_P(OrtFormatTest, WhatTheFormatCannotHoldIsTheRuntimesWord) {
  const Error error = error_of([&] { write_ort(write(optional_model()), folder / "model.ort", options()); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(),
              testing::AllOf(HasSubstr("cannot write the model as ORT"), HasSubstr("ONNX Runtime: "),
                             HasSubstr("model.onnx"), Not(HasSubstr("\n"))));
  EXPECT_THAT(files(), ElementsAre("model.onnx"));
}

TEST_P(OrtFormatTest, AnOptimisedModelBesideItsDataKeepsIt) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 6, 6}).output("y", kFloat, {1, 8, 6, 6});
  model.initializer(test::external_tensor("w", {6, 6}, "w.bin", "0", "144"));
  model.node("MatMul", {"x", "w"}, {"y"});
  test::write_file(folder / "w.bin", test::raw_floats(noise({6, 6})));
  const std::string before = output_of(write(model.bytes()));
  write_optimized(folder / "model.onnx", folder / "optimized.onnx", options());
  EXPECT_EQ(output_of(folder / "optimized.onnx"), before);
}

TEST_P(OrtFormatTest, AFailureLeavesTheOldFile) {
  test::write_file(folder / "model.ort", "old");
  ModelBuilder model;
  model.input("x", kFloat, {4}).output("y", kFloat, {4});
  model.node("NoSuchOp", {"x"}, {"y"});
  const Error error = error_of([&] { write_ort(write(model.bytes()), folder / "model.ort", options()); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);  // the model itself is invalid
  EXPECT_THAT(error.what(), HasSubstr("NoSuchOp"));
  EXPECT_EQ(content_of(folder / "model.ort"), "old");
  EXPECT_THAT(files(), testing::UnorderedElementsAre("model.onnx", "model.ort"));
}

TEST_P(OrtFormatTest, TheModelIsNeverItsOwnOutput) {
  const fs::path model = write(conv_model());
  EXPECT_EQ(error_of([&] { write_ort(model, model, options()); }).code(), ErrorCode::kUsage);
  EXPECT_EQ(content_of(model), conv_model());
}

TEST_P(OrtFormatTest, AFolderThatIsNotThereIsNamed) {
  const fs::path nowhere = folder / "no" / "model.ort";
  const Error error = error_of([&] { write_ort(write(conv_model()), nowhere, options()); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr(nowhere.string()));
}

TEST_P(OrtFormatTest, AModelThatIsNotThereIsNamed) {
  const Error error = error_of([&] { write_ort(folder / "no.onnx", folder / "model.ort", options()); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("no.onnx"));
  EXPECT_THAT(files(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Versions, OrtFormatTest, testing::ValuesIn(Library::installed()),
                         test::version_name);

}  // namespace
}  // namespace ounce::runtime
