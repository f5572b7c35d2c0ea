#include "target/ort/saturation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <variant>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"

namespace ounce::target {
namespace {

using quant::DotProductPairs;
using Order = DotProductPairs::Order;

std::size_t size_at(std::span<const std::int64_t> dims, std::size_t axis) {
  return static_cast<std::size_t>(dims[axis]);
}

DotProductPairs of_conv(const onnx::Node& node, std::span<const std::int64_t> dims) {
  if (dims.size() < 3) return {};
  const auto group = onnx::integer_setting(node, "group", 1);
  if (dims[1] == 1 && group && *group == dims[0]) return {};  // depthwise
  std::size_t taps = 1;
  for (std::size_t axis = 2; axis < dims.size(); ++axis) taps *= size_at(dims, axis);
  return {Order::kRows, size_at(dims, 1), taps, 0};
}

DotProductPairs of_matrix(std::span<const std::int64_t> dims) {
  if (dims.empty()) return {};
  if (dims.size() == 1) return {Order::kColumns, size_at(dims, 0), 1, 1};
  return {Order::kColumns, size_at(dims, dims.size() - 2), 1, size_at(dims, dims.size() - 1)};
}

DotProductPairs of_rows(std::span<const std::int64_t> dims) {
  return dims.size() < 2 ? DotProductPairs{}
                         : DotProductPairs{Order::kRows, size_at(dims, dims.size() - 1), 1, 0};
}

}  // namespace

DotProductPairs pairs_of(const onnx::Node& node, std::span<const std::int64_t> dims) {
  switch (node.info().pairs) {
    case ops::ProductPairs::kNone: return {};
    case ops::ProductPairs::kConv: return of_conv(node, dims);
    case ops::ProductPairs::kMatrix: return of_matrix(dims);
    case ops::ProductPairs::kGemm:
      return onnx::integer_setting(node, "transB", 0) != 0 ? of_rows(dims) : of_matrix(dims);
    case ops::ProductPairs::kRecurrentRows: return of_rows(dims);
  }
  return {};
}

namespace {

bool is_any_cpu(const Target& target) { return target.name.empty() || target.name == "cpu"; }

}  // namespace

bool is_known_to_saturate(const Target& target) { return !is_any_cpu(target) && !has_exact_dot(target); }

bool has_exact_dot(const Target& target) {
  if (is_any_cpu(target)) return false;
  if (target.machine == "x64" || target.machine.empty()) {
    // OpenVINO also runs on the CPU.
    const bool is_on_cpu = target.provider == "cpu" || target.provider == "openvino";
    return !is_on_cpu || target.cpu == "vnni";
  }
  return true;
}

bool is_without_exact_products(std::string_view cpu) { return cpu == "avx2" || cpu == "avx512"; }

namespace {

using onnx::Bytes;
using quant::DotProductPairs;

constexpr int kAnyCodes = 2 * 128;  // largest pair of weights that are computed

// The quantized values of a weight in file order.
struct Codes {
  std::vector<std::int8_t> values;
  std::vector<std::int64_t> dims;
  bool is_transposed = false;  // the op gets it with its last two axes swapped
};

// Converts pairs of a transposed weight to file order.
DotProductPairs before_transpose(const DotProductPairs& pairs, std::span<const std::int64_t> dims) {
  if (pairs.order == DotProductPairs::Order::kColumns)
    return {DotProductPairs::Order::kRows, pairs.inputs, 1, 0};
  if (pairs.order != DotProductPairs::Order::kRows || pairs.taps != 1 || dims.size() != 2) return {};
  return {DotProductPairs::Order::kColumns, pairs.inputs, 1, static_cast<std::size_t>(dims[1])};
}

class Finder {
 public:
  Finder(const onnx::Model& model, const graph::Index& index) : model_(model), index_(index) {}

