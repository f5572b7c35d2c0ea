// Reductions over axes: sums, means, extremes, norms, and the index of an extreme.
#include <cmath>
#include <limits>

#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

// Maps each element of x to an element of the result.
struct Reduction {
  Dims dims;              // of the returned result
  std::size_t count = 1;  // elements of x per element of the result
  std::vector<std::size_t> group;

  Reduction(const Call& call, const Array& x, const std::vector<std::size_t>& axes) {
    const bool keeps = call.flag("keep_dims", false);
    std::vector<bool> is_reduced(x.rank());
    for (const std::size_t axis : axes) is_reduced[axis] = true;
    Dims kept;
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      kept.push_back(is_reduced[axis] ? 1 : x.dims[axis]);
      if (!is_reduced[axis] || keeps) dims.push_back(is_reduced[axis] ? 1 : x.dims[axis]);
      if (is_reduced[axis]) count *= static_cast<std::size_t>(x.dims[axis]);
    }
    const std::vector<std::size_t> strides = strides_of(kept);
    group.resize(x.size());
    std::vector<std::size_t> position(x.rank(), 0);
    std::size_t at_group = 0;
    for (std::size_t at = 0; at < x.size(); ++at) {
      group[at] = at_group;
      for (std::size_t axis = x.rank(); axis-- > 0;) {
        const bool ends = ++position[axis] == static_cast<std::size_t>(x.dims[axis]);
        if (!is_reduced[axis]) at_group += strides[axis];
        if (!ends) break;
        position[axis] = 0;
        if (!is_reduced[axis]) at_group -= strides[axis] * static_cast<std::size_t>(x.dims[axis]);
      }
    }
  }
};

// Sums in binary64, so that the order of the elements hardly matters.
struct Sum {
  static constexpr double kStart = 0;
  static double add(double sum, double x) { return sum + x; }
  static double end(double sum, std::size_t) { return sum; }
};
struct Mean : Sum {
  static double end(double sum, std::size_t count) { return sum / static_cast<double>(count); }
};
struct SumSquare : Sum {
  static double add(double sum, double x) { return sum + x * x; }
};
struct L1 : Sum {
  static double add(double sum, double x) { return sum + std::abs(x); }
};
struct L2 : SumSquare {
  static double end(double sum, std::size_t) { return std::sqrt(sum); }
};
struct LogSum : Sum {
  static double end(double sum, std::size_t) { return std::log(sum); }
};
struct Product {
  static constexpr double kStart = 1;
  static double add(double sum, double x) { return sum * x; }
  static double end(double sum, std::size_t) { return sum; }
};
struct Max {
  static constexpr double kStart = -std::numeric_limits<double>::infinity();
  static double add(double most, double x) { return x > most || std::isnan(x) ? x : most; }
  static double end(double most, std::size_t) { return most; }
};
struct Min {
  static constexpr double kStart = std::numeric_limits<double>::infinity();
  static double add(double least, double x) { return x < least || std::isnan(x) ? x : least; }
  static double end(double least, std::size_t) { return least; }
};

void store(Array& out, std::size_t at, double value) {
  if (out.is_float())
    out.f[at] = static_cast<float>(value);
  else
    out.i[at] = static_cast<std::int32_t>(std::min(std::max(value, -2147483648.0), 2147483647.0));
}

template <class Op>
std::vector<Array> reduce(const Call& call) {
  const Array& x = call.array("x");
  call.require(!x.is_string(), "x is a string");
  const Reduction reduction(call, x, call.axes_of("axes", x.rank()));
  Array out = Array::zeros_like(x, reduction.dims);
  std::vector<double> sums(out.size(), Op::kStart);
  for (std::size_t at = 0; at < x.size(); ++at)
    sums[reduction.group[at]] = Op::add(sums[reduction.group[at]], x.number(at));
  for (std::size_t at = 0; at < out.size(); ++at) store(out, at, Op::end(sums[at], reduction.count));
  return one(std::move(out));
}

std::vector<Array> reduce_log_sum_exp(const Call& call) {
  const Array& x = call.floats("x");
  const Reduction reduction(call, x, call.axes_of("axes", x.rank()));
  Array out = Array::zeros_like(x, reduction.dims);
  std::vector<double> most(out.size(), Max::kStart), sums(out.size(), 0.0);
  for (std::size_t at = 0; at < x.size(); ++at)
    most[reduction.group[at]] = Max::add(most[reduction.group[at]], x.number(at));
  for (std::size_t at = 0; at < x.size(); ++at)
    sums[reduction.group[at]] += std::exp(x.number(at) - most[reduction.group[at]]);
  for (std::size_t at = 0; at < out.size(); ++at) store(out, at, std::log(sums[at]) + most[at]);
  return one(std::move(out));
}

template <bool kMax>
std::vector<Array> index_of(const Call& call) {
  const Array& x = call.array("x");
  const std::size_t axis = call.axis_of("axis", x.rank(), -1);
  call.require(x.dims[axis] > 0, "the axis is empty");
  const Reduction reduction(call, x, {axis});
  Array out = Array::integers(ElementType::kInt32, reduction.dims);
  std::vector<double> best(out.size());
  std::vector<std::int32_t> seen(out.size(), 0);
  for (std::size_t at = 0; at < x.size(); ++at) {
    const std::size_t group = reduction.group[at];
    const double value = x.number(at);
    if (seen[group] == 0 || (kMax ? value > best[group] : value < best[group])) {
      best[group] = value;
      out.i[group] = seen[group];
    }
    ++seen[group];
  }
  return one(std::move(out));
}

constexpr Operation kReductions[] = {
    {"reduce_argmax", index_of<true>},  {"reduce_argmin", index_of<false>},
    {"reduce_l1_norm", reduce<L1>},     {"reduce_l2_norm", reduce<L2>},
    {"reduce_log_sum", reduce<LogSum>}, {"reduce_log_sum_exp", reduce_log_sum_exp},
    {"reduce_max", reduce<Max>},        {"reduce_mean", reduce<Mean>},
    {"reduce_min", reduce<Min>},        {"reduce_prod", reduce<Product>},
    {"reduce_sum", reduce<Sum>},        {"reduce_sum_square", reduce<SumSquare>},
};

}  // namespace

std::span<const Operation> reduce_operations() { return kReductions; }

}  // namespace ounce::mil
