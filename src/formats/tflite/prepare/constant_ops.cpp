#include "formats/tflite/prepare/constant_ops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/cancel.h"

namespace ounce::tflite {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::size_t kMostDimensions = 8;
constexpr std::size_t kMostIntegers = std::size_t{1} << 16;  // elements of what integer arithmetic gives

struct Call {
  const std::vector<Constant>& inputs;
  const Record* options;
  const std::vector<std::int32_t>& shape;
  TensorType type;

  // The value of an option; `fallback` if the operator has no options.
  std::int64_t option(const char* table, const char* field, std::int64_t fallback = 0) const {
    return options != nullptr && options->info().name == std::string_view(table) ? options->integer(field)
                                                                                 : fallback;
  }
};

using Result = std::optional<Constant>;

std::size_t width_of(TensorType type) {
  switch (type) {
    case TensorType::kBool: return 1;
    case TensorType::kFloat16: return 2;
    case TensorType::kFloat32:
    case TensorType::kInt32: return 4;
    case TensorType::kInt64: return 8;
    default: return 0;  // not folded
  }
}

std::uint64_t count_of(const std::vector<std::int32_t>& shape) {
  std::uint64_t count = 1;
  for (const std::int32_t dim : shape) count *= static_cast<std::uint64_t>(dim);
  return count;  // of a constant or of an output that byte_count() has measured
}

bool is_integer(TensorType type) { return type == TensorType::kInt32 || type == TensorType::kInt64; }

// The values of a constant of integers that is as small as shapes and indices are.
std::optional<Integers> integers_of(const Constant& constant) {
  if (!is_integer(constant.type) || constant.values.computed() != nullptr ||
      count_of(constant.shape) > kMostIntegers)
    return std::nullopt;
  Integers values(count_of(constant.shape));
  const Bytes bytes = constant.values.bytes();
  if (constant.type == TensorType::kInt64) {
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    values[i] = value;
  }
  return values;
}

std::optional<Integers> integers_of(const Call& call, std::size_t input) {
  return input < call.inputs.size() ? integers_of(call.inputs[input]) : std::nullopt;
}

// As kernels store them: INT32 wraps around.
Result integer_constant(const Call& call, const Integers& values) {
  if (!is_integer(call.type) || values.size() != count_of(call.shape)) return std::nullopt;
  std::string bytes;
  for (const std::int64_t value : values) {
    const auto narrow = static_cast<std::int32_t>(value);
    bytes.append(call.type == TensorType::kInt64 ? reinterpret_cast<const char*>(&value)
                                                 : reinterpret_cast<const char*>(&narrow),
                 width_of(call.type));
  }
  return Constant{call.type, call.shape, Data(std::move(bytes))};
}

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

// In elements, from index to index of each dimension.
Integers strides_of(const std::vector<std::int32_t>& shape) {
  Integers strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// The values of the first input from `first` on, with a step for each dimension of the output.
Result strided(const Call& call, std::int64_t first, const Integers& dims, const Integers& steps) {
  const Constant& source = call.inputs[0];
  const std::size_t width = width_of(source.type);
  if (width == 0 || call.type != source.type || source.values.computed() != nullptr ||
      dims.size() > kMostDimensions)
    return std::nullopt;
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::uint64_t>(dim);
  if (count != count_of(call.shape)) return std::nullopt;
  std::string values(count * width, '\0');
  const Bytes bytes = source.values.bytes();
  Integers at(dims.size());
  std::int64_t place = first;
  for (std::uint64_t i = 0; i < count; ++i) {
    count_step();
    std::memcpy(values.data() + i * width, bytes.data() + static_cast<std::size_t>(place) * width, width);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      place += steps[axis];
      if (++at[axis] < dims[axis]) break;
      place -= steps[axis] * dims[axis];
      at[axis] = 0;
    }
  }
  return Constant{source.type, call.shape, Data(std::move(values))};
}

bool has_shape(const Call& call, const Integers& dims) {
  return std::equal(dims.begin(), dims.end(), call.shape.begin(), call.shape.end());
}

Result shape(const Call& call) {
  return integer_constant(call, Integers(call.inputs[0].shape.begin(), call.inputs[0].shape.end()));
}

Result reshape(const Call& call) {
  const Constant& source = call.inputs[0];
  if (width_of(source.type) == 0 || source.type != call.type ||
      count_of(source.shape) != count_of(call.shape))
    return std::nullopt;
  return Constant{source.type, call.shape, source.values};
}

Result transpose(const Call& call) {
  const auto order = integers_of(call, 1);
  const auto& shape = call.inputs[0].shape;
  if (!order || order->size() != shape.size()) return std::nullopt;
  const Integers strides = strides_of(shape);
  Integers dims, steps;
  std::vector<bool> seen(shape.size());
  for (const std::int64_t each : *order) {
    const auto axis = axis_of(each, shape.size());
    if (!axis || seen[*axis]) return std::nullopt;
    seen[*axis] = true;
    dims.push_back(shape[*axis]);
    steps.push_back(strides[*axis]);
  }
  return has_shape(call, dims) ? strided(call, 0, dims, steps) : std::nullopt;
}

Result slice(const Call& call) {
  const auto begins = integers_of(call, 1), sizes = integers_of(call, 2);
  const auto& shape = call.inputs[0].shape;
  if (!begins || !sizes || begins->size() != shape.size() || sizes->size() != shape.size())
    return std::nullopt;
  const Integers strides = strides_of(shape);
  Integers dims;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t begin = (*begins)[i];
    if (begin < 0 || begin > shape[i]) return std::nullopt;
    const std::int64_t size = (*sizes)[i] == -1 ? shape[i] - begin : (*sizes)[i];
    if (size < 0 || size > shape[i] - begin) return std::nullopt;
    dims.push_back(size);
    first += begin * strides[i];
  }
  return has_shape(call, dims) ? strided(call, first, dims, strides) : std::nullopt;
}

