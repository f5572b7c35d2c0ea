// Products of matrices: linear, matmul, einsum of two operands, attention.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kernels/matmul.h"
#include "runtime/mil/broadcast.h"
#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

// Transposes the last two dimensions.
Array exchanged(const Array& x) {
  Array out = x;
  std::swap(out.dims[out.rank() - 1], out.dims[out.rank() - 2]);
  const auto rows = static_cast<std::size_t>(x.dims[x.rank() - 2]),
             columns = static_cast<std::size_t>(x.dims.back());
  const std::size_t matrix = rows * columns;
  for (std::size_t base = 0; matrix > 0 && base < x.f.size(); base += matrix)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) out.f[base + c * rows + r] = x.f[base + r * columns + c];
  return out;
}

// Matrix product of batches; the leading dimensions are broadcast.
Array product(const Call& call, const Array& x, const Array& y) {
  call.require(x.is_float() && y.is_float(), "x and y must be floats");
  call.require(x.rank() >= 2 && y.rank() >= 2, "x and y must be matrices");
  const std::int64_t rows = x.dims[x.rank() - 2], depth = x.dims.back(), columns = y.dims.back();
  call.require(y.dims[y.rank() - 2] == depth, "the inner dimensions of x and y differ");
  const Dims of_x(x.dims.begin(), x.dims.end() - 2), of_y(y.dims.begin(), y.dims.end() - 2);
  const Dims batches = broadcast_dims(call, of_x, of_y);
  Dims dims = batches;
  dims.push_back(rows);
  dims.push_back(columns);
  Array out = Array::floats(x.type, dims);
  const BroadcastIndex x_at(of_x, batches), y_at(of_y, batches);
  const auto m = static_cast<std::size_t>(rows), k = static_cast<std::size_t>(depth),
             n = static_cast<std::size_t>(columns);
  for (std::size_t batch = 0; batch < count_of(batches); ++batch)
    kernels::multiply({x.f.data() + x_at(batch) * m * k, y.f.data() + y_at(batch) * k * n,
                       out.f.data() + batch * m * n, m, n, k, k, n, n});
  return out;
}

std::vector<Array> matmul(const Call& call) {
  Array x = call.floats("x"), y = call.floats("y");
  // A vector is treated as a matrix of one row or one column, and that dimension is removed from the result.
  const bool x_is_vector = x.rank() == 1, y_is_vector = y.rank() == 1;
  if (x_is_vector) x.dims.insert(x.dims.begin(), 1);
  if (y_is_vector) y.dims.push_back(1);
  call.require(x.rank() >= 2 && y.rank() >= 2, "x or y is a scalar");
  if (call.flag("transpose_x", false) && !x_is_vector) x = exchanged(x);
  if (call.flag("transpose_y", false) && !y_is_vector) y = exchanged(y);
  Array out = product(call, x, y);
  if (y_is_vector) out.dims.pop_back();
  if (x_is_vector) out.dims.erase(out.dims.end() - (y_is_vector ? 1 : 2));
  return one(std::move(out));
}

std::vector<Array> linear(const Call& call) {
  const Array &x = call.floats("x"), &weight = call.floats("weight");
  call.require(weight.rank() == 2 && x.rank() >= 1, "weight must be a matrix");
  Array rows = x;
  const bool is_vector = x.rank() == 1;
  if (is_vector) rows.dims.insert(rows.dims.begin(), 1);
  Dims dims = rows.dims;
  rows.dims = {static_cast<std::int64_t>(product_of(dims, 0, dims.size() - 1)), dims.back()};
  Array out = product(call, rows, exchanged(weight));
  const auto width = static_cast<std::size_t>(weight.dims[0]);
  if (const Array* bias = call.find("bias")) {
    call.require(bias->is_float() && bias->f.size() == width, "bias must have one value for each output");
    for (std::size_t at = 0; at < out.f.size(); ++at) out.f[at] += bias->f[at % width];
  }
  dims.back() = weight.dims[0];
  if (is_vector) dims.erase(dims.begin());
  out.dims = std::move(dims);
  return one(std::move(out));
}

