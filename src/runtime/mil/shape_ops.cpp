// Operations that move values: shapes, slices, joins, padding.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/mil/broadcast.h"
#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

// Computes out[at] = x[source(at)] for all coordinates `at` of `dims`.
template <class Source>
Array gather_by(const Array& x, Dims dims, const Source& source) {
  Array out = Array::zeros_like(x, std::move(dims));
  std::vector<std::size_t> position(out.rank(), 0);
  for (std::size_t at = 0; at < out.size(); ++at) {
    const std::size_t from = source(position);
    if (x.is_float())
      out.f[at] = x.f[from];
    else
      out.i[at] = x.i[from];
    for (std::size_t axis = out.rank(); axis-- > 0;) {
      if (++position[axis] < static_cast<std::size_t>(out.dims[axis])) break;
      position[axis] = 0;
    }
  }
  return out;
}

std::vector<Array> with_dims(const Call& call, const Array& x, Dims dims) {
  call.require(count_of(dims) == x.size(), "the new shape has another number of elements");
  Array out = x;
  out.dims = std::move(dims);
  return one(std::move(out));
}

std::vector<Array> reshape(const Call& call) {
  const Array& x = call.array("x");
  Dims dims = call.integers("shape");
  std::size_t known = 1;
  std::optional<std::size_t> free;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 0 && x.size() != 0) {
      call.require(axis < x.rank(), "shape copies a dimension that x does not have");
      dims[axis] = x.dims[axis];
    }
    if (dims[axis] == -1) {
      call.require(!free, "two dimensions of shape are -1");
      free = axis;
    } else {
      call.require(dims[axis] >= 0, "shape has a negative dimension");
      known = count_of({static_cast<std::int64_t>(known), dims[axis]});
    }
  }
  if (free) {
    call.require(known != 0 && x.size() % known == 0, "the size of x is not a multiple of the shape");
    dims[*free] = static_cast<std::int64_t>(x.size() / known);
  }
  return with_dims(call, x, std::move(dims));
}

std::vector<Array> reshape_like(const Call& call) {
  const auto begins = call.integers("begins"), ends = call.integers("ends");
  const auto end_masks = call.find_integers("end_masks");
  const auto references = call.list("ref_tensors");
  call.require(begins.size() == references.size() && ends.size() == begins.size(),
               "begins and ends do not match");
  Dims dims;
  for (std::size_t at = 0; at < references.size(); ++at) {
    const Dims& from = references[at]->dims;
    const auto rank = static_cast<std::int64_t>(from.size());
    const std::int64_t begin = begins[at] < 0 ? begins[at] + rank : begins[at];
    const bool is_all = end_masks && at < end_masks->size() && (*end_masks)[at] != 0;
    const std::int64_t end = is_all ? rank : ends[at] < 0 ? ends[at] + rank : ends[at];
    call.require(begin >= 0 && begin <= end && end <= rank, "begins or ends are out of range");
    dims.insert(dims.end(), from.begin() + begin, from.begin() + end);
  }
  return with_dims(call, call.array("x"), std::move(dims));
}

std::vector<Array> flatten2d(const Call& call) {
  const Array& x = call.array("x");
  const std::int64_t given = call.integer("axis", 1);
  const std::size_t axis =
      given == static_cast<std::int64_t>(x.rank()) ? x.rank() : call.axis(given, x.rank());
  return with_dims(call, x,
                   {static_cast<std::int64_t>(product_of(x.dims, 0, axis)),
                    static_cast<std::int64_t>(product_of(x.dims, axis, x.rank()))});
}

std::vector<Array> expand_dims(const Call& call) {
  const Array& x = call.array("x");
  const std::vector<std::int64_t> given = call.integers("axes");
  const std::size_t rank = x.rank() + given.size();
  std::vector<bool> is_new(rank);
  for (const std::int64_t axis : given) {
    const std::size_t at = call.axis(axis, rank);
    call.require(!is_new[at], "an axis is given twice");
    is_new[at] = true;
  }
  Dims dims;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) dims.push_back(is_new[axis] ? 1 : x.dims[next++]);
  return with_dims(call, x, std::move(dims));
}

