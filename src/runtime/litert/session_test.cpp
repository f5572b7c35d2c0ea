#include "runtime/litert/session.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"
#include "support/litert.h"
#include "support/tensor_of.h"
#include "support/tflite_builder.h"

namespace ounce::runtime::litert {
namespace {

using data::test::numbers_of;
using data::test::tensor_of;
using test::error_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using tflite::Builtin;
using tflite::TensorType;
using tflite::TfliteBuilder;

struct LitertSession : test::LitertTest {
  std::unique_ptr<Session> load(const TfliteBuilder& model, const SessionOptions& options = {}) {
    const auto path = folder / "model.tflite";
    test::write_file(path, model.bytes());
    return std::make_unique<Session>(Library::open(GetParam()), path, options);
  }
  // Both kinds of kernels, and what they give.
  template <class T>
  void expect(const TfliteBuilder& model, const std::vector<data::Tensor>& inputs,
              const std::vector<T>& expected) {
    for (const Kernels kernels : {Kernels::kXnnpack, Kernels::kBuiltIn}) {
      const auto session = load(model, {.kernels = kernels});
      const std::vector<TensorView> views(inputs.begin(), inputs.end());
      session->bind(views);
      session->run();
      EXPECT_EQ(numbers_of<T>(session->results()[0]), expected);
    }
  }
  std::string refusal(const TfliteBuilder& model, ErrorCode code) {
    const Error error = error_of([&] { load(model); });
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, LitertSession, testing::ValuesIn(test::litert_versions()),
                         test::version_name);

// y = w · x + b
TfliteBuilder dense() {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 3}), y = model.tensor("y", {1, 2});
  const auto w = model.weights("w", {2, 3}, {1, 2, 3, -1, 0, 1}), b = model.weights("b", {2}, {10, 20});
  model.op(Builtin::kFullyConnected, {x, w, b}, {y}, "FullyConnectedOptions");
  model.inputs({x}).outputs({y}).signature("serving_default");
  return model;
}

// y = |x|
TfliteBuilder absolute(const TfliteBuilder::Shape& shape, const TfliteBuilder::Shape& signature = {}) {
  TfliteBuilder model;
  const auto x = model.tensor("x", shape);
  model.graph().tensors.back().shape_signature = signature;
  const auto y = model.tensor("y", shape);
  model.graph().tensors.back().shape_signature = signature;
  model.op(Builtin::kAbs, {x}, {y});
  model.inputs({x}).outputs({y});
  return model;
}

TEST_P(LitertSession, GivesWhatTheWeightsSayInEitherKindOfKernels) {
  expect<float>(dense(), {tensor_of<float>({1, 3}, {1, 10, 100})}, {331, 119});
}

TEST_P(LitertSession, DescribesWhatTheModelTakesAndGives) {
  const auto session = load(dense());
  EXPECT_EQ(session->inputs()[0].name, "x");
  EXPECT_EQ(data::describe(session->inputs()[0]), "float32[1,3]");
  EXPECT_EQ(session->outputs()[0].name, "y");
  EXPECT_EQ(data::describe(session->outputs()[0]), "float32[1,2]");
  EXPECT_EQ(session->library().path(), GetParam());
}

TEST_P(LitertSession, TheNamesAreTheSignaturesAndTheOrderIsTheGraphs) {
  TfliteBuilder model;
  const auto a = model.tensor("a", {1}), b = model.tensor("b", {1}), y = model.tensor("y", {1});
  model.op(Builtin::kSub, {a, b}, {y}, "SubOptions");
  model.inputs({a, b}).outputs({y}).signature("serving_default");
  auto& maps = model.model.signatures[0].inputs;
  maps[0].name = "minuend";
  maps[1].name = "subtrahend";
  std::swap(maps[0], maps[1]);
  const auto session = load(model);
  EXPECT_EQ(session->inputs()[0].name, "minuend");
  EXPECT_EQ(session->inputs()[1].name, "subtrahend");
  expect<float>(model, {tensor_of<float>({1}, {5}), tensor_of<float>({1}, {2})}, {3});
}

template <class T>
void expect_unchanged(LitertSession& test, TensorType type, ElementType element,
                      const std::vector<T>& values) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {2, 2}, type), shape = model.integers("shape", {1}, {4});
  const auto y = model.tensor("y", {4}, type);
  model.op(Builtin::kReshape, {x, shape}, {y});
  model.inputs({x}).outputs({y});
  const auto session = test.load(model);
  EXPECT_EQ(session->inputs()[0].element, element);
  const data::Tensor given = tensor_of<T>({2, 2}, values, element);
  const TensorView view = given;
  session->bind({&view, 1});
  session->run();
  EXPECT_EQ(session->results()[0].type, element);
  EXPECT_THAT(session->results()[0].dims, ElementsAre(4));
  EXPECT_EQ(numbers_of<T>(session->results()[0]), values);
}

