// Graphs of 16-bit floats, from the plan to the results in every installed runtime. Each model contains
// something that is easily converted incorrectly.
#include "formats/onnx/emit/half_graph.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "formats/onnx/edit/constants.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/serializer.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/prepare/raise_opset.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/temporary_folder.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kBool;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using ounce::test::node;
using ounce::test::Strings;
using test::expect_same_outputs;
using test::float_attribute;
using test::floats_attribute;
using test::ints_attribute;
using test::ints_tensor;
using test::noise;
using test::text_of;
using testing::HasSubstr;

constexpr double kTolerance = 1e-2;

// Nodes whose outputs begin with "f32" stay in FP32.
Recipe recipe_for(const std::string& bytes, Format format = Format::kFp16) {
  Recipe recipe;
  recipe.format = format;
  if (bytes.find("f32") != std::string::npos) recipe.half.keep = {"^f32"};
  return recipe;
}

std::string rewritten(const onnx::Model& model) {
  const ounce::test::TemporaryFolder folder;
  ThreadPool pool(1);
  onnx::ModelOutput output(model, folder / "model.onnx", {});
  output.write(pool, nullptr);
  output.commit();
  return ounce::test::read_file(folder / "model.onnx");
}

// A model as quantize() would write it.
class Halved {
 public:
  Halved(const std::string& bytes, const Recipe& recipe)
      : bytes_(prepared(bytes, recipe)),
        source_(onnx::read_model_from_memory(bytes_, "model")),
        index_(graph::validate(source_)),
        model_(onnx::read_model_from_memory(bytes_, "model")) {
    ThreadPool pool(1);
    plan_ = plan::make_plan(source_, index_, recipe, pool);
    Editors editors(model_, index_);
    make_half_graph(editors, source_, index_, plan_);
    editors.finish();
    declare_ports(model_, plan_.half.ports);
  }
  onnx::Model& model() { return model_; }

  // Checks that the model can be read, and that values with a known type still have one, without
  // contradictions.
  void check_types() const {
    const std::string bytes = rewritten(model_);
    const onnx::Model written = onnx::read_model_from_memory(bytes, "written");
    const graph::Index index = graph::validate(written);
    const graph::ElementTypes before(source_, index_), after(written, index);
    ASSERT_EQ(index.bodies().size(), index_.bodies().size());
    for (std::size_t body = 0; body < index.bodies().size(); ++body) {
      for (const auto& [name, value] : index.bodies()[body].values) {
        if (value.is_sparse) continue;  // their type is known only from their uses
        const bool was_known = !index_.bodies()[body].values.contains(name) ||
                               before.type(body, name) != ElementType::kUndefined;
        EXPECT_TRUE(!was_known || after.type(body, name) != ElementType::kUndefined) << name << " in\n"
                                                                                     << text_of(written);
      }
    }
  }

 private:
  static std::string prepared(const std::string& bytes, const Recipe& recipe) {
    onnx::Model model = onnx::read_model_from_memory(bytes, "model");
    graph::validate(model);
    const bool is_bf16 = recipe.format == Format::kBf16;
    if (onnx::opset_version(model.proto->opset_imports, "") < (is_bf16 ? 13 : 6)) raise_opset(model, 13);
    expand_constants(model);
    return rewritten(model);
  }
  std::string bytes_;
  onnx::Model source_;
  graph::Index index_;
  onnx::Model model_;
  plan::Plan plan_;
};