std::vector<Array> squeeze(const Call& call) {
  const Array& x = call.array("x");
  const bool is_given = call.find("axes") != nullptr;
  const std::vector<std::size_t> axes = call.axes_of("axes", x.rank());
  Dims dims;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const bool is_meant = std::binary_search(axes.begin(), axes.end(), axis);
    call.require(!is_given || !is_meant || x.dims[axis] == 1, "a dimension to remove is not 1");
    if (!is_meant || x.dims[axis] != 1) dims.push_back(x.dims[axis]);
  }
  return with_dims(call, x, std::move(dims));
}

std::vector<Array> transpose(const Call& call) {
  const Array& x = call.array("x");
  const std::vector<std::int64_t> perm = call.integers("perm");
  call.require(perm.size() == x.rank(), "perm must have one entry for each dimension");
  const std::vector<std::size_t> strides = strides_of(x.dims);
  std::vector<std::size_t> from;
  std::vector<bool> used(x.rank());
  Dims dims;
  for (const std::int64_t entry : perm) {
    const std::size_t axis = call.axis(entry, x.rank());
    call.require(!used[axis], "perm names an axis twice");
    used[axis] = true;
    from.push_back(strides[axis]);
    dims.push_back(x.dims[axis]);
  }
  return one(gather_by(x, std::move(dims), [&](const std::vector<std::size_t>& position) {
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < from.size(); ++axis) at += position[axis] * from[axis];
    return at;
  }));
}

Array join(const Call& call, std::span<const ArrayPtr> values, std::size_t axis) {
  const Array& first = *values.front();
  Dims dims = first.dims;
  dims[axis] = 0;
  for (const ArrayPtr& value : values) {
    call.require(value->rank() == first.rank() && value->is_float() == first.is_float(),
                 "values differ in rank or type");
    for (std::size_t other = 0; other < dims.size(); ++other)
      call.require(other == axis || value->dims[other] == dims[other], "values differ in shape");
    dims[axis] += value->dims[axis];
  }
  Array out = Array::zeros_like(first, dims);
  const std::size_t outer = product_of(dims, 0, axis);
  const std::size_t row = product_of(dims, axis, dims.size());
  std::size_t offset = 0;
  for (const ArrayPtr& value : values) {
    const std::size_t part = product_of(value->dims, axis, value->rank());
    for (std::size_t at = 0; at < outer; ++at) copy_elements(*value, at * part, out, at * row + offset, part);
    offset += part;
  }
  return out;
}

std::vector<Array> concat(const Call& call) {
  const auto values = call.list("values");
  const std::size_t axis = call.axis_of("axis", values.front()->rank());
  call.require(!call.flag("interleave", false), "interleave is not supported");
  return one(join(call, values, axis));
}

std::vector<Array> stack(const Call& call) {
  const auto values = call.list("values");
  const std::size_t axis = call.axis_of("axis", values.front()->rank() + 1);
  std::vector<ArrayPtr> expanded;
  for (const ArrayPtr& value : values) {
    Array copy = *value;
    call.require(copy.dims == values.front()->dims, "values differ in shape");
    copy.dims.insert(copy.dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    expanded.push_back(std::make_shared<const Array>(std::move(copy)));
  }
  return one(join(call, expanded, axis));
}

std::vector<Array> split(const Call& call) {
  const Array& x = call.array("x");
  const std::size_t axis = call.axis_of("axis", x.rank());
  std::vector<std::int64_t> sizes;
  if (const auto given = call.find_integers("split_sizes")) {
    sizes = *given;
  } else {
    const std::int64_t parts = call.integer("num_splits");
    call.require(parts > 0 && x.dims[axis] % parts == 0, "num_splits does not divide the axis");
    call.require(parts <= x.dims[axis], "num_splits is larger than the axis");
    sizes.assign(static_cast<std::size_t>(parts), x.dims[axis] / parts);
  }
  const std::size_t outer = product_of(x.dims, 0, axis), inner = product_of(x.dims, axis + 1, x.rank());
  const std::size_t row = product_of(x.dims, axis, x.rank());
  std::vector<Array> results;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    call.require(size >= 0 && size <= x.dims[axis] - begin, "the parts are larger than the axis");
    Dims dims = x.dims;
    dims[axis] = size;
    Array part = Array::zeros_like(x, std::move(dims));
    const std::size_t count = static_cast<std::size_t>(size) * inner;
    for (std::size_t at = 0; at < outer; ++at)
      copy_elements(x, at * row + static_cast<std::size_t>(begin) * inner, part, at * count, count);
    results.push_back(std::move(part));
    begin += size;
  }
  call.require(begin == x.dims[axis], "the parts are smaller than the axis");
  return results;
}

