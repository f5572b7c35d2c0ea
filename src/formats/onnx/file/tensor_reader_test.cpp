#include "formats/onnx/file/tensor_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "formats/onnx/file/reader.h"
#include "fuzz/sample_models.h"
#include "support/error_of.h"
#include "support/model_builder.h"

namespace ounce::onnx {
namespace {

using test::Dims;
using test::error_of;
using test::field;
using test::fixed32_field;
using test::fixed64_field;
using test::packed_varints;
using testing::HasSubstr;

std::string model_of_tensor(const std::string& tensor) {
  return field(1, std::int64_t{8}) + field(7, field(5, tensor));
}

Model read_tensor(const std::string& tensor) {
  return read_model_from_memory(model_of_tensor(tensor), "test");
}
const Tensor& only_tensor(const Model& model) { return *model.proto->graph->initializers.at(0); }

std::string tensor_refusal(const std::string& tensor) {
  const Error error = error_of([&] { read_tensor(tensor); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput) << error.what();
  return error.what();
}

std::string without_values(const std::string& name, std::int64_t type, const Dims& dims) {
  std::string bytes;
  for (const std::int64_t dim : dims) bytes += field(1, dim);
  return bytes + field(2, type) + field(8, name);
}

std::string values_of(const std::string& tensor) {
  const Model model = read_tensor(tensor);
  return std::string(RawValues(only_tensor(model)).bytes());
}

// --- Shapes.

TEST(TensorReaderTest, RefusesNegativeDimensions) {
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {-1}, "")), "tensor 'w': dimension -1 is negative");
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {0, INT64_MIN}, "")),
            fmt::format("tensor 'w': dimension {} is negative", INT64_MIN));
}

TEST(TensorReaderTest, RefusesDimensionsWhoseProductOverflows) {
  const std::string why = "tensor 'w': the product of the dimensions overflows";
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {std::int64_t{1} << 32, std::int64_t{1} << 32}, "")), why);
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {INT64_MAX, INT64_MAX, INT64_MAX}, "1234")), why);
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {INT64_MAX, 2, 2}, "1234")), why);
  EXPECT_EQ(tensor_refusal(test::tensor("w", 15, {std::int64_t{1} << 60}, "")),
            why);  // the bytes would overflow
}

TEST(TensorReaderTest, AZeroDimensionMakesAnyOtherHarmless) {
  for (const Dims& dims :
       {Dims{0, INT64_MAX, INT64_MAX}, Dims{INT64_MAX, 0, INT64_MAX}, Dims{INT64_MAX, INT64_MAX, 0}}) {
    const Model model = read_tensor(test::tensor("w", 1, dims, ""));
    EXPECT_EQ(only_tensor(model).element_count(), 0U);
    EXPECT_EQ(only_tensor(model).byte_count(), 0U);
  }
}

TEST(TensorReaderTest, NoDimensionsMeanOneValue) {
  EXPECT_EQ(values_of(test::tensor("w", 1, {}, "abcd")), "abcd");
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {}, "")),
            "tensor 'w': has 0 bytes of raw data where its shape and type need 4");
}

TEST(TensorReaderTest, ReadsPackedAndMixedDimensions) {
  const Model model = read_tensor(field(1, packed_varints({2, 1})) + field(1, std::int64_t{3}) +
                                  field(2, std::int64_t{2}) + field(9, std::string("abcdef")));
  EXPECT_EQ(only_tensor(model).dims, (Dims{2, 1, 3}));
}

// --- One data field, with the right number of bytes.

TEST(TensorReaderTest, RefusesRawDataOfTheWrongSize) {
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {2}, "1234567")),
            "tensor 'w': has 7 bytes of raw data where its shape and type need 8");
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {2}, "123456789")),
            "tensor 'w': has 9 bytes of raw data where its shape and type need 8");
  EXPECT_EQ(tensor_refusal(test::tensor("w", 22, {3}, "1")),
            "tensor 'w': has 1 bytes of raw data where its shape and type need 2");
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {std::int64_t{1} << 40}, "1234")),
            "tensor 'w': has 4 bytes of raw data where its shape and type need 4398046511104");
}

TEST(TensorReaderTest, RefusesTwoDataFields) {
  const std::string start = without_values("w", 1, {1});
  EXPECT_EQ(tensor_refusal(start + field(9, std::string("1234")) + fixed32_field(4, 1)),
            "tensor 'w': has both raw data and a typed data field");
  EXPECT_THAT(tensor_refusal(start + fixed32_field(4, 1) + field(5, std::int64_t{1})),
              HasSubstr("a tensor has values in two different fields"));
  EXPECT_EQ(tensor_refusal(start + field(9, std::string()) + fixed32_field(4, 1)),
            "tensor 'w': has both raw data and a typed data field");
}