std::size_t count_in(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// Checks the types and results for both 16-bit types, inside and at the ports. Returns the text for float16.
std::string converted(const std::string& bytes, double tolerance = kTolerance) {
  Recipe ports = recipe_for(bytes);
  ports.half.half_io = true;
  Halved(bytes, ports).check_types();
  std::string text;
  for (const ElementType type : {ElementType::kBfloat16, ElementType::kFloat16}) {
    const bool is_wide = type == ElementType::kBfloat16;
    Halved halved(bytes, recipe_for(bytes, is_wide ? Format::kBf16 : Format::kFp16));
    halved.check_types();
    text = text_of(halved.model());
    if (tolerance <= 0) continue;
    if (!is_wide) expect_same_outputs(bytes, halved.model(), tolerance);
    emulate_halves(halved.model(), type);  // CPUs do not round by themselves
    expect_same_outputs(bytes, halved.model(), is_wide ? 8 * tolerance : tolerance);
  }
  EXPECT_TRUE(text.find("float16") != std::string::npos || text.find("{to=10}") != std::string::npos) << text;
  return text;
}

// x ─ MatMul w ─ h, of 4 by 4
ModelBuilder layer(std::int64_t opset = 17, std::int64_t ir = 8) {
  ModelBuilder model(opset, ir);
  model.input("x", kFloat, {4, 4}).output("y", kFloat, {4, 4});
  model.initializer("w", {4, 4}, noise({4, 4}, 5)).node("MatMul", {"x", "w"}, {"h"});
  if (ir < 4) model.input("w", kFloat, {4, 4});
  return model;
}
GraphBuilder branch(const std::string& op, const Strings& inputs, const std::string& output) {
  GraphBuilder graph;
  graph.output(output, kFloat, {4, 4}).node(op, inputs, {output});
  return graph;
}
Strings branches(const GraphBuilder& then_branch, const GraphBuilder& else_branch) {
  return {graph_attribute("then_branch", then_branch.bytes()),
          graph_attribute("else_branch", else_branch.bytes())};
}

TEST(HalfGraph, OneCastServesAllThatWantTheOtherType) {
  ModelBuilder model = layer();
  model.input("c", kBool, {}).node("Neg", {"h"}, {"f32a"}).node("Neg", {"h"}, {"f32b"});
  model.node("If", {"c"}, {"i"}, branches(branch("Neg", {"h"}, "f32c"), branch("Abs", {"h"}, "e")));
  model.node("Sum", {"f32a", "f32b", "i", "f32a"}, {"y"});
  EXPECT_EQ(converted(model.bytes()),
            "w = float16[4,4]\n"
            "Cast(x){to=10} -> v1\n"
            "MatMul(v1, w) -> h\n"
            "Cast(h){to=1} -> v2\n"
            "Neg(v2) -> f32a\n"
            "Cast(f32a){to=10} -> v3\n"
            "Neg(v2) -> f32b\n"
            "Cast(f32b){to=10} -> v4\n"
            "If(c) -> i\n"
            "  then_branch:\n"
            "    Neg(v2) -> f32c\n"
            "    Cast(f32c){to=10} -> v5\n"
            "  else_branch:\n"
            "    Abs(h) -> e\n"
            "Sum(v3, v4, i, v3) -> v0\n"
            "Cast(v0){to=1} -> y\n");
}

TEST(HalfGraph, NewNamesAreNobodysName) {
  ModelBuilder model(17);
  model.input("v0", kFloat, {4, 4}).output("v3", kFloat, {4, 4}).initializer("v2", {4, 4}, noise({4, 4}));
  model.node("MatMul", {"v0", "v2"}, {"v1"}, {}, "v7").node("Neg", {"v1"}, {"f32v4"});
  model.node("Relu", {"f32v4"}, {"v5"}, {}, "v6");
  ModelBuilder twice = model;  // runtimes reject duplicate node names
  EXPECT_EQ(count_in(converted(model.node("Neg", {"v5"}, {"v3"}).bytes()), "Cast("), 4U);
  converted(twice.node("Neg", {"v5"}, {"v3"}, {}, "v6").bytes(), 0);
}

TEST(HalfGraph, BranchesHaveConstantsOfTheirOwn) {
  const auto side = [](std::uint32_t seed, const std::string& output) {
    GraphBuilder graph;
    graph.initializer("k", {4, 4}, noise({4, 4}, seed)).output(output, kFloat, {4, 4});
    graph.node("MatMul", {"h", "k"}, {output + "m"}).node("Add", {output + "m", "w"}, {output});
    return graph;
  };
  ModelBuilder model = layer();
  model.input("c", kBool, {}).node("If", {"c"}, {"y"}, branches(side(2, "a"), side(3, "f32b")));
  EXPECT_EQ(count_in(converted(model.bytes()), "k = float16[4,4]"), 1U);  // the other one is kept in FP32
}

// Runtimes reject a branch that returns a value of the enclosing graph, although it is valid.
TEST(HalfGraph, BranchesMayReturnOuterValues) {
  GraphBuilder direct;
  direct.output("f32h", kFloat, {4, 4});
  ModelBuilder model = layer();
  model.input("c", kBool, {}).node("Neg", {"h"}, {"f32h"});
  model.node("If", {"c"}, {"y"}, branches(direct, branch("Abs", {"h"}, "e")));
  converted(model.bytes(), 0);
}

GraphBuilder loop_body() {
  GraphBuilder body;
  body.input("i", kInt64, {}).input("go", kBool, {}).input("s", kFloat, {4, 4}).input("t", kFloat, {4, 4});
  body.output("go_on", kBool, {}).output("next", kFloat, {4, 4}).output("t", kFloat, {4, 4});
  body.output("each", kFloat, {4, 4}).node("Identity", {"go"}, {"go_on"});
  return body;
}
ModelBuilder loop_model(const GraphBuilder& body) {
  ModelBuilder model = layer();
  model.initializer(ounce::test::tensor("n", kInt64, {}, std::string("\3\0\0\0\0\0\0\0", 8)));
  model.initializer(ounce::test::tensor("yes", kBool, {}, "\1")).initializer("z", {4, 4}, noise({4, 4}, 9));
  model.output("last", kFloat, {4, 4}).output("all", kFloat, {3, 4, 4});
  model.node("Loop", {"n", "yes", "z", "h"}, {"last", "same", "all"},
             {graph_attribute("body", body.bytes())});
  model.node("Neg", {"z"}, {"f32z"}).node("Add", {"same", "f32z"}, {"y"});
  return model;
}

TEST(HalfGraph, LoopsHaveOneTypeInAllRounds) {
  GraphBuilder body = loop_body();
  body.node("MatMul", {"s", "w"}, {"m"}).node("Tanh", {"m"}, {"next"}).node("Neg", {"next"}, {"f32e"});
  body.node("Add", {"f32e", "t"}, {"each"});
  converted(loop_model(body).bytes());
  GraphBuilder nested = loop_body();  // with an If inside
  nested.input("unused", kFloat, {4, 4});
  GraphBuilder choice = loop_body();
  choice.node("Cast", {"i"}, {"b"}, {int_attribute("to", kBool)});
  choice.node("If", {"b"}, {"next"}, branches(branch("Neg", {"s"}, "f32n"), branch("Tanh", {"s"}, "o")));
  choice.node("Mul", {"next", "t"}, {"each"});
  converted(loop_model(choice).bytes());
}

TEST(HalfGraph, ScansCarryStatesAndGiveRows) {
  GraphBuilder body;
  body.input("s", kFloat, {4})
      .input("row", kFloat, {4})
      .output("next", kFloat, {4})
      .output("given", kFloat, {4});
  body.node("Add", {"s", "row"}, {"sum"}).node("Tanh", {"sum"}, {"next"}).node("Neg", {"next"}, {"f32g"});
  body.node("Relu", {"f32g"}, {"given"});
  ModelBuilder model = layer();
  model.initializer("zero", {4}, {0, 0, 0, 0}).output("state", kFloat, {4});
  model.node("Scan", {"zero", "h"}, {"state", "y"},
             {graph_attribute("body", body.bytes()), int_attribute("num_scan_inputs", 1)});
  converted(model.bytes());
}

std::string function(const std::string& name, const Strings& inputs, const Strings& outputs,
                     const Strings& nodes,
                     const std::string& imports = field(1, std::string()) + field(2, std::int64_t{17}),
                     const std::string& others = {}) {
  std::string bytes = field(1, name);
  for (const std::string& input : inputs) bytes += field(4, input);
  for (const std::string& output : outputs) bytes += field(5, output);
  for (const std::string& each : nodes) bytes += field(7, each);
  return bytes + field(9, imports) + field(10, std::string("f")) + others;
}
std::string import_of(const std::string& domain, std::int64_t version) {
  return field(1, domain) + field(2, version);
}
std::string call(const std::string& name, const Strings& inputs, const Strings& outputs) {
  return node(name, inputs, outputs, {}, "", "f");
}
// x ─ … ─ h, then these calls. The functions import the model's opset unless they specify another.
std::string with_functions(const Strings& calls, const Strings& functions) {
  ModelBuilder model = layer();
  for (const std::string& each : calls) model.add(1, each);
  for (const std::string& each : functions) model.add_to_model(25, each);
  model.add_to_model(8, import_of("f", 1)).add_to_model(8, import_of("com.microsoft", 1));
  return model.bytes();
}

TEST(HalfGraph, FunctionsHaveOneTypeForAllCalls) {
  const std::string constant =
      node("Constant", {}, {"k"},
           {ounce::test::tensor_attribute("value", ounce::test::float_tensor("", {}, {0.5F}))});
  const std::string inner =
      function("inner", {"a"}, {"b"}, {constant, node("Mul", {"a", "k"}, {"m"}), node("Neg", {"m"}, {"b"})});
  const std::string outer =
      function("outer", {"a"}, {"b", "f32c"},
               {call("inner", {"a"}, {"i"}), node("Neg", {"i"}, {"f32c"}), call("inner", {"f32c"}, {"b"})},
               field(1, std::string()) + field(2, std::int64_t{17}), field(9, import_of("f", 1)));
  const std::string through = function("through", {"a"}, {"a"}, {});
  converted(with_functions(
      {call("inner", {"h"}, {"p"}), node("Neg", {"p"}, {"f32p"}), call("inner", {"f32p"}, {"q"}),
       call("outer", {"q"}, {"r", "s"}), node("Add", {"r", "s"}, {"y"})},
      {inner, outer}));
  converted(with_functions({call("through", {"h"}, {"p"}), node("Neg", {"p"}, {"y"})}, {through}), 0);
}

TEST(HalfGraph, FunctionsMayBeCalledWithSeveralTypes) {
  const std::string any = function("any", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})});
  const std::string to =
      function("to", {"a"}, {"b"},
               {node("Cast", {"a"}, {"c"}, {int_attribute("to", kFloat)}), node("Neg", {"c"}, {"b"})});
  Halved(
      with_functions({node("Cast", {"h"}, {"d"}, {int_attribute("to", 11)}), call("any", {"d"}, {"e"}),
                      node("Cast", {"e"}, {"g"}, {int_attribute("to", kFloat)}), call("any", {"g"}, {"y"})},
                     {any}),
      recipe_for(""))
      .check_types();
  converted(with_functions({node("Cast", {"h"}, {"d"}, {int_attribute("to", 7)}), call("to", {"d"}, {"e"}),
                            call("to", {"h"}, {"g"}), node("Add", {"e", "g"}, {"y"})},
                           {to}),
            1);
}

