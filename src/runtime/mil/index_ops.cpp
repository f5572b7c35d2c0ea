// Operations that select values by index: gather, scatter, sort, one-hot, cumulative sums.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

const Array& indices_of(const Call& call) {
  const Array& indices = call.array("indices");
  call.require(!indices.is_float() && !indices.is_string(), "indices must be integers");
  return indices;
}

// Converts an index; negative ones are counted from the end. Fails if it is out of range.
std::size_t in_range(const Call& call, std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size)
    call.fail(fmt::format("index {} is out of range for size {}", index, size));
  return static_cast<std::size_t>(index < 0 ? index + size : index);
}

std::vector<Array> gather(const Call& call) {
  const Array &x = call.array("x"), &indices = indices_of(call);
  const std::size_t axis = call.axis_of("axis", x.rank(), 0);
  const std::int64_t given = call.integer("batch_dims", 0);
  call.require(given >= 0 && static_cast<std::size_t>(given) <= axis &&
                   static_cast<std::size_t>(given) <= indices.rank(),
               "batch_dims is out of range");
  const auto batch = static_cast<std::size_t>(given);
  for (std::size_t at = 0; at < batch; ++at)
    call.require(x.dims[at] == indices.dims[at], "x and indices differ in a batch dimension");
  Dims dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin() + static_cast<std::ptrdiff_t>(batch), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end());
  Array out = Array::zeros_like(x, dims);
  const std::size_t batches = product_of(x.dims, 0, batch), outer = product_of(x.dims, batch, axis);
  const std::size_t inner = product_of(x.dims, axis + 1, x.rank());
  const std::size_t chosen = product_of(indices.dims, batch, indices.rank());
  const std::int64_t size = x.dims[axis];
  std::size_t into = 0;
  for (std::size_t b = 0; b < batches; ++b)
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t k = 0; k < chosen; ++k, into += inner) {
        const std::size_t index = in_range(call, indices.i[b * chosen + k], size);
        copy_elements(x, ((b * outer + o) * static_cast<std::size_t>(size) + index) * inner, out, into,
                      inner);
      }
  return one(std::move(out));
}

std::vector<Array> gather_along_axis(const Call& call) {
  const Array &x = call.array("x"), &indices = indices_of(call);
  const std::size_t axis = call.axis_of("axis", x.rank(), 0);
  call.require(indices.rank() == x.rank(), "x and indices differ in rank");
  for (std::size_t at = 0; at < x.rank(); ++at)
    call.require(at == axis || x.dims[at] == indices.dims[at], "x and indices differ in shape");
  Array out = Array::zeros_like(x, indices.dims);
  const std::size_t inner = product_of(x.dims, axis + 1, x.rank());
  const auto size = static_cast<std::size_t>(x.dims[axis]),
             chosen = static_cast<std::size_t>(indices.dims[axis]);
  for (std::size_t at = 0; at < out.size(); ++at) {
    const std::size_t outer = at / inner / chosen;
    const std::size_t index = in_range(call, indices.i[at], x.dims[axis]);
    copy_elements(x, (outer * size + index) * inner + at % inner, out, at, 1);
  }
  return one(std::move(out));
}

std::vector<Array> gather_nd(const Call& call) {
  const Array &x = call.array("x"), &indices = indices_of(call);
  call.require(call.integer("batch_dims", 0) == 0, "batch_dims is not supported");
  call.require(indices.rank() >= 1, "indices is a scalar");
  const auto depth = static_cast<std::size_t>(indices.dims.back());
  call.require(depth <= x.rank(), "indices are longer than the rank of x");
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(depth), x.dims.end());
  Array out = Array::zeros_like(x, dims);
  const std::vector<std::size_t> strides = strides_of(x.dims);
  const std::size_t inner = product_of(x.dims, depth, x.rank());
  const std::size_t rows = product_of(indices.dims, 0, indices.rank() - 1);
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t from = 0;
    for (std::size_t at = 0; at < depth; ++at)
      from += in_range(call, indices.i[row * depth + at], x.dims[at]) * strides[at];
    copy_elements(x, from, out, row * inner, inner);
  }
  return one(std::move(out));
}

