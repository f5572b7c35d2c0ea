#include "target/saturation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "graph/constants.h"
#include "onnx/settings.h"
#include "onnx/values.h"
#include "target/kernel_pairs.h"

namespace ounce::target {
namespace {

// Where an integer op takes the codes it multiplies with, and their zero point, which tells their type.
struct Slot {
  std::string_view op_type;
  std::size_t weight, zero;
};

constexpr auto kSlots = std::to_array<Slot>({
    {"ConvInteger", 1, 3},
    {"QLinearConv", 3, 5},
    {"MatMulInteger", 1, 3},
    {"MatMulIntegerToFloat", 1, 5},
    {"DynamicQuantizeMatMul", 1, 3},
    {"QLinearMatMul", 3, 5},
    {"QGemm", 3, 5},
    {"QAttention", 1, 7},
    {"DynamicQuantizeLSTM", 1, 9},
    {"DynamicQuantizeLSTM", 2, 11},
});

constexpr int kAnyCodes = 2 * 127;  // of values that are computed

class Finder {
 public:
  Finder(const onnx::Model& model, const graph::Index& index) : model_(model), index_(index) {}

  std::vector<Saturating> find() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      for (const Slot& slot : kSlots) {
        if (node.op_type != slot.op_type) continue;
        look_at(body, position, node, slot.weight, graph::input_of(node, slot.weight),
                graph::input_of(node, slot.zero), body);
      }
      if (is_op(node, "Conv") || is_op(node, "MatMul") || is_op(node, "Gemm")) look_at_pair(body, position, node);
    });
    return std::move(found_);
  }

 private:
  const onnx::Node* dequantize_before(std::size_t body, onnx::Bytes name, std::size_t& at) const {
    const auto [value, owner] = index_.find(body, name);
    if (value == nullptr || value->producer == graph::kNone) return nullptr;
    const onnx::Node& node = *index_.bodies()[owner].nodes()[value->producer];
    at = owner;
    return node.op_type == "DequantizeLinear" ? &node : nullptr;
  }

  void look_at_pair(std::size_t body, std::size_t position, const onnx::Node& node) {
    if (node.inputs.size() < 2) return;
    std::size_t there = 0, at = 0;
    const onnx::Node* activation = dequantize_before(body, node.inputs[0], there);
    const onnx::Node* weight = dequantize_before(body, node.inputs[1], at);
    if (activation == nullptr || weight == nullptr) return;
    look_at(body, position, node, 1, graph::input_of(*weight, 0), graph::input_of(*weight, 2), at);
  }

  void look_at(std::size_t body, std::size_t position, const onnx::Node& node, std::size_t input,
               onnx::Bytes codes, onnx::Bytes zero, std::size_t at) {
    const auto constant = graph::find_constant(model_, index_, at, codes);
    if (constant) {
      const onnx::Tensor& tensor = *constant->tensor;
      if (tensor.type != onnx::ElementType::kInt8) return;
      if (std::holds_alternative<onnx::Computed>(tensor.data)) return;  // ours, and not made yet
      const quant::WeightPairs pairs = pairs_of(node, tensor.dims);
      const int worst = worst_of(tensor, pairs);
      if (worst > quant::kLargestPairSum)
        found_.push_back({body, position, input, codes, constant->body, pairs, worst});
      return;
    }
    const auto zeros = graph::find_constant(model_, index_, at, zero);
    if (zeros && zeros->tensor->type == onnx::ElementType::kInt8 && !codes.empty())
      found_.push_back({body, position, input, {}, 0, {}, kAnyCodes});
  }

  static int worst_of(const onnx::Tensor& tensor, const quant::WeightPairs& pairs) {
    const onnx::RawValues values(tensor);
    const std::vector<int> sums = quant::largest_pair_sums(
        reinterpret_cast<const std::int8_t*>(values.bytes().data()), values.bytes().size(), pairs);
    return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  std::vector<Saturating> found_;
};

}  // namespace

std::vector<Saturating> saturating_nodes(const onnx::Model& model, const graph::Index& index) {
  return Finder(model, index).find();
}

std::string saturation_sentence(const std::vector<Saturating>& found) {
  if (found.empty()) return {};
  const int worst = std::max_element(found.begin(), found.end(), [](const Saturating& a, const Saturating& b) {
                      return a.worst < b.worst;
                    })->worst;
  return fmt::format(
      "{} integer node{} may give wrong results on x86 CPUs without VNNI (Intel before 2019, AMD before Zen 4): "
      "sums of 8-bit products saturate there when two neighbouring weights come to more than {}, and here they "
      "come to {}",
      found.size(), found.size() == 1 ? "" : "s", quant::kLargestPairSum, worst);
}

}  // namespace ounce::target