// Casts are ops of ONNX's own domain, which such a function does not import yet.
TEST(HalfGraph, FunctionsOfOtherDomainsMayNeedCasts) {
  const std::string gelu = function("gelu", {"a"}, {"b"},
                                    {node("Gelu", {"a"}, {"f32g"}, {}, "", "com.microsoft"),
                                     node("Gelu", {"f32g"}, {"b"}, {}, "", "com.microsoft")},
                                    import_of("com.microsoft", 1));
  converted(with_functions({call("gelu", {"h"}, {"y"})}, {gelu}));
}

TEST(HalfGraph, FunctionsMayDeclareTheirValues) {
  const std::string declared =
      function("declared", {"a"}, {"b"}, {node("Neg", {"a"}, {"m"}), node("Neg", {"m"}, {"b"})},
               import_of("", 17), field(12, ounce::test::value_info("m", kFloat, {4, 4})));
  converted(with_functions({call("declared", {"h"}, {"y"})}, {declared}));
}

TEST(HalfGraph, OutputsKeepTheirNamesAndTypes) {
  ModelBuilder model = layer();  // used in a subgraph, as two inputs of one node, as an input, as a constant
  model.output("h", kFloat, {4, 4}).output("a", kFloat, {2, 4}).output("b", kFloat, {2, 4});
  model.output("x", kFloat, {4, 4}).output("w", kFloat, {4, 4}).output("f32n", kFloat, {4, 4});
  model.node("Split", {"h"}, {"a", "b"}, {int_attribute("axis", 0)}).node("Neg", {"h"}, {"f32n"});
  model.node("Add", {"h", "f32n"}, {"s"}).node("Add", {"s", "w"}, {"y"});
  const std::string text = converted(model.bytes());
  for (const char* name : {"h", "a", "b", "y"})
    EXPECT_EQ(count_in(text, std::string("{to=1} -> ") + name + "\n"), 1U);
  EXPECT_THAT(text, HasSubstr("w = float32"));
}