double updated(const Call& call, const std::string& mode, double old, double update) {
  if (mode == "update") return update;
  if (mode == "add") return old + update;
  if (mode == "sub") return old - update;
  if (mode == "mul") return old * update;
  if (mode == "div") return old / update;
  if (mode == "max") return std::max(old, update);
  if (mode == "min") return std::min(old, update);
  call.fail(fmt::format("unknown mode '{}'", mode));
}

void update(const Call& call, const std::string& mode, Array& out, std::size_t at, const Array& updates,
            std::size_t from) {
  const double value = updated(call, mode, out.number(at), updates.number(from));
  if (out.is_float())
    out.f[at] = static_cast<float>(value);
  else
    out.i[at] = static_cast<std::int32_t>(std::clamp(value, -2147483648.0, 2147483647.0));
}

std::vector<Array> scatter_nd(const Call& call) {
  Array out = call.array("data");
  const Array &indices = indices_of(call), &updates = call.array("updates");
  const std::string mode = call.text("mode", "add");
  call.require(indices.rank() >= 1, "indices is a scalar");
  const auto depth = static_cast<std::size_t>(indices.dims.back());
  call.require(depth <= out.rank(), "indices are longer than the rank of data");
  const std::vector<std::size_t> strides = strides_of(out.dims);
  const std::size_t inner = product_of(out.dims, depth, out.rank());
  const std::size_t rows = product_of(indices.dims, 0, indices.rank() - 1);
  call.require(updates.size() == rows * inner && updates.is_float() == out.is_float(),
               "the shape or type of updates does not match");
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t into = 0;
    for (std::size_t at = 0; at < depth; ++at)
      into += in_range(call, indices.i[row * depth + at], out.dims[at]) * strides[at];
    for (std::size_t at = 0; at < inner; ++at) update(call, mode, out, into + at, updates, row * inner + at);
  }
  return one(std::move(out));
}

std::vector<Array> scatter_along_axis(const Call& call) {
  Array out = call.array("data");
  const Array &indices = indices_of(call), &updates = call.array("updates");
  const std::string mode = call.text("mode", "add");
  const std::size_t axis = call.axis_of("axis", out.rank(), 0);
  call.require(
      indices.dims == updates.dims && indices.rank() == out.rank() && updates.is_float() == out.is_float(),
      "the shapes of indices and updates do not match");
  for (std::size_t at = 0; at < out.rank(); ++at)
    call.require(at == axis || out.dims[at] == indices.dims[at], "data and indices differ in shape");
  const std::size_t inner = product_of(out.dims, axis + 1, out.rank());
  const auto size = static_cast<std::size_t>(out.dims[axis]),
             chosen = static_cast<std::size_t>(indices.dims[axis]);
  for (std::size_t at = 0; at < indices.size(); ++at) {
    const std::size_t index = in_range(call, indices.i[at], out.dims[axis]);
    update(call, mode, out, (at / inner / chosen * size + index) * inner + at % inner, updates, at);
  }
  return one(std::move(out));
}

std::vector<Array> scatter(const Call& call) {
  Array out = call.array("data");
  const Array &indices = indices_of(call), &updates = call.array("updates");
  const std::string mode = call.text("mode", "add");
  const std::size_t axis = call.axis_of("axis", out.rank(), 0);
  const std::size_t outer = product_of(out.dims, 0, axis), inner = product_of(out.dims, axis + 1, out.rank());
  call.require(updates.size() == outer * indices.size() * inner && updates.is_float() == out.is_float(),
               "the shape or type of updates does not match");
  const auto size = static_cast<std::size_t>(out.dims[axis]);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const std::size_t index = in_range(call, indices.i[k], out.dims[axis]);
      for (std::size_t at = 0; at < inner; ++at)
        update(call, mode, out, (o * size + index) * inner + at, updates,
               (o * indices.size() + k) * inner + at);
    }
  return one(std::move(out));
}

