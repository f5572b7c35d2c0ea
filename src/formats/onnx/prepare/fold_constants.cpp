#include "formats/onnx/prepare/fold_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/edit/linear_op.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/op_rules.h"
#include "formats/onnx/qat/constant_subgraphs.h"

namespace ounce::passes {
namespace {

bool is_wanted(const onnx::Node& node, std::size_t input) {
  const auto rule = node.info().weight(input);
  return (rule && *rule != ops::ChannelRule::kTableRow) || node.info().role(input) == ops::Role::kParameter;
}

class ConstantFolding {
 public:
  explicit ConstantFolding(onnx::Model& model)
      : model_(model), index_(model), reader_(model, index_), editors_(model, index_) {}

  Changes run() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      for (std::size_t input = 0; input < node.inputs.size(); ++input) {
        if (is_wanted(node, input) || may_be_bias(body, node, input)) fold(body, position, input);
      }
    });
    editors_.finish();
    return std::move(changes_);
  }

 private:
  // Exporters write the bias of a Conv as an Add of a reshaped vector; add_bias() puts it into its place.
  bool may_be_bias(std::size_t body, const onnx::Node& node, std::size_t input) {
    if (node.op() != Op::kAdd || node.inputs.size() != 2) return false;
    const auto other = index_.find(body, node.inputs[1 - input]);
    if (other.value == nullptr || other.value->producer == graph::kNone) return false;
    const auto addend = index_.find(body, node.inputs[input]);
    const bool is_only_here = addend.value != nullptr && addend.value->uses.size() == 1;
    return is_only_here && is_linear_op(*index_.bodies()[other.body].nodes()[other.value->producer]) &&
           is_vector(addend.body, node.inputs[input]);
  }

  // One value a channel: all axes but one are 1.
  bool is_vector(std::size_t body, Bytes name) {
    const auto dims = reader_.dims(body, name);
    return dims && std::count_if(dims->begin(), dims->end(), [](std::int64_t dim) { return dim != 1; }) <= 1;
  }

  void fold(std::size_t body, std::size_t position, std::size_t input) {
    const Bytes name = index_.bodies()[body].nodes()[position]->inputs[input];
    const auto found = name.empty() ? graph::Index::Found{} : index_.find(body, name);
    const bool is_computed = found.value != nullptr && found.value->producer != graph::kNone;
    if (!is_computed || find_constant(model_, index_, body, name)) return;
    const auto made = made_.find(found.value);
    const Bytes constant = made != made_.end() ? made->second : make(body, position, found, name);
    if (constant.empty()) return;
    editors_.of(body).edit_node(position).inputs[input] = constant;
    ++changes_.count;
  }

  // Is the constant behind it all wanted as it is, too? Then there would be two of it.
  bool has_other_uses(std::size_t body, Bytes name) const {
    for (auto at = index_.find(body, name); at.value != nullptr && at.value->producer != graph::kNone;) {
      const onnx::Node& node = *index_.bodies()[at.body].nodes()[at.value->producer];
      if (node.inputs.empty() || node.inputs[0].empty()) return false;  // a Constant
      at = index_.find(at.body, node.inputs[0]);
      if (at.value != nullptr && (at.value->uses.size() > 1 || at.value->is_output)) return true;
    }
    return false;
  }

  // The name of the new constant; empty when there is none to be made.
  Bytes make(std::size_t body, std::size_t position, const graph::Index::Found& found, Bytes name) {
    if (!reader_.dims(found.body, name) || has_other_uses(found.body, name)) return {};
    auto read = reader_.read(found.body, name);
    if (const auto* reason = std::get_if<Reason>(&read))
      changes_.left_alone.push_back(fmt::format("{}: {}", place_of(index_, body, position), reason->text));
    const auto* values = std::get_if<FrozenValues>(&read);
    if (values == nullptr || values->type() != ElementType::kFloat) return {};
    // It stands in the body of the old value, where all that use it can see it.
    return made_[found.value] =
               editors_.of(found.body)
                   .add_tensor(found.value->producer, float_tensor(values->dims(), values->all()));
  }

  onnx::Model& model_;
  graph::Index index_;
  FrozenReader reader_;
  Editors editors_;
  std::map<const graph::Value*, Bytes> made_;
  Changes changes_;
};

}  // namespace

Changes fold_constants(onnx::Model& model) { return ConstantFolding(model).run(); }

}  // namespace ounce::passes
