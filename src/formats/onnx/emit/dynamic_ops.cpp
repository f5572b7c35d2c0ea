#include "formats/onnx/emit/dynamic_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/integer_candidates.h"

namespace ounce::passes {
namespace {

class DynamicOps {
 public:
  DynamicOps(Editors& editors, const graph::Index& index, const plan::Plan& plan,
             IntegerParameters& parameters)
      : editors_(editors), index_(index), plan_(plan), parameters_(parameters) {}

  void put() {
    for (const plan::NodeDecision& decision : plan_.integer.nodes) {
      if (decision.arithmetic == plan::Arithmetic::kDynamic) put(decision);
    }
  }

 private:
  // The quantized form of a value, created on first use.
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
    node.set_op(Op::kDynamicQuantizeLinear);
    node.inputs = {name};
    node.outputs = {coded.codes, coded.scale, coded.zero};
    editor.add_node(place, std::move(node));
    return coded;
  }

  void put(const plan::NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    const std::size_t place = decision.node;
    if (decision.op->kind == plan::IntegerKind::kLstm) return put_lstm(decision, node);
    BodyEditor& editor = editors_.of(decision.body);
    const Coded& coded = code(decision.body, node.inputs[0], place);
    const Parameter& weight = *parameters_.find(decision.body, node.inputs[1]);
    if (decision.op->kind == plan::IntegerKind::kAttention)
      return put_dynamic_attention(editor, place, {coded.codes, coded.scale, coded.zero},
                                   stored(decision.body, node.inputs[1]));
    editor.replace_node(place);
    std::vector<Bytes> more = {factor_of(node, weight), coded.zero};
    if (weight.has_zeros())
      more.push_back(parameters_.zeros(decision.body, weight, IntegerParameters::Zeros::kSingle));
    if (decision.op->kind == plan::IntegerKind::kConv) return put_conv(decision, node, coded, weight, more);
    const Bytes scale = Chain(editor, place, coded.scale).node(Op::kMul, {weight.scales}).value();
    Chain chain(editor, place, coded.codes);
    chain.node(Op::kMatMulInteger, more).cast(ElementType::kFloat).node(Op::kMul, {scale});
    const bool is_gemm = decision.op->kind == plan::IntegerKind::kGemm;
    if (is_gemm && !graph::input_of(node, 2).empty()) chain.node(Op::kAdd, {node.inputs[2]});
    chain.finish(node.outputs[0]);
  }

  // The quantized weight as [K, N]; runtimes fold the Transpose when a session is created.
  Bytes factor_of(const onnx::Node& node, const Parameter& weight) {
    if (node.op() != Op::kGemm || integer_setting(node, "transB", 0) == 0) return weight.codes;
    BodyEditor& editor = editors_.of(weight.decision->weight.graph);
    return Chain(editor, IntegerParameters::place(*weight.decision), weight.codes)
        .node(Op::kTranspose, {})
        .value();
  }

  StoredNames stored(std::size_t body, Bytes name) {
    const Parameter& weight = *parameters_.find(body, name);
    return {weight.codes, weight.scales, weight.has_zeros() ? parameters_.zeros(body, weight) : Bytes()};
  }
  void put_lstm(const plan::NodeDecision& decision, const onnx::Node& node) {
    const auto gates = [&](Bytes name) {
      return StoredGates{parameters_.find(decision.body, name)->decision, stored(decision.body, name)};
    };
    put_dynamic_lstm(editors_, decision.body, decision.node, gates(node.inputs[1]), gates(node.inputs[2]));
  }

  // Channels are on the second axis, so scales and bias must be reshaped for broadcasting.
  void put_conv(const plan::NodeDecision& decision, const onnx::Node& node, const Coded& coded,
                const Parameter& weight, const std::vector<Bytes>& more) {
    const std::size_t place = decision.node;
    BodyEditor& editor = editors_.of(decision.body);
    std::vector<std::int64_t> spread(weight.decision->weight.dims.size() - 1, 1);
    spread[0] = -1;
    const auto per_channel = [&](Bytes values) {
      return Chain(editor, place, values).reshape(spread).value();
    };
    const bool is_per_channel = weight.decision->granularity == GranularityKind::kChannel;
    const Bytes scales = is_per_channel ? per_channel(weight.scales) : weight.scales;
    const Bytes scale = Chain(editor, place, coded.scale).node(Op::kMul, {scales}).value();
    onnx::Node conv;
    conv.set_op(Op::kConvInteger);
    for (const auto& attribute : node.attributes) conv.attributes.push_back(copy_of(attribute));
    conv.inputs = {coded.codes};
    conv.inputs.insert(conv.inputs.end(), more.begin(), more.end());
    conv.outputs = {editor.names().fresh("v")};
    const Bytes sums = conv.outputs[0];
    editor.add_node(place, std::move(conv));
    Chain chain(editor, place, sums);
    chain.cast(ElementType::kFloat).node(Op::kMul, {scale});
    if (node.inputs.size() > 2 && !node.inputs[2].empty())
      chain.node(Op::kAdd, {per_channel(node.inputs[2])});
    chain.finish(node.outputs[0]);
  }

  Editors& editors_;
  const graph::Index& index_;
  const plan::Plan& plan_;
  IntegerParameters& parameters_;
  std::map<plan::ValueKey, Coded> coded_;  // by the body that uses it
};

}  // namespace