Result strided_slice(const Call& call) {
  const char* table = "StridedSliceOptions";
  const auto begins = integers_of(call, 1), ends = integers_of(call, 2), steps = integers_of(call, 3);
  const auto& shape = call.inputs[0].shape;
  for (const char* field : {"ellipsis_mask", "new_axis_mask", "offset"}) {
    if (call.option(table, field) != 0) return std::nullopt;
  }
  if (!begins || !ends || !steps || begins->size() > shape.size() || begins->size() != ends->size() ||
      begins->size() != steps->size() || shape.size() > kMostDimensions)
    return std::nullopt;
  const auto has = [&](const char* mask, std::size_t axis) {
    return (static_cast<std::uint64_t>(call.option(table, mask)) >> axis & 1U) != 0;
  };
  const Integers strides = strides_of(shape);
  Integers dims, element_steps, kept;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t size = shape[i];
    std::int64_t begin = 0, end = size, step = 1;
    if (i < begins->size()) {
      step = (*steps)[i];
      if (step == 0 || step < -size - 1 || step > size + 1) return std::nullopt;
      const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
      const auto place = [&](std::int64_t index) {
        return std::clamp(index < 0 ? index + size : index, low, high);
      };
      begin = has("begin_mask", i) ? (step > 0 ? low : high) : place((*begins)[i]);
      end = has("end_mask", i) ? (step > 0 ? high : low) : place((*ends)[i]);
      if (has("shrink_axis_mask", i)) {
        if (begin < 0 || begin >= size || step < 0) return std::nullopt;
        end = begin + 1;
        step = 1;
      }
    }
    const std::int64_t count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
    dims.push_back(std::max(count, std::int64_t{0}));
    if (!has("shrink_axis_mask", i) || i >= begins->size()) kept.push_back(dims.back());
    element_steps.push_back(step * strides[i]);
    first += begin * strides[i];
  }
  return has_shape(call, kept) ? strided(call, first, dims, element_steps) : std::nullopt;
}

// Inputs of one shape, one after another along an axis of the output; `axis` counts there.
Result concatenate(const Call& call, std::size_t axis, bool is_packed) {
  std::uint64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::uint64_t>(call.shape[i]);
  const std::size_t width = width_of(call.type);
  std::int64_t total = 0;
  for (const Constant& input : call.inputs) {
    std::vector<std::int32_t> shape = input.shape;
    if (is_packed) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(std::min(axis, shape.size())), 1);
    if (input.type != call.type || width == 0 || input.values.computed() != nullptr ||
        shape.size() != call.shape.size())
      return std::nullopt;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i != axis && shape[i] != call.shape[i]) return std::nullopt;
    }
    total += shape[axis];
  }
  const std::uint64_t bytes = count_of(call.shape) * width;
  if (outer == 0 || total != call.shape[axis] || outer * call.inputs.size() > kMostIntegers)
    return std::nullopt;
  std::string values;
  values.reserve(bytes);
  for (std::uint64_t i = 0; i < outer; ++i) {
    for (const Constant& input : call.inputs) {
      const std::uint64_t length = input.values.size() / outer;
      values += input.values.bytes().substr(i * length, length);
    }
  }
  return Constant{call.type, call.shape, Data(std::move(values))};
}

Result concatenation(const Call& call) {
  const auto axis = axis_of(call.option("ConcatenationOptions", "axis"), call.shape.size());
  if (!axis || call.option("ConcatenationOptions", "fused_activation_function") != 0) return std::nullopt;
  return concatenate(call, *axis, false);
}

Result pack(const Call& call) {
  const auto axis = axis_of(call.option("PackOptions", "axis"), call.shape.size());
  return axis ? concatenate(call, *axis, true) : std::nullopt;
}

Result gather(const Call& call) {
  const auto indices = integers_of(call, 1);
  const auto values = integers_of(call, 0);
  if (!indices || !values || call.inputs[0].shape.size() != 1 || call.inputs[0].type != call.type ||
      call.option("GatherOptions", "batch_dims") != 0 || !axis_of(call.option("GatherOptions", "axis"), 1) ||
      call.shape != call.inputs[1].shape)
    return std::nullopt;
  Integers gathered;
  for (const std::int64_t index : *indices) {
    if (index < 0 || index >= static_cast<std::int64_t>(values->size())) return std::nullopt;
    gathered.push_back((*values)[static_cast<std::size_t>(index)]);
  }
  return integer_constant(call, gathered);
}

