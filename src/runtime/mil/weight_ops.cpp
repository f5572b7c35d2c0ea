// Compressed weights (constexpr operations) and 8-bit activations (quantize, dequantize).
//
// Indices and masks must be unpacked to one integer per element; program.cpp does that when it reads them.
#include <algorithm>
#include <cmath>

#include "kernels/half.h"
#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

// A parameter with one value, or one value for each index of an axis.
struct PerAxis {
  std::size_t inner = 1, count = 1;
  std::size_t at(std::size_t position) const { return count == 1 ? 0 : position / inner % count; }
};

PerAxis per_axis(const Call& call, const Array& data, const Array& parameter, const char* axis_input) {
  call.require(!parameter.is_string() && parameter.size() > 0, "scale and zero point must be numbers");
  PerAxis result;
  if (parameter.size() == 1) return result;
  const std::size_t axis = call.axis_of(axis_input, data.rank());
  call.require(parameter.size() == static_cast<std::size_t>(data.dims[axis]),
               "scale or zero point do not match the axis");
  result.count = parameter.size();
  result.inner = product_of(data.dims, axis + 1, data.rank());
  return result;
}

Array affine(const Call& call, const Array& data) {
  const Array& scale = call.floats("scale");
  const Array* zero = call.find("zero_point");
  const PerAxis scales = per_axis(call, data, scale, "axis");
  const PerAxis zeros = zero == nullptr ? PerAxis() : per_axis(call, data, *zero, "axis");
  Array out = Array::floats(scale.type, data.dims);
  for (std::size_t at = 0; at < out.f.size(); ++at) {
    const double offset = zero == nullptr ? 0.0 : zero->number(zeros.at(at));
    out.f[at] = static_cast<float>(data.number(at) - offset) * scale.f[scales.at(at)];
  }
  return out;
}

std::vector<Array> affine_dequantize(const Call& call) {
  return one(affine(call, call.array("quantized_data")));
}
std::vector<Array> dequantize(const Call& call) { return one(affine(call, call.array("input"))); }

std::vector<Array> quantize(const Call& call) {
  const Array &x = call.floats("input"), &scale = call.floats("scale");
  const Array* zero = call.find("zero_point");
  const PerAxis scales = per_axis(call, x, scale, "axis");
  const PerAxis zeros = zero == nullptr ? PerAxis() : per_axis(call, x, *zero, "axis");
  const std::string type = call.text("output_dtype", "");
  call.require(type == "int8" || type == "uint8", "output_dtype must be int8 or uint8");
  const double low = type == "int8" ? -128 : 0, high = type == "int8" ? 127 : 255;
  Array out = Array::integers(type == "int8" ? ElementType::kInt8 : ElementType::kUint8, x.dims);
  for (std::size_t at = 0; at < x.f.size(); ++at) {
    const double offset = zero == nullptr ? 0.0 : zero->number(zeros.at(at));
    const double steps = std::nearbyint(static_cast<double>(x.f[at] / scale.f[scales.at(at)])) + offset;
    out.i[at] = std::isnan(steps) ? 0 : static_cast<std::int32_t>(std::clamp(steps, low, high));
  }
  return one(std::move(out));
}

// Per-block scales: each dimension of `data` is a multiple of that of `scale`. Computes in the type of the
// scale.
std::vector<Array> blockwise_shift_scale(const Call& call) {
  const Array &data = call.array("data"), &scale = call.floats("scale");
  const Array* offset = call.find("offset");
  call.require(scale.rank() == data.rank() && (offset == nullptr || offset->dims == scale.dims),
               "scale and offset must have the rank of data");
  for (std::size_t axis = 0; axis < data.rank(); ++axis)
    call.require(scale.dims[axis] > 0 && data.dims[axis] % scale.dims[axis] == 0,
                 "a dimension of scale does not divide that of data");
  const std::vector<std::size_t> strides = strides_of(scale.dims);
  Array out = Array::floats(scale.type, data.dims);
  std::vector<std::int64_t> position(data.rank(), 0);
  for (std::size_t at = 0; at < out.f.size(); ++at) {
    std::size_t group = 0;
    for (std::size_t axis = 0; axis < data.rank(); ++axis)
      group +=
          static_cast<std::size_t>(position[axis] / (data.dims[axis] / scale.dims[axis])) * strides[axis];
    out.f[at] = static_cast<float>(data.number(at) - (offset == nullptr ? 0.0 : offset->number(group)));
    if (scale.type == ElementType::kFloat16) {
      Array rounded = Array::floats(ElementType::kFloat16, {1});
      rounded.f[0] = out.f[at];
      round_to_type(rounded);
      out.f[at] = rounded.f[0];
    }
    out.f[at] *= scale.f[group];
    for (std::size_t axis = data.rank(); axis-- > 0;) {
      if (++position[axis] < data.dims[axis]) break;
      position[axis] = 0;
    }
  }
  return one(std::move(out));
}

