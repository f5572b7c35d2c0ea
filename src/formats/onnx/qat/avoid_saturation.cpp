#include "formats/onnx/qat/avoid_saturation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <variant>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/qat/constant_subgraphs.h"
#include "formats/onnx/qat/trained_scales.h"
#include "target/ort/saturation.h"

namespace ounce::passes {
namespace {

using target::Saturating;

// The target for the sum of a pair; after rounding it is still safe.
constexpr double kPairRoom = quant::kLargestPairSum - 1;

// A DequantizeLinear and its constants.
struct Coded {
  std::size_t body = 0, node = 0;
  const onnx::Tensor* codes = nullptr;
  const onnx::Tensor* scale = nullptr;
  std::vector<float> scales;
  Grid grid;
};

template <class T>
std::vector<T> values_of(const onnx::Tensor& tensor) {
  const onnx::RawValues raw(tensor);
  std::vector<T> values(raw.bytes().size() / sizeof(T));
  std::memcpy(values.data(), raw.bytes().data(), values.size() * sizeof(T));
  return values;
}

template <class T>
onnx::Tensor tensor_of(const onnx::Tensor& like, const std::vector<T>& values) {
  return make_tensor(like.type, like.dims,
                     {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

class Limiting {
 public:
  explicit Limiting(onnx::Model& model)
      : model_(model), index_(model), reader_(model, index_), editors_(model, index_) {}

  SaturationChanges run() {
    for (const Saturating& found : target::find_saturation(model_, index_).weights) {
      if (const auto reason = limit(found)) {
        limited_.left_alone.push_back(fmt::format("{} may saturate on x86 CPUs without VNNI, but {}",
                                                  place_of(index_, found.body, found.node), reason->text));
      }
    }
    editors_.finish();
    return std::move(limited_);
  }

 private:
  std::optional<Reason> limit(const Saturating& found) {
    if (!found.is_constant) return Reason{"both inputs are computed"};
    const onnx::Node& node = *index_.bodies()[found.body].nodes()[found.node];
    auto read = read_coded(found.body, node.inputs[found.input], ElementType::kInt8);
    if (auto* reason = std::get_if<Reason>(&read)) return std::move(*reason);
    const Coded& weight = std::get<Coded>(read);
    const auto codes = values_of<std::int8_t>(*weight.codes);
    if (!has_channel_scales(weight.grid, found.pairs, codes.size()))
      return Reason{"its scales are not one per channel"};
    const std::vector<double> factors = factors_of(found, codes, weight.scales.size());
    if (factors.empty()) return Reason{"its scales are not one per channel"};
    std::optional<Coded> bias;
    if (const Bytes name = graph::input_of(node, 2); !name.empty() && is_coded(found.body, name)) {
      auto read_bias = read_coded(found.body, name, ElementType::kInt32);
      if (auto* reason = std::get_if<Reason>(&read_bias)) return std::move(*reason);
      bias = std::get<Coded>(read_bias);
      const auto numbers = static_cast<std::size_t>(bias->codes->element_count());
      if (bias->scales.size() != factors.size() || (factors.size() != 1 && numbers != factors.size()))
        return Reason{"its bias has other scales"};
    }
    write(weight, scaled_codes(codes, found.pairs, factors), factors);
    if (bias) write(*bias, scaled_bias(values_of<std::int32_t>(*bias->codes), factors), factors);
    note_change(found, node, factors);
    return std::nullopt;
  }

  void note_change(const Saturating& found, const onnx::Node& node, const std::vector<double>& factors) {
    ScaleChange change;
    change.weight = graph::value_path(index_, found.body, node.inputs[found.input]);
    change.node = graph::node_label(node, found.node);
    change.op_type = node.op_type();
    change.scales = factors.size();
    for (const double factor : factors) {
      change.changed += factor > 1 ? 1 : 0;
      change.largest_factor = std::max(change.largest_factor, factor);
    }
    limited_.weights.push_back(std::move(change));
  }

  const onnx::Node* producer(std::size_t body, Bytes name, std::size_t& at, std::size_t& position) const {
    const auto [value, owner] = index_.find(body, name);
    if (value == nullptr || value->producer == graph::kNone) return nullptr;
    at = owner;
    position = value->producer;
    return &*index_.bodies()[owner].nodes()[position];
  }

  bool is_coded(std::size_t body, Bytes name) const {
    std::size_t at = 0, position = 0;
    const onnx::Node* node = producer(body, name, at, position);
    return node != nullptr && is_dequantize(*node);
  }

  std::variant<Coded, Reason> read_coded(std::size_t body, Bytes name, ElementType type) {
    Coded coded;
    const onnx::Node* node = producer(body, name, coded.body, coded.node);
    if (node == nullptr || !is_dequantize(*node))
      return Reason{"its input does not come directly from a DequantizeLinear"};
    const graph::Value& value = *index_.find(body, name).value;
    if (value.uses.size() != 1 || value.is_output) return Reason{"other nodes also use its weight or bias"};
    const auto codes = graph::find_constant(model_, index_, coded.body, graph::input_of(*node, 0));
    const auto scale = graph::find_constant(model_, index_, coded.body, graph::input_of(*node, 1));
    if (!codes || !scale || codes->tensor->type != type || scale->tensor->type != ElementType::kFloat)
      return Reason{"its quantized values or scales are not constant"};
    coded.codes = codes->tensor;
    coded.scale = scale->tensor;
    coded.scales = values_of<float>(*scale->tensor);
    if (type == ElementType::kInt32) return with_zeros(coded, *node);
    const auto read = read_grid(reader_, model_, index_, coded.body, *node, codes->tensor->dims, type);
    if (const auto* reason = std::get_if<Reason>(&read)) return *reason;
    const Grid& grid = std::get<Grid>(read);
    if (grid.block != 0 || std::any_of(grid.zeros.begin(), grid.zeros.end(), [](float z) { return z != 0; }))
      return Reason{"its quantized values have zero points or blocks"};
    coded.grid = grid;
    return coded;
  }

  // A bias has per-tensor or per-element scales and no zero point.
  std::variant<Coded, Reason> with_zeros(const Coded& bias, const onnx::Node& node) const {
    const Bytes name = graph::input_of(node, 2);
    if (name.empty()) return bias;
    const auto zeros = graph::find_constant(model_, index_, bias.body, name);
    if (!zeros || zeros->tensor->type != ElementType::kInt32) return Reason{"its bias has zero points"};
    const auto values = values_of<std::int32_t>(*zeros->tensor);
    if (std::any_of(values.begin(), values.end(), [](std::int32_t zero) { return zero != 0; }))
      return Reason{"its bias has zero points"};
    return bias;
  }

  // Per-tensor scales, or scales for the channels that the pairs belong to.
  static bool has_channel_scales(const Grid& grid, const quant::DotProductPairs& pairs, std::size_t size) {
    if (grid.scales.size() == 1) return true;
    const bool has_columns = pairs.order == quant::DotProductPairs::Order::kColumns;
    return grid.length == pairs.channel_count(size) && (has_columns ? grid.inner == 1 : grid.outer == 1);
  }

  // The factor for each scale; empty if scales and channels do not match.
  static std::vector<double> factors_of(const Saturating& found, const std::vector<std::int8_t>& codes,
                                        std::size_t scales) {
    const std::vector<int> sums = quant::largest_pair_sums(codes.data(), codes.size(), found.pairs);
    if (scales != 1 && scales != sums.size()) return {};
    std::vector<double> factors(scales, 1.0);
    for (std::size_t c = 0; c < sums.size(); ++c) {
      double& factor = factors[scales == 1 ? 0 : c];
      if (sums[c] > quant::kLargestPairSum) factor = std::max(factor, sums[c] / kPairRoom);
    }
    return factors;
  }

  static std::vector<std::int8_t> scaled_codes(std::vector<std::int8_t> codes,
                                               const quant::DotProductPairs& pairs,
                                               const std::vector<double>& factors) {
    const bool has_columns = pairs.order == quant::DotProductPairs::Order::kColumns;
    const std::size_t row = pairs.inputs * pairs.taps;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const std::size_t channel = has_columns ? i % pairs.channels : i / row;
      const double code = codes[i] / factors[factors.size() == 1 ? 0 : channel];
      codes[i] = static_cast<std::int8_t>(std::nearbyint(code));
    }
    return codes;
  }

  static std::vector<std::int32_t> scaled_bias(std::vector<std::int32_t> codes,
                                               const std::vector<double>& factors) {
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = static_cast<std::int32_t>(std::nearbyint(codes[i] / factors[factors.size() == 1 ? 0 : i]));
    return codes;
  }

  template <class T>
  void write(const Coded& coded, const std::vector<T>& codes, const std::vector<double>& factors) {
    std::vector<float> scales = coded.scales;
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<float>(scales[i] * factors[i]);
    BodyEditor& editor = editors_.of(coded.body);
    const Bytes new_codes = editor.add_tensor(coded.node, tensor_of(*coded.codes, codes));
    const Bytes new_scales = editor.add_tensor(coded.node, tensor_of(*coded.scale, scales));
    onnx::Node& node = editor.edit_node(coded.node);
    node.inputs[0] = new_codes;
    node.inputs[1] = new_scales;
  }

  onnx::Model& model_;
  graph::Index index_;
  FrozenReader reader_;
  Editors editors_;
  SaturationChanges limited_;
};

}  // namespace

SaturationChanges avoid_saturation(onnx::Model& model) { return Limiting(model).run(); }

}  // namespace ounce::passes