TEST(TensorReaderTest, RefusesAMissingDataField) {
  EXPECT_EQ(tensor_refusal(without_values("w", 1, {1})), "tensor 'w': has 0 values where its shape needs 1");
}

TEST(TensorReaderTest, ATensorWithoutElementsNeedsNoDataField) {
  for (std::int64_t type = 1; type <= 28; ++type)
    EXPECT_EQ(values_of(without_values("w", type, {0})), "") << type;
}

TEST(TensorReaderTest, RefusesTheTypedFieldOfAnotherType) {
  EXPECT_EQ(tensor_refusal(without_values("w", 1, {1}) + field(5, std::int64_t{1})),
            "tensor 'w': of type float32 has its values in the wrong field (5)");
  EXPECT_EQ(tensor_refusal(without_values("w", 7, {1}) + field(5, std::int64_t{1})),
            "tensor 'w': of type int64 has its values in the wrong field (5)");
  EXPECT_EQ(tensor_refusal(without_values("w", 12, {1}) + field(5, std::int64_t{1})),
            "tensor 'w': of type uint32 has its values in the wrong field (5)");
  EXPECT_EQ(tensor_refusal(without_values("w", 11, {1}) + fixed32_field(4, 1)),
            "tensor 'w': of type float64 has its values in the wrong field (4)");
  EXPECT_EQ(tensor_refusal(without_values("w", 8, {1}) + field(5, std::int64_t{1})),
            "tensor 'w': of type string has its values in the wrong field (5)");
}

TEST(TensorReaderTest, RefusesTheWrongNumberOfTypedValues) {
  const auto int32s = [](std::vector<std::int64_t> values) { return field(5, packed_varints(values)); };
  EXPECT_EQ(tensor_refusal(without_values("w", 6, {3}) + int32s({1, 2})),
            "tensor 'w': has 2 values where its shape needs 3");
  EXPECT_EQ(tensor_refusal(without_values("w", 6, {3}) + int32s({1, 2, 3, 4})),
            "tensor 'w': has 4 values where its shape needs 3");
  EXPECT_EQ(tensor_refusal(without_values("w", 22, {3}) + int32s({1, 2, 3})),
            "tensor 'w': has 3 values where its shape needs 2");  // two an entry
  EXPECT_EQ(tensor_refusal(without_values("w", 26, {5}) + int32s({1})),
            "tensor 'w': has 1 values where its shape needs 2");  // four an entry
  EXPECT_EQ(tensor_refusal(without_values("w", 14, {1}) + fixed32_field(4, 1)),
            "tensor 'w': has 1 values where its shape needs 2");  // two entries each
  EXPECT_EQ(tensor_refusal(without_values("w", 8, {2}) + field(6, std::string("one"))),
            "tensor 'w': has 1 values where its shape needs 2");
}

TEST(TensorReaderTest, RefusesPackedValuesThatEndInTheMiddleOfOne) {
  EXPECT_THAT(tensor_refusal(without_values("w", 1, {1}) + field(4, std::string("123"))),
              HasSubstr("a packed field has a broken length"));
  EXPECT_THAT(tensor_refusal(without_values("w", 11, {1}) + field(10, std::string("1234"))),
              HasSubstr("a packed field has a broken length"));
  EXPECT_THAT(tensor_refusal(without_values("w", 6, {1}) + field(5, std::string("\x80"))),
              HasSubstr("a packed field has a broken length"));
  EXPECT_THAT(tensor_refusal(without_values("w", 6, {1}) + field(5, std::string(10, '\x80') + '\x01')),
              HasSubstr("a number is longer than 10 bytes"));
}

// --- Types.

TEST(TensorReaderTest, RefusesUnknownElementTypes) {
  for (const std::int64_t type :
       {std::int64_t{0}, std::int64_t{29}, std::int64_t{-1}, INT64_MAX, (std::int64_t{1} << 32) + 1}) {
    EXPECT_EQ(tensor_refusal(without_values("w", type, {0})),
              fmt::format("tensor 'w': has the unknown element type {}", type));
  }
  EXPECT_EQ(tensor_refusal(field(8, std::string("w"))), "tensor 'w': has the unknown element type 0");
}

TEST(TensorReaderTest, RefusesSegments) {
  EXPECT_THAT(tensor_refusal(test::tensor("w", 1, {1}, "1234") + field(3, field(1, std::int64_t{0}))),
              HasSubstr("tensors in segments are not supported"));
}

