#include "formats/onnx/qat/constant_subgraphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/numbers.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/plan/op_rules.h"
#include "formats/onnx/qat/trained_scales.h"
#include "kernels/pack.h"

namespace ounce::passes {
namespace {

using graph::kNone;
using Dims = FrozenValues::Dims;

constexpr std::size_t kLongestWay = 16;
constexpr std::size_t kHighestRank = 16;
constexpr std::uint64_t kFreeBytes = 256;
// Limit for values that are moved, because there are temporarily two copies.
constexpr std::uint64_t kLargestMoved = std::uint64_t{256} << 20U;

// Integers up to this are exact in float32.
constexpr float kLargestExact = 0x1p24F;

template <class T>
std::vector<float> converted(Bytes bytes) {
  std::vector<float> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<float>(value);
  }
  return values;
}

std::vector<float> unpacked(Bytes bytes, std::size_t count, bool is_signed) {
  std::string codes(count, '\0');
  const auto* packed = reinterpret_cast<const std::uint8_t*>(bytes.data());
  auto* to = reinterpret_cast<std::uint8_t*>(codes.data());
  if (!is_signed) {
    kernels::unpack_pairs(packed, count, to);
    return converted<std::uint8_t>(codes);
  }
  kernels::unpack_pairs_signed(packed, count, to);
  return converted<std::int8_t>(codes);
}

// Empty for types that zero points, limits and shapes never have.
std::optional<std::vector<float>> integers_of(const onnx::Tensor& tensor) {
  const bool is_known =
      code_range(tensor.type) || tensor.type == ElementType::kInt32 || tensor.type == ElementType::kInt64;
  if (!is_known) return std::nullopt;
  const onnx::RawValues raw(tensor);
  switch (tensor.type) {
    case ElementType::kInt8: return converted<std::int8_t>(raw.bytes());
    case ElementType::kUint8: return converted<std::uint8_t>(raw.bytes());
    case ElementType::kInt16: return converted<std::int16_t>(raw.bytes());
    case ElementType::kUint16: return converted<std::uint16_t>(raw.bytes());
    case ElementType::kInt32: return converted<std::int32_t>(raw.bytes());
    case ElementType::kInt64: return converted<std::int64_t>(raw.bytes());
    case ElementType::kInt4: return unpacked(raw.bytes(), tensor.element_count(), true);
    default: return unpacked(raw.bytes(), tensor.element_count(), false);
  }
}

// Forms of a Constant node with numbers instead of a tensor. They are parsed on each read, so only short
// ones.
constexpr std::size_t kMostNumberBytes = 4096;

std::size_t carried_bytes(const onnx::Attribute& attribute) {
  std::size_t bytes = 0;
  for (const auto& carried : attribute.carried) bytes += carried.bytes.size();
  return bytes;
}

std::optional<FrozenValues> numbers_of(const onnx::Node& node) {
  for (const auto& attribute : node.attributes) {
    if (carried_bytes(*attribute) > kMostNumberBytes) return std::nullopt;
  }
  if (onnx::find_attribute(node, "value_float") != nullptr) {
    const auto value = onnx::float_setting(node, "value_float", 0);
    if (value) return FrozenValues(ElementType::kFloat, {}, {*value});
  }
  if (auto values = onnx::floats_setting(node, "value_floats")) {
    const auto count = static_cast<std::int64_t>(values->size());
    return FrozenValues(ElementType::kFloat, {count}, std::move(*values));
  }
  if (const auto value = onnx::integer_attribute(node, "value_int"))
    return FrozenValues(ElementType::kInt64, {}, {static_cast<float>(*value)});
  return std::nullopt;
}

bool is_integer_type(ElementType type) {
  return code_range(type) || type == ElementType::kInt32 || type == ElementType::kInt64;
}

// The permutation of a Transpose; empty if it is invalid.
std::optional<std::vector<std::size_t>> permutation_of(const onnx::Node& node, std::size_t rank) {
  std::vector<std::size_t> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = rank - 1 - i;
  if (onnx::find_attribute(node, "perm") == nullptr) return axes;
  const auto written = onnx::integers_attribute(node, "perm");
  if (!written || written->size() != rank) return std::nullopt;
  std::vector<bool> seen(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t axis = (*written)[i];
    if (axis < 0 || static_cast<std::size_t>(axis) >= rank || seen[static_cast<std::size_t>(axis)])
      return std::nullopt;
    axes[i] = static_cast<std::size_t>(axis);
    seen[axes[i]] = true;
  }
  return axes;
}

// `steps[i]`: the distance in `from` between neighbors along axis i of the result.
std::vector<float> gathered(const std::vector<float>& from, const Dims& dims,
                            const std::vector<std::size_t>& steps, std::size_t count) {
  std::vector<float> to(count);
  std::vector<std::int64_t> place(dims.size(), 0);
  std::size_t source = 0;
  for (float& value : to) {
    value = from[source];
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      source += steps[axis];
      if (++place[axis] < dims[axis]) break;
      source -= steps[axis] * static_cast<std::size_t>(dims[axis]);
      place[axis] = 0;
    }
  }
  return to;
}