void put_dynamic_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     IntegerParameters& parameters) {
  DynamicOps(editors, index, plan, parameters).put();
}

void put_dynamic_attention(BodyEditor& editor, std::size_t position, const CodedInput& input,
                           const StoredNames& weight) {
  constexpr std::size_t kBias = 2, kMask = 3, kPast = 4;  // input positions of Attention
  const onnx::Node& old = editor.node(position);
  onnx::Node node;
  node.name = old.name;
  node.set_op(Op::kQAttention);
  node.inputs = {input.codes,          weight.codes, input_of(old, kBias), input.scale,         weight.scales,
                 input_of(old, kMask), input.zero,   weight.zeros,         input_of(old, kPast)};
  while (node.inputs.back().empty()) node.inputs.pop_back();
  node.outputs = old.outputs;
  for (const auto& attribute : old.attributes) {
    const auto& known = plan::kAttentionAttributes;
    if (std::find(known.begin(), known.end(), attribute->name) != known.end())
      node.attributes.push_back(onnx::copy_of(attribute));
  }
  editor.replace_node(position);
  editor.add_node(position, std::move(node));
}

namespace {

using Dims = std::vector<std::int64_t>;

// perm = [0, 2, 1]
onnx::Attribute gates_last(onnx::Model& model) {
  onnx::Attribute attribute;
  attribute.name = "perm";
  const auto add = [&](onnx::AttributeField field, std::int64_t value) {
    std::string bytes;
    protozero::pbf_writer(bytes).add_int64(static_cast<std::uint32_t>(field), value);
    attribute.carried.push_back({static_cast<std::uint32_t>(field), model.intern(std::move(bytes))});
  };
  for (const std::int64_t axis : {0, 2, 1}) add(onnx::AttributeField::kInts, axis);
  add(onnx::AttributeField::kType, static_cast<std::int64_t>(onnx::AttributeType::kInts));
  return attribute;
}

// The kernel's inputs for one weight.
class Gates {
 public:
  Gates(Editors& editors, const StoredGates& stored)
      : editor_(editors.of(stored.decision->weight.graph)),
        stored_(stored),
        dims_(stored.decision->weight.dims) {
    const std::size_t constant = stored.decision->place.constant;
    place_ = constant != graph::kNone ? constant : BodyEditor::kFront;
  }

  Bytes codes() {
    return Chain(editor_, place_, stored_.names.codes)
        .node(Op::kTranspose, {}, gates_last(editor_.model()))
        .value();
  }
  Bytes scales() { return shaped(stored_.names.scales); }
  Bytes zeros() {
    if (!stored_.names.zeros.empty()) return shaped(stored_.names.zeros);
    const Dims dims = wanted();
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    return editor_.add_shared(fmt::format("int8 zeros {}", fmt::join(dims, ",")),
                              make_tensor(ElementType::kInt8, dims, std::string(count, '\0')));
  }

 private:
  bool has_one_scale() const { return stored_.decision->layout.groups() == 1; }
  Dims wanted() const { return has_one_scale() ? Dims{dims_[0]} : Dims{dims_[0], dims_[1]}; }

  Bytes shaped(Bytes values) {
    if (stored_.decision->scale_dims == wanted()) return values;
    Chain chain(editor_, place_, values);
    if (!has_one_scale()) return chain.reshape(wanted()).value();
    return chain.node(Op::kExpand, {editor_.add_integers(place_, wanted())}).value();
  }

  BodyEditor& editor_;
  const StoredGates& stored_;
  const Dims& dims_;
  std::size_t place_;
};

}  // namespace

void put_dynamic_lstm(Editors& editors, std::size_t body, std::size_t position, const StoredGates& weight,
                      const StoredGates& recurrence) {
  constexpr std::size_t kWeight = 1, kRecurrence = 2, kCount = 8;  // input positions of LSTM
  BodyEditor& editor = editors.of(body);
  const onnx::Node& old = editor.node(position);
  onnx::Node node;
  node.name = old.name;
  node.set_op(Op::kDynamicQuantizeLSTM);
  node.inputs = old.inputs;
  node.inputs.resize(kCount);
  node.outputs = old.outputs;
  for (const auto& attribute : old.attributes) {
    const auto& known = plan::kLstmAttributes;
    if (std::find(known.begin(), known.end(), attribute->name) != known.end())
      node.attributes.push_back(onnx::copy_of(attribute));
  }
  if (onnx::find_attribute(old, "hidden_size") == nullptr) {
    const std::int64_t hidden = recurrence.decision->weight.dims[2];
    node.attributes.emplace_back(onnx::make_integer_attribute(editor.model(), "hidden_size", hidden));
  }
  Gates input_gates(editors, weight), recurrent_gates(editors, recurrence);
  node.inputs[kWeight] = input_gates.codes();
  node.inputs[kRecurrence] = recurrent_gates.codes();
  for (Gates* gates : {&input_gates, &recurrent_gates}) {
    node.inputs.push_back(gates->scales());
    node.inputs.push_back(gates->zeros());
  }
  editor.replace_node(position);
  editor.add_node(position, std::move(node));
}

}  // namespace ounce::passes
