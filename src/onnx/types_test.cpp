#include "onnx/types.h"

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

}  // namespace
}  // namespace ounce::onnx