std::uint64_t product(const Dims& dims) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims)
    count = checked_multiply(count, static_cast<std::uint64_t>(dim)).value_or(0);
  return count;
}

// The dimensions that a Reshape produces; empty if the number of values does not match.
std::optional<Dims> reshaped(const Dims& from, const std::vector<float>& shape, bool keeps_zeros) {
  const std::uint64_t count = product(from);
  std::uint64_t known = 1;
  std::size_t open = kNone;
  Dims dims;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!(shape[i] >= -1 && shape[i] <= kLargestExact)) return std::nullopt;
    const auto wanted = static_cast<std::int64_t>(shape[i]);
    if (wanted == -1 && open != kNone) return std::nullopt;
    if (wanted == -1) open = i;
    const bool is_copied = wanted == 0 && !keeps_zeros;
    if (is_copied && i >= from.size()) return std::nullopt;
    dims.push_back(is_copied ? from[i] : std::max<std::int64_t>(wanted, wanted == -1 ? 1 : 0));
    const auto next = checked_multiply(known, static_cast<std::uint64_t>(dims.back()));
    if (!next || *next > count) return std::nullopt;
    known = *next;
  }
  if (open != kNone && known != 0 && count % known == 0) {
    dims[open] = static_cast<std::int64_t>(count / known);
    known = count;
  }
  return known == count ? std::optional(dims) : std::nullopt;
}

}  // namespace

FrozenValues::FrozenValues(ElementType type, Dims dims, std::vector<float> values)
    : type_(type), dims_(std::move(dims)), own_(std::move(values)) {}

FrozenValues::FrozenValues(const onnx::Model& model, const onnx::Tensor& tensor)
    : type_(tensor.type), dims_(tensor.dims), in_file_(std::make_unique<plan::TensorSource>(model, tensor)) {}

quant::FloatSource FrozenValues::floats() const {
  if (in_file_) return in_file_->floats();
  return {{reinterpret_cast<const char*>(own_.data()), own_.size() * sizeof(float)},
          quant::FloatType::kFloat32};
}

std::vector<float> FrozenValues::all() const {
  if (!in_file_) return own_;
  const quant::FloatSource source = floats();
  std::vector<float> scratch, values(source.size());
  if (!values.empty())
    std::memcpy(values.data(), source.values(0, values.size(), scratch), values.size() * sizeof(float));
  return values;
}

// The values after some of the steps. Without `has_values` only the dimensions are valid.
struct FrozenReader::Moving {
  ElementType type;
  Dims dims;
  std::vector<float> values;
  bool has_values;
};

FrozenReader::FrozenReader(const onnx::Model& model, const graph::Index& index)
    : model_(model), index_(index), limit_(index) {}

bool FrozenReader::may_use(std::uint64_t bytes) { return bytes <= kFreeBytes || limit_.take(bytes); }

const onnx::Node* FrozenReader::constant_node(std::size_t body, Bytes name) const {
  const auto [value, home] = index_.find(body, name);
  if (value == nullptr || value->producer == kNone) return nullptr;
  const onnx::Node& node = *index_.bodies()[home].nodes()[value->producer];
  return node.op() == Op::kConstant ? &node : nullptr;
}

bool FrozenReader::is_constant(std::size_t body, Bytes name) const {
  return find_constant(model_, index_, body, name) || constant_node(body, name) != nullptr;
}

// Ops that are allowed between a constant and its user.
bool FrozenReader::is_passage(const onnx::Node& node) {
  if (node.inputs.empty() || node.inputs[0].empty() || node.outputs.size() != 1) return false;
  if (node.op() == Op::kClip || node.op() == Op::kCast) return true;
  return node.info().moves_weight(0) && node.op() != Op::kConcat;
}

