#include "passes/dynamic_ops.h"

#include <map>

#include "passes/chain.h"
#include "passes/integer_parameters.h"

namespace ounce::passes {
namespace {

class DynamicOps {
 public:
  DynamicOps(Editors& editors, const graph::Index& index, const plan::Plan& plan,
             const std::vector<Stored>& stored)
      : editors_(editors), index_(index), plan_(plan), parameters_(editors, index, plan, stored) {}

  void put() {
    for (const plan::NodeDecision& decision : plan_.integer.nodes) {
      if (decision.is_integer()) put_matmul(decision);
    }
  }

 private:
  // The codes of a value, made where they are first wanted.
  struct Coded {
    Bytes codes, scale, zero;
  };
  const Coded& code(std::size_t body, Bytes name, std::size_t place) {
    const auto [found, is_new] = coded_.try_emplace({body, name});
    Coded& coded = found->second;
    if (!is_new) return coded;
    BodyEditor& editor = editors_.of(body);
    coded = {editor.names().fresh("q"), editor.names().fresh("q"), editor.names().fresh("q")};
    onnx::Node node;
    node.op_type = "DynamicQuantizeLinear";
    node.inputs = {name};
    node.outputs = {coded.codes, coded.scale, coded.zero};
    editor.add_node(place, std::move(node));
    return coded;
  }

  void put_matmul(const plan::NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    const Bytes input = node.inputs[0], weight = node.inputs[1], output = node.outputs[0];
    BodyEditor& editor = editors_.of(decision.body);
    const std::size_t place = decision.node;
    editor.replace_node(place);
    const Coded& coded = code(decision.body, input, place);
    const Parameter& stored = *parameters_.find(decision.body, weight);
    std::vector<Bytes> more = {stored.codes, coded.zero};
    if (!stored.zeros.empty()) more.push_back(stored.zeros);
    const Bytes scale = Chain(editor, place, coded.scale).node("Mul", {stored.scales}).value();
    Chain chain(editor, place, coded.codes);
    chain.node("MatMulInteger", more).cast(onnx::ElementType::kFloat).node("Mul", {scale}).finish(output);
  }

  Editors& editors_;
  const graph::Index& index_;
  const plan::Plan& plan_;
  IntegerParameters parameters_;
  std::map<plan::ValueKey, Coded> coded_;  // by the body that wants it
};

}  // namespace

void put_dynamic_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     const std::vector<Stored>& stored) {
  DynamicOps(editors, index, plan, stored).put();
}

}  // namespace ounce::passes