// slice_update: x[begin:end:stride] = update.
std::vector<Array> slice_update(const Call& call) {
  Array out = call.array("x");
  const Array& values = call.array("update");
  const std::size_t rank = out.rank();
  const auto begin = call.integers("begin"), end = call.integers("end");
  const auto of = [&](std::string_view input, std::int64_t otherwise) {
    auto list = call.find_integers(input).value_or(std::vector<std::int64_t>(rank, otherwise));
    call.require(list.size() == rank, "a list must have one entry for each dimension");
    return list;
  };
  call.require(begin.size() == rank && end.size() == rank,
               "begin and end must have one entry for each dimension");
  const auto stride = of("stride", 1), begin_mask = of("begin_mask", 0), end_mask = of("end_mask", 0),
             squeeze_mask = of("squeeze_mask", 0);
  std::vector<std::int64_t> first(rank), count(rank);
  std::size_t total = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t size = out.dims[axis];
    call.require(stride[axis] > 0, "stride must be positive");
    const auto index = [&](std::int64_t value) {
      return std::clamp(value < 0 ? value + size : value, std::int64_t{0}, size);
    };
    first[axis] = begin_mask[axis] != 0 ? 0 : index(begin[axis]);
    const std::int64_t last = squeeze_mask[axis] != 0 ? std::min(first[axis] + 1, size)
                              : end_mask[axis] != 0   ? size
                                                      : index(end[axis]);
    count[axis] = std::max<std::int64_t>(0, (last - first[axis] + stride[axis] - 1) / stride[axis]);
    total *= static_cast<std::size_t>(count[axis]);
  }
  call.require(values.size() == total && values.is_float() == out.is_float(),
               "update does not match the slice");
  const std::vector<std::size_t> strides = strides_of(out.dims);
  for (std::size_t at = 0; at < total; ++at) {
    std::size_t rest = at, into = 0;
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::size_t k = rest % static_cast<std::size_t>(count[axis]);
      rest /= static_cast<std::size_t>(count[axis]);
      into +=
          static_cast<std::size_t>(first[axis] + static_cast<std::int64_t>(k) * stride[axis]) * strides[axis];
    }
    copy_elements(values, at, out, into, 1);
  }
  return one(std::move(out));
}

// Sorts the elements along an axis: order[k] is the k-th smallest, or largest. The sort is stable.
template <class Visit>
void for_each_sorted_line(const Array& x, std::size_t axis, bool is_ascending, const Visit& visit) {
  const auto size = static_cast<std::size_t>(x.dims[axis]);
  const std::size_t outer = product_of(x.dims, 0, axis), inner = product_of(x.dims, axis + 1, x.rank());
  std::vector<std::size_t> order(size);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      const auto at = [&](std::size_t k) { return (o * size + k) * inner + i; };
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return is_ascending ? x.number(at(a)) < x.number(at(b)) : x.number(at(a)) > x.number(at(b));
      });
      visit(o, i, inner, order);
    }
}

std::vector<Array> topk(const Call& call) {
  const Array& x = call.array("x");
  const std::size_t axis = call.axis_of("axis", x.rank(), -1);
  const std::int64_t k = call.integer("k", 1);
  call.require(k >= 0 && k <= x.dims[axis], "k is out of range");
  for (std::size_t at = 0; at < x.f.size(); ++at) call.require(x.f[at] == x.f[at], "x has a NaN");
  Dims dims = x.dims;
  dims[axis] = k;
  Array values = Array::zeros_like(x, dims), indices = Array::integers(ElementType::kInt32, dims);
  const auto count = static_cast<std::size_t>(k), size = static_cast<std::size_t>(x.dims[axis]);
  for_each_sorted_line(
      x, axis, call.flag("ascending", false),
      [&](std::size_t o, std::size_t i, std::size_t inner, const std::vector<std::size_t>& order) {
        for (std::size_t at = 0; at < count; ++at) {
          const std::size_t into = (o * count + at) * inner + i;
          copy_elements(x, (o * size + order[at]) * inner + i, values, into, 1);
          indices.i[into] = static_cast<std::int32_t>(order[at]);
        }
      });
  std::vector<Array> results;
  results.push_back(std::move(values));
  if (call.flag("return_indices", true)) results.push_back(std::move(indices));
  return results;
}