// Einsum of two operands without repeated letters: sums over the letters that the result does not have.
std::vector<Array> einsum(const Call& call) {
  const auto values = call.list("values");
  call.require(values.size() == 2 && values[0]->is_float() && values[1]->is_float(),
               "einsum needs two arrays of floats");
  const std::string equation = call.text("equation", "");
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  call.require(comma != std::string::npos && arrow != std::string::npos && comma < arrow,
               "the equation must have the form 'ab,bc->ac'");
  std::string letters[3] = {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1),
                            equation.substr(arrow + 2)};
  for (std::string& part : letters) part.erase(std::remove(part.begin(), part.end(), ' '), part.end());
  std::map<char, std::int64_t> sizes;
  for (std::size_t operand = 0; operand < 2; ++operand) {
    const Array& value = *values[operand];
    call.require(letters[operand].size() == value.rank(), "the equation does not match the rank of a value");
    for (std::size_t axis = 0; axis < value.rank(); ++axis) {
      const auto [found, is_new] = sizes.emplace(letters[operand][axis], value.dims[axis]);
      call.require(is_new || found->second == value.dims[axis], "a letter has two sizes");
      call.require(letters[operand].find(letters[operand][axis]) == axis, "an operand repeats a letter");
    }
  }
  std::string order = letters[2];  // order of the loops: the letters of the result, then the summed ones
  Dims dims;
  for (const char letter : letters[2]) {
    call.require(sizes.contains(letter), "the result has an unknown letter");
    call.require(letters[2].find(letter) == dims.size(), "the result repeats a letter");
    dims.push_back(sizes[letter]);
  }
  std::int64_t summed = 1;
  Dims all = dims;
  for (const auto& [letter, size] : sizes) {
    if (order.find(letter) != std::string::npos) continue;
    order += letter;
    all.push_back(size);
    summed = static_cast<std::int64_t>(count_of({summed, size}));
  }
  Array out = Array::floats(values[0]->type, dims);
  std::vector<std::size_t> step[2];
  for (std::size_t operand = 0; operand < 2; ++operand) {
    const std::vector<std::size_t> strides = strides_of(values[operand]->dims);
    for (const char letter : order) {
      const std::size_t axis = letters[operand].find(letter);
      step[operand].push_back(axis == std::string::npos ? 0 : strides[axis]);
    }
  }
  std::vector<std::size_t> position(order.size(), 0);
  std::size_t at[2] = {0, 0};
  for (float& result : out.f) {
    double sum = 0;
    for (std::int64_t k = 0; k < summed; ++k) {
      sum += static_cast<double>(values[0]->f[at[0]]) * values[1]->f[at[1]];
      for (std::size_t axis = order.size(); axis-- > 0;) {
        for (std::size_t o = 0; o < 2; ++o) at[o] += step[o][axis];
        if (++position[axis] < static_cast<std::size_t>(all[axis])) break;
        for (std::size_t o = 0; o < 2; ++o) at[o] -= step[o][axis] * static_cast<std::size_t>(all[axis]);
        position[axis] = 0;
      }
    }
    result = static_cast<float>(sum);
  }
  return one(std::move(out));
}

std::vector<Array> attention(const Call& call) {
  const Array &query = call.floats("query"), &key = call.floats("key"), &value = call.floats("value");
  call.require(query.rank() >= 2 && key.rank() >= 2, "query and key must have at least 2 dimensions");
  Array scores = product(call, query, exchanged(key));
  const float factor = 1.0F / std::sqrt(static_cast<float>(std::max<std::int64_t>(1, query.dims.back())));
  for (float& score : scores.f) score *= factor;
  if (const Array* mask = call.find("attn_mask")) {
    call.require(!mask->is_string() && broadcast_dims(call, scores.dims, mask->dims) == scores.dims,
                 "attn_mask has the wrong shape or type");
    const BroadcastIndex of_mask(mask->dims, scores.dims);
    for (std::size_t at = 0; at < scores.f.size(); ++at) {
      if (mask->is_float())
        scores.f[at] += mask->f[of_mask(at)];
      else if (mask->i[of_mask(at)] == 0)
        scores.f[at] = -std::numeric_limits<float>::infinity();
    }
  }
  const auto size = static_cast<std::size_t>(scores.dims.back());
  for (std::size_t row = 0; size > 0 && row < scores.f.size(); row += size) {
    float* x = &scores.f[row];
    const float most = *std::max_element(x, x + size);
    double sum = 0;
    for (std::size_t at = 0; at < size; ++at) sum += x[at] = std::exp(x[at] - most);
    for (std::size_t at = 0; at < size; ++at) x[at] = static_cast<float>(x[at] / sum);
  }
  return one(product(call, scores, value));
}

constexpr Operation kProducts[] = {
    {"einsum", einsum},
    {"linear", linear},
    {"matmul", matmul},
    {"scaled_dot_product_attention", attention},
};

}  // namespace

std::span<const Operation> product_operations() { return kProducts; }

}  // namespace ounce::mil
