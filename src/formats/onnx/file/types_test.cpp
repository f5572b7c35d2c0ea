#include "formats/onnx/file/types.h"

#include <gtest/gtest.h>

#include "support/model_builder.h"

namespace ounce::onnx {
namespace {

using test::field;

std::string described(const std::string& type) {
  check_type(type, Origin{type, "test"});
  return describe(read_type(type));
}

TEST(TypesTest, DescribesTensors) {
  const auto tensor = [](std::int64_t element, const std::string& rest) {
    return field(1, field(1, element) + rest);
  };
  const std::string dims =
      field(1, field(1, std::int64_t{3})) + field(1, field(2, std::string("N"))) + field(1, std::string());
  EXPECT_EQ(described(tensor(1, field(2, dims))), "float32[3,N,?]");
  EXPECT_EQ(described(tensor(7, field(2, std::string()))), "int64[]");
  EXPECT_EQ(described(tensor(10, {})), "float16");
}

TEST(TypesTest, DescribesEverythingElseByItsKind) {
  EXPECT_EQ(described({}), "?");
  EXPECT_EQ(described(field(4, field(1, field(1, std::string())))), "sequence");
  EXPECT_EQ(described(field(5, field(1, std::int64_t{7}) + field(2, field(1, std::string())))), "map");
  EXPECT_EQ(described(field(9, std::string())), "optional");
  EXPECT_EQ(described(field(8, field(1, std::int64_t{1}) + field(2, std::string()))),
            "sparse tensor float32[]");
}

TEST(TypesTest, ReadsBackWhatItMakes) {
  Model model;
  const Bytes type = make_tensor_type(model, ElementType::kUint8, {4, 0, 1});
  EXPECT_EQ(described(std::string(type)), "uint8[4,0,1]");
}

TEST(WithElement, KeepsDimensionsOfWhichNothingIsKnown) {
  Model model;
  const auto shape_of = [&](Bytes type) {
    return describe(read_type(with_element(model, type, ElementType::kFloat16)));
  };
  const std::string unknown("\x0a\x0a\x08\x01\x12\x06\x0a\x00\x0a\x02\x08\x01", 12);  // float32[?,1]
  EXPECT_EQ(describe(read_type(unknown)), "float32[?,1]");
  EXPECT_EQ(shape_of(unknown), "float16[?,1]");
  EXPECT_EQ(shape_of(make_tensor_type(model, ElementType::kFloat, {})), "float16[]");
  EXPECT_TRUE(
      read_type(with_element(model, make_tensor_type(model, ElementType::kFloat, {}), ElementType::kFloat16))
          .has_shape);
}

}  // namespace
}  // namespace ounce::onnx