std::vector<Array> argsort(const Call& call) {
  const Array& x = call.array("x");
  const std::size_t axis = call.axis_of("axis", x.rank(), -1);
  for (std::size_t at = 0; at < x.f.size(); ++at) call.require(x.f[at] == x.f[at], "x has a NaN");
  Array indices = Array::integers(ElementType::kInt32, x.dims);
  for_each_sorted_line(
      x, axis, call.flag("ascending", false),
      [&](std::size_t o, std::size_t i, std::size_t inner, const std::vector<std::size_t>& order) {
        for (std::size_t at = 0; at < order.size(); ++at)
          indices.i[(o * order.size() + at) * inner + i] = static_cast<std::int32_t>(order[at]);
      });
  return one(std::move(indices));
}

std::vector<Array> one_hot(const Call& call) {
  const Array& indices = indices_of(call);
  const std::int64_t size = call.integer("one_hot_vector_size");
  const std::size_t axis = call.axis_of("axis", indices.rank() + 1, -1);
  const float on = call.number("on_value", 1.0F), off = call.number("off_value", 0.0F);
  Dims dims = indices.dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), size);
  const Array* value = call.find("on_value");
  Array out = value != nullptr && value->is_float() ? Array::floats(value->type, dims)
                                                    : Array::integers(ElementType::kInt32, dims);
  std::fill(out.f.begin(), out.f.end(), off);
  std::fill(out.i.begin(), out.i.end(), static_cast<std::int32_t>(off));
  const std::size_t inner = product_of(indices.dims, axis, indices.rank());
  for (std::size_t at = 0; at < indices.size(); ++at) {
    const std::int64_t index = indices.i[at];
    if (index < 0 || index >= size) continue;  // the whole vector has the off value
    const std::size_t into =
        (at / inner * static_cast<std::size_t>(size) + static_cast<std::size_t>(index)) * inner + at % inner;
    if (out.is_float())
      out.f[into] = on;
    else
      out.i[into] = static_cast<std::int32_t>(on);
  }
  return one(std::move(out));
}

std::vector<Array> cumsum(const Call& call) {
  const Array& x = call.array("x");
  const std::size_t axis = call.axis_of("axis", x.rank(), 0);
  const bool is_exclusive = call.flag("exclusive", false), is_reverse = call.flag("reverse", false);
  Array out = Array::zeros_like(x, x.dims);
  const auto size = static_cast<std::size_t>(x.dims[axis]);
  const std::size_t outer = product_of(x.dims, 0, axis), inner = product_of(x.dims, axis + 1, x.rank());
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      double sum = 0;
      for (std::size_t step = 0; step < size; ++step) {
        const std::size_t at = (o * size + (is_reverse ? size - 1 - step : step)) * inner + i;
        const double next = sum + x.number(at);
        const double value = is_exclusive ? sum : next;
        if (x.is_float())
          out.f[at] = static_cast<float>(value);
        else
          out.i[at] = static_cast<std::int32_t>(std::clamp(value, -2147483648.0, 2147483647.0));
        sum = next;
      }
    }
  return one(std::move(out));
}

std::vector<Array> non_zero(const Call& call) {
  const Array& x = call.array("x");
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < x.size(); ++at)
    if (x.number(at) != 0) found.push_back(at);
  Array out = Array::integers(ElementType::kInt32,
                              {static_cast<std::int64_t>(found.size()), static_cast<std::int64_t>(x.rank())});
  const std::vector<std::size_t> strides = strides_of(x.dims);
  for (std::size_t row = 0; row < found.size(); ++row)
    for (std::size_t axis = 0; axis < x.rank(); ++axis)
      out.i[row * x.rank() + axis] =
          static_cast<std::int32_t>(found[row] / strides[axis] % static_cast<std::size_t>(x.dims[axis]));
  return one(std::move(out));
}

constexpr Operation kIndexing[] = {
    {"argsort", argsort},
    {"cumsum", cumsum},
    {"gather", gather},
    {"gather_along_axis", gather_along_axis},
    {"gather_nd", gather_nd},
    {"non_zero", non_zero},
    {"one_hot", one_hot},
    {"scatter", scatter},
    {"scatter_along_axis", scatter_along_axis},
    {"scatter_nd", scatter_nd},
    {"slice_update", slice_update},
    {"topk", topk},
};

}  // namespace

std::span<const Operation> index_operations() { return kIndexing; }

}  // namespace ounce::mil