TEST(HalfGraph, DefaultsOfInputsStayAndOldInitializersDoNot) {
  ModelBuilder modern = layer();
  modern.input("w", kFloat, {4, 4}).initializer("k", {4, 4}, noise({4, 4})).node("Add", {"h", "k"}, {"y"});
  EXPECT_THAT(converted(modern.bytes(), 0), HasSubstr("w = float32"));
  ModelBuilder old = layer(9, 3);
  old.node("Neg", {"h"}, {"f32n"}).node("Add", {"f32n", "w"}, {"y"});
  EXPECT_THAT(converted(old.bytes()), HasSubstr("w = float16"));
}

TEST(HalfGraph, ConstantsComeInAllSpellings) {
  ModelBuilder model = layer();
  model.node("Constant", {}, {"one"}, {float_attribute("value_float", 0.5F)});
  model.node("Constant", {}, {"row"}, {floats_attribute("value_floats", {1, 2, 3, 4})});
  model.initializer(ints_tensor("dims", {4, 4})).node("ConstantOfShape", {"dims"}, {"zeros"});
  model.node("ConstantOfShape", {"dims"}, {"twos"},
             {ounce::test::tensor_attribute("value", ounce::test::float_tensor("", {1}, {2}))});
  model.node("ConstantOfShape", {"dims"}, {"f32t"},
             {ounce::test::tensor_attribute("value", ounce::test::float_tensor("", {1}, {3}))});
  model.node("Sum", {"h", "one", "row", "zeros", "twos", "f32t"}, {"y"});
  converted(model.bytes());
}

