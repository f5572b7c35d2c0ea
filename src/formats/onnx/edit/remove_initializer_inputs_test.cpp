#include "formats/onnx/edit/constants.h"

#include <gmock/gmock.h>

#include "support/model_builder.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::read;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModelBuilder listed(std::int64_t ir_version) {
  ModelBuilder model(13, ir_version);
  model.input("x", kFloat, {1, 2}).input("w", kFloat, {2, 2}).output("y", kFloat, {1, 2});
  model.initializer("w", {2, 2}, {1, 2, 3, 4}).node("MatMul", {"x", "w"}, {"y"});
  return model;
}

TEST(UnlistConstants, TakesInitializersOffTheListOfInputs) {
  onnx::Model model = read(listed(8).bytes());
  EXPECT_THAT(listed_constants(model), ElementsAre("w"));
  remove_initializer_inputs(model);
  ASSERT_EQ(model.proto->graph->inputs.size(), 1U);
  EXPECT_EQ(model.proto->graph->inputs[0]->name, "x");
  EXPECT_EQ(model.proto->graph->initializers.size(), 1U);
  EXPECT_THAT(listed_constants(model), IsEmpty());
}

TEST(UnlistConstants, LeavesTheListAloneWhereItIsAMatterOfForm) {
  onnx::Model model = read(listed(3).bytes());
  EXPECT_THAT(listed_constants(model), IsEmpty());
  remove_initializer_inputs(model);
  EXPECT_EQ(model.proto->graph->inputs.size(), 2U);
}

TEST(UnlistConstants, SaysHowToKeepThem) {
  EXPECT_EQ(sentence_of_unlisted({}), "");
  EXPECT_THAT(sentence_of_unlisted({"w"}),
              HasSubstr("becomes a constant; if an app overrides it: `keep_inputs=true`"));
  EXPECT_THAT(sentence_of_unlisted({"w", "b"}), HasSubstr("2 initializers ('w' …)"));
}

}  // namespace
}  // namespace ounce::passes
