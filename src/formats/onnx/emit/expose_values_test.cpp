#include "formats/onnx/emit/expose_values.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "runtime/ort/session.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::error_of;
using ounce::test::field;
using ounce::test::float_tensor;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::kBool;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using ounce::test::Strings;
using ounce::test::TemporaryFolder;
using ounce::test::tensor_attribute;
using runtime::Library;
using runtime::Session;
using test::ints_tensor;
using test::noise;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "h" in the main graph, "h in If_3/then_branch" elsewhere.
std::string label(const graph::Index& index, const ObservedValue& value) {
  const std::string& path = index.bodies()[value.body].path;
  return path.empty() ? value.name : value.name + " in " + path;
}

Strings observed(const std::string& bytes) {
  const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  const graph::Index index = graph::validate(model);
  Strings labels;
  for (const ObservedValue& value : values_to_observe(model, index)) labels.push_back(label(index, value));
  return labels;
}

// A model with all of its values exposed.
struct Observable {
  onnx::Model model;
  std::vector<Exposed> exposed;
  std::map<std::string, std::string> outputs;  // by label

  explicit Observable(const std::string& bytes) : model(onnx::read_model_from_memory(bytes, "model")) {
    const graph::Index index = graph::validate(model);
    const auto values = values_to_observe(model, index);
    Strings labels;
    for (const ObservedValue& value : values) labels.push_back(label(index, value));
    exposed = expose_values(model, index, values);
    for (std::size_t i = 0; i < exposed.size(); ++i) outputs[labels[i]] = exposed[i].output;
  }
};

using Tensors = std::map<std::string, data::Tensor>;  // by name

Tensors run(const Session& session, const Tensors& inputs) {
  std::vector<data::NamedTensor> named;
  for (const auto& [name, tensor] : inputs) named.push_back({name, tensor});
  const std::vector<data::Tensor> values = session.run(named);
  Tensors outputs;
  for (std::size_t i = 0; i < values.size(); ++i) outputs[session.outputs()[i].name] = values[i];
  return outputs;
}

// Runs the written model in every runtime and checks that the original outputs do not change.
template <class Check>
void run_everywhere(const std::string& before, const Observable& after, const Tensors& inputs, Check check) {
  const TemporaryFolder folder;
  ounce::test::write_file(folder / "before.onnx", before);
  ThreadPool pool(1);
  onnx::ModelOutput output(after.model, folder / "after.onnx", {});
  output.write(pool, nullptr);
  graph::validate(output.reopen());
  output.commit();
  const auto libraries = Library::installed();
  ASSERT_FALSE(libraries.empty());
  for (const auto& path : libraries) {
    SCOPED_TRACE(path.string());
    const auto library = Library::open(path);
    const Tensors expected = run(Session(library, folder / "before.onnx", {}), inputs);
    Tensors outputs = run(Session(library, folder / "after.onnx", {}), inputs);
    for (const auto& [name, tensor] : expected) {
      EXPECT_EQ(outputs.at(name).dims, tensor.dims);
      EXPECT_EQ(outputs.at(name).bytes, tensor.bytes);
    }
    outputs.insert(inputs.begin(), inputs.end());
    Tensors seen;
    for (const auto& [name, exposed] : after.outputs) seen[name] = outputs.at(exposed);
    check(seen);
  }
}

std::vector<float> floats(const data::Tensor& tensor) { return data::test::numbers_of<float>(tensor); }

std::vector<float> relu(std::vector<float> values) {
  for (float& value : values) value = std::max(value, 0.0F);
  return values;
}

data::Tensor truth(bool value) { return {ElementType::kBool, {}, std::string(1, value ? '\1' : '\0'), {}}; }
data::Tensor some_x() { return data::test::tensor_of<float>({2, 3}, noise({2, 3}, 7)); }

// The output has no type, because branches may return different shapes.
void add_output(GraphBuilder& graph, const std::string& name) { graph.add(12, field(1, name)); }

// x ─ MatMul(w) ─ h ─ Relu ─ e
GraphBuilder dense_branch(std::uint32_t seed, std::int64_t width = 4) {
  GraphBuilder graph;
  graph.output("e", kFloat, {2, width}).initializer("w", {3, width}, noise({3, width}, seed));
  graph.node("MatMul", {"x", "w"}, {"h"}).node("Relu", {"h"}, {"e"});
  return graph;
}