TEST(HalfGraph, SparseConstantsAreCast) {
  const std::string sparse = field(1, ounce::test::float_tensor("k", {2}, {0.5F, 2})) +
                             field(2, ints_tensor("", {1, 7})) + field(3, std::int64_t{4}) +
                             field(3, std::int64_t{4});
  ModelBuilder model = layer();
  model.add(15, sparse).node("MatMul", {"h", "k"}, {"y"});
  EXPECT_THAT(converted(model.bytes()), HasSubstr("Cast(k){to=10}"));
}

TEST(HalfGraph, OneTensorMayBeWeightAndTable) {
  ModelBuilder model = layer();
  model.input("rows", kInt64, {4}).node("Gather", {"w", "rows"}, {"g"});
  model.node("Gemm", {"g", "w", "w"}, {"a"}, {int_attribute("transB", 1)}).node("Neg", {"w"}, {"f32w"});
  model.node("Sum", {"h", "a", "f32w"}, {"y"});
  EXPECT_EQ(count_in(converted(model.bytes()), "Cast(w)"), 1U);
}

TEST(HalfGraph, OptionalInputsStayLeftOut) {
  ModelBuilder model(17);
  model.input("x", kFloat, {3, 2, 4}).output("y", kFloat, {3, 1, 2, 4}).output("c", kFloat, {1, 2, 4});
  model.initializer("w", {1, 16, 4}, noise({1, 16, 4})).initializer("r", {1, 16, 4}, noise({1, 16, 4}, 2));
  model.initializer("s", {1, 2, 4}, noise({1, 2, 4}, 3));
  model.node("LSTM", {"x", "w", "r", "", "", "s", ""}, {"y", "", "c"}, {int_attribute("hidden_size", 4)});
  converted(model.bytes());
}

