#include "formats/onnx/emit/integer_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "formats/onnx/emit/decoder.h"
#include "formats/onnx/emit/dynamic_ops.h"
#include "formats/onnx/emit/static_qdq.h"
#include "formats/onnx/emit/static_qoperator.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/op_rules.h"
#include "recipe/format_info.h"

namespace ounce::passes {

void put_integer_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     const std::vector<Stored>& stored) {
  if (!plan.recipe.is_integer()) return;
  IntegerParameters parameters(editors, index, plan, stored);
  if (is_static(plan.recipe.format)) {
    const bool is_qdq = plan.recipe.integer.dialect == Dialect::kQdq;
    (is_qdq ? put_static_qdq : put_static_qoperator)(editors, index, plan, parameters);
  }
  // Behind them, as they may read what static nodes give.
  put_dynamic_ops(editors, index, plan, parameters);
}

IntegerParameters::IntegerParameters(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                                     const std::vector<Stored>& stored)
    : editors_(editors), index_(index) {
  for (const Stored& weight : stored) {
    const plan::Decision& decision = plan.decisions[weight.decision];
    if (!decision.is_of_integer_op()) continue;
    Parameter& parameter = parameters_[{decision.weight.body, decision.weight.name}];
    parameter = {&decision, weight.names.codes, {}};
    if (!weight.names.scales.empty())
      parameter.scales =
          float_scales(editors.of(decision.weight.body), place(decision), decision, weight.names);
  }
}

std::size_t IntegerParameters::place(const plan::Decision& decision) {
  return decision.weight.constant != graph::kNone ? decision.weight.constant : BodyEditor::kFront;
}

Bytes IntegerParameters::zeros(std::size_t body, const Parameter& weight, Zeros how) {
  const plan::Decision& decision = *weight.decision;
  const std::vector<std::int64_t> dims =
      how == Zeros::kSingle ? std::vector<std::int64_t>() : decision.scale_dims;
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  const bool is_packed = decision.is_packed();  // those have the zero 0
  const bool is_signed = decision.format.sign == kernels::CodeSign::kSigned;
  const auto type = is_packed ? ElementType::kInt4 : is_signed ? ElementType::kInt8 : ElementType::kUint8;
  std::string bytes(is_packed ? (count + 1) / 2 : count,
                    static_cast<char>(static_cast<std::uint8_t>(decision.format.zero)));
  return editors_.of(body).add_shared(fmt::format("zeros {} {}", name_of(type), fmt::join(dims, ",")),
                                      make_tensor(type, dims, std::move(bytes)));
}

const Parameter* IntegerParameters::find(std::size_t body, Bytes name) const {
  if (name.empty()) return nullptr;
  const auto found = parameters_.find({index_.find(body, name).body, name});
  return found == parameters_.end() ? nullptr : &found->second;
}

namespace {

using graph::kNone;
using onnx::Bytes;
using plan::IntegerKind;

bool has_weight(const onnx::Node& node) {
  const plan::IntegerForm* op = plan::find_static_form(node);
  return (op != nullptr && op->has_weight()) || node.op() == Op::kConvTranspose;
}

// How many of a node's inputs are activations; 0 where codes end.
std::size_t codes_through(const onnx::Node& node) {
  if (node.info().is_clamp() || node.info().static8.kind == IntegerKind::kComposite) return 1;
  const plan::IntegerForm* op = plan::find_static_form(node);
  return op == nullptr ? 0 : op->activations(node.inputs.size());
}

bool is_constant(const graph::Index& index, const graph::Index::Found& found) {
  if (found.value->initializer != kNone) return true;
  return found.value->producer != kNone &&
         index.bodies()[found.body].nodes()[found.value->producer]->op() == Op::kConstant;
}

bool gives_codes(const graph::Index& index, std::size_t body, Bytes name, int& steps_left) {
  const auto found = index.find(body, name);
  if (found.value == nullptr || found.value->producer == kNone || steps_left-- <= 0) return false;
  const onnx::Node& node = *index.bodies()[found.body].nodes()[found.value->producer];
  if (has_weight(node)) return node.op() != Op::kMatMul;
  const std::size_t count = std::min(codes_through(node), node.inputs.size());
  bool takes_codes = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto input = index.find(found.body, node.inputs[i]);
    if (input.value == nullptr) return false;
    if (is_constant(index, input)) continue;
    if (!gives_codes(index, found.body, node.inputs[i], steps_left)) return false;
    takes_codes = true;
  }
  return takes_codes;
}

bool wants_codes(const graph::Index& index, std::size_t body, Bytes name, int& steps_left) {
  const auto found = index.find(body, name);
  if (found.value == nullptr) return false;
  return std::any_of(found.value->uses.begin(), found.value->uses.end(), [&](const graph::Use& use) {
    const onnx::Node& node = index.node(use);
    if (has_weight(node)) return use.input == 0;
    const bool goes_on = use.input < codes_through(node) && node.outputs.size() == 1 && steps_left-- > 0;
    return goes_on && wants_codes(index, use.body, node.outputs[0], steps_left);
  });
}

}  // namespace

bool comes_from_codes(const graph::Index& index, std::size_t body, Bytes name) {
  int steps_left = plan::kLongestSearch;
  return gives_codes(index, body, name, steps_left);
}

bool leads_to_integers(const graph::Index& index, std::size_t body, Bytes name) {
  int steps_left = plan::kLongestSearch;
  return wants_codes(index, body, name, steps_left);
}

bool stands_between_integers(const graph::Index& index, std::size_t body, const onnx::Node& node) {
  return !node.inputs.empty() && node.outputs.size() == 1 && !node.outputs[0].empty() &&
         comes_from_codes(index, body, node.inputs[0]) && leads_to_integers(index, body, node.outputs[0]);
}

}  // namespace ounce::passes