std::variant<FrozenReader::NotConstant, FrozenReader::Way, Reason> FrozenReader::find(std::size_t body,
                                                                                      Bytes name) const {
  Way way{{}, body, name};
  while (!way.name.empty()) {
    if (is_constant(way.body, way.name)) return way;
    const auto [value, home] = index_.find(way.body, way.name);
    if (value == nullptr) break;
    if (value->initializer != kNone)
      return Reason{fmt::format("'{}' may be replaced when the model runs or is trained", way.name)};
    if (value->producer == kNone) break;
    const onnx::Node& node = *index_.bodies()[home].nodes()[value->producer];
    if (!is_passage(node) || way.steps.size() == kLongestWay) break;
    way.steps.push_back({home, &node});
    way.body = home;
    way.name = node.inputs[0];
  }
  return NotConstant{};
}

std::optional<FrozenValues> FrozenReader::constant(std::size_t body, Bytes name) {
  if (const auto found = find_constant(model_, index_, body, name)) {
    if (is_float_weight_type(found->tensor->type)) return FrozenValues(model_, *found->tensor);
    if (auto integers = integers_of(*found->tensor))
      return FrozenValues(found->tensor->type, found->tensor->dims, std::move(*integers));
    return std::nullopt;
  }
  const onnx::Node* node = constant_node(body, name);
  return node != nullptr ? numbers_of(*node) : std::nullopt;
}

std::optional<Dims> FrozenReader::constant_dims(std::size_t body, Bytes name) {
  if (const auto found = find_constant(model_, index_, body, name)) return found->tensor->dims;
  const auto numbers = constant(body, name);
  return numbers ? std::optional(numbers->dims()) : std::nullopt;
}

std::variant<FrozenReader::NotConstant, FrozenValues, Reason> FrozenReader::read(std::size_t body,
                                                                                 Bytes name) {
  auto found = find(body, name);
  if (auto* reason = std::get_if<Reason>(&found)) return std::move(*reason);
  if (std::holds_alternative<NotConstant>(found)) return NotConstant{};
  const Way& way = std::get<Way>(found);
  const auto dims = constant_dims(way.body, way.name);
  if (!dims) return Reason{fmt::format("'{}' has an unsupported type", way.name)};
  const std::uint64_t bytes = product(*dims) * sizeof(float);
  if (bytes == 0) return Reason{fmt::format("'{}' has no values", way.name)};
  if (!way.steps.empty() && bytes > kLargestMoved)
    return Reason{fmt::format("{} uses '{}', which is larger than {} MiB", way.steps.back().node->op_type(),
                              way.name, kLargestMoved >> 20U)};
  if (!may_use(bytes)) return Reason{WorkLimit::kReason};
  auto values = constant(way.body, way.name);
  if (!values) return Reason{fmt::format("'{}' has an unsupported type", way.name)};
  if (way.steps.empty()) return std::move(*values);
  Moving moving{values->type(), values->dims(), values->all(), true};
  if (auto reason = walk(way, moving)) return std::move(*reason);
  return FrozenValues(moving.type, std::move(moving.dims), std::move(moving.values));
}

std::optional<Dims> FrozenReader::dims(std::size_t body, Bytes name) {
  const auto found = find(body, name);
  const Way* way = std::get_if<Way>(&found);
  if (way == nullptr) return std::nullopt;
  auto dims = constant_dims(way->body, way->name);
  if (!dims) return std::nullopt;
  Moving moving{ElementType::kFloat, std::move(*dims), {}, false};
  if (walk(*way, moving)) return std::nullopt;
  return moving.dims;
}

std::optional<Reason> FrozenReader::walk(const Way& way, Moving& moving) {
  for (auto step = way.steps.rbegin(); step != way.steps.rend(); ++step) {
    auto reason = apply(*step, moving);
    if (reason) return Reason{fmt::format("{} uses '{}': {}", step->node->op_type(), way.name, reason->text)};
  }
  return std::nullopt;
}

std::optional<Reason> FrozenReader::apply(const Step& step, Moving& moving) {
  const onnx::Node& node = *step.node;
  if (node.op() == Op::kIdentity) return std::nullopt;
  if (node.op() == Op::kTranspose) return transpose(node, moving);
  if (node.op() == Op::kReshape) return reshape(step, moving);
  if (node.op() == Op::kClip) return clip(step, moving);
  if (node.op() == Op::kCast) return cast(node, moving);
  return Reason{"it is not supported here"};
}

