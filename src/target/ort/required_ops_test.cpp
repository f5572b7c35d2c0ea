#include "target/ort/requirements.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "formats/onnx/file/reader.h"
#include "support/error_of.h"
#include "support/model_builder.h"

namespace ounce::target {
namespace {

using test::error_of;
using test::field;
using test::kFloat;
using test::ModelBuilder;
using testing::HasSubstr;

std::string list_of(const std::vector<std::string>& files) {
  std::vector<onnx::Model> models;
  models.reserve(files.size());
  for (const std::string& bytes : files) models.push_back(onnx::read_model_from_memory(bytes, "model"));
  std::vector<const onnx::Model*> pointers;
  pointers.reserve(models.size());
  for (const onnx::Model& model : models) pointers.push_back(&model);
  return required_ops(pointers);
}

std::string import(const std::string& domain, std::int64_t version) {
  return field(1, domain) + field(2, version);
}

ModelBuilder chain(const test::Strings& ops, std::int64_t opset = 17) {
  ModelBuilder model(opset);
  model.input("v0", kFloat, {4}).output("v" + std::to_string(ops.size()), kFloat, {4});
  for (std::size_t i = 0; i < ops.size(); ++i)
    model.node(ops[i], {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  return model;
}

TEST(RequiredOps, AreSortedAndNamedOnce) {
  EXPECT_EQ(list_of({chain({"Relu", "Abs", "Relu", "Exp"}).bytes()}),
            "# domain;version;operators\nai.onnx;17;Abs,Exp,Relu\n");
}

TEST(RequiredOps, OfSeveralModelsInAnyOrderAreTheUnion) {
  ModelBuilder optimized = chain({"Relu"});
  optimized.add_to_model(8, import("com.microsoft", 1));
  optimized.add(1, test::node("FusedConv", {"v1"}, {"f"}, {}, "", "com.microsoft"));
  const std::string original = chain({"Abs"}).bytes(), older = chain({"Neg"}, 9).bytes();
  const std::string expected =
      "# domain;version;operators\nai.onnx;9;Neg\nai.onnx;17;Abs,Relu\ncom.microsoft;1;FusedConv\n";
  EXPECT_EQ(list_of({original, older, optimized.bytes()}), expected);
  EXPECT_EQ(list_of({optimized.bytes(), original, older}), expected);
}

TEST(RequiredOps, OfBodiesCountAsWell) {
  test::GraphBuilder body;
  body.output("b", kFloat, {4}).node("Softplus", {"v0"}, {"b"});
  ModelBuilder model;
  model.input("v0", kFloat, {4}).input("c", 9, {}).output("y", kFloat, {4});
  model.node("If", {"c"}, {"y"},
             {test::graph_attribute("then_branch", body.bytes()),
              test::graph_attribute("else_branch", body.bytes())});
  EXPECT_THAT(list_of({model.bytes()}), HasSubstr("ai.onnx;17;If,Softplus\n"));
}

TEST(RequiredOps, OfFunctionsHaveTheVersionOfTheFunction) {
  ModelBuilder model = chain({"Relu"});
  model.add_to_model(8, import("mine", 1));
  model.add(1, test::node("Twice", {"v1"}, {"t"}, {}, "", "mine"));
  model.add_to_model(25, field(1, std::string("Twice")) + field(4, std::string("a")) +
                             field(5, std::string("b")) + field(7, test::node("Erf", {"a"}, {"b"})) +
                             field(9, import("", 13)) + field(10, std::string("mine")));
  EXPECT_EQ(list_of({model.bytes()}), "# domain;version;operators\nai.onnx;13;Erf\nai.onnx;17;Relu\n");
}

TEST(RequiredOps, OfADomainThatNobodyImportsHaveItsFirstVersion) {
  ModelBuilder model = chain({"Relu"});
  model.add(1, test::node("Gelu", {"v1"}, {"g"}, {}, "", "com.microsoft"));
  EXPECT_THAT(list_of({model.bytes()}), HasSubstr("com.microsoft;1;Gelu\n"));
}

TEST(RequiredOps, NeverBreakTheGrammar) {
  for (const char* name : {"A;B", "A,B", "A\nB", "A{}", "A B", "#A", "!A", ""}) {
    const Error error = error_of([&] { list_of({chain({name}).bytes()}); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput) << name;
  }
}

TEST(RequiredOps, OfNothingAreNone) { EXPECT_EQ(list_of({}), "# domain;version;operators\n"); }

}  // namespace
}  // namespace ounce::target