TEST(HalfGraph, SettingsStayFloat32) {
  ModelBuilder model(17);
  model.input("x", kFloat, {1, 2, 4, 4}).output("y", kFloat, {1, 2, 8, 8});
  model.initializer("w", {2, 2, 1, 1}, noise({2, 2, 1, 1})).node("Conv", {"x", "w"}, {"h"});
  model.initializer("roi", {8}, {0, 0, 0, 0, 1, 1, 1, 1}).initializer("scales", {4}, {1, 1, 2, 2});
  model.node("Resize", {"h", "roi", "scales"}, {"y"});
  EXPECT_THAT(converted(model.bytes()), HasSubstr("roi = float32[8]\nscales = float32[4]\n"));
}

// These ops return the type of their input unless an attribute sets another.
TEST(HalfGraph, TypesThatFollowTheInputAreKnown) {
  ModelBuilder model = layer();
  model.add(13, ounce::test::value_info("e", kFloat, {4, 4}));
  model.node("EyeLike", {"h"}, {"e"}).node("Add", {"h", "e"}, {"y"});
  converted(model.bytes());
}

TEST(HalfGraph, DeclaredTypesFollowAndShapesSurvive) {
  const std::string free_dims = field(1, field(2, std::string("n"))) + field(1, std::string());
  const auto info = [&](const std::string& name) {
    return field(1, name) + field(2, field(1, field(1, std::int64_t{kFloat}) + field(2, free_dims)));
  };
  ModelBuilder model(17);
  model.input("x", kFloat, {4, 4}).add(12, info("y")).initializer("w", {4, 4}, noise({4, 4}));
  model.node("MatMul", {"x", "w"}, {"h"}).node("Neg", {"h"}, {"f32n"}).node("Relu", {"f32n"}, {"y"});
  for (const char* name : {"h", "f32n"}) model.add(13, info(name));
  const std::string bytes = model.bytes();
  converted(bytes);
  Halved halved(bytes, recipe_for(bytes));
  const onnx::Graph& graph = *halved.model().proto->graph;
  const auto type = [](const onnx::ValueInfo& value) { return onnx::read_type(value.type); };
  EXPECT_EQ(type(*graph.value_infos[0]).element, ElementType::kFloat16);
  EXPECT_EQ(type(*graph.value_infos[1]).element, ElementType::kFloat);
  EXPECT_EQ(type(*graph.outputs[0]).element, ElementType::kFloat);
  for (const onnx::ValueInfo& value : {*graph.value_infos[0], *graph.value_infos[1], *graph.outputs[0]})
    EXPECT_NE(std::string(value.type).find(field(2, free_dims)), std::string::npos);
}

TEST(HalfGraph, OldOpsetsAreConvertedToo) {
  for (const std::int64_t opset : {5, 6, 9, 12}) {
    SCOPED_TRACE(opset);
    ModelBuilder model = layer(opset, 3);
    model.node("Relu", {"h"}, {"r"}).node("Softmax", {"r"}, {"s"}).node("Neg", {"s"}, {"f32n"});
    model.node("Relu", {"f32n"}, {"t"}).node("Sum", {"t", "s"}, {"y"});
    const std::string bytes = model.bytes();
    if (opset > 6) {
      converted(bytes);
    } else if (opset == 6) {
      Halved halved(bytes, recipe_for(bytes));
      halved.check_types();
      expect_same_outputs(bytes, halved.model(), kTolerance);
    } else {
      const Error error = ounce::test::error_of([&] { const Halved halved(bytes, recipe_for(bytes)); });
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    }
  }
}

// The fill value may be missing in hostile files.
TEST(HalfGraph, AFillWithoutANumberIsNoReasonToReadBeyondIt) {
  ModelBuilder model = layer();
  model.initializer(ints_tensor("dims", {4, 4}));
  model.node("ConstantOfShape", {"dims"}, {"k"},
             {ounce::test::tensor_attribute("value", ounce::test::tensor("", kFloat, {0}, ""))});
  model.node("Add", {"h", "k"}, {"y"});
  const std::string bytes = model.bytes();
  try {
    const Halved halved(bytes, recipe_for(bytes));
    EXPECT_NO_THROW(halved.check_types());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  }
}

}  // namespace
}  // namespace ounce::passes
