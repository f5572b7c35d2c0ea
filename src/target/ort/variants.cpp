#include "target/ort/model_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"

namespace ounce::target {
namespace {

using onnx::Bytes;
using Value = std::optional<std::string>;

class Reader {
 public:
  explicit Reader(const NodePlace& place) : place_(place), node_(place.node) {}

  bool has(std::size_t input) const { return !graph::input_of(node_, input).empty(); }

  const graph::Dims* shape(std::size_t input) const {
    return place_.shapes.of(place_.body, graph::input_of(node_, input));
  }

  // Number of elements of an input; nullopt if a dimension is dynamic.
  std::optional<std::int64_t> count(std::size_t input) const {
    const graph::Dims* dims = shape(input);
    if (dims == nullptr) return std::nullopt;
    std::int64_t count = 1;
    for (const std::int64_t dim : *dims) {
      if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
    }
    return count;
  }

  std::optional<std::size_t> rank() const {
    if (const graph::Dims* dims = shape(0)) return dims->size();
    // Derive the rank from another input: a weight of the same rank, or one number per axis.
    for (const auto& [op, input] : kSameRank) {
      if (op == node_.op_type() && shape(input) != nullptr) return shape(input)->size();
    }
    if (const auto kernel = onnx::integers_attribute(node_, "kernel_shape")) return kernel->size() + 2;
    if (node_.op() == Op::kResize || node_.op() == Op::kUpsample) {
      for (const std::size_t input : {1U, 2U, 3U}) {
        const auto numbers = has(input) && input != resize_region() ? count(input) : std::nullopt;
        if (numbers && *numbers > 0) return static_cast<std::size_t>(*numbers);
      }
    }
    return std::nullopt;
  }

  // The bytes of a small constant.
  std::optional<std::string> constant(std::size_t input) const {
    const auto found =
        graph::find_constant(place_.model, place_.index, place_.body, graph::input_of(node_, input));
    if (!found || found->tensor->type == ElementType::kString || found->tensor->byte_count() > 64)
      return std::nullopt;
    return std::string(onnx::RawValues(*found->tensor).bytes());
  }

 private:
  // Before opset 11 the second input of Resize is the scales.
  std::size_t resize_region() const {
    return node_.op() == Op::kResize && graph::opset_of(place_.model, place_.index, place_.body) >= 11 ? 1
                                                                                                       : 0;
  }

  static constexpr auto kSameRank =
      std::to_array<std::pair<std::string_view, std::size_t>>({{"Conv", 1},
                                                               {"ConvInteger", 1},
                                                               {"ConvTranspose", 1},
                                                               {"FusedConv", 1},
                                                               {"GridSample", 1},
                                                               {"QLinearConv", 3}});

