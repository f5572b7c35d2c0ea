#include "runtime/ort/bound_run.h"

#include <gmock/gmock.h>

#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/other_process.h"
#include "support/runtime_versions.h"
#include "support/temporary_folder.h"

namespace ounce::runtime {
namespace {

using test::error_of;
using test::floats;
using test::kFloat;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> numbers(const TensorView& view) {
  const auto* first = reinterpret_cast<const float*>(view.bytes.data());
  return {first, first + view.bytes.size() / sizeof(float)};
}

// x is [N, 2] with a dynamic axis N.
std::string free_batch(const std::string& name, int type) {
  using test::field;
  const std::string shape = field(1, field(2, std::string("N"))) + field(1, field(1, std::int64_t{2}));
  return field(1, name) + field(2, field(1, field(1, std::int64_t{type}) + field(2, shape)));
}

struct BoundRunTest : testing::TestWithParam<std::filesystem::path> {
  Session load(const test::ModelBuilder& model) {
    test::write_file(folder / "model.onnx", model.bytes());
    return {Library::open(GetParam()), folder / "model.onnx", {}};
  }
  test::TemporaryFolder folder;
};

test::ModelBuilder doubling() {
  test::ModelBuilder model(13, 7);
  model.add(11, free_batch("x", kFloat)).add(12, free_batch("y", kFloat));
  model.node("Add", {"x", "x"}, {"y"});
  return model;
}

TEST_P(BoundRunTest, OutputsKeepTheirMemoryWhileShapesStay) {
  const Session session = load(doubling());
  BoundRun run(session);
  Tensor x = floats({1, 2}, {1, 2});
  run.bind(std::vector<TensorView>{x});
  run.run();
  const char* const first = run.outputs()[0].bytes.data();
  EXPECT_THAT(numbers(run.outputs()[0]), ElementsAre(2, 4));
  data::values_of<float>(x)[0] = 10;  // the input is not copied
  run.run();
  EXPECT_EQ(run.outputs()[0].bytes.data(), first);
  EXPECT_THAT(numbers(run.outputs()[0]), ElementsAre(20, 4));
}

TEST_P(BoundRunTest, ShapesMayChangeFromBindToBind) {
  const Session session = load(doubling());
  BoundRun run(session);
  for (const std::int64_t batch : {1, 3, 2}) {
    const Tensor x = floats({batch, 2}, std::vector<float>(static_cast<std::size_t>(2 * batch), 1));
    run.bind(std::vector<TensorView>{x});
    run.run();
    EXPECT_THAT(run.outputs()[0].dims, ElementsAre(batch, 2));
  }
}

TEST_P(BoundRunTest, ShapesThatDependOnTheDataAreFound) {
  test::ModelBuilder model(13, 7);
  model.add(11, free_batch("x", kFloat));
  model.add(12, test::field(1, std::string("y")) +
                    test::field(2, test::field(1, test::field(1, std::int64_t{test::kInt64}))));
  model.node("NonZero", {"x"}, {"y"});
  const Session session = load(model);
  BoundRun run(session);
  Tensor x = floats({1, 2}, {1, 0});
  run.bind(std::vector<TensorView>{x});
  for (const float second : {0.0F, 1.0F, 0.0F, 1.0F, 1.0F}) {
    data::values_of<float>(x)[1] = second;
    run.run();
    EXPECT_THAT(run.outputs()[0].dims, ElementsAre(2, second == 0 ? 1 : 2));
  }
}

TEST_P(BoundRunTest, AnInputThatIsAnOutputIsNeverWrittenTo) {
  test::ModelBuilder model(13, 7);
  model.add(11, free_batch("x", kFloat)).add(12, free_batch("x", kFloat)).add(12, free_batch("y", kFloat));
  model.node("Neg", {"x"}, {"y"});
  const Session session = load(model);
  BoundRun run(session);
  const Tensor first = floats({1, 2}, {1, 2}), second = floats({1, 2}, {3, 4});
  for (const Tensor* x : {&first, &second, &first, &second}) {
    run.bind(std::vector<TensorView>{*x});
    run.run();
    EXPECT_EQ(run.outputs()[0].bytes, x->bytes);
  }
  EXPECT_EQ(first.bytes, floats({1, 2}, {1, 2}).bytes);
  EXPECT_EQ(second.bytes, floats({1, 2}, {3, 4}).bytes);
}

TEST_P(BoundRunTest, StringsGoInAndOut) {
  test::ModelBuilder model(13, 7);
  const int kString = static_cast<int>(ElementType::kString);
  model.input("x", kString, {3}).output("y", kString, {3}).node("Identity", {"x"}, {"y"});
  const Session session = load(model);
  BoundRun run(session);
  const Tensor x{ElementType::kString, {3}, {}, {"one", "", "drei"}};
  run.bind(std::vector<TensorView>{x});
  run.run();
  EXPECT_THAT(*run.outputs()[0].strings, ElementsAre("one", "", "drei"));
}

TEST_P(BoundRunTest, ATypeOrShapeThatDoesNotFitIsExplained) {
  const Session session = load(doubling());
  BoundRun run(session);
  const Tensor wrong_shape = floats({1, 3}, {1, 2, 3});
  EXPECT_THAT(error_of([&] { run.bind(std::vector<TensorView>{wrong_shape}); }).what(),
              HasSubstr("the input 'x' is float32[N,2], but it was given float32[1,3]"));
  const Tensor wrong_type{ElementType::kInt64, {1, 2}, std::string(16, '\0')};
  EXPECT_THAT(error_of([&] { run.bind(std::vector<TensorView>{wrong_type}); }).what(),
              HasSubstr("but it was given int64[1,2]"));
  EXPECT_EQ(error_of([&] { run.bind({}); }).code(), ErrorCode::kBadInput);
}

TEST_P(BoundRunTest, ANodeThatFailsIsNamed) {
  test::ModelBuilder model(13, 7);
  model.add(11, free_batch("x", kFloat)).add(12, free_batch("y", kFloat));
  const std::string three(
      "\x03\0\0\0\0\0\0\0"
      "\x07\0\0\0\0\0\0\0",
      16);
  model.initializer(test::tensor("shape", test::kInt64, {2}, three));
  model.node("Reshape", {"x", "shape"}, {"y"}, {}, "bad_reshape");
  const Session session = load(model);
  BoundRun run(session);
  const Tensor x = floats({1, 2}, {1, 2});
  run.bind(std::vector<TensorView>{x});
  const Error error = error_of([&] { run.run(); });
  EXPECT_THAT(error.where(), HasSubstr("node 'bad_reshape' (Reshape)"));
}

INSTANTIATE_TEST_SUITE_P(Versions, BoundRunTest, testing::ValuesIn(Library::installed()), test::version_name);

}  // namespace
}  // namespace ounce::runtime
