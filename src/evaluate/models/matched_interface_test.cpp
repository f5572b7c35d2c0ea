#include "evaluate/models/matched_interface.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::test::described;
using data::test::numbers_of;
using data::test::tensor_of;
using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Values = std::vector<data::ValueDescription>;

// Returns its inputs as outputs, and records them.
class Loopback final : public runtime::Executor {
 public:
  Loopback(Values inputs, Values outputs) : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  const Values& inputs() const override { return inputs_; }
  const Values& outputs() const override { return outputs_; }
  const std::string& library_version() const override { return version_; }
  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    given.clear();
    for (const data::TensorView& view : inputs) given.push_back(data::copy_of(view));
    views_.assign(given.begin(), given.end());
    return views_;
  }

  std::vector<data::Tensor> given;

 private:
  Values inputs_, outputs_;
  std::string version_ = "1";
  std::vector<data::TensorView> views_;
};

struct MatchedInterface : testing::Test {
  std::unique_ptr<runtime::Executor> match(const Values& reference_inputs, const Values& reference_outputs,
                                           Values inputs, Values outputs) {
    const Loopback reference(reference_inputs, reference_outputs);
    auto candidate = std::make_unique<Loopback>(std::move(inputs), std::move(outputs));
    inside = candidate.get();
    return with_interface_of(reference, std::move(candidate), "b.tflite", notes);
  }
  std::string refusal(const Values& reference, const Values& candidate) {
    const Error error = error_of([&] { match(reference, {}, candidate, {}); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.what();
  }
  Loopback* inside = nullptr;
  std::vector<std::string> notes;
};

TEST_F(MatchedInterface, ChannelsMoveToTheEndAndBack) {
  const auto model = match({described("x", ElementType::kFloat, {-1, 2, 1, 3})},
                           {described("y", ElementType::kFloat, {-1, 2, 1, 3})},
                           {described("x", ElementType::kFloat, {1, 1, 3, 2})},
                           {described("y", ElementType::kFloat, {1, 1, 3, 2})});
  EXPECT_EQ(data::describe(model->inputs()[0]), "float32[1,2,1,3]");
  const data::Tensor x = tensor_of<float>({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const data::TensorView view = x;
  const auto result = model->run({&view, 1});
  EXPECT_THAT(inside->given[0].dims, ElementsAre(1, 1, 3, 2));
  EXPECT_THAT(numbers_of<float>(inside->given[0]), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(result[0].dims, ElementsAre(1, 2, 1, 3));
  EXPECT_THAT(numbers_of<float>(result[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(notes, ElementsAre("the input 'x' is transposed: float32[?,2,1,3] in the reference, "
                                 "float32[1,1,3,2] in the candidate",
                                 "the output 'y' is transposed: float32[?,2,1,3] in the reference, "
                                 "float32[1,1,3,2] in the candidate"));
}

TEST_F(MatchedInterface, ChannelsThatAreLastInTheReferenceMoveToTheSecondPlace) {
  const auto model = match({described("x", ElementType::kFloat, {1, 2, 3, 4})}, {},
                           {described("x", ElementType::kFloat, {1, 4, 2, 3})}, {});
  std::vector<float> numbers(24);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const data::Tensor x = tensor_of<float>({1, 2, 3, 4}, numbers);
  const data::TensorView view = x;
  model->run({&view, 1});
  EXPECT_THAT(inside->given[0].dims, ElementsAre(1, 4, 2, 3));
  EXPECT_THAT(numbers_of<float>(inside->given[0]), ElementsAre(0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6,
                                                               10, 14, 18, 22, 3, 7, 11, 15, 19, 23));
}

TEST_F(MatchedInterface, WhatEitherModelFixesIsFixed) {
  const auto model = match({described("mel", ElementType::kFloat, {-1, 40, -1})}, {},
                           {described("mel", ElementType::kFloat, {1, 64, 40})}, {});
  EXPECT_EQ(data::describe(model->inputs()[0]), "float32[1,40,64]");
}

TEST_F(MatchedInterface, EqualLayoutsStayAsTheyAreAndNothingIsSaid) {
  const auto model = match({described("ids", ElementType::kInt64, {-1, -1})}, {},
                           {described("ids", ElementType::kInt64, {1, 64})}, {});
  EXPECT_EQ(data::describe(model->inputs()[0]), "int64[1,64]");
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(MatchedInterface, InputsAreMatchedByNameInAnyOrder) {
  const auto model = match(
      {described("ids", ElementType::kInt64, {1, 2}), described("mask", ElementType::kInt64, {1, 2})}, {},
      {described("mask", ElementType::kInt64, {1, 2}), described("ids", ElementType::kInt64, {1, 2})}, {});
  const data::Tensor ids = tensor_of<std::int64_t>({1, 2}, {7, 8}),
                     mask = tensor_of<std::int64_t>({1, 2}, {1, 0});
  const std::vector<data::TensorView> views = {ids, mask};
  model->run(views);
  EXPECT_THAT(numbers_of<std::int64_t>(inside->given[0]), ElementsAre(1, 0));
  EXPECT_THAT(numbers_of<std::int64_t>(inside->given[1]), ElementsAre(7, 8));
}

TEST_F(MatchedInterface, AnotherNameIsNoObstacleIfOnlyOneFits) {
  const auto model =
      match({described("x", ElementType::kFloat, {1, 3, 8, 8}), described("n", ElementType::kInt64, {1})}, {},
            {described("serving_default_n", ElementType::kInt64, {1}),
             described("image", ElementType::kFloat, {1, 8, 8, 3})},
            {});
  EXPECT_EQ(model->inputs()[0].name, "x");
  EXPECT_THAT(
      notes, testing::Contains("the input 'x' is compared with 'image', the only one of its shape and type"));
}

TEST_F(MatchedInterface, IntegersOfAnotherWidthAreConverted) {
  const auto model =
      match({described("n", ElementType::kInt64, {2})}, {described("m", ElementType::kInt64, {2})},
            {described("n", ElementType::kInt32, {2})}, {described("m", ElementType::kInt32, {2})});
  const data::Tensor n = tensor_of<std::int64_t>({2}, {-5, 9});
  const data::TensorView view = n;
  const auto result = model->run({&view, 1});
  EXPECT_THAT(numbers_of<std::int32_t>(inside->given[0]), ElementsAre(-5, 9));
  EXPECT_EQ(result[0].type, ElementType::kInt64);
  EXPECT_THAT(numbers_of<std::int64_t>(result[0]), ElementsAre(-5, 9));
  const data::Tensor large = tensor_of<std::int64_t>({2}, {std::int64_t{1} << 40, 0});
  const data::TensorView too_large = large;
  EXPECT_EQ(error_of([&] { model->run({&too_large, 1}); }).code(), ErrorCode::kBadInput);
}

TEST_F(MatchedInterface, WhatCannotBeMatchedIsRefused) {
  EXPECT_THAT(
      refusal({described("x", ElementType::kFloat, {1, 3})}, {described("x", ElementType::kFloat, {1, 4})}),
      HasSubstr("the shapes of 'x' do not match in any axis order"));
  EXPECT_THAT(
      refusal({described("x", ElementType::kFloat, {1, 3})}, {described("y", ElementType::kInt64, {1, 3})}),
      HasSubstr("none matches 'x'"));
  EXPECT_THAT(refusal({described("x", ElementType::kFloat, {2}), described("y", ElementType::kFloat, {2})},
                      {described("a", ElementType::kFloat, {2}), described("b", ElementType::kFloat, {2})}),
              HasSubstr("several could match 'x'"));
  EXPECT_THAT(refusal({described("x", ElementType::kFloat, {2})}, {}),
              testing::AllOf(HasSubstr("b.tflite"), HasSubstr("their numbers differ")));
}

}  // namespace
}  // namespace ounce::evaluate