// A range of each dimension: begin, number of elements, step.
struct Slice {
  std::int64_t begin = 0, count = 0, step = 1;
};

Array take(const Array& x, const std::vector<Slice>& slices) {
  const std::vector<std::size_t> strides = strides_of(x.dims);
  Dims dims;
  for (const Slice& slice : slices) dims.push_back(slice.count);
  return gather_by(x, std::move(dims), [&](const std::vector<std::size_t>& position) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < slices.size(); ++axis)
      at += (slices[axis].begin + static_cast<std::int64_t>(position[axis]) * slices[axis].step) *
            static_cast<std::int64_t>(strides[axis]);
    return static_cast<std::size_t>(at);
  });
}

std::vector<Array> slice_by_index(const Call& call) {
  const Array& x = call.array("x");
  const std::size_t rank = x.rank();
  const auto begin = call.integers("begin"), end = call.integers("end");
  const auto of = [&](std::string_view input, std::int64_t otherwise) {
    auto values = call.find_integers(input).value_or(std::vector<std::int64_t>(rank, otherwise));
    call.require(values.size() == rank, "a list must have one entry for each dimension");
    return values;
  };
  call.require(begin.size() == rank && end.size() == rank,
               "begin and end must have one entry for each dimension");
  const auto stride = of("stride", 1), begin_mask = of("begin_mask", 0), end_mask = of("end_mask", 0),
             squeeze_mask = of("squeeze_mask", 0);
  std::vector<Slice> slices(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t size = x.dims[axis], step = stride[axis];
    const auto from_start = [&](std::int64_t index) { return index < 0 ? index + size : index; };
    if (squeeze_mask[axis] != 0) {
      const std::int64_t at = from_start(begin[axis]);
      call.require(at >= 0 && at < size, "begin is out of range");
      slices[axis] = {at, 1, 1};
      continue;
    }
    call.require(step != 0, "stride must not be 0");
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const std::int64_t first =
        begin_mask[axis] != 0 ? (step > 0 ? 0 : size - 1) : std::clamp(from_start(begin[axis]), low, high);
    const std::int64_t last =
        end_mask[axis] != 0 ? (step > 0 ? size : -1) : std::clamp(from_start(end[axis]), low, high);
    const std::int64_t length = step > 0 ? last - first : first - last;
    const std::int64_t width = step > 0 ? step : -step;
    slices[axis] = {first, length <= 0 ? 0 : (length + width - 1) / width, step};
  }
  Array out = take(x, slices);
  Dims dims;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (squeeze_mask[axis] == 0) dims.push_back(out.dims[axis]);
  out.dims = std::move(dims);
  return one(std::move(out));
}

std::vector<Array> slice_by_size(const Call& call) {
  const Array& x = call.array("x");
  const auto begin = call.integers("begin"), size = call.integers("size");
  call.require(begin.size() == x.rank() && size.size() == x.rank(),
               "begin and size must have one entry for each dimension");
  std::vector<Slice> slices;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const std::int64_t first = begin[axis] < 0 ? begin[axis] + x.dims[axis] : begin[axis];
    call.require(first >= 0 && first <= x.dims[axis], "begin is out of range");
    const std::int64_t count = size[axis] == -1 ? x.dims[axis] - first : size[axis];
    call.require(count >= 0 && count <= x.dims[axis] - first, "size is out of range");
    slices.push_back({first, count, 1});
  }
  return one(take(x, slices));
}

std::vector<Array> reverse(const Call& call) {
  const Array& x = call.array("x");
  const std::vector<std::size_t> axes = call.axes_of("axes", x.rank());
  std::vector<Slice> slices;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const bool is_reversed = std::binary_search(axes.begin(), axes.end(), axis);
    slices.push_back({is_reversed ? x.dims[axis] - 1 : 0, x.dims[axis], is_reversed ? -1 : 1});
  }
  return one(take(x, slices));
}