ModelBuilder with_choice(const std::string& then_branch, const std::string& else_branch,
                         const Strings& outputs = {"y"}) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).input("which", kBool, {});
  for (const std::string& output : outputs) add_output(model, output);
  model.node("If", {"which"}, outputs,
             {graph_attribute("then_branch", then_branch), graph_attribute("else_branch", else_branch)},
             "choice");
  return model;
}

TEST(ExposeValues, KeepsTheNamesOfTheMainGraph) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 4}).initializer("w", {3, 4}, noise({12}));
  model.node("MatMul", {"x", "w"}, {"h"}).node("Relu", {"h"}, {"y"});
  const Observable observable(model.bytes());
  EXPECT_THAT(observable.outputs, ElementsAre(std::pair("h", "h"), std::pair("x", "x"), std::pair("y", "y")));
  EXPECT_EQ(observable.model.proto->graph->outputs.size(), 2U);
  run_everywhere(model.bytes(), observable, {{"x", some_x()}},
                 [](const Tensors& seen) { EXPECT_EQ(relu(floats(seen.at("h"))), floats(seen.at("y"))); });
}

TEST(ExposeValues, SeesBothBranchesThoughTheyUseTheSameNames) {
  const ModelBuilder model = with_choice(dense_branch(1).bytes(), dense_branch(2).bytes());
  const Observable observable(model.bytes());
  EXPECT_EQ(text_of(observable.model),
            "If(which) -> y, v1, v2, v4, v5\n"
            "  then_branch:\n    w = float32[3,4]\n    q2 = float32[0]\n    q3 = float32[0]\n"
            "    MatMul(x, w) -> h\n    Relu(h) -> e\n    Identity(e) -> v0\n"
            "  else_branch:\n    w = float32[3,4]\n    q0 = float32[0]\n    q1 = float32[0]\n"
            "    MatMul(x, w) -> h\n    Relu(h) -> e\n    Identity(e) -> v3\n");
  for (const bool which : {true, false}) {
    run_everywhere(model.bytes(), observable, {{"x", some_x()}, {"which", truth(which)}},
                   [&](const Tensors& seen) {
                     const std::string runs = which ? "choice/then_branch" : "choice/else_branch";
                     const std::string rests = which ? "choice/else_branch" : "choice/then_branch";
                     EXPECT_THAT(seen.at("h in " + runs).dims, ElementsAre(2, 4));
                     EXPECT_EQ(relu(floats(seen.at("h in " + runs))), floats(seen.at("e in " + runs)));
                     EXPECT_THAT(seen.at("h in " + rests).dims, ElementsAre(0));
                     EXPECT_THAT(seen.at("e in " + rests).bytes, IsEmpty());
                   });
  }
}

TEST(ExposeValues, ClimbsOutOfNestedBranches) {
  GraphBuilder outer;
  outer.node("Tanh", {"x"}, {"t"});
  add_output(outer, "o");
  GraphBuilder inner;  // uses a value of the enclosing branch
  inner.output("e", kFloat, {2, 4}).initializer("w", {3, 4}, noise({12}, 5));
  inner.node("MatMul", {"t", "w"}, {"h"}).node("Relu", {"h"}, {"e"});
  outer.node("If", {"also"}, {"o"},
             {graph_attribute("then_branch", inner.bytes()),
              graph_attribute("else_branch", dense_branch(3, 5).bytes())},
             "inner");
  ModelBuilder model = with_choice(outer.bytes(), dense_branch(4, 2).bytes());
  model.input("also", kBool, {});
  EXPECT_THAT(
      observed(model.bytes()),
      ElementsAre("x", "t in choice/then_branch", "e in choice/else_branch", "h in choice/else_branch",
                  "e in choice/then_branch/inner/then_branch", "h in choice/then_branch/inner/then_branch",
                  "e in choice/then_branch/inner/else_branch", "h in choice/then_branch/inner/else_branch"));
  const Observable observable(model.bytes());
  const auto is_empty = [](const data::Tensor& tensor) { return tensor.dims == Dims{0}; };
  for (const int choice : {0, 1, 2}) {
    const Tensors inputs = {{"x", some_x()}, {"which", truth(choice != 2)}, {"also", truth(choice == 0)}};
    run_everywhere(model.bytes(), observable, inputs, [&](const Tensors& seen) {
      EXPECT_EQ(is_empty(seen.at("t in choice/then_branch")), choice == 2);
      EXPECT_EQ(is_empty(seen.at("h in choice/then_branch/inner/then_branch")), choice != 0);
      EXPECT_EQ(is_empty(seen.at("h in choice/then_branch/inner/else_branch")), choice != 1);
      EXPECT_EQ(is_empty(seen.at("h in choice/else_branch")), choice != 2);
    });
  }
}