TEST_P(LitertSession, EveryTypeOfNumbersPasses) {
  expect_unchanged<float>(*this, TensorType::kFloat32, ElementType::kFloat, {1, -2, 3, 4});
  expect_unchanged<double>(*this, TensorType::kFloat64, ElementType::kDouble, {1, -2, 3, 4});
  expect_unchanged<std::uint16_t>(*this, TensorType::kFloat16, ElementType::kFloat16, {0x3c00, 1, 2, 3});
  expect_unchanged<std::int8_t>(*this, TensorType::kInt8, ElementType::kInt8, {1, -2, 3, 4});
  expect_unchanged<std::uint8_t>(*this, TensorType::kUint8, ElementType::kUint8, {1, 200, 3, 4});
  expect_unchanged<std::int16_t>(*this, TensorType::kInt16, ElementType::kInt16, {1, -2, 3, 4});
  expect_unchanged<std::int32_t>(*this, TensorType::kInt32, ElementType::kInt32, {1, -2, 3, 4});
  expect_unchanged<std::int64_t>(*this, TensorType::kInt64, ElementType::kInt64, {1, -2, 3, 4});
  expect_unchanged<std::uint32_t>(*this, TensorType::kUint32, ElementType::kUint32, {1, 2, 3, 4});
  expect_unchanged<std::uint8_t>(*this, TensorType::kBool, ElementType::kBool, {1, 0, 0, 1});
}

TEST_P(LitertSession, ADynamicDimensionIsWhatTheInputsSay) {
  const auto session = load(absolute({1, 2}, {-1, 2}));
  EXPECT_EQ(data::describe(session->inputs()[0]), "float32[?,2]");
  for (const std::int64_t rows : {3, 1, 3, 5}) {
    std::vector<float> numbers(static_cast<std::size_t>(2 * rows), -7);
    const data::Tensor x = tensor_of<float>({rows, 2}, numbers);
    const TensorView view = x;
    session->bind({&view, 1});
    session->run();
    EXPECT_THAT(session->results()[0].dims, ElementsAre(rows, 2));
    EXPECT_THAT(numbers_of<float>(session->results()[0]), testing::Each(7.F));
  }
}

TEST_P(LitertSession, AnOutputThatIsAnInputOrAConstantHasItsValues) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {2}), y = model.tensor("y", {2}), c = model.weights("c", {2}, {5, 6});
  model.op(Builtin::kAdd, {x, c}, {y}, "AddOptions");
  model.inputs({x}).outputs({x, y, c});
  const auto session = load(model);
  const data::Tensor given = tensor_of<float>({2}, {1, -2});
  const TensorView view = given;
  session->bind({&view, 1});
  session->run();
  EXPECT_THAT(numbers_of<float>(session->results()[0]), ElementsAre(1, -2));
  EXPECT_THAT(numbers_of<float>(session->results()[1]), ElementsAre(6, 4));
  EXPECT_THAT(numbers_of<float>(session->results()[2]), ElementsAre(5, 6));
}

TEST_P(LitertSession, InputsOfAnotherTypeOrShapeAreRefused) {
  const auto session = load(dense());
  const auto refuse = [&](const data::Tensor& tensor) {
    const TensorView view = tensor;
    const Error error = error_of([&] { session->bind({&view, 1}); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return std::string(error.what());
  };
  EXPECT_THAT(refuse(tensor_of<float>({1, 4}, {1, 2, 3, 4})),
              HasSubstr("the input 'x' is float32[1,3], but it was given float32[1,4]"));
  EXPECT_THAT(refuse(tensor_of<std::int32_t>({1, 3}, {1, 2, 3})), HasSubstr("int32[1,3]"));
  EXPECT_THAT(refuse(tensor_of<float>({1, 3}, {1, 2})),
              HasSubstr("8 bytes where its type and shape take 12"));
  EXPECT_EQ(error_of([&] { session->bind({}); }).code(), ErrorCode::kBadInput);
}

TEST_P(LitertSession, WhatTheRuntimeSaysIsInTheError) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {2}), y = model.tensor("y", {2});
  model.custom_op("Mystery", {x}, {y}, "");
  model.inputs({x}).outputs({y});
  EXPECT_THAT(refusal(model, ErrorCode::kBadInput),
              AllOf(HasSubstr("model.tflite: LiteRT: "), HasSubstr("unresolved custom op: Mystery")));
}

TEST_P(LitertSession, WhatTheInterfaceOfLiteRtCannotGiveIsRefused) {
  TfliteBuilder texts;
  const auto text = texts.tensor("text", {1}, TensorType::kString),
             copy = texts.tensor("copy", {1}, TensorType::kString);
  const auto one = texts.integers("one", {1}, {1});
  texts.op(Builtin::kReshape, {text, one}, {copy});
  texts.inputs({text}).outputs({copy});
  EXPECT_THAT(refusal(texts, ErrorCode::kUnsupported), HasSubstr("'text', which is string[1]"));
  EXPECT_THAT(refusal(absolute({0, 3}), ErrorCode::kUnsupported), HasSubstr("float32[0,3]"));
  TfliteBuilder twins;
  const auto a = twins.tensor("a", {1}), b = twins.tensor("a", {1}), sum = twins.tensor("sum", {1});
  twins.op(Builtin::kAdd, {a, b}, {sum}, "AddOptions");
  twins.inputs({a, b}).outputs({sum});
  EXPECT_THAT(refusal(twins, ErrorCode::kUnsupported), HasSubstr("two tensors named 'a'"));
}