std::vector<Array> pad(const Call& call) {
  const Array& x = call.array("x");
  const std::vector<std::int64_t> pads = call.integers("pad");
  call.require(pads.size() % 2 == 0 && pads.size() / 2 <= x.rank(),
               "pad must have two entries for each dimension");
  const std::size_t first = x.rank() - pads.size() / 2;
  const std::string mode = call.text("mode", "constant");
  call.require(mode == "constant" || mode == "reflect" || mode == "replicate", "unknown mode");
  Dims dims = x.dims;
  std::vector<std::int64_t> before(x.rank(), 0);
  for (std::size_t axis = first; axis < x.rank(); ++axis) {
    before[axis] = pads[2 * (axis - first)];
    const std::int64_t after = pads[2 * (axis - first) + 1];
    call.require(before[axis] >= 0 && after >= 0, "pad must not be negative");
    call.require(mode != "reflect" || (before[axis] < x.dims[axis] && after < x.dims[axis]),
                 "pad is larger than the dimension that it reflects");
    call.require(mode != "replicate" || x.dims[axis] > 0, "x is empty");
    dims[axis] += before[axis] + after;
  }
  const std::vector<std::size_t> strides = strides_of(x.dims);
  const float constant = call.find("constant_val") == nullptr ? 0.0F : call.number("constant_val");
  Array out = Array::zeros_like(x, dims);
  std::vector<std::int64_t> position(x.rank(), 0);
  for (std::size_t at = 0; at < out.size(); ++at) {
    std::size_t from = 0;
    bool is_inside = true;
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      std::int64_t index = position[axis] - before[axis];
      if (index < 0 || index >= x.dims[axis]) {
        if (mode == "constant") {
          is_inside = false;
          break;
        }
        if (mode == "reflect")
          index = index < 0 ? -index : 2 * (x.dims[axis] - 1) - index;
        else
          index = std::clamp<std::int64_t>(index, 0, x.dims[axis] - 1);
      }
      from += static_cast<std::size_t>(index) * strides[axis];
    }
    if (x.is_float())
      out.f[at] = is_inside ? x.f[from] : constant;
    else
      out.i[at] = is_inside ? x.i[from] : static_cast<std::int32_t>(constant);
    for (std::size_t axis = x.rank(); axis-- > 0;) {
      if (++position[axis] < dims[axis]) break;
      position[axis] = 0;
    }
  }
  return one(std::move(out));
}

std::vector<Array> tile(const Call& call) {
  const Array& x = call.array("x");
  const std::vector<std::int64_t> repeats = call.integers("reps");
  call.require(repeats.size() == x.rank(), "reps must have one entry for each dimension");
  Dims dims = x.dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    call.require(repeats[axis] > 0, "reps must be positive");
    dims[axis] = static_cast<std::int64_t>(count_of({dims[axis], repeats[axis]}));
  }
  const std::vector<std::size_t> strides = strides_of(x.dims);
  return one(gather_by(x, std::move(dims), [&](const std::vector<std::size_t>& position) {
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
      at += position[axis] % static_cast<std::size_t>(x.dims[axis]) * strides[axis];
    return at;
  }));
}

std::vector<Array> shape(const Call& call) {
  const Array& x = call.array("x");
  Array out = Array::integers(ElementType::kInt32, {static_cast<std::int64_t>(x.rank())});
  for (std::size_t axis = 0; axis < x.rank(); ++axis) out.i[axis] = static_cast<std::int32_t>(x.dims[axis]);
  return one(std::move(out));
}

Array filled(const Call& call, Dims dims) {
  const Array* value = call.find("value");
  if (value == nullptr) return Array::floats(ElementType::kFloat, std::move(dims));
  call.require(!value->is_string() && value->size() == 1, "value must be a single number");
  Array out = Array::zeros_like(*value, std::move(dims));
  std::fill(out.f.begin(), out.f.end(), value->is_float() ? value->f[0] : 0.0F);
  std::fill(out.i.begin(), out.i.end(), value->is_float() ? 0 : value->i[0]);
  return out;
}

std::vector<Array> fill(const Call& call) { return one(filled(call, call.integers("shape"))); }
std::vector<Array> fill_like(const Call& call) { return one(filled(call, call.array("ref_tensor").dims)); }

std::vector<Array> range_1d(const Call& call) {
  const Array& start = call.array("start");
  const double first = call.number("start"), end = call.number("end"), step = call.number("step");
  call.require(step != 0, "step must not be 0");
  const double count = std::max(0.0, std::ceil((end - first) / step));
  call.require(count <= static_cast<double>(kMostElements), "the range is too long");
  Array out = Array::zeros_like(start, {static_cast<std::int64_t>(count)});
  for (std::size_t at = 0; at < out.size(); ++at) {
    const double value = first + static_cast<double>(at) * step;
    if (out.is_float())
      out.f[at] = static_cast<float>(value);
    else
      out.i[at] = static_cast<std::int32_t>(value);
  }
  return one(std::move(out));
}