std::optional<Reason> FrozenReader::transpose(const onnx::Node& node, Moving& moving) {
  const std::size_t rank = moving.dims.size();
  const auto axes = rank <= kHighestRank ? permutation_of(node, rank) : std::nullopt;
  if (!axes) return Reason{"its axes do not match the constant"};
  std::vector<std::size_t> strides(rank), steps(rank);
  Dims dims(rank);
  std::size_t stride = 1;
  for (std::size_t axis = rank; axis-- > 0;) {
    strides[axis] = stride;
    stride *= static_cast<std::size_t>(moving.dims[axis]);  // overflows only if there are no values
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    dims[axis] = moving.dims[(*axes)[axis]];
    steps[axis] = strides[(*axes)[axis]];
  }
  if (moving.has_values) moving.values = gathered(moving.values, dims, steps, moving.values.size());
  moving.dims = std::move(dims);
  return std::nullopt;
}

std::optional<Reason> FrozenReader::reshape(const Step& step, Moving& moving) {
  const Bytes name = input_of(*step.node, 1);
  const auto shape_dims = constant_dims(step.body, name);
  const auto keeps_zeros = onnx::integer_setting(*step.node, "allowzero", 0);
  if (!shape_dims || shape_dims->size() != 1 || product(*shape_dims) > kHighestRank || !keeps_zeros)
    return Reason{"its shape is not a constant"};
  const auto shape = constant(step.body, name);
  if (!shape) return Reason{"its shape is not a constant"};
  auto dims = reshaped(moving.dims, shape->all(), *keeps_zeros != 0);
  if (!dims) return Reason{"its shape does not match the number of values"};
  moving.dims = std::move(*dims);
  return std::nullopt;
}

std::optional<Reason> FrozenReader::clip(const Step& step, Moving& moving) {
  const auto range = limits(step.body, *step.node);
  if (!range) return Reason{"its limits are not constant"};
  for (float& value : moving.values) {
    if (!std::isnan(value)) value = std::clamp(value, range->lo, range->hi);
  }
  return std::nullopt;
}

// Casts are accepted only if no value changes.
std::optional<Reason> FrozenReader::cast(const onnx::Node& node, Moving& moving) {
  const auto number = onnx::integer_attribute(node, "to");
  const auto type = number ? ounce::element_type_of(*number) : std::nullopt;
  if (!type) return Reason{"its type is unknown"};
  const bool widens = *type == ElementType::kFloat && moving.type != ElementType::kDouble;
  const auto range = code_range(*type);
  if (*type != moving.type && !widens) {
    if (!is_integer_type(*type)) return Reason{"it would round the values"};
    for (const float value : moving.values) {
      const bool fits = value == std::trunc(value) && (range ? value >= static_cast<float>(range->lo) &&
                                                                   value <= static_cast<float>(range->hi)
                                                             : std::abs(value) <= kLargestExact);
      if (!fits) return Reason{fmt::format("the value {} does not fit into {}", value, name_of(*type))};
    }
  }
  moving.type = *type;
  return std::nullopt;
}

// Limits must be plain constants, so that chains of Clips do not lead to long searches.
std::optional<Limits> FrozenReader::limits(std::size_t body, const onnx::Node& clip) {
  Limits limits;
  if (onnx::find_attribute(clip, "min") != nullptr || onnx::find_attribute(clip, "max") != nullptr) {
    const auto lo = onnx::float_setting(clip, "min", limits.lo),
               hi = onnx::float_setting(clip, "max", limits.hi);
    if (!lo || !hi || !(*lo <= *hi)) return std::nullopt;
    return Limits{*lo, *hi};
  }
  for (const std::size_t input : {std::size_t{1}, std::size_t{2}}) {
    const Bytes name = input_of(clip, input);
    if (name.empty()) continue;
    const auto dims = constant_dims(body, name);
    if (!dims || product(*dims) != 1) return std::nullopt;
    const auto value = constant(body, name);
    if (!value) return std::nullopt;
    (input == 1 ? limits.lo : limits.hi) = value->single();
  }
  return limits.lo <= limits.hi ? std::optional(limits) : std::nullopt;
}

}  // namespace ounce::passes