TEST(TensorReaderTest, RefusesUnknownDataLocations) {
  EXPECT_EQ(tensor_refusal(test::tensor("w", 1, {1}, "1234") + field(14, std::int64_t{2})),
            "tensor 'w': has the unknown data location 2");
}

TEST(TensorReaderTest, ReadsStrings) {
  const Model model =
      read_tensor(without_values("w", 8, {2}) + field(6, std::string("one")) + field(6, std::string()));
  EXPECT_EQ(only_tensor(model).type, ElementType::kString);
  EXPECT_EQ(only_tensor(model).byte_count(), 0U);
  CarriedFields fields;
  append_string_fields(only_tensor(model), fields);
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0].bytes, field(6, std::string("one")));
}

TEST(TensorReaderTest, RefusesStringsInRawData) {
  EXPECT_EQ(tensor_refusal(test::tensor("w", 8, {1}, "abc")), "tensor 'w': strings cannot be raw data");
}

// --- Every element type, in raw data and in its typed field, split into pieces in several ways.

struct TypedValues {
  int type;
  std::int64_t count;
  std::uint32_t field_number;
  std::vector<std::int64_t> entries;  // bit patterns in the field
  std::string raw;
};

std::string bytes_of(std::initializer_list<unsigned> values) {
  std::string bytes;
  for (const unsigned value : values) bytes += static_cast<char>(value);
  return bytes;
}

class ElementTypeTest : public testing::TestWithParam<TypedValues> {
 protected:
  static std::string unpacked(std::uint32_t number, std::int64_t entry) {
    if (number == 4) return fixed32_field(4, static_cast<std::uint32_t>(entry));
    if (number == 10) return fixed64_field(10, static_cast<std::uint64_t>(entry));
    return field(number, entry);
  }
  static std::string packed(std::uint32_t number, const std::vector<std::int64_t>& entries) {
    if (number != 4 && number != 10) return field(number, packed_varints(entries));
    std::string bytes;
    for (const std::int64_t entry : entries) {
      const std::string one = unpacked(number, entry);
      bytes += one.substr(1);  // without the tag
    }
    return field(number, bytes);
  }
  static std::string typed(const std::string& values) {
    return without_values("w", GetParam().type, {GetParam().count}) + values;
  }
};

TEST_P(ElementTypeTest, ReadsRawData) {
  const TypedValues& value = GetParam();
  const Model model = read_tensor(test::tensor("w", value.type, {value.count}, value.raw));
  EXPECT_TRUE(std::holds_alternative<Borrowed>(only_tensor(model).data));
  EXPECT_EQ(RawValues(only_tensor(model)).bytes(), value.raw);
}

TEST_P(ElementTypeTest, DecodesThePackedField) {
  EXPECT_EQ(values_of(typed(packed(GetParam().field_number, GetParam().entries))), GetParam().raw);
}

TEST_P(ElementTypeTest, DecodesTheUnpackedField) {
  std::string values;
  for (const std::int64_t entry : GetParam().entries) values += unpacked(GetParam().field_number, entry);
  EXPECT_EQ(values_of(typed(values)), GetParam().raw);
}

TEST_P(ElementTypeTest, DecodesAFieldInPieces) {
  const auto& [type, count, number, entries, raw] = GetParam();
  const auto half = entries.begin() + static_cast<std::ptrdiff_t>(entries.size() / 2);
  const std::vector<std::int64_t> first(entries.begin(), half), second(half, entries.end());
  EXPECT_EQ(values_of(typed(packed(number, first) + packed(number, second))), raw);
  EXPECT_EQ(values_of(typed(packed(number, {}) + packed(number, entries) + packed(number, {}))), raw);
  std::string one_by_one;
  for (const std::int64_t entry : second) one_by_one += unpacked(number, entry);
  EXPECT_EQ(values_of(typed(packed(number, first) + one_by_one)), raw);
  std::string first_one_by_one;
  for (const std::int64_t entry : first) first_one_by_one += unpacked(number, entry);
  EXPECT_EQ(values_of(typed(first_one_by_one + packed(number, second))), raw);
  // The pieces need not be consecutive.
  EXPECT_EQ(values_of(packed(number, first) + without_values("w", type, {count}) + packed(number, second)),
            raw);
}

