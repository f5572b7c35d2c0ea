// Normalizations and softmax. Statistics are summed in binary64 and applied in binary32.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

// A parameter with one value for each of `count` channels; null if the input is absent.
const Array* per_channel(const Call& call, const char* input, std::size_t count) {
  const Array* value = call.find(input);
  if (value == nullptr) return nullptr;
  call.require(value->is_float() && value->f.size() == count,
               "a parameter must have one value for each channel");
  return value;
}

std::size_t channels_of(const Call& call, const Array& x) {
  call.require(x.rank() >= 2, "x has no channels");
  return static_cast<std::size_t>(x.dims[1]);
}

std::vector<Array> batch_norm(const Call& call) {
  Array out = call.floats("x");
  const std::size_t channels = channels_of(call, out), inner = product_of(out.dims, 2, out.rank());
  call.array("mean");
  call.array("variance");
  const Array *mean = per_channel(call, "mean", channels),
              *variance = per_channel(call, "variance", channels);
  const Array *gamma = per_channel(call, "gamma", channels), *beta = per_channel(call, "beta", channels);
  const float epsilon = call.number("epsilon", 1e-5F);
  for (std::size_t at = 0; at < out.f.size(); at += inner) {
    const std::size_t c = at / inner % channels;
    const float factor = (gamma == nullptr ? 1.0F : gamma->f[c]) / std::sqrt(variance->f[c] + epsilon);
    const float shift = (beta == nullptr ? 0.0F : beta->f[c]) - mean->f[c] * factor;
    for (std::size_t k = at; k < at + inner; ++k) out.f[k] = out.f[k] * factor + shift;
  }
  return one(std::move(out));
}

// Normalizes `count` consecutive values to mean 0 and standard deviation 1.
void normalize(float* x, std::size_t count, double epsilon) {
  double sum = 0, squares = 0;
  for (std::size_t at = 0; at < count; ++at) sum += x[at];
  const double mean = sum / static_cast<double>(count);
  for (std::size_t at = 0; at < count; ++at) squares += (x[at] - mean) * (x[at] - mean);
  const double factor = 1.0 / std::sqrt(squares / static_cast<double>(count) + epsilon);
  for (std::size_t at = 0; at < count; ++at) x[at] = static_cast<float>((x[at] - mean) * factor);
}

std::vector<Array> instance_norm(const Call& call) {
  Array out = call.floats("x");
  const std::size_t channels = channels_of(call, out), inner = product_of(out.dims, 2, out.rank());
  const Array *gamma = per_channel(call, "gamma", channels), *beta = per_channel(call, "beta", channels);
  const float epsilon = call.number("epsilon", 1e-5F);
  for (std::size_t at = 0; inner > 0 && at < out.f.size(); at += inner) {
    normalize(&out.f[at], inner, epsilon);
    const std::size_t c = at / inner % channels;
    for (std::size_t k = at; k < at + inner; ++k)
      out.f[k] = out.f[k] * (gamma == nullptr ? 1.0F : gamma->f[c]) + (beta == nullptr ? 0.0F : beta->f[c]);
  }
  return one(std::move(out));
}

std::vector<Array> layer_norm(const Call& call) {
  Array out = call.floats("x");
  const std::vector<std::size_t> axes = call.axes_of("axes", out.rank());
  // Converters only write models that normalize the last axes.
  call.require(
      !axes.empty() && axes.back() + 1 == out.rank() && axes.back() - axes.front() + 1 == axes.size(),
      "axes other than the last ones are not supported");
  const std::size_t count = product_of(out.dims, axes.front(), out.rank());
  const Array *gamma = per_channel(call, "gamma", count), *beta = per_channel(call, "beta", count);
  const float epsilon = call.number("epsilon", 1e-5F);
  for (std::size_t at = 0; count > 0 && at < out.f.size(); at += count) {
    normalize(&out.f[at], count, epsilon);
    for (std::size_t k = 0; k < count; ++k)
      out.f[at + k] =
          out.f[at + k] * (gamma == nullptr ? 1.0F : gamma->f[k]) + (beta == nullptr ? 0.0F : beta->f[k]);
  }
  return one(std::move(out));
}

// L2 normalization over the last three dimensions.
std::vector<Array> l2_norm(const Call& call) {
  Array out = call.floats("x");
  call.require(out.rank() >= 3, "x has fewer than 3 dimensions");
  const std::size_t count = product_of(out.dims, out.rank() - 3, out.rank());
  const double epsilon = call.number("epsilon", 1e-6F);
  for (std::size_t at = 0; count > 0 && at < out.f.size(); at += count) {
    double squares = epsilon;
    for (std::size_t k = at; k < at + count; ++k) squares += static_cast<double>(out.f[k]) * out.f[k];
    const double factor = 1.0 / std::sqrt(squares);
    for (std::size_t k = at; k < at + count; ++k) out.f[k] = static_cast<float>(out.f[k] * factor);
  }
  return one(std::move(out));
}

std::vector<Array> local_response_norm(const Call& call) {
  const Array& x = call.floats("x");
  const std::size_t channels = channels_of(call, x), inner = product_of(x.dims, 2, x.rank());
  const std::int64_t size = call.integer("size");
  const float alpha = call.number("alpha", 1e-4F), beta = call.number("beta", 0.75F),
              k = call.number("k", 1.0F);
  call.require(size > 0, "size must be positive");
  Array out = x;
  const std::int64_t half = (size - 1) / 2, last = static_cast<std::int64_t>(channels) - 1;
  for (std::size_t at = 0; at < x.f.size(); ++at) {
    const auto c = static_cast<std::int64_t>(at / inner % channels);
    const std::size_t base = at - static_cast<std::size_t>(c) * inner;
    double squares = 0;
    for (std::int64_t other = std::max<std::int64_t>(0, c - half);
         other <= std::min(last, c + (size - 1 - half)); ++other) {
      const double value = x.f[base + static_cast<std::size_t>(other) * inner];
      squares += value * value;
    }
    out.f[at] = static_cast<float>(
        x.f[at] / std::pow(k + alpha / static_cast<double>(size) * squares, static_cast<double>(beta)));
  }
  return one(std::move(out));
}

std::vector<Array> softmax(const Call& call) {
  Array out = call.floats("x");
  const std::size_t axis = call.axis_of("axis", out.rank(), -1);
  const std::size_t outer = product_of(out.dims, 0, axis), inner = product_of(out.dims, axis + 1, out.rank());
  const auto size = static_cast<std::size_t>(out.dims[axis]);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      float* x = out.f.data() + o * size * inner + i;
      float most = -std::numeric_limits<float>::infinity();
      for (std::size_t k = 0; k < size; ++k) most = std::max(most, x[k * inner]);
      double sum = 0;
      for (std::size_t k = 0; k < size; ++k) {
        x[k * inner] = std::exp(x[k * inner] - most);
        sum += x[k * inner];
      }
      for (std::size_t k = 0; k < size; ++k) x[k * inner] = static_cast<float>(x[k * inner] / sum);
    }
  return one(std::move(out));
}

constexpr Operation kNorms[] = {
    {"batch_norm", batch_norm},
    {"instance_norm", instance_norm},
    {"l2_norm", l2_norm},
    {"layer_norm", layer_norm},
    {"local_response_norm", local_response_norm},
    {"softmax", softmax},
};

}  // namespace

std::span<const Operation> norm_operations() { return kNorms; }

}  // namespace ounce::mil