// The weight is in a Constant node.
std::string old_branch(std::uint32_t seed) {
  GraphBuilder graph;
  graph.output("e", kFloat, {2, 4});
  graph.node("Constant", {}, {"w"}, {tensor_attribute("value", float_tensor("", {3, 4}, noise({12}, seed)))});
  return graph.node("MatMul", {"x", "w"}, {"h"}).node("Relu", {"h"}, {"e"}).bytes();
}

TEST(ExposeValues, DoesNotLookIntoBranchesBelowOpset11) {
  ModelBuilder model(10);
  model.input("x", kFloat, {2, 3}).input("which", kBool, {}).output("y", kFloat, {2, 4});
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", old_branch(1)), graph_attribute("else_branch", old_branch(2))},
             "choice");
  EXPECT_THAT(observed(model.bytes()), IsEmpty());
}

TEST(ExposeValues, PutsConstantNodesWhereThereCanBeNoInitializers) {
  ModelBuilder model(11, 3);
  model.input("x", kFloat, {2, 3}).input("which", kBool, {}).output("y", kFloat, {2, 4});
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", old_branch(1)), graph_attribute("else_branch", old_branch(2))},
             "choice");
  const Observable observable(model.bytes());
  for (const bool which : {true, false}) {
    run_everywhere(model.bytes(), observable, {{"x", some_x()}, {"which", truth(which)}},
                   [&](const Tensors& seen) {
                     EXPECT_EQ(seen.at("h in choice/then_branch").dims, which ? (Dims{2, 4}) : Dims{0});
                   });
  }
}

// An empty float tensor in the other branch would have the wrong type, and the runtime would reject the
// model.
TEST(ExposeValues, LeavesIntegersInBranchesAlone) {
  GraphBuilder branch = dense_branch(1);
  branch.initializer(ints_tensor("one", {1})).output("k", kInt64, {1});
  branch.node("Shape", {"h"}, {"s"}).node("Gather", {"s", "one"}, {"g"}).node("Add", {"g", "one"}, {"k"});
  ModelBuilder model;
  model.input("x", kFloat, {2, 3})
      .input("which", kBool, {})
      .output("y", kFloat, {2, 4})
      .output("n", kInt64, {1});
  model.node("If", {"which"}, {"y", "n"},
             {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())},
             "choice");
  EXPECT_THAT(observed(model.bytes()), ElementsAre("x", "e in choice/then_branch", "h in choice/then_branch",
                                                   "e in choice/else_branch", "h in choice/else_branch"));
  run_everywhere(model.bytes(), Observable(model.bytes()), {{"x", some_x()}, {"which", truth(true)}},
                 [](const Tensors&) {});
}

TEST(ExposeValues, LeavesValuesOfUnknownTypeInBranchesAlone) {
  GraphBuilder branch;
  branch.node("SomethingNew", {"x"}, {"u"}).node("Relu", {"u"}, {"r"}).node("AlsoNew", {"r"}, {"e"});
  add_output(branch, "e");
  const ModelBuilder model = with_choice(branch.bytes(), dense_branch(1).bytes());
  EXPECT_THAT(observed(model.bytes()),
              ElementsAre("x", "e in choice/else_branch", "h in choice/else_branch"));
}