  const NodePlace& place_;
  const onnx::Node& node_;
};

Value yes(bool is) { return is ? "yes" : "no"; }

Value attribute_text(const onnx::Node& node, Bytes name, std::string_view otherwise) {
  if (onnx::find_attribute(node, name) == nullptr)
    return otherwise.empty() ? std::nullopt : Value(std::string(otherwise));
  if (const auto number = onnx::integer_attribute(node, name)) return fmt::format("{}", *number);
  if (const auto text = onnx::string_attribute(node, name)) return std::string(*text);
  return std::nullopt;
}

// Per-tensor or per-channel scales.
Value granularity(const Reader& reader, std::size_t scale, std::int64_t single, const char* several) {
  const auto count = reader.count(scale);
  if (!count) return std::nullopt;
  return *count == single ? "tensor" : several;
}

Value weight_scale(const Reader& reader, const onnx::Node& node) {
  static constexpr auto kScales = std::to_array<std::pair<std::string_view, std::size_t>>({
      {"DynamicQuantizeLSTM", 8},
      {"DynamicQuantizeMatMul", 2},
      {"MatMulIntegerToFloat", 3},
      {"QAttention", 4},
      {"QGemm", 4},
      {"QLinearConv", 4},
      {"QLinearMatMul", 4},
  });
  for (const auto& [op, input] : kScales) {
    if (op != node.op_type()) continue;
    const bool is_both = op == "DynamicQuantizeLSTM" &&
                         onnx::string_setting(node, "direction", "forward") == Bytes("bidirectional");
    return granularity(reader, input, is_both ? 2 : 1, "channel");
  }
  return std::nullopt;
}

Value zero_points(const Reader& reader, const onnx::Node& node) {
  if (node.op() == Op::kMatMulNBits || node.op() == Op::kGatherBlockQuantized) return yes(reader.has(3));
  if (node.op() == Op::kMatMulIntegerToFloat) {
    if (reader.has(4) != reader.has(5)) return std::nullopt;
    return reader.has(4) ? "both" : "none";
  }
  if (!reader.has(2)) return reader.has(3) ? std::nullopt : Value("none");
  if (!reader.has(3)) return "x";
  const auto count = reader.count(3);
  if (!count) return std::nullopt;
  return *count == 1 ? "both" : "channel";
}

// Whether the last window of a pool begins in the padding or extends beyond it.
Value overhang(const Reader& reader, const onnx::Node& node) {
  if (onnx::integer_setting(node, "ceil_mode", 0) == 0) return "none";
  const auto kernel = onnx::integers_attribute(node, "kernel_shape");
  const graph::Dims* dims = reader.shape(0);
  const auto pad = onnx::string_setting(node, "auto_pad", "NOTSET");
  if (!kernel || dims == nullptr || dims->size() != kernel->size() + 2 || !pad || *pad != "NOTSET")
    return std::nullopt;
  const std::size_t axes = kernel->size();
  const auto list = [&](Bytes name, std::size_t size, std::int64_t otherwise) {
    auto found = onnx::integers_attribute(node, name).value_or(std::vector<std::int64_t>(size, otherwise));
    found.resize(size, otherwise);
    return found;
  };
  const auto strides = list("strides", axes, 1), dilations = list("dilations", axes, 1),
             pads = list("pads", 2 * axes, 0);
  bool is_padding = false, is_window = false;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t size = (*dims)[i + 2];
    const auto is_sane = [](std::int64_t number) { return number >= 0 && number < (std::int64_t{1} << 31); };
    if (!is_sane(size) || !is_sane(strides[i]) || strides[i] == 0 || !is_sane(dilations[i]) ||
        !is_sane((*kernel)[i]) || (*kernel)[i] == 0 || !is_sane(pads[i]) || !is_sane(pads[axes + i]))
      return std::nullopt;
    const std::int64_t extent = dilations[i] * ((*kernel)[i] - 1) + 1;
    const std::int64_t room = size + pads[i] + pads[axes + i] - extent;
    if (room < 0) return std::nullopt;
    const std::int64_t windows = (room + strides[i] - 1) / strides[i] + 1;
    const std::int64_t last = (windows - 1) * strides[i] - pads[i];
    is_padding |= last >= size;
    is_window |= last + extent > size + pads[axes + i];
  }
  return is_padding ? "padding" : is_window ? "window" : "none";
}

Value bounds(const Reader& reader) {
  return reader.has(1) && reader.has(2) ? "both" : reader.has(1) ? "min" : reader.has(2) ? "max" : "none";
}

Value block_of_gather(const Reader& reader, const onnx::Node& node) {
  const auto axis = onnx::integer_setting(node, "axis", 0);
  const graph::Dims* dims = reader.shape(0);
  if (!axis) return std::nullopt;
  if (*axis == -1) return "one";
  if (dims == nullptr) return std::nullopt;
  return *axis == static_cast<std::int64_t>(dims->size()) - 1 ? "one" : "many";
}

Value training_mode(const Reader& reader) {
  if (!reader.has(2)) return "absent";
  const auto value = reader.constant(2);
  if (!value || value->size() != 1) return std::nullopt;
  return (*value)[0] != 0 ? "true" : "false";
}

Value lowest_zero(const Reader& reader, const onnx::Node& node) {
  const auto value = reader.constant(4);
  if (!value || value->size() != 1 || node.inputs.size() < 5) return std::nullopt;
  const char code = (*value)[0];
  return code == 0 || code == '\x80' ? "lowest" : "other";
}

Value quantized_per(const Reader& reader, const onnx::Node& node) {
  const auto count = reader.count(1);
  if (count && *count == 1) return "tensor";
  const auto block = onnx::integer_setting(node, "block_size", 0);
  if (!block) return std::nullopt;
  if (*block != 0) return "block";
  return count ? Value("axis") : std::nullopt;
}

Value groups(const Reader& reader, const onnx::Node& node) {
  const auto group = onnx::integer_setting(node, "group", 1);
  if (!group || *group == 1) return group ? Value("one") : std::nullopt;
  const graph::Dims* weight = reader.shape(1);
  if (weight == nullptr || weight->size() < 2 || (*weight)[1] < 0) return std::nullopt;
  return (*weight)[1] == 1 ? "each" : "some";
}

Value attention_mask(const Reader& reader, const onnx::Node& node) {
  if (onnx::is_default_domain(node.domain()) || node.op() == Op::kContribAttention) return yes(reader.has(3));
  if (node.op() == Op::kMultiHeadAttention) return yes(reader.has(4));
  if (node.op() == Op::kQAttention) return yes(reader.has(5));
  return std::nullopt;
}

}  // namespace

std::optional<std::string> variant_of(const NodePlace& place, std::string_view dimension,
                                      std::string_view otherwise) {
  const Reader reader(place);
  const onnx::Node& node = place.node;
  if (dimension == "rank" || dimension == "spatial") {
    const auto rank = reader.rank();
    if (!rank || (dimension == "spatial" && *rank < 2)) return std::nullopt;
    return fmt::format("{}", dimension == "spatial" ? *rank - 2 : *rank);
  }
  if (dimension == "per") return quantized_per(reader, node);
  if (dimension == "weight") return weight_scale(reader, node);
  if (dimension == "zero_points") return zero_points(reader, node);
  if (dimension == "zero_point") return yes(reader.has(node.op() == Op::kDynamicQuantizeMatMul ? 3 : 2));
  if (dimension == "y_zero_point") return lowest_zero(reader, node);
  if (dimension == "dilated") {
    const auto dilations = onnx::integers_attribute(node, "dilations");
    return yes(dilations && std::any_of(dilations->begin(), dilations->end(), [](auto d) { return d != 1; }));
  }
  if (dimension == "overhang") return overhang(reader, node);
  if (dimension == "reduced") {
    const bool has_axes = onnx::find_attribute(node, "axes") != nullptr || reader.has(1);
    return has_axes ? "some" : "all";
  }
  if (dimension == "bounds") return bounds(reader);
  if (dimension == "target") return reader.has(3) ? "sizes" : "scales";
  if (dimension == "block") return block_of_gather(reader, node);
  if (dimension == "training_mode" && node.op() == Op::kDropout) return training_mode(reader);
  if (dimension == "mask") return attention_mask(reader, node);
  if (dimension == "bias") return yes(reader.has(node.op() == Op::kConv ? 2 : 3));
  if (dimension == "groups") return groups(reader, node);
  if (dimension == "indices") return yes(node.outputs.size() > 1 && !node.outputs[1].empty());
  if (dimension == "labels")
    return onnx::find_attribute(node, "classlabels_strings") != nullptr ? "strings" : "ints";
  return attribute_text(node, dimension, otherwise);
}

}  // namespace ounce::target
