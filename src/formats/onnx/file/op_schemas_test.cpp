#include "formats/onnx/file/op_schemas.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace ounce::onnx {
namespace {

TEST(OpSchemas, AnOpIsTheNewestThatTheModelKnows) {
  ASSERT_NE(find_op_schema("", "Abs", 13), nullptr);
  EXPECT_EQ(find_op_schema("", "Abs", 1)->since, 1);
  EXPECT_EQ(find_op_schema("", "Abs", 12)->since, 6);
  EXPECT_EQ(find_op_schema("ai.onnx", "Abs", 13)->since, 13);
  EXPECT_EQ(find_op_schema("", "Abs", std::numeric_limits<std::int64_t>::max())->op_type, "Abs");
  for (const auto& [domain, op, version] :
       std::vector<std::tuple<const char*, const char*, std::int64_t>>{{"", "Abs", 0},
                                                                       {"", "Abs", -1},
                                                                       {"", "Gelu", 19},
                                                                       {"custom", "Abs", 13},
                                                                       {"", "", 13},
                                                                       {"", "abs", 13},
                                                                       {"", "\xff", 13},
                                                                       {"zzz", "Zzz", 13},
                                                                       {"com.microsoft", "Abs", 1}})
    EXPECT_EQ(find_op_schema(domain, op, version), nullptr) << domain << op << version;
  EXPECT_NE(find_op_schema("com.microsoft", "Gelu", 1), nullptr);
}

TEST(OpSchemas, TypesComeWithOpsets) {
  const auto allows = [](const char* op, std::int64_t version, ElementType type) {
    const OpSchema* schema = find_op_schema("", op, version);
    return schema != nullptr && schema->allows(*schema->input(0), type);
  };
  EXPECT_TRUE(allows("Relu", 6, ElementType::kFloat16));
  EXPECT_FALSE(allows("Relu", 6, ElementType::kBfloat16));
  EXPECT_TRUE(allows("Relu", 13, ElementType::kBfloat16));
  EXPECT_FALSE(allows("Shape", 1, ElementType::kBfloat16));
  EXPECT_TRUE(allows("Shape", 1, ElementType::kString));
}

TEST(OpSchemas, ParametersMayBeFixedSharedAndRepeated) {
  const OpSchema& resize = *find_op_schema("", "Resize", 13);
  EXPECT_EQ(resize.input(0), resize.output(0));
  EXPECT_NE(resize.input(0), resize.input(1));
  EXPECT_EQ(type_of_letter(*resize.input(2)), ElementType::kFloat);
  EXPECT_TRUE(resize.allows(*resize.input(2), ElementType::kFloat));
  EXPECT_FALSE(resize.allows(*resize.input(2), ElementType::kFloat16));
  EXPECT_EQ(resize.input(4), std::nullopt);
  EXPECT_EQ(resize.output(1), std::nullopt);
  const OpSchema& concat = *find_op_schema("", "Concat", 13);
  EXPECT_EQ(concat.input(0), concat.input(100000));
  EXPECT_EQ(concat.input(7), concat.output(0));
  const OpSchema& loop = *find_op_schema("", "Loop", 13);
  EXPECT_TRUE(loop.inputs.ends_with('!'));
}

TEST(OpSchemas, VariablesHaveNamesAndTypes) {
  const OpSchema& where = *find_op_schema("", "Gather", 13);
  EXPECT_EQ(where.name_of(*where.input(1)), "Tind");
  EXPECT_EQ(where.types_of(*where.input(1)), "il");
  EXPECT_EQ(where.types_of('Z'), "");
  EXPECT_EQ(where.name_of('Z'), "");
  for (const char letter : std::string("?*+!aZ"))
    EXPECT_EQ(type_of_letter(letter), ElementType::kUndefined) << letter;
}

// Every letter of the table means something.
TEST(OpSchemas, OpsOfNormalisationsKeepTheirStatisticsApart) {
  const OpSchema& norm = *find_op_schema("", "LayerNormalization", 17);
  EXPECT_EQ(norm.input(0), norm.output(0));
  EXPECT_NE(norm.output(0), norm.output(1));
  EXPECT_FALSE(norm.allows(*norm.output(1), ElementType::kFloat16));
  const OpSchema& batch = *find_op_schema("", "BatchNormalization", 15);
  EXPECT_NE(batch.input(0), batch.input(3));
}

}  // namespace
}  // namespace ounce::onnx