TEST(ExposeValues, TakesOtherFloatsThanFloat32) {
  constexpr int kDouble = 11;
  const auto branch = [](std::uint32_t seed) {
    GraphBuilder graph;
    const std::vector<float> weights = noise({12}, seed);
    std::string raw;
    for (const double weight : weights) raw.append(reinterpret_cast<const char*>(&weight), sizeof weight);
    graph.initializer(ounce::test::tensor("w", kDouble, {3, 4}, raw)).output("e", kDouble, {2, 4});
    return graph.node("MatMul", {"x", "w"}, {"h"}).node("Relu", {"h"}, {"e"}).bytes();
  };
  ModelBuilder model;
  model.input("x", kDouble, {2, 3}).input("which", kBool, {}).output("y", kDouble, {2, 4});
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", branch(1)), graph_attribute("else_branch", branch(2))},
             "choice");
  const std::vector<double> x = {1, -2, 3, -4, 5, -6};
  run_everywhere(model.bytes(), Observable(model.bytes()),
                 {{"x", data::test::tensor_of<double>({2, 3}, x)}, {"which", truth(false)}},
                 [](const Tensors& seen) {
                   EXPECT_EQ(seen.at("h in choice/else_branch").type, ElementType::kDouble);
                   EXPECT_THAT(seen.at("h in choice/else_branch").dims, ElementsAre(2, 4));
                   EXPECT_EQ(seen.at("h in choice/then_branch").type, ElementType::kDouble);
                 });
}

// Runtimes reject such a branch. It must still not be mistaken for the one that defines the value.
TEST(ExposeValues, SeesAValueThatABranchOnlyHandsOnWhereItIsDefined) {
  GraphBuilder hands_on;
  hands_on.output("r", kFloat, {2, 3});
  GraphBuilder computes;
  computes.output("e", kFloat, {2, 3}).node("Sigmoid", {"r"}, {"e"});
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).input("which", kBool, {}).output("y", kFloat, {2, 3});
  model.node("Relu", {"x"}, {"r"});
  model.node(
      "If", {"which"}, {"y"},
      {graph_attribute("then_branch", hands_on.bytes()), graph_attribute("else_branch", computes.bytes())},
      "choice");
  const Observable observable(model.bytes());
  EXPECT_THAT(observable.outputs, ElementsAre(std::pair("e in choice/else_branch", "v1"), std::pair("r", "r"),
                                              std::pair("x", "x")));
  EXPECT_EQ(text_of(observable.model),
            "Relu(x) -> r\nIf(which) -> y, v1\n  then_branch:\n    q0 = float32[0]\n"
            "  else_branch:\n    Sigmoid(r) -> e\n    Identity(e) -> v0\n");
}

TEST(ExposeValues, DoesNotLookIntoLoopsAndWhatIsInThem) {
  GraphBuilder loop;
  loop.input("i", kInt64, {}).input("go_on", kBool, {}).input("state", kFloat, {2, 3});
  loop.output("stays", kBool, {}).output("next", kFloat, {2, 3}).initializer("w", {3, 3}, noise({9}));
  GraphBuilder branch;
  branch.output("e", kFloat, {2, 3}).node("Relu", {"h"}, {"e"});
  loop.node("MatMul", {"state", "w"}, {"h"}).node("Identity", {"go_on"}, {"stays"});
  loop.node("If", {"which"}, {"next"},
            {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).input("which", kBool, {}).output("y", kFloat, {2, 3});
  model.initializer(ints_tensor("times", {3})).node("Relu", {"x"}, {"r"});
  model.node("Loop", {"times", "which", "r"}, {"last"}, {graph_attribute("body", loop.bytes())});
  model.node("Relu", {"last"}, {"y"});
  EXPECT_THAT(observed(model.bytes()), ElementsAre("last", "r", "x", "y"));
  run_everywhere(model.bytes(), Observable(model.bytes()), {{"x", some_x()}, {"which", truth(true)}},
                 [](const Tensors&) {});
}

TEST(ExposeValues, RefusesWhatCannotBeSeen) {
  GraphBuilder branch = dense_branch(1);
  branch.node("Shape", {"h"}, {"s"});
  const std::string bytes = with_choice(branch.bytes(), dense_branch(2).bytes()).bytes();
  onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  const graph::Index index = graph::validate(model);
  const Error error = error_of([&] { expose_values(model, index, {{1, "s"}}); });
  EXPECT_THAT(error.what(), HasSubstr("'s' cannot be observed"));
}

}  // namespace
}  // namespace ounce::passes
