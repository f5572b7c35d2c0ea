#include "runtime/ort/session.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/runtime_versions.h"
#include "support/temporary_folder.h"

namespace ounce::runtime {
namespace {

using test::error_of;
using test::kFloat;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

template <class T>
Tensor tensor_of(ElementType type, std::vector<std::int64_t> dims, const std::vector<T>& values) {
  Tensor tensor{type, std::move(dims), std::string(values.size() * sizeof(T), '\0')};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

template <class T>
std::vector<T> numbers_of(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// Every test runs with every installed version of ONNX Runtime.
struct SessionTest : testing::TestWithParam<std::filesystem::path> {
  std::filesystem::path write(const std::string& model) {
    test::write_file(folder / "model.onnx", model);
    return folder / "model.onnx";
  }
  Session load(const std::string& model, const SessionOptions& options = {}) {
    return {library, write(model), options};
  }

  test::TemporaryFolder folder;
  std::shared_ptr<const Library> library = Library::open(GetParam());
};

// y = x · w + 1 with x [1, 2]
std::string small_model() {
  test::ModelBuilder model(13, 7);
  model.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 2});
  model.initializer("w", {2, 2}, {1, 2, 3, 4}).initializer("one", {}, {1});
  model.node("MatMul", {"x", "w"}, {"p"}).node("Add", {"p", "one"}, {"y"});
  return model.bytes();
}

// y = x with the given element type.
std::string identity(ElementType type) {
  test::ModelBuilder model(13, 7);
  model.input("x", static_cast<int>(type), {2}).output("y", static_cast<int>(type), {2});
  model.node("Identity", {"x"}, {"y"});
  return model.bytes();
}

TEST_P(SessionTest, RunsAModel) {
  const Session session = load(small_model());
  const auto outputs = session.run({{"x", tensor_of<float>(ElementType::kFloat, {1, 2}, {1, 10})}});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_THAT(outputs[0].dims, ElementsAre(1, 2));
  EXPECT_THAT(numbers_of<float>(outputs[0]), ElementsAre(32, 43));
}

TEST_P(SessionTest, DescribesInputsAndOutputs) {
  // x is [batch, 3]: DimensionProto.dim_param is field 2.
  using test::field;
  const std::string shape = field(1, field(2, std::string("batch"))) + field(1, field(1, std::int64_t{3}));
  const std::string x =
      field(1, std::string("x")) + field(2, field(1, field(1, std::int64_t{kFloat}) + field(2, shape)));
  test::ModelBuilder model(13, 7);
  model.add(11, x).output("n", test::kInt64, {2}).node("Shape", {"x"}, {"n"});
  const Session session = load(model.bytes());
  ASSERT_EQ(session.inputs().size(), 1U);
  const ValueDescription& input = session.inputs()[0];
  EXPECT_EQ(input.name, "x");
  EXPECT_EQ(input.element, ElementType::kFloat);
  ASSERT_EQ(input.shape.size(), 2U);
  EXPECT_EQ(input.shape[0].value, -1);
  EXPECT_EQ(input.shape[0].name, "batch");
  EXPECT_EQ(input.shape[1].value, 3);
  ASSERT_EQ(session.outputs().size(), 1U);
  EXPECT_EQ(session.outputs()[0].element, ElementType::kInt64);
  const auto outputs =
      session.run({{"x", tensor_of<float>(ElementType::kFloat, {2, 3}, std::vector<float>(6))}});
  EXPECT_THAT(numbers_of<std::int64_t>(outputs[0]), ElementsAre(2, 3));
}

TEST_P(SessionTest, CarriesEveryFixedWidthType) {
  for (const ElementType type :
       {ElementType::kFloat, ElementType::kDouble, ElementType::kFloat16, ElementType::kInt32,
        ElementType::kInt64, ElementType::kUint8, ElementType::kInt8, ElementType::kBool}) {
    const Session session = load(identity(type));
    Tensor tensor{type, {2}, std::string(2 * static_cast<std::size_t>(info_of(type).bits) / 8, '\1')};
    EXPECT_EQ(session.run({{"x", tensor}})[0].bytes, tensor.bytes) << name_of(type);
  }
}

TEST_P(SessionTest, GivesOnlyTheOutputsAskedFor) {
  test::ModelBuilder model(13, 7);
  model.input("x", kFloat, {1}).output("a", kFloat, {1}).output("b", kFloat, {1});
  model.node("Neg", {"x"}, {"a"}).node("Abs", {"x"}, {"b"});
  const auto outputs =
      load(model.bytes()).run({{"x", tensor_of<float>(ElementType::kFloat, {1}, {-2})}}, {"b"});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_THAT(numbers_of<float>(outputs[0]), ElementsAre(2));
}

TEST_P(SessionTest, EmptyTensorsPass) {
  test::ModelBuilder model(13, 7);
  model.input("x", kFloat, {0}).output("y", kFloat, {0}).node("Neg", {"x"}, {"y"});
  EXPECT_EQ(load(model.bytes()).run({{"x", {ElementType::kFloat, {0}, ""}}})[0].bytes, "");
}

TEST_P(SessionTest, SavesTheOptimizedModel) {
  SessionOptions options;
  options.optimization = Optimization::kBasic;
  options.save_optimized = folder / "optimized.onnx";
  options.config["session.disable_prepacking"] = "1";
  load(small_model(), options);
  EXPECT_TRUE(std::filesystem::exists(options.save_optimized));
}

TEST_P(SessionTest, AMissingModelIsAnError) {
  const Error error = error_of([&] { Session(library, folder / "none.onnx", {}); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("none.onnx"));
}

TEST_P(SessionTest, ABrokenModelIsOneLine) {
  test::ModelBuilder model(13, 7);
  model.input("x", kFloat, {1}).output("y", kFloat, {1}).node("NoSuchOp", {"x"}, {"y"});
  const Error error = error_of([&] { load(model.bytes()); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("NoSuchOp"));
  EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
}

TEST_P(SessionTest, AWrongInputNameIsAnError) {
  const Session session = load(small_model());
  const Error error = error_of([&] {
    session.run({{"z", tensor_of<float>(ElementType::kFloat, {1, 2}, {1, 2})}});
  });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
}

TEST_P(SessionTest, BytesThatDoNotFitTheShapeAreAnError) {
  const Session session = load(small_model());
  const Error error = error_of([&] {
    session.run({{"x", tensor_of<float>(ElementType::kFloat, {1, 2}, {1})}});
  });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("tensor 'x'"));
}

INSTANTIATE_TEST_SUITE_P(Versions, SessionTest, testing::ValuesIn(Library::installed()), test::version_name);

}  // namespace
}  // namespace ounce::runtime