TEST_P(LitertSession, AnOutputWhoseSizeDependsOnTheValuesIsAnError) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {4}, TensorType::kBool), y = model.tensor("y", {4, 1}, TensorType::kInt64);
  model.op(Builtin::kWhere, {x}, {y});
  model.inputs({x}).outputs({y});
  const auto session = load(model);
  const data::Tensor given = tensor_of<std::uint8_t>({4}, {1, 0, 1, 1}, ElementType::kBool);
  const TensorView view = given;
  session->bind({&view, 1});
  EXPECT_EQ(error_of([&] { session->run(); }).code(), ErrorCode::kBadInput);
}

TEST_P(LitertSession, AStoppedSessionRunsNoMore) {
  const auto session = load(dense(), {.kernels = Kernels::kBuiltIn});
  const data::Tensor x = tensor_of<float>({1, 3}, {1, 2, 3});
  const TensorView view = x;
  session->bind({&view, 1});
  session->run();
  session->stop();
  EXPECT_EQ(error_of([&] { session->run(); }).code(), ErrorCode::kCancelled);
}

// The product runs in XNNPACK, which has no kernel for the cast.
TEST_P(LitertSession, AProfileTellsWhoRunsEachOperator) {
  TfliteBuilder model = dense();
  const auto n = model.tensor("n", {1, 2}, TensorType::kInt32);
  model.op(Builtin::kCast, {model.graph().outputs[0]}, {n}, "CastOptions");
  model.options().set("out_data_type", std::int64_t{2});
  model.outputs({n});
  model.model.signatures.clear();
  const data::Tensor x = tensor_of<float>({1, 3}, {1, 10, 100});
  const TensorView view = x;
  const auto profile_in = [&](Kernels kernels) {
    const auto session = load(model, {.kernels = kernels, .is_profiled = true});
    session->bind({&view, 1});
    for (int i = 0; i < 3; ++i) session->run();
    EXPECT_THAT(numbers_of<std::int32_t>(session->results()[0]), ElementsAre(331, 119));
    return session->end_profile();
  };
  const SessionProfile mixed = profile_in(Kernels::kXnnpack);
  EXPECT_EQ(mixed.runs, 3U);
  EXPECT_EQ(mixed.operators, 2U);
  EXPECT_EQ(mixed.delegated, 1U);
  const auto is_cast = [](const OperatorTime& time) {
    return time.op == "CAST" && time.name == "n" && !time.is_delegated;
  };
  EXPECT_EQ(std::count_if(mixed.times.begin(), mixed.times.end(), is_cast), 3);
  const auto is_product = [](const OperatorTime& time) {
    return time.is_delegated && time.op.starts_with("Fully Connected (NC, F32)") && !time.is_integer;
  };
  EXPECT_EQ(std::count_if(mixed.times.begin(), mixed.times.end(), is_product), 3);
  const SessionProfile plain_kernels = profile_in(Kernels::kBuiltIn);
  EXPECT_EQ(plain_kernels.delegated, 0U);
  EXPECT_EQ(plain_kernels.times.size(), 6U);
}

TEST_P(LitertSession, AnInt8ProductCountsAsOne) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4}, TensorType::kInt8);
  model.quantized({0.5F}, {0});
  const auto w = model.constant("w", {2, 4}, TensorType::kInt8, {1, 2, 3, 4, 4, 3, 2, 1});
  model.quantized({0.25F}, {0});
  const auto b = model.integers("b", {2}, {8, -8});
  model.quantized({0.125F}, {0});
  const auto y = model.tensor("y", {1, 2}, TensorType::kInt8);
  model.quantized({1}, {-3});
  model.op(Builtin::kFullyConnected, {x, w, b}, {y}, "FullyConnectedOptions", 4);
  model.inputs({x}).outputs({y});
  const data::Tensor given = tensor_of<std::int8_t>({1, 4}, {1, 2, 3, 4});
  const TensorView view = given;
  for (const Kernels kernels : {Kernels::kXnnpack, Kernels::kBuiltIn}) {
    const auto session = load(model, {.kernels = kernels, .is_profiled = true});
    session->bind({&view, 1});
    session->run();
    EXPECT_THAT(numbers_of<std::int8_t>(session->results()[0]),
                ElementsAre(2, -1));  // 30/8 + 1 and 20/8 - 1, rounded; then the zero point
    const SessionProfile profile = session->end_profile();
    EXPECT_EQ(std::count_if(profile.times.begin(), profile.times.end(),
                            [](const OperatorTime& time) { return time.is_integer; }),
              1);
  }
}

TEST_P(LitertSession, SeveralThreadsGiveTheSame) {
  const auto session = load(dense(), {.threads = 2});
  const data::Tensor x = tensor_of<float>({1, 3}, {1, 10, 100});
  const TensorView view = x;
  session->bind({&view, 1});
  session->run();
  EXPECT_THAT(numbers_of<float>(session->results()[0]), ElementsAre(331, 119));
}

}  // namespace
}  // namespace ounce::runtime::litert
