#include "formats/onnx/graph/ports.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"

namespace ounce::graph {
namespace {

using test::field;
using test::graph_attribute;
using test::GraphBuilder;
using test::int_attribute;
using test::kFloat;
using test::ModelBuilder;
using test::Strings;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// "1.s" means the value s of body 1.
Strings passages_of(const GraphBuilder& built) {
  const std::string bytes = built.bytes();
  const onnx::Model model = onnx::read_model_from_memory(bytes, "test");
  const Index index(model);
  const auto text = [](const Place& place) {
    return std::to_string(place.body) + "." + std::string(place.name);
  };
  Strings lines;
  for (const Passage& passage : passages(index)) {
    const char* way = passage.way == Way::kEnters   ? " enters "
                      : passage.way == Way::kLeaves ? " leaves "
                                                    : " returns ";
    lines.push_back(text(passage.from) + way + text(passage.to));
  }
  return lines;
}

GraphBuilder body_of(const Strings& inputs, const Strings& outputs) {
  GraphBuilder body;
  for (const std::string& name : inputs) body.input(name, kFloat, {1});
  for (const std::string& name : outputs) body.output(name, kFloat, {1});
  for (const std::string& name : outputs) {
    if (std::find(inputs.begin(), inputs.end(), name) == inputs.end() && name != "x")
      body.node("Neg", {"x"}, {name});
  }
  return body;
}
ModelBuilder model_with(const std::string& op, const Strings& inputs, const Strings& outputs,
                        const Strings& attributes) {
  ModelBuilder model;
  for (const char* name : {"x", "n", "go", "a", "b"}) model.input(name, kFloat, {1});
  model.node(op, inputs, outputs, attributes);
  return model;
}

TEST(Ports, BranchesOnlyGive) {
  EXPECT_THAT(passages_of(model_with("If", {"go"}, {"y", ""},
                                     {graph_attribute("then_branch", body_of({}, {"t", "u"}).bytes()),
                                      graph_attribute("else_branch", body_of({}, {"x", "e"}).bytes())})),
              ElementsAre("1.t leaves 0.y", "2.x leaves 0.y"));
}

TEST(Ports, LoopsReturnTheirStates) {
  const std::string body = body_of({"i", "c", "s", "t"}, {"d", "s2", "t", "each"}).bytes();
  EXPECT_THAT(passages_of(model_with("Loop", {"n", "", "a", "b"}, {"y", "z", "all"},
                                     {graph_attribute("body", body)})),
              UnorderedElementsAre("0.a enters 1.s", "0.b enters 1.t", "1.s2 leaves 0.y", "1.t leaves 0.z",
                                   "1.each leaves 0.all", "1.s2 returns 1.s", "1.t returns 1.t"));
  // All lists are shorter than they should be.
  EXPECT_THAT(passages_of(model_with("Loop", {"n"}, {"y", "z"},
                                     {graph_attribute("body", body_of({"i"}, {"d"}).bytes())})),
              IsEmpty());
}

TEST(Ports, ScansReturnStatesAndNotRows) {
  const std::string body = body_of({"s", "row"}, {"s2", "given"}).bytes();
  const auto scan = [&](const Strings& inputs, std::int64_t rows) {
    return passages_of(model_with("Scan", inputs, {"y", "all"},
                                  {graph_attribute("body", body), int_attribute("num_scan_inputs", rows)}));
  };
  const auto all = UnorderedElementsAre("0.a enters 1.s", "0.b enters 1.row", "1.s2 leaves 0.y",
                                        "1.given leaves 0.all", "1.s2 returns 1.s");
  EXPECT_THAT(scan({"a", "b"}, 1), all);
  EXPECT_THAT(scan({"n", "a", "b"}, 1), all);  // sequence lengths first, as in opset 8
  EXPECT_THAT(scan({"a"}, 1), IsEmpty());
  for (const std::int64_t rows : {std::int64_t{-1}, std::int64_t{3}, std::int64_t{1} << 62})
    EXPECT_EQ(scan({"a", "b"}, rows).size(), 4U) << rows;
}

std::string function(const std::string& name, const std::string& domain, const Strings& nodes) {
  std::string bytes = field(1, name) + field(4, std::string("p")) + field(4, std::string("q"));
  for (const std::string& each : nodes) bytes += field(7, each);
  return bytes + field(5, std::string("r")) + field(10, domain);
}

TEST(Ports, CallsEnterFunctionsWhereverTheyStand) {
  ModelBuilder model;
  model.input("a", kFloat, {1}).add(1, test::node("f", {"a"}, {"y", "more"}, {}, "", "own"));
  model.add_to_model(25, function("f", "own", {test::node("g", {"p", "p", "p"}, {"r"}, {}, "", "ai.onnx")}));
  model.add_to_model(25, function("g", "", {test::node("Neg", {"p"}, {"r"})}));
  EXPECT_THAT(passages_of(model), UnorderedElementsAre("0.a enters 1.p", "1.r leaves 0.y", "1.p enters 2.p",
                                                       "1.p enters 2.q", "2.r leaves 1.r"));
}

TEST(Ports, FunctionsOfOneNameAreNotGuessed) {
  ModelBuilder model;
  model.input("a", kFloat, {1}).add(1, test::node("f", {"a"}, {"y"}, {}, "", "own"));
  for (int i = 0; i < 2; ++i) model.add_to_model(25, function("f", "own", {test::node("Neg", {"p"}, {"r"})}));
  EXPECT_THAT(passages_of(model), IsEmpty());
  const std::string bytes = model.bytes();
  const onnx::Model read = onnx::read_model_from_memory(bytes, "test");
  const Index index(read);
  const Functions functions(index);
  const onnx::Node& call = *index.main().nodes()[0];
  EXPECT_TRUE(functions.are_called_by(call));
  EXPECT_EQ(functions.called_by(call), kNone);
}

}  // namespace
}  // namespace ounce::graph