// Moves blocks of b × b values of [n, c, h, w] between channels and space. In depth_to_space the position in
// a block is the slower index of the channels, in pixel_shuffle the channel is.
template <bool kToSpace, bool kChannelsFirst>
std::vector<Array> move_blocks(const Call& call) {
  const Array& x = call.array("x");
  call.require(x.rank() == 4, "x must have 4 dimensions");
  constexpr std::string_view kName = !kChannelsFirst ? "block_size"
                                     : kToSpace      ? "upscale_factor"
                                                     : "downscale_factor";
  const std::int64_t b = call.integer(kName);
  call.require(b > 0 && b <= 65536, "the block size is out of range");
  Dims dims = x.dims;
  if (kToSpace) {
    call.require(x.dims[1] % (b * b) == 0, "the number of channels is not a multiple of the block size");
    dims = {x.dims[0], x.dims[1] / (b * b), x.dims[2] * b, x.dims[3] * b};
  } else {
    call.require(x.dims[2] % b == 0 && x.dims[3] % b == 0,
                 "the size of the image is not a multiple of the block size");
    dims = {x.dims[0], x.dims[1] * b * b, x.dims[2] / b, x.dims[3] / b};
  }
  const std::vector<std::size_t> strides = strides_of(x.dims);
  const auto block = static_cast<std::size_t>(b);
  const auto few = static_cast<std::size_t>(kToSpace ? dims[1] : x.dims[1]);  // channels on the spatial side
  return one(gather_by(x, std::move(dims), [&](const std::vector<std::size_t>& p) {
    std::size_t c = 0, h = 0, w = 0;
    if (kToSpace) {
      const std::size_t inside = p[2] % block * block + p[3] % block;
      c = kChannelsFirst ? p[1] * block * block + inside : inside * few + p[1];
      h = p[2] / block;
      w = p[3] / block;
    } else {
      const std::size_t inside = kChannelsFirst ? p[1] % (block * block) : p[1] / few;
      c = kChannelsFirst ? p[1] / (block * block) : p[1] % few;
      h = p[2] * block + inside / block;
      w = p[3] * block + inside % block;
    }
    return p[0] * strides[0] + c * strides[1] + h * strides[2] + w * strides[3];
  }));
}

std::vector<Array> band_part(const Call& call) {
  Array out = call.array("x");
  call.require(out.rank() >= 2, "x must have at least 2 dimensions");
  const std::int64_t lower = call.integer("lower", -1), upper = call.integer("upper", -1);
  const std::int64_t rows = out.dims[out.rank() - 2], columns = out.dims.back();
  for (std::size_t at = 0; at < out.size(); ++at) {
    const auto in_matrix = static_cast<std::int64_t>(at % static_cast<std::size_t>(rows * columns));
    const std::int64_t row = in_matrix / columns, column = in_matrix % columns;
    if ((lower < 0 || row - column <= lower) && (upper < 0 || column - row <= upper)) continue;
    if (out.is_float())
      out.f[at] = 0;
    else
      out.i[at] = 0;
  }
  return one(std::move(out));
}

constexpr Operation kShapes[] = {
    {"band_part", band_part},
    {"concat", concat},
    {"depth_to_space", move_blocks<true, false>},
    {"expand_dims", expand_dims},
    {"fill", fill},
    {"fill_like", fill_like},
    {"flatten2d", flatten2d},
    {"pad", pad},
    {"pixel_shuffle", move_blocks<true, true>},
    {"pixel_unshuffle", move_blocks<false, true>},
    {"range_1d", range_1d},
    {"reshape", reshape},
    {"reshape_like", reshape_like},
    {"reverse", reverse},
    {"shape", shape},
    {"slice_by_index", slice_by_index},
    {"slice_by_size", slice_by_size},
    {"space_to_depth", move_blocks<false, false>},
    {"split", split},
    {"squeeze", squeeze},
    {"stack", stack},
    {"tile", tile},
    {"transpose", transpose},
};

}  // namespace

std::span<const Operation> shape_operations() { return kShapes; }

}  // namespace ounce::mil