// iOS16: `lut` is a single table, and `shape` is the result's. iOS18: `indices` have the shape of the result,
// and `lut` is [groups of each dimension, entries, vector].
std::vector<Array> lut_to_dense(const Call& call) {
  const Array &indices = call.array("indices"), &lut = call.array("lut");
  call.require(!indices.is_float() && !indices.is_string() && !lut.is_string(), "indices must be integers");
  const bool is_flat = lut.rank() == 1;
  const Dims dims = is_flat && call.find("shape") != nullptr ? Dims(call.integers("shape")) : indices.dims;
  call.require(count_of(dims) <= indices.size(), "there are fewer indices than elements");
  const std::size_t rank = dims.size();
  call.require(is_flat || lut.rank() == rank + 2, "lut must have two dimensions more than indices");
  const auto entries = static_cast<std::size_t>(is_flat ? lut.dims[0] : lut.dims[rank]);
  const auto width = static_cast<std::size_t>(is_flat ? 1 : lut.dims[rank + 1]);
  std::size_t vector_axis = 0;
  if (width > 1) vector_axis = call.axis_of("vector_axis", rank);
  Dims out_dims = dims;
  if (width > 1)
    out_dims[vector_axis] =
        static_cast<std::int64_t>(count_of({dims[vector_axis], static_cast<std::int64_t>(width)}));
  Array out = Array::zeros_like(lut, out_dims);
  const std::vector<std::size_t> of_index = strides_of(dims), of_lut = strides_of(lut.dims);
  for (std::size_t axis = 0; !is_flat && axis < rank; ++axis)
    call.require(lut.dims[axis] > 0 && dims[axis] % lut.dims[axis] == 0,
                 "a dimension of lut does not divide that of indices");
  std::vector<std::int64_t> position(rank, 0);
  for (std::size_t at = 0; at < out.size(); ++at) {
    std::size_t from = 0, table = 0, lane = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      std::int64_t p = position[axis];
      if (width > 1 && axis == vector_axis) {
        lane = static_cast<std::size_t>(p) % width;
        p /= static_cast<std::int64_t>(width);
      }
      from += static_cast<std::size_t>(p) * of_index[axis];
      if (!is_flat) table += static_cast<std::size_t>(p / (dims[axis] / lut.dims[axis])) * of_lut[axis];
    }
    const std::int32_t entry = indices.i[from];
    call.require(entry >= 0 && static_cast<std::size_t>(entry) < entries, "an index exceeds the table");
    const std::size_t source = table + static_cast<std::size_t>(entry) * width + lane;
    if (lut.is_float())
      out.f[at] = lut.f[source];
    else
      out.i[at] = lut.i[source];
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++position[axis] < out_dims[axis]) break;
      position[axis] = 0;
    }
  }
  return one(std::move(out));
}

std::vector<Array> sparse_to_dense(const Call& call) {
  const Array &values = call.array("nonzero_data"), &mask = call.array("mask");
  const Dims dims = call.find("shape") != nullptr ? Dims(call.integers("shape")) : mask.dims;
  call.require(!mask.is_float() && count_of(dims) <= mask.size(), "mask is smaller than the result");
  Array out = Array::zeros_like(values, dims);
  std::size_t next = 0;
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (mask.i[at] == 0) continue;
    call.require(next < values.size(), "there are fewer values than the mask has ones");
    if (out.is_float())
      out.f[at] = values.f[next++];
    else
      out.i[at] = values.i[next++];
  }
  return one(std::move(out));
}

// Spreads values over the ones of a mask.
ArrayPtr spread(const Call& call, const Array& values, const Array& mask) {
  call.require(!mask.is_float() && !mask.is_string() && !values.is_string(), "mask must be integers");
  Array dense = Array::zeros_like(values, mask.dims);
  dense.type = values.type;
  std::size_t next = 0;
  for (std::size_t at = 0; at < dense.size(); ++at) {
    if (mask.i[at] == 0) continue;
    call.require(next < values.size(), "there are fewer values than the mask has ones");
    copy_elements(values, next++, dense, at, 1);
  }
  return std::make_shared<const Array>(std::move(dense));
}

// Runs an operation on all values, and returns the mask and the values where it is one.
std::vector<Array> sparse(const Call& call, const char* mask_input, const char* values_input,
                          const char* dense_input, Function operation) {
  const Array& mask = call.array(mask_input);
  Call dense = call;
  dense.inputs[dense_input] = {spread(call, call.array(values_input), mask)};
  const Array all = operation(dense).front();
  call.require(all.size() == mask.size(), "vectors of values are not supported");
  std::vector<Array> results = {mask};
  std::size_t count = 0;
  for (const std::int32_t bit : mask.i) count += bit != 0 ? 1U : 0U;
  Array nonzero = Array::zeros_like(all, {static_cast<std::int64_t>(count)});
  nonzero.type = all.type;
  std::size_t next = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (mask.i[at] != 0) copy_elements(all, at, nonzero, next++, 1);
  }
  results.push_back(std::move(nonzero));
  return results;
}

std::vector<Array> sparse_blockwise_shift_scale(const Call& call) {
  return sparse(call, "data_mask", "nonzero_data", "data", blockwise_shift_scale);
}
std::vector<Array> lut_to_sparse(const Call& call) {
  return sparse(call, "indices_mask", "indices_nonzero_data", "indices", lut_to_dense);
}

std::vector<Array> cast_weights(const Call& call) {
  Array out = call.floats("source_val");
  const std::string type = call.text("output_dtype", "fp32");
  call.require(type == "fp32" || type == "fp16", "output_dtype must be fp32 or fp16");
  out.type = type == "fp32" ? ElementType::kFloat : ElementType::kFloat16;
  return one(std::move(out));
}

constexpr Operation kWeights[] = {
    {"constexpr_affine_dequantize", affine_dequantize},
    {"constexpr_blockwise_shift_scale", blockwise_shift_scale},
    {"constexpr_cast", cast_weights},
    {"constexpr_lut_to_dense", lut_to_dense},
    {"constexpr_lut_to_sparse", lut_to_sparse},
    {"constexpr_sparse_blockwise_shift_scale", sparse_blockwise_shift_scale},
    {"constexpr_sparse_to_dense", sparse_to_dense},
    {"dequantize", dequantize},
    {"quantize", quantize},
};

}  // namespace

std::span<const Operation> weight_operations() { return kWeights; }

}  // namespace ounce::mil