// The entries are chosen so that wrong signs, widths and byte orders are detected.
const std::vector<TypedValues> kEveryType = {
    {1, 2, 4, {0x3f800000, 0xbf000001}, bytes_of({0, 0, 0x80, 0x3f, 1, 0, 0, 0xbf})},
    {2, 3, 5, {0, 128, 255}, bytes_of({0, 128, 255})},
    {3, 3, 5, {-1, -128, 127}, bytes_of({0xff, 0x80, 0x7f})},
    {4, 2, 5, {1, 0xfffe}, bytes_of({1, 0, 0xfe, 0xff})},
    {5, 2, 5, {-2, 0x1234}, bytes_of({0xfe, 0xff, 0x34, 0x12})},
    {6, 2, 5, {-2, 0x12345678}, bytes_of({0xfe, 0xff, 0xff, 0xff, 0x78, 0x56, 0x34, 0x12})},
    {7,
     2,
     7,
     {-1, 0x0102030405060708},
     bytes_of({255, 255, 255, 255, 255, 255, 255, 255, 8, 7, 6, 5, 4, 3, 2, 1})},
    {9, 3, 5, {1, 0, 1}, bytes_of({1, 0, 1})},
    {10, 2, 5, {0x3c00, 0xc400}, bytes_of({0x00, 0x3c, 0x00, 0xc4})},
    {11, 1, 10, {0x3ff0000000000001}, bytes_of({1, 0, 0, 0, 0, 0, 0xf0, 0x3f})},
    {12, 2, 11, {7, 0xfffffffe}, bytes_of({7, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff})},
    {13, 1, 11, {-2}, bytes_of({0xfe, 255, 255, 255, 255, 255, 255, 255})},
    {14, 1, 4, {0x3f800000, 0x40000000}, bytes_of({0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})},
    {15, 1, 10, {1, 2}, bytes_of({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0})},
    {16, 2, 5, {0x3f80, 0xbf81}, bytes_of({0x80, 0x3f, 0x81, 0xbf})},
    {17, 2, 5, {0x38, 0xff}, bytes_of({0x38, 0xff})},
    {18, 2, 5, {0x38, 0x80}, bytes_of({0x38, 0x80})},
    {19, 2, 5, {0x3c, 0xfc}, bytes_of({0x3c, 0xfc})},
    {20, 2, 5, {0x3c, 0x80}, bytes_of({0x3c, 0x80})},
    {21, 5, 5, {0x21, 0xf3, 0x0a}, bytes_of({0x21, 0xf3, 0x0a})},
    {22, 3, 5, {0x8f, 0x07}, bytes_of({0x8f, 0x07})},
    {23, 4, 5, {0x12, 0x34}, bytes_of({0x12, 0x34})},
    {24, 2, 5, {127, 254}, bytes_of({127, 254})},
    {25, 9, 5, {0xe4, 0x1b, 0x02}, bytes_of({0xe4, 0x1b, 0x02})},
    {26, 6, 5, {0xe4, 0x0d}, bytes_of({0xe4, 0x0d})},
    // Six bits each, the first in the lowest: 000001 100001 111111 001000, and one more in its own byte.
    {27, 5, 5, {0x01, 0x21, 0x3f, 0x08, 0x3a}, bytes_of({0x41, 0xf8, 0x23, 0x3a})},
    {28, 2, 5, {0x3f, 0x01}, bytes_of({0x7f, 0x00})},
};

std::string type_name(const testing::TestParamInfo<TypedValues>& info) {
  return std::string(name_of(static_cast<ElementType>(info.param.type)));
}

INSTANTIATE_TEST_SUITE_P(EveryType, ElementTypeTest, testing::ValuesIn(kEveryType), type_name);

TEST(TensorReaderTest, EveryElementTypeButStringsIsInTheTableAbove) {
  std::vector<int> types;
  for (const TypedValues& value : kEveryType) types.push_back(value.type);
  types.push_back(8);
  std::sort(types.begin(), types.end());
  std::vector<int> expected(28);
  for (int i = 0; i < 28; ++i) expected[static_cast<std::size_t>(i)] = i + 1;
  EXPECT_EQ(types, expected);
}

// float_data and double_data in one packed piece already have the layout of raw data.
TEST(TensorReaderTest, PackedFloatsAreNotCopied) {
  for (const std::string& tensor : {without_values("w", 1, {2}) + field(4, test::raw_floats({1, 2})),
                                    without_values("w", 11, {1}) + field(10, std::string(8, 'x'))}) {
    const Model model = read_tensor(tensor);
    EXPECT_TRUE(std::holds_alternative<Borrowed>(only_tensor(model).data));
  }
}

}  // namespace
}  // namespace ounce::onnx