  Saturation find() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      // Only inputs marked as saturating: for example, ConvInteger's kernel does not saturate.
      for (const ops::QuantizedInput& weight : node.info().quantized) {
        if (!weight.saturates) continue;
        look_at({body, position, weight.input}, node, body, graph::input_of(node, weight.input),
                graph::input_of(node, weight.zero_point), false);
      }
      if (node.op() == Op::kConv || node.op() == Op::kMatMul || node.op() == Op::kGemm)
        look_at_float_op(body, position, node);
    });
    return std::move(found_);
  }

 private:
  struct Producer {
    const onnx::Node* node = nullptr;
    std::size_t body = 0;
  };
  Producer producer_of(std::size_t body, Bytes name) const {
    const auto [value, owner] = index_.find(body, name);
    if (value == nullptr || value->producer == graph::kNone) return {};
    return {&*index_.bodies()[owner].nodes()[value->producer], owner};
  }

  // True if the node swaps the last two axes only.
  static bool is_swap(const onnx::Node& node, std::size_t rank) {
    if (node.op() != Op::kTranspose || rank < 2) return false;
    const auto order = onnx::integers_attribute(node, "perm");
    if (!order) return rank == 2;
    if (order->size() != rank) return false;
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      if ((*order)[i] != static_cast<std::int64_t>(i)) return false;
    }
    return (*order)[rank - 2] == static_cast<std::int64_t>(rank - 1) &&
           (*order)[rank - 1] == static_cast<std::int64_t>(rank - 2);
  }

  // Checks an FP32 op whose inputs have DequantizeLinear of 8-bit values.
  void look_at_float_op(std::size_t body, std::size_t position, const onnx::Node& node) {
    if (node.inputs.size() < 2) return;
    const Producer activation = producer_of(body, node.inputs[0]);
    Producer weight = producer_of(body, node.inputs[1]);
    const bool is_behind_transpose = weight.node != nullptr && weight.node->op() == Op::kTranspose;
    if (is_behind_transpose && (node.op() == Op::kConv || !is_swap(*weight.node, 2))) return;
    if (is_behind_transpose) weight = producer_of(weight.body, graph::input_of(*weight.node, 0));
    if (!is_dequantize(activation) || !is_dequantize(weight) || !has_bytes(activation)) return;
    look_at({body, position, 1}, node, weight.body, graph::input_of(*weight.node, 0),
            graph::input_of(*weight.node, 2), is_behind_transpose);
  }
  static bool is_dequantize(const Producer& producer) {
    return producer.node != nullptr && ops::is_dequantize_linear(producer.node->op());
  }
  // The default type without a zero point is uint8.
  bool has_bytes(const Producer& dequantize) const {
    const auto zero =
        graph::find_constant(model_, index_, dequantize.body, graph::input_of(*dequantize.node, 2));
    return !zero || zero->tensor->type == ElementType::kUint8 || zero->tensor->type == ElementType::kInt8;
  }

  void look_at(Saturating where, const onnx::Node& node, std::size_t at, Bytes name, Bytes zero,
               bool is_transposed) {
    if (name.empty()) return;
    if (auto codes = read_codes(at, name)) {
      if (codes->values.empty()) return;  // another type, or empty
      codes->is_transposed = codes->is_transposed != is_transposed;
      std::vector<std::int64_t> dims = codes->dims;
      if (codes->is_transposed) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
      where.pairs = pairs_of(node, dims);
      if (codes->is_transposed) where.pairs = before_transpose(where.pairs, codes->dims);
      const std::vector<int> sums =
          quant::largest_pair_sums(codes->values.data(), codes->values.size(), where.pairs);
      where.worst = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
    } else {
      const auto zeros = graph::find_constant(model_, index_, at, zero);
      if (!zeros || zeros->tensor->type != ElementType::kInt8) return;
      where.is_constant = false;
      where.worst = kAnyCodes;
    }
    if (where.worst <= quant::kLargestPairSum) return;
    found_.nodes.insert({where.body, where.node});
    found_.worst = std::max(found_.worst, where.worst);
    found_.weights.push_back(where);
  }

  // Returns nullopt if the weight is computed at run time, and no values if it is constant but not int8.
  std::optional<Codes> read_codes(std::size_t at, Bytes name) const {
    if (const auto constant = graph::find_constant(model_, index_, at, name))
      return codes_of(*constant->tensor);
    const Producer producer = producer_of(at, name);
    if (producer.node == nullptr) return std::nullopt;
    const auto source =
        graph::find_constant(model_, index_, producer.body, graph::input_of(*producer.node, 0));
    if (!source) return std::nullopt;
    if (ops::is_quantize_linear(producer.node->op())) return quantized(producer, *source->tensor);
    if (!is_swap(*producer.node, source->tensor->dims.size())) return std::nullopt;
    Codes codes = codes_of(*source->tensor);
    codes.is_transposed = true;
    return codes;
  }

  static Codes codes_of(const onnx::Tensor& tensor) {
    Codes codes;
    // Weights of this program's passes (onnx::Computed) have no values yet.
    if (tensor.type != ElementType::kInt8 || std::holds_alternative<onnx::Computed>(tensor.data))
      return codes;
    codes.values = numbers_of<std::int8_t>(tensor);
    codes.dims = tensor.dims;
    return codes;
  }

  // Computes the output of QuantizeLinear, per tensor or per axis.
  std::optional<Codes> quantized(const Producer& quantize, const onnx::Tensor& tensor) const {
    const onnx::Node& node = *quantize.node;
    const auto scale = graph::find_constant(model_, index_, quantize.body, graph::input_of(node, 1));
    const auto zero = graph::find_constant(model_, index_, quantize.body, graph::input_of(node, 2));
    if (!zero || zero->tensor->type != ElementType::kInt8)
      return zero ? std::optional(Codes{}) : std::nullopt;
    const bool is_float = tensor.type == ElementType::kFloat &&
                          !std::holds_alternative<onnx::Computed>(tensor.data) && scale &&
                          scale->tensor->type == ElementType::kFloat;
    if (!is_float) return std::nullopt;
    const auto values = numbers_of<float>(tensor), scales = numbers_of<float>(*scale->tensor);
    const auto zeros = numbers_of<std::int8_t>(*zero->tensor);
    const auto rank = static_cast<std::int64_t>(tensor.dims.size());
    std::int64_t axis = onnx::integer_setting(node, "axis", 1).value_or(1);
    if (axis < 0) axis += rank;
    std::size_t inner = 1;
    for (std::int64_t i = std::max<std::int64_t>(axis, -1) + 1; i < rank; ++i)
      inner *= static_cast<std::size_t>(tensor.dims[static_cast<std::size_t>(i)]);
    const bool has_one = scales.size() == 1;
    const bool has_axis =
        axis >= 0 && axis < rank && inner != 0 &&
        scales.size() == static_cast<std::size_t>(tensor.dims[static_cast<std::size_t>(axis)]);
    if (scales.empty() || zeros.size() != scales.size() || (!has_one && !has_axis)) return std::nullopt;
    Codes codes;
    codes.dims = tensor.dims;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t group = has_one ? 0 : i / inner % scales.size();
      const float code = std::nearbyint(values[i] / scales[group]) + static_cast<float>(zeros[group]);
      codes.values.push_back(code >= -128 && code <= 127 ? static_cast<std::int8_t>(code)
                             : code < 0                  ? std::int8_t{-128}
                                                         : std::int8_t{127});
    }
    return codes;
  }

  template <class T>
  static std::vector<T> numbers_of(const onnx::Tensor& tensor) {
    const onnx::RawValues raw(tensor);
    std::vector<T> numbers(raw.bytes().size() / sizeof(T));
    if (!numbers.empty())  // memcpy must not get null pointers
      std::memcpy(numbers.data(), raw.bytes().data(), numbers.size() * sizeof(T));
    return numbers;
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  Saturation found_;
};

}  // namespace

Saturation find_saturation(const onnx::Model& model, const graph::Index& index) {
  return Finder(model, index).find();
}

std::string Saturation::sentence() const {
  return fmt::format(
      "{} integer node{} may give wrong results on x86 CPUs without VNNI (Intel before 2019, AMD before Zen "
      "4): sums of 8-bit products saturate there if two adjacent weights add up to more than {} (here: {})",
      nodes.size(), nodes.size() == 1 ? "" : "s", quant::kLargestPairSum, worst);
}

}  // namespace ounce::target
