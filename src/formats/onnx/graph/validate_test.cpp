#include "formats/onnx/graph/validate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "formats/onnx/file/reader.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/read_model.h"

namespace ounce::graph {
namespace {

using ounce::test::read;
using test::error_of;
using test::field;
using test::graph_attribute;
using test::GraphBuilder;
using test::kFloat;
using test::ModelBuilder;
using test::Strings;
using testing::HasSubstr;

void accept(const GraphBuilder& model) {
  const onnx::Model read_model = read(model.bytes());
  EXPECT_NO_THROW(validate(read_model));
}

std::string refusal(const GraphBuilder& model) {
  const onnx::Model read_model = read(model.bytes());
  const Error error = error_of([&] { validate(read_model); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  return error.what();
}

Strings if_attributes(const std::string& then_branch, const std::string& else_branch) {
  return {graph_attribute("then_branch", then_branch), graph_attribute("else_branch", else_branch)};
}

std::string function(const std::string& nodes) {
  return field(1, std::string("Twice")) + field(4, std::string("a")) + field(5, std::string("b")) + nodes;
}

// --- Imports.

TEST(VerifyTest, RefusesTwoVersionsOfOneDomain) {
  const auto importing = [](const std::string& domain, std::int64_t version) {
    return field(1, domain) + field(2, version);
  };
  const auto with = [&](const std::string& domain, std::int64_t version) {
    return read(ModelBuilder(13, 7).bytes() + field(8, importing(domain, version)));
  };
  const auto refusal_of = [](const onnx::Model& model) {
    const Error error = error_of([&] { validate(model); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return std::string(error.what());
  };
  EXPECT_THAT(refusal_of(with("ai.onnx", 1)),
              HasSubstr("imports the ops of ai.onnx in two versions, 13 and 1"));
  EXPECT_THAT(refusal_of(with("com.microsoft", std::int64_t{1} << 40)), HasSubstr("version 1099511627776"));
  EXPECT_NO_THROW(validate(with("ai.onnx", 13)));
  EXPECT_NO_THROW(validate(with("com.microsoft", 1)));
}

// --- Names.

TEST(VerifyTest, AcceptsASoundModel) {
  accept(ModelBuilder()
             .input("x", kFloat, {2})
             .initializer("w", {2}, {1, 2})
             .node("Add", {"x", "w"}, {"y"})
             .output("y", kFloat, {2}));
  accept(ModelBuilder());
}

TEST(VerifyTest, RefusesDuplicateInitializers) {
  EXPECT_EQ(refusal(ModelBuilder().initializer("w", {1}, {1}).initializer("w", {1}, {2})),
            "initializer 'w' is defined twice");
}

TEST(VerifyTest, RefusesASparseInitializerOfTheSameName) {
  const std::string sparse =
      field(1, test::float_tensor("w", {0}, {})) + field(2, test::tensor("", test::kInt64, {0}, ""));
  EXPECT_EQ(refusal(ModelBuilder().initializer("w", {1}, {1}).add(15, sparse)),
            "initializer 'w' is defined twice");
  EXPECT_EQ(refusal(ModelBuilder().add(15, sparse).add(15, sparse)), "initializer 'w' is defined twice");
  accept(ModelBuilder().add(15, sparse).node("Relu", {"w"}, {"y"}));
}

TEST(VerifyTest, AnInitializerMayBeTheDefaultOfAnInput) {
  accept(ModelBuilder().input("w", kFloat, {1}).initializer("w", {1}, {1}).node("Relu", {"w"}, {"y"}));
  EXPECT_EQ(
      refusal(ModelBuilder().input("w", kFloat, {1}).initializer("w", {1}, {1}).initializer("w", {1}, {1})),
      "initializer 'w' is defined twice");
}

TEST(VerifyTest, RefusesDuplicateOutputs) {
  EXPECT_EQ(refusal(ModelBuilder().node("A", {}, {"y"}).node("B", {}, {"y"})),
            "'y' is defined twice (again as node output)");
  EXPECT_EQ(refusal(ModelBuilder().node("A", {}, {"y", "y"})), "'y' is defined twice (again as node output)");
  EXPECT_EQ(refusal(ModelBuilder().input("x", kFloat, {1}).node("A", {}, {"x"})),
            "'x' is defined twice (again as node output)");
  EXPECT_EQ(refusal(ModelBuilder().initializer("w", {1}, {1}).node("A", {}, {"w"})),
            "'w' is defined twice (again as node output)");
  EXPECT_EQ(refusal(ModelBuilder().input("x", kFloat, {1}).input("x", kFloat, {1})),
            "'x' is defined twice (again as input)");
}

TEST(VerifyTest, RefusesDanglingInputsAndOutputs) {
  EXPECT_EQ(refusal(ModelBuilder().node("Relu", {"x"}, {"y"}, {}, "r")),
            "node 'r' uses 'x', which nothing defines");
  EXPECT_EQ(refusal(ModelBuilder().node("Relu", {"x"}, {"y"})),
            "node 'Relu#0' uses 'x', which nothing defines");
  EXPECT_EQ(refusal(ModelBuilder().output("y", kFloat, {1})),
            "the list of outputs uses 'y', which nothing defines");
}

TEST(VerifyTest, AnAbsentOptionalValueDangles) {
  accept(ModelBuilder()
             .input("x", kFloat, {1})
             .node("Clip", {"x", "", ""}, {"y", ""})
             .node("Dropout", {"y"}, {"z", "", ""}));
}

TEST(VerifyTest, RefusesDanglingInputsInsideSubgraphs) {
  const std::string sound = GraphBuilder().node("A", {}, {"a"}).output("a", kFloat, {1}).bytes();
  const std::string broken = GraphBuilder().node("Relu", {"ghost"}, {"b"}, {}, "r").bytes();
  EXPECT_EQ(refusal(ModelBuilder().node("Branch", {}, {"y"}, if_attributes(sound, broken), "if")),
            "if/else_branch: node 'r' uses 'ghost', which nothing defines");
  const std::string no_output = GraphBuilder().output("ghost", kFloat, {1}).bytes();
  EXPECT_EQ(refusal(ModelBuilder().node("Branch", {}, {"y"}, if_attributes(sound, no_output), "if")),
            "if/else_branch: the list of outputs uses 'ghost', which nothing defines");
}

TEST(VerifyTest, TheInsideOfASubgraphIsNotSeenFromOutside) {
  const std::string inner = GraphBuilder().node("A", {}, {"hidden"}).bytes();
  const auto refused = refusal(ModelBuilder()
                                   .node("Branch", {}, {"y"}, if_attributes(inner, inner))
                                   .node("Relu", {"hidden"}, {"z"}, {}, "r"));
  EXPECT_EQ(refused, "node 'r' uses 'hidden', which nothing defines");
}

TEST(VerifyTest, ASubgraphDoesNotSeeItsSibling) {
  const std::string one = GraphBuilder().node("A", {}, {"mine"}).bytes();
  const std::string two = GraphBuilder().node("Relu", {"mine"}, {"z"}).bytes();
  EXPECT_THAT(refusal(ModelBuilder().node("Branch", {}, {"y"}, if_attributes(one, two))),
              HasSubstr("uses 'mine', which nothing defines"));
}

TEST(VerifyTest, RefusesNamesThatHideAnOuterOne) {
  const auto build = [&](const GraphBuilder& graph) {
    ModelBuilder model;
    model.input("x", kFloat, {1})
        .node("Branch", {}, {"y"}, {graph_attribute("then_branch", graph.bytes())}, "if");
    return model;
  };
  EXPECT_EQ(refusal(build(GraphBuilder().initializer("x", {1}, {1}))),
            "if/then_branch: initializer 'x' hides a value of the same name in an enclosing graph");
  EXPECT_EQ(refusal(build(GraphBuilder().input("x", kFloat, {1}))),
            "if/then_branch: input 'x' hides a value of the same name in an enclosing graph");
  EXPECT_EQ(refusal(build(GraphBuilder().node("A", {}, {"x"}))),
            "if/then_branch: node output 'x' hides a value of the same name in an enclosing graph");
  EXPECT_EQ(refusal(build(GraphBuilder().node("A", {}, {"y"}))),
            "if/then_branch: node output 'y' hides a value of the same name in an enclosing graph");
}

TEST(VerifyTest, RefusesNamesThatHideOneManyLevelsOut) {
  std::string inner = GraphBuilder().node("A", {}, {"x"}).bytes();
  for (int i = 0; i < 10; ++i)
    inner = GraphBuilder().node("Branch", {}, {}, {graph_attribute("b", inner)}).bytes();
  ModelBuilder model;
  model.input("x", kFloat, {1}).node("Branch", {}, {}, {graph_attribute("b", inner)});
  EXPECT_THAT(refusal(model),
              HasSubstr("node output 'x' hides a value of the same name in an enclosing graph"));
}

TEST(VerifyTest, BothBranchesMayUseTheSameNames) {
  const std::string branch = GraphBuilder()
                                 .initializer("w", {1}, {1})
                                 .node("Relu", {"w"}, {"out"})
                                 .output("out", kFloat, {1})
                                 .bytes();
  ModelBuilder model;
  model.node("Branch", {}, {"y"}, if_attributes(branch, branch))
      .node("Branch", {}, {"z"}, if_attributes(branch, branch));
  accept(model);
}

TEST(VerifyTest, RefusesValuesWithoutAName) {
  EXPECT_THAT(refusal(ModelBuilder().initializer(test::float_tensor("", {1}, {1}))),
              HasSubstr("an initializer has no name"));
  EXPECT_THAT(refusal(ModelBuilder().input("", kFloat, {1})), HasSubstr("an input has no name"));
  ModelBuilder output;
  output.output("", kFloat, {1});
  refusal(output);
}

TEST(VerifyTest, FunctionsHaveNamesOfTheirOwn) {
  ModelBuilder model;
  model.input("a", kFloat, {1}).node("Relu", {"a"}, {"b"});
  model.add_to_model(25, function(field(7, test::node("Add", {"a", "a"}, {"b"}))));
  accept(model);
}

TEST(VerifyTest, RefusesFunctionsThatCallThemselves) {
  const auto named = [](const std::string& name, const Strings& called) {
    std::string bytes = field(1, name) + field(4, std::string("a")) + field(10, std::string("own"));
    std::string last = "a";
    for (const std::string& other : called) {
      bytes += field(7, test::node(other, {last}, {last + "b"}, {}, "", "own"));
      last += "b";
    }
    return bytes + field(5, last);
  };
  const auto model = [&](const std::vector<std::pair<std::string, Strings>>& functions) {
    ModelBuilder result;
    for (const auto& [name, called] : functions) result.add_to_model(25, named(name, called));
    return result;
  };
  accept(model({{"f", {"g", "h"}}, {"g", {"h"}}, {"h", {"Elsewhere"}}}));
  EXPECT_THAT(refusal(model({{"f", {"f"}}})), HasSubstr("function f: is recursive"));
  EXPECT_THAT(refusal(model({{"e", {"Elsewhere"}}, {"f", {"g"}}, {"g", {"f"}}})),
              HasSubstr("function f: is recursive"));
  const std::string inside = GraphBuilder().add(1, test::node("f", {"a"}, {"c"}, {}, "", "own")).bytes();
  const std::string hidden = field(1, std::string("f")) + field(4, std::string("a")) +
                             field(5, std::string("b")) + field(10, std::string("own")) +
                             field(7, test::node("If", {"a"}, {"b"}, if_attributes(inside, inside)));
  EXPECT_THAT(refusal(ModelBuilder().add_to_model(25, hidden)), HasSubstr("function f: is recursive"));
}

TEST(VerifyTest, RefusesTwoFunctionsOfOneName) {
  const std::string one = function(field(7, test::node("Add", {"a", "a"}, {"b"})));
  EXPECT_THAT(refusal(ModelBuilder().add_to_model(25, one).add_to_model(25, one)),
              HasSubstr("function 'Twice': is defined twice"));
  accept(ModelBuilder().add_to_model(25, one).add_to_model(25, one + field(13, std::string("other"))));
  accept(ModelBuilder().add_to_model(25, one).add_to_model(25, one + field(10, std::string("own"))));
}

TEST(VerifyTest, RefusesFunctionsThatUseWhatIsNotTheirs) {
  ModelBuilder model;
  model.input("x", kFloat, {1});
  model.add_to_model(25, function(field(7, test::node("Add", {"a", "x"}, {"b"}, {}, "n"))));
  EXPECT_EQ(refusal(model), "function Twice: node 'n' uses 'x', which nothing defines");
  EXPECT_EQ(refusal(ModelBuilder().add_to_model(25, function({}))),
            "function Twice: the list of outputs uses 'b', which nothing defines");
  const std::string twice = field(7, test::node("A", {}, {"b"})) + field(7, test::node("B", {}, {"b"}));
  EXPECT_EQ(refusal(ModelBuilder().add_to_model(25, function(twice))),
            "function Twice: 'b' is defined twice (again as node output)");
}

// --- Order.

TEST(VerifyTest, AcceptsNodesThatAreNotSorted) {
  accept(ModelBuilder()
             .input("x", kFloat, {1})
             .node("C", {"b"}, {"c"})
             .node("B", {"a"}, {"b"})
             .node("A", {"x"}, {"a"})
             .output("c", kFloat, {1}));
}

TEST(VerifyTest, RefusesCycles) {
  EXPECT_EQ(refusal(ModelBuilder().node("A", {"a"}, {"a"}, {}, "self")),
            "node 'self' depends on itself: the graph has a cycle");
  EXPECT_THAT(refusal(ModelBuilder().node("A", {"b"}, {"a"}).node("B", {"a"}, {"b"})),
              HasSubstr("the graph has a cycle"));
  ModelBuilder long_way;
  for (int i = 0; i < 100; ++i)
    long_way.node("N", {fmt::format("v{}", (i + 99) % 100)}, {fmt::format("v{}", i)});
  EXPECT_THAT(refusal(long_way), HasSubstr("the graph has a cycle"));
  const std::string cycle = field(7, test::node("A", {"c"}, {"b"})) + field(7, test::node("B", {"b"}, {"c"}));
  EXPECT_THAT(refusal(ModelBuilder().add_to_model(25, function(cycle))),
              HasSubstr("function Twice: node 'A#0' depends on itself"));
}

TEST(VerifyTest, NamesANodeOnTheCycleRatherThanOneBehindIt) {
  ModelBuilder model;
  model.node("Behind", {"a"}, {"z"}, {}, "behind")
      .node("A", {"b"}, {"a"}, {}, "on1")
      .node("B", {"a"}, {"b"}, {}, "on2");
  EXPECT_THAT(refusal(model), HasSubstr("node 'on"));
}

TEST(VerifyTest, RefusesCyclesInsideASubgraph) {
  const std::string inner = GraphBuilder().node("A", {"b"}, {"a"}, {}, "n").node("B", {"a"}, {"b"}).bytes();
  EXPECT_EQ(refusal(ModelBuilder().node("Branch", {}, {"y"}, {graph_attribute("then_branch", inner)}, "if")),
            "if/then_branch: node 'n' depends on itself: the graph has a cycle");
}

TEST(VerifyTest, RefusesCyclesThroughACaptureOfASubgraph) {
  const std::string takes_own_output =
      GraphBuilder().node("Relu", {"y"}, {"z"}).output("z", kFloat, {1}).bytes();
  EXPECT_EQ(refusal(ModelBuilder().node("Branch", {}, {"y"},
                                        {graph_attribute("then_branch", takes_own_output)}, "if")),
            "node 'if' depends on itself: the graph has a cycle");
  const std::string takes_later =
      GraphBuilder().node("Relu", {"later"}, {"z"}).output("z", kFloat, {1}).bytes();
  const std::string deeper =
      GraphBuilder().node("Branch", {}, {"d"}, {graph_attribute("then_branch", takes_later)}).bytes();
  ModelBuilder model;
  model.node("Branch", {}, {"y"}, {graph_attribute("then_branch", deeper)}, "if")
      .node("Relu", {"y"}, {"later"});
  EXPECT_THAT(refusal(model), HasSubstr("the graph has a cycle"));
}

TEST(VerifyTest, RefusesCyclesThroughAnOutputThatASubgraphOnlyPassesOn) {
  const std::string passes_on = GraphBuilder().output("later", kFloat, {1}).bytes();
  ModelBuilder model;
  model.node("Branch", {}, {"y"}, {graph_attribute("then_branch", passes_on)}, "if")
      .node("Relu", {"y"}, {"later"});
  EXPECT_THAT(refusal(model), HasSubstr("the graph has a cycle"));
  const std::string own = GraphBuilder().output("y", kFloat, {1}).bytes();
  EXPECT_THAT(refusal(ModelBuilder().node("Branch", {}, {"y"}, {graph_attribute("then_branch", own)}, "if")),
              HasSubstr("the graph has a cycle"));
  ModelBuilder sound;
  sound.node("Branch", {}, {"y"}, {graph_attribute("then_branch", passes_on)}, "if").node("A", {}, {"later"});
  accept(sound);
}

TEST(VerifyTest, ACaptureOfAnEarlierOrLaterValueIsFine) {
  const std::string branch = GraphBuilder().node("Relu", {"later"}, {"z"}).output("z", kFloat, {1}).bytes();
  ModelBuilder model;
  model.node("Branch", {}, {"y"}, {graph_attribute("then_branch", branch)}).node("A", {}, {"later"});
  accept(model);
}

// --- Time and memory.

std::string chain(int nodes, bool is_reversed) {
  std::string bytes;
  const auto name = [](int i) { return fmt::format("v{}", i); };
  for (int i = 0; i < nodes; ++i) {
    const int n = is_reversed ? nodes - 1 - i : i;
    bytes += field(1, test::node("Relu", {name(n)}, {name(n + 1)}));
  }
  return field(7, bytes + field(11, test::value_info("v0", kFloat, {1})));
}

// CPU time, best of several runs, so that other load on the machine does not matter.
double seconds_to_verify(const std::string& bytes) {
  const onnx::Model model = read(bytes);
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    validate(model);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

// With a quadratic step, twenty times the nodes would take 400 times as long. A large graph also exceeds the
// caches, which makes each node up to five times slower.
TEST(VerifyTest, TimeGrowsWithTheNumberOfNodesAndNoFaster) {
  for (const bool is_reversed : {false, true}) {
    const double few = seconds_to_verify(chain(10'000, is_reversed));
    EXPECT_LT(seconds_to_verify(chain(200'000, is_reversed)), 200 * few);
  }
}

TEST(VerifyTest, OneValueWithManyUsersIsNoProblem) {
  std::string bytes = field(11, test::value_info("x", kFloat, {1}));
  for (int i = 0; i < 100'000; ++i) bytes += field(1, test::node("Relu", {"x"}, {fmt::format("v{}", i)}));
  const onnx::Model model = read(field(7, bytes));
  EXPECT_EQ(validate(model).main().values.at("x").uses.size(), 100'000U);
}

// A long name around many graphs must not be repeated for each of them.
TEST(VerifyTest, PathsOfBodiesStayInProportionToTheFile) {
  std::string graphs;
  for (int i = 0; i < 5000; ++i) graphs += field(11, std::string());
  const std::string attribute = field(1, std::string(10'000, 'a')) + graphs;
  std::string graph = field(1, field(3, std::string(50'000, 'n')) + field(5, attribute));
  for (int i = 0; i < 60; ++i) graph = field(1, field(3, std::string(1000, 'm')) + field(5, field(6, graph)));
  const std::string bytes = field(7, graph);
  const onnx::Model model = read(bytes);
  const Index index = validate(model);
  std::uint64_t total = 0;
  for (const Body& body : index.bodies()) total += body.path.size();
  EXPECT_EQ(index.bodies().size(), 5061U);
  EXPECT_LT(total, 10 * bytes.size());
}

}  // namespace
}  // namespace ounce::graph