Result cast(const Call& call) {
  const auto values = integers_of(call, 0);
  if (!values || call.shape != call.inputs[0].shape) return std::nullopt;
  if (call.type != TensorType::kFloat32) return integer_constant(call, *values);
  std::string bytes;
  for (const std::int64_t value : *values) {
    const auto real = static_cast<float>(value);
    bytes.append(reinterpret_cast<const char*>(&real), sizeof real);
  }
  return Constant{call.type, call.shape, Data(std::move(bytes))};
}

// The index of an element of the output in an input that is broadcast to it.
std::size_t broadcast_index(std::size_t i, const std::vector<std::int32_t>& to,
                            const std::vector<std::int32_t>& from) {
  std::size_t index = 0, stride = 1;
  for (std::size_t axis = to.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(to[axis]);
    const std::size_t at = i % size;
    i /= size;
    const std::size_t behind = to.size() - axis;
    if (behind > from.size()) continue;
    const std::int32_t own = from[from.size() - behind];
    if (own != 1) index += at * stride;
    stride *= static_cast<std::size_t>(own);
  }
  return index;
}

bool can_broadcast(const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](std::int32_t a, std::int32_t b) { return a == b || a == 1; });
}

Result arithmetic(const Call& call, Builtin code, const char* table) {
  const auto a = integers_of(call, 0), b = integers_of(call, 1);
  if (!a || !b || call.inputs.size() != 2 || call.inputs[0].type != call.type ||
      call.inputs[1].type != call.type || count_of(call.shape) > kMostIntegers ||
      !can_broadcast(call.inputs[0].shape, call.shape) || !can_broadcast(call.inputs[1].shape, call.shape) ||
      (table != nullptr && call.option(table, "fused_activation_function") != 0))
    return std::nullopt;
  Integers values(count_of(call.shape));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t x = (*a)[broadcast_index(i, call.shape, call.inputs[0].shape)],
                       y = (*b)[broadcast_index(i, call.shape, call.inputs[1].shape)];
    const auto u = static_cast<std::uint64_t>(x), v = static_cast<std::uint64_t>(y);
    switch (code) {
      case Builtin::kAdd: values[i] = static_cast<std::int64_t>(u + v); break;
      case Builtin::kSub: values[i] = static_cast<std::int64_t>(u - v); break;
      case Builtin::kMul: values[i] = static_cast<std::int64_t>(u * v); break;
      case Builtin::kMinimum: values[i] = std::min(x, y); break;
      default: values[i] = std::max(x, y); break;
    }
  }
  return integer_constant(call, values);
}

// Reduces a whole vector.
Result product(const Call& call) {
  const auto values = integers_of(call, 0), axes = integers_of(call, 1);
  if (!values || !axes || axes->size() != 1 || call.inputs[0].shape.size() != 1 ||
      !axis_of(axes->front(), 1) || call.inputs[0].type != call.type || count_of(call.shape) != 1)
    return std::nullopt;
  std::uint64_t result = 1;
  for (const std::int64_t value : *values) result *= static_cast<std::uint64_t>(value);
  return integer_constant(call, {static_cast<std::int64_t>(result)});
}

struct Row {
  Builtin code;
  Result (*fold)(const Call& call);
};

constexpr auto kRows = std::to_array<Row>({
    {Builtin::kShape, shape},
    {Builtin::kReshape, reshape},
    {Builtin::kSqueeze, reshape},
    {Builtin::kExpandDims, reshape},
    {Builtin::kTranspose, transpose},
    {Builtin::kGather, gather},
    {Builtin::kSlice, slice},
    {Builtin::kStridedSlice, strided_slice},
    {Builtin::kPack, pack},
    {Builtin::kConcatenation, concatenation},
    {Builtin::kCast, cast},
    {Builtin::kAdd, [](const Call& call) { return arithmetic(call, Builtin::kAdd, "AddOptions"); }},
    {Builtin::kSub, [](const Call& call) { return arithmetic(call, Builtin::kSub, "SubOptions"); }},
    {Builtin::kMul, [](const Call& call) { return arithmetic(call, Builtin::kMul, "MulOptions"); }},
    {Builtin::kMinimum, [](const Call& call) { return arithmetic(call, Builtin::kMinimum, nullptr); }},
    {Builtin::kMaximum, [](const Call& call) { return arithmetic(call, Builtin::kMaximum, nullptr); }},
    {Builtin::kReduceProd, product},
});

const Row* row_of(Builtin code) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.code == code; });
  return row == kRows.end() ? nullptr : &*row;
}

}  // namespace

bool is_foldable(Builtin code) { return row_of(code) != nullptr; }

std::optional<Constant> fold(Builtin code, const std::vector<Constant>& inputs, const Record* options,
                             const std::vector<std::int32_t>& shape, TensorType type) {
  const Row* row = row_of(code);
  if (row == nullptr || inputs.empty()) return std::nullopt;
  return row->fold({inputs, options, shape, type});
}

}  // namespace ounce::tflite
