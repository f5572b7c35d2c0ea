#include "data/tensor.h"

#include <gmock/gmock.h>

#include <limits>

#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using test::numbers_of;
using test::strings_of;
using test::tensor_of;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<ElementType> kFloats = {ElementType::kFloat, ElementType::kDouble, ElementType::kFloat16,
                                          ElementType::kBfloat16};
const std::vector<ElementType> kIntegers = {ElementType::kInt8,   ElementType::kInt16,  ElementType::kInt32,
                                            ElementType::kInt64,  ElementType::kUint8,  ElementType::kUint16,
                                            ElementType::kUint32, ElementType::kUint64, ElementType::kBool};

Tensor ones(ElementType type) {
  const bool is_float = is_float_weight_type(type);
  return is_float ? convert(tensor_of<float>({2}, {0, 1}), type, "")
                  : convert(tensor_of<std::int64_t>({2}, {0, 1}), type, "");
}

Error refusal(const Tensor& tensor, ElementType to) {
  return error_of([&] { convert(tensor, to, "a[3]: input 'x'"); });
}

TEST(ConvertTest, BetweenFloatsAndBetweenIntegers) {
  for (const auto* family : {&kFloats, &kIntegers}) {
    for (const ElementType from : *family) {
      for (const ElementType to : *family) {
        const Tensor made = convert(ones(from), to, "");
        EXPECT_EQ(made.type, to);
        EXPECT_THAT(made.dims, ElementsAre(2));
        EXPECT_EQ(made.bytes.size(), byte_count(to, {2}, ""));
        EXPECT_THAT(to_doubles(made, ""), ElementsAre(0, 1)) << name_of(from) << " to " << name_of(to);
      }
    }
  }
}

TEST(ConvertTest, IntegersNeedAContractToBecomeFloats) {
  for (const ElementType from : kIntegers) {
    for (const ElementType to : kFloats) {
      const Error error = refusal(ones(from), to);
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_EQ(error.where(), "a[3]: input 'x'");
      EXPECT_THAT(error.what(), HasSubstr("contract"));
    }
  }
}

TEST(ConvertTest, FloatsDoNotBecomeIntegers) {
  for (const ElementType from : kFloats) {
    for (const ElementType to : kIntegers)
      EXPECT_THAT(refusal(ones(from), to).what(), HasSubstr("but the model takes"));
  }
}

TEST(ConvertTest, TextAndComplexNumbersAreRefusedBothWays) {
  const Tensor text = strings_of({1}, {"1"}), complex{ElementType::kComplex64, {1}, std::string(8, '\0'), {}};
  for (const Tensor& odd : {text, complex}) {
    EXPECT_EQ(convert(odd, odd.type, "").type, odd.type);
    for (const ElementType number : {ElementType::kFloat, ElementType::kInt64, ElementType::kBool}) {
      EXPECT_EQ(refusal(odd, number).code(), ErrorCode::kBadInput);
      EXPECT_EQ(refusal(ones(number), odd.type).code(), ErrorCode::kBadInput);
    }
    EXPECT_EQ(error_of([&] { to_doubles(odd, ""); }).code(), ErrorCode::kBadInput);
  }
}

template <class T>
void expect_range(ElementType type) {
  using Limits = std::numeric_limits<T>;
  EXPECT_THAT(to_doubles(convert(tensor_of<T>({2}, {Limits::min(), Limits::max()}), type, ""), ""),
              ElementsAre(static_cast<double>(Limits::min()), static_cast<double>(Limits::max())));
  if constexpr (sizeof(T) < 8) {
    const std::int64_t low = Limits::min(), high = Limits::max();
    EXPECT_EQ(convert(tensor_of<std::int64_t>({2}, {low, high}), type, "").bytes,
              tensor_of<T>({2}, {Limits::min(), Limits::max()}).bytes);
    EXPECT_THAT(refusal(tensor_of<std::int64_t>({1}, {low - 1}), type).what(), HasSubstr("does not fit"));
    EXPECT_THAT(refusal(tensor_of<std::int64_t>({1}, {high + 1}), type).what(), HasSubstr("does not fit"));
  }
}

TEST(ConvertTest, IntegersMustFit) {
  expect_range<std::int8_t>(ElementType::kInt8);
  expect_range<std::int16_t>(ElementType::kInt16);
  expect_range<std::int32_t>(ElementType::kInt32);
  expect_range<std::int64_t>(ElementType::kInt64);
  expect_range<std::uint8_t>(ElementType::kUint8);
  expect_range<std::uint16_t>(ElementType::kUint16);
  expect_range<std::uint32_t>(ElementType::kUint32);
  expect_range<std::uint64_t>(ElementType::kUint64);
  EXPECT_THAT(refusal(tensor_of<std::int64_t>({1}, {-1}), ElementType::kUint64).what(), HasSubstr("-1"));
  EXPECT_THAT(refusal(tensor_of<std::uint64_t>({1}, {UINT64_MAX}), ElementType::kInt64).what(),
              HasSubstr("18446744073709551615"));
}

TEST(ConvertTest, OnlyZeroAndOneAreBools) {
  EXPECT_EQ(convert(tensor_of<std::int64_t>({2}, {0, 1}), ElementType::kBool, "").bytes,
            std::string("\0\1", 2));
  for (const std::int64_t other : {2, -1, 256})
    EXPECT_THAT(refusal(tensor_of<std::int64_t>({1}, {other}), ElementType::kBool).what(),
                HasSubstr("does not fit into bool"));
}

TEST(ConvertTest, NarrowFloatsRoundAndWideOnesAreExact) {
  const Tensor half = convert(tensor_of<float>({3}, {1.0F / 3, 1024, -0.5}), ElementType::kFloat16, "");
  EXPECT_THAT(numbers_of<std::uint16_t>(half), ElementsAre(0x3555, 0x6400, 0xb800));
  const Tensor brain = convert(tensor_of<float>({1}, {-2}), ElementType::kBfloat16, "");
  EXPECT_THAT(numbers_of<std::uint16_t>(brain), ElementsAre(0xc000));
  EXPECT_THAT(numbers_of<double>(convert(tensor_of<float>({1}, {0.1F}), ElementType::kDouble, "")),
              ElementsAre(static_cast<double>(0.1F)));
}

TEST(ConvertTest, EveryNumberAsADouble) {
  EXPECT_THAT(to_doubles(tensor_of<std::uint8_t>({2}, {7, 255}), ""), ElementsAre(7, 255));
  EXPECT_THAT(to_doubles(tensor_of<std::int64_t>({1}, {-(1LL << 53)}), ""), ElementsAre(-0x1p53));
  std::vector<float> floats = {9, 9, 9};
  to_floats(tensor_of<double>({1}, {0.5}), floats, "");
  EXPECT_THAT(floats, ElementsAre(0.5));
}

TEST(ConvertTest, EmptyTensorsStayEmpty) {
  EXPECT_EQ(convert(tensor_of<double>({0}, {}), ElementType::kFloat16, "").bytes, "");
  EXPECT_EQ(convert(tensor_of<std::int64_t>({0, 3}, {}), ElementType::kBool, "").bytes, "");
}

}  // namespace
}  // namespace ounce::data
