#include "formats/onnx/file/attributes.h"

#include <gtest/gtest.h>

#include "formats/onnx/file/reader.h"
#include "fuzz/sample_models.h"
#include "support/model_builder.h"

namespace ounce::onnx {
namespace {

using test::field;

class AttributesTest : public testing::Test {
 protected:
  AttributesTest() : everything(read_model_from_memory(test::everything_model(), "test")) {}
  const Node& node() const { return *everything.proto->graph->nodes[0]; }
  Model everything;
};

TEST_F(AttributesTest, ReadsNumbersAndText) {
  EXPECT_EQ(integer_attribute(node(), "i"), -3);
  EXPECT_EQ(integers_attribute(node(), "ints"), (std::vector<std::int64_t>{1, -1}));
  EXPECT_EQ(integers_attribute(node(), "packed"), (std::vector<std::int64_t>{1, 300, -1}));
  EXPECT_EQ(string_attribute(node(), "s"), "text");
}

TEST_F(AttributesTest, GivesNothingForAnAbsentAttribute) {
  EXPECT_EQ(find_attribute(node(), "nothing"), nullptr);
  EXPECT_FALSE(integer_attribute(node(), "nothing"));
  EXPECT_FALSE(integers_attribute(node(), "nothing"));
  EXPECT_FALSE(string_attribute(node(), "nothing"));
}

TEST_F(AttributesTest, GivesNothingForAnAttributeOfAnotherType) {
  for (const char* name : {"f", "t", "g", "floats", "strings", "tensors", "tp", "sparse"}) {
    EXPECT_FALSE(integer_attribute(node(), name)) << name;
    EXPECT_FALSE(integers_attribute(node(), name)) << name;
    EXPECT_FALSE(string_attribute(node(), name)) << name;
  }
  EXPECT_FALSE(integers_attribute(node(), "i"));
  EXPECT_FALSE(integer_attribute(node(), "ints"));
}

TEST_F(AttributesTest, AnEmptyListOfIntegersIsAList) {
  const std::string empty = field(1, std::string("axes")) + field(20, std::int64_t{7});
  const Model model =
      read_model_from_memory(test::ModelBuilder().node("Op", {}, {}, {empty}).bytes(), "test");
  EXPECT_EQ(integers_attribute(*model.proto->graph->nodes[0], "axes"), std::vector<std::int64_t>{});
}

// The referenced attribute is known only at the call of the function.
TEST_F(AttributesTest, AReferenceToAnAttributeOfTheFunctionHasNoValue) {
  EXPECT_FALSE(integer_attribute(node(), "ref"));
  const std::string reference =
      field(1, std::string("axes")) + field(20, std::int64_t{7}) + field(21, std::string("a"));
  const Model model =
      read_model_from_memory(test::ModelBuilder().node("Op", {}, {}, {reference}).bytes(), "test");
  EXPECT_FALSE(integers_attribute(*model.proto->graph->nodes[0], "axes"));
}

TEST_F(AttributesTest, ReadsBackWhatItMakes) {
  Node made;
  made.attributes.emplace_back(make_integer_attribute(everything, "axis", -2));
  made.attributes.emplace_back(make_string_attribute(everything, "mode", "linear"));
  Tensor tensor;
  tensor.type = ElementType::kFloat;
  made.attributes.emplace_back(make_tensor_attribute(everything, "value", std::move(tensor)));
  EXPECT_EQ(integer_attribute(made, "axis"), -2);
  EXPECT_EQ(string_attribute(made, "mode"), "linear");
  EXPECT_EQ(find_attribute(made, "value")->tensors.size(), 1U);
}

}  // namespace
}  // namespace ounce::onnx
