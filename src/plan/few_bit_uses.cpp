#include "plan/few_bit_uses.h"

#include <fmt/format.h>

#include <optional>

#include "onnx/attributes.h"
#include "onnx/settings.h"

namespace ounce::plan {
namespace {

constexpr std::int64_t kPlainGemmOpset = 7;  // until then an attribute said how C is spread
constexpr std::size_t kRight = 1;            // the input of a product that holds the weight

bool is_whole(const onnx::Node& node) { return node.outputs.size() == 1 && !node.outputs[0].empty(); }

bool is_plain_transpose(const onnx::Node& node) {
  if (!is_op(node, "Transpose") || !is_whole(node)) return false;
  if (onnx::find_attribute(node, "perm") == nullptr) return true;
  return onnx::integers_attribute(node, "perm") == std::vector<std::int64_t>{1, 0};
}

class UseSearch {
 public:
  UseSearch(const graph::Index& index, std::int64_t opset) : index_(index), opset_(opset) {}

  void follow(const graph::Value& value, bool is_turned) {
    for (const graph::Use& use : value.uses) {
      if (!found_.why_not.empty()) return;
      visit(use, is_turned);
    }
  }

  FewBitUses finish() {
    if (found_.why_not.empty() && found_.products.empty() && found_.lookups.empty())
      refuse("nothing multiplies with it");
    if (found_.why_not.empty() && !found_.lookups.empty() && direction_.value_or(false))
      refuse("it is looked up by rows and multiplied by columns");
    found_.is_transposed = direction_.value_or(false);
    return std::move(found_);
  }

 private:
  void refuse(std::string why) { found_.why_not = std::move(why); }

  void visit(const graph::Use& use, bool is_turned) {
    const onnx::Node& node = index_.node(use);
    const NodePlace place{use.body, use.node};
    if (!is_turned && is_row_lookup(node, use.input)) {
      found_.lookups.push_back(place);
    } else if (!is_turned && use.input == 0 && is_plain_transpose(node)) {
      turn(use, node);
    } else if (is_op(node, "MatMul") && use.input == kRight && is_whole(node)) {
      add_product(place, !is_turned);
    } else if (is_op(node, "Gemm") && use.input == kRight && is_whole(node)) {
      add_gemm(place, node, is_turned);
    } else {
      refuse(fmt::format("{} has no kernel for few bits", node.op_type));
    }
  }

  void turn(const graph::Use& use, const onnx::Node& node) {
    const auto next = index_.find(use.body, node.outputs[0]);
    if (next.value == nullptr || next.value->is_output || next.value->uses.empty())
      return refuse("it is transposed for something else than a product");
    found_.transposes.push_back({use.body, use.node});
    follow(*next.value, true);
  }

  void add_gemm(const NodePlace& place, const onnx::Node& node, bool is_turned) {
    const bool has_bias = node.inputs.size() > 2 && !node.inputs[2].empty();
    const auto is_right_turned = integer_setting(node, "transB", 0);
    const bool is_plain = integer_setting(node, "transA", 0) == 0 && is_right_turned &&
                          float_setting(node, "alpha", 1) == 1.0F &&
                          (!has_bias || float_setting(node, "beta", 1) == 1.0F);
    if (!is_plain) return refuse("its Gemm does more than multiply and add");
    if (opset_ < kPlainGemmOpset) return refuse(fmt::format("its Gemm is of opset {}", opset_));
    add_product(place, (*is_right_turned == 0) != is_turned);
  }

  // `by_columns`: the rows of the kernel are columns of the tensor.
  void add_product(const NodePlace& place, bool by_columns) {
    if (direction_.value_or(by_columns) != by_columns)
      return refuse("it is multiplied both by rows and by columns");
    direction_ = by_columns;
    found_.products.push_back(place);
  }

  const graph::Index& index_;
  const std::int64_t opset_;
  std::optional<bool> direction_;
  FewBitUses found_;
};

}  // namespace

FewBitUses find_few_bit_uses(const graph::Index& index, const Weight& weight, std::int64_t opset) {
  UseSearch search(index, opset);
  search.follow(*weight.value, false);
  return search.finish();
}

}  // namespace ounce::plan
