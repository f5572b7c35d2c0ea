// Convolutions, transposed convolutions and pooling with one to three spatial dimensions.
//
// Spatial shapes are padded to three dimensions with leading ones. A convolution gathers the inputs of a tile
// of output positions into the columns of a matrix and multiplies it by the weights (kernels/matmul.h). Tiles
// bound the memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/matmul.h"
#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

using Three = std::array<std::int64_t, 3>;

struct Window {
  std::size_t spatial = 0;  // number of spatial dimensions of the operation
  Three in = {1, 1, 1}, kernel = {1, 1, 1}, stride = {1, 1, 1}, dilation = {1, 1, 1}, out = {1, 1, 1};
  Three before = {0, 0, 0}, after = {0, 0, 0};

  std::int64_t extent(std::size_t at) const { return (kernel[at] - 1) * dilation[at] + 1; }
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  std::int64_t positions() const { return out[0] * out[1] * out[2]; }
  std::int64_t inputs() const { return in[0] * in[1] * in[2]; }
  Dims dims(std::int64_t n, std::int64_t channels) const {
    Dims dims = {n, channels};
    for (std::size_t at = 3 - spatial; at < 3; ++at) dims.push_back(out[at]);
    return dims;
  }
};

Three three(const Call& call, std::string_view input, std::size_t spatial, std::int64_t least) {
  Three values = {1, 1, 1};
  if (const auto given = call.find_integers(input)) {
    call.require(given->size() == spatial, "a list must have one entry for each spatial dimension");
    for (std::size_t at = 0; at < spatial; ++at) {
      values[3 - spatial + at] = (*given)[at];
      call.require((*given)[at] >= least && (*given)[at] <= (1 << 24),
                   "a stride, dilation or size is out of range");
    }
  }
  return values;
}

void read_pads(const Call& call, Window& window) {
  const auto pads = call.integers("pad");
  call.require(pads.size() == 2 * window.spatial, "pad must have two entries for each spatial dimension");
  for (std::size_t at = 0; at < window.spatial; ++at) {
    window.before[3 - window.spatial + at] = pads[2 * at];
    window.after[3 - window.spatial + at] = pads[2 * at + 1];
    for (const std::int64_t pad : {pads[2 * at], pads[2 * at + 1]})
      call.require(pad >= 0 && pad <= (1 << 24), "pad is out of range");
  }
}

Window window_of(const Call& call, const Array& x, const Three& kernel) {
  Window window;
  window.spatial = x.rank() - 2;
  for (std::size_t at = 0; at < window.spatial; ++at) window.in[3 - window.spatial + at] = x.dims[2 + at];
  window.kernel = kernel;
  window.stride = three(call, "strides", window.spatial, 1);
  window.dilation = three(call, "dilations", window.spatial, 1);
  const std::string pad_type = call.text("pad_type", "valid");
  const bool is_same = pad_type == "same" || pad_type == "same_lower";
  if (pad_type == "custom") read_pads(call, window);
  call.require(is_same || pad_type == "custom" || pad_type == "valid", "unknown pad_type");
  const bool is_ceil = call.flag("ceil_mode", false);
  for (std::size_t at = 0; at < 3; ++at) {
    if (is_same) {
      const std::int64_t count = (window.in[at] + window.stride[at] - 1) / window.stride[at];
      const std::int64_t total =
          std::max<std::int64_t>(0, (count - 1) * window.stride[at] + window.extent(at) - window.in[at]);
      window.before[at] = pad_type == "same_lower" ? (total + 1) / 2 : total / 2;
      window.after[at] = total - window.before[at];
    }
    const std::int64_t room = window.in[at] + window.before[at] + window.after[at] - window.extent(at);
    call.require(room >= 0, "the kernel is larger than its input");
    window.out[at] = (room + (is_ceil ? window.stride[at] - 1 : 0)) / window.stride[at] + 1;
    // Drop a window that would begin after the input.
    if (is_ceil && (window.out[at] - 1) * window.stride[at] >= window.in[at] + window.before[at])
      --window.out[at];
  }
  return window;
}

constexpr std::int64_t kTile = 256;

// Gathers the inputs of `count` output positions, starting at `first`: one matrix row for each channel and
// tap.
void gather_columns(const float* x, std::int64_t channels, const Window& w, std::int64_t first,
                    std::int64_t count, float* columns) {
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t kd = 0; kd < w.kernel[0]; ++kd)
      for (std::int64_t kh = 0; kh < w.kernel[1]; ++kh)
        for (std::int64_t kw = 0; kw < w.kernel[2]; ++kw) {
          for (std::int64_t at = 0; at < count; ++at) {
            const std::int64_t position = first + at;
            const std::int64_t ow = position % w.out[2], oh = position / w.out[2] % w.out[1],
                               od = position / w.out[2] / w.out[1];
            const std::int64_t id = od * w.stride[0] - w.before[0] + kd * w.dilation[0];
            const std::int64_t ih = oh * w.stride[1] - w.before[1] + kh * w.dilation[1];
            const std::int64_t iw = ow * w.stride[2] - w.before[2] + kw * w.dilation[2];
            const bool is_inside =
                id >= 0 && id < w.in[0] && ih >= 0 && ih < w.in[1] && iw >= 0 && iw < w.in[2];
            columns[at] = is_inside ? x[((c * w.in[0] + id) * w.in[1] + ih) * w.in[2] + iw] : 0.0F;
          }
          columns += kTile;
        }
}

struct Operands {
  const Array *x, *weight, *bias;
  std::int64_t groups;
  Three kernel = {1, 1, 1};
};

Operands operands_of(const Call& call) {
  Operands operands{&call.floats("x"), &call.floats("weight"), call.find("bias"), call.integer("groups", 1)};
  const Array &x = *operands.x, &weight = *operands.weight;
  call.require(x.rank() >= 3 && x.rank() <= 5 && weight.rank() == x.rank(),
               "x and weight must have 3 to 5 dimensions");
  call.require(operands.groups > 0, "groups must be positive");
  call.require(weight.size() > 0, "weight is empty");
  for (std::size_t at = 2; at < x.rank(); ++at)
    operands.kernel[3 - (x.rank() - 2) + at - 2] = weight.dims[at];
  return operands;
}

void add_bias(const Call& call, const Array* bias, Array& out, std::size_t inner) {
  if (bias == nullptr) return;
  const auto channels = static_cast<std::size_t>(out.dims[1]);
  call.require(bias->is_float() && (bias->f.size() == channels || bias->f.size() == 1),
               "bias must have one value for each output channel");
  for (std::size_t at = 0; inner > 0 && at < out.f.size(); at += inner) {
    const float value = bias->f[bias->f.size() == 1 ? 0 : at / inner % channels];
    for (std::size_t k = at; k < at + inner; ++k) out.f[k] += value;
  }
}

std::vector<Array> conv(const Call& call) {
  const Operands operands = operands_of(call);
  const Array &x = *operands.x, &weight = *operands.weight;
  const std::int64_t groups = operands.groups, n = x.dims[0];
  call.require(x.dims[1] == weight.dims[1] * groups && weight.dims[0] % groups == 0,
               "channels, groups and weight do not match");
  const Window w = window_of(call, x, operands.kernel);
  const std::int64_t in_channels = weight.dims[1], out_channels = weight.dims[0] / groups;
  const std::int64_t depth = in_channels * w.taps();
  Array out = Array::floats(x.type, w.dims(n, weight.dims[0]));
  const std::int64_t positions = w.positions();  // cannot overflow, because the result fits into memory
  std::vector<float> columns(count_of({depth, kTile}));
  for (std::int64_t image = 0; image < n; ++image)
    for (std::int64_t group = 0; group < groups; ++group) {
      const float* source = x.f.data() + (image * groups + group) * in_channels * w.inputs();
      float* target = out.f.data() + (image * groups + group) * out_channels * positions;
      const float* factors = weight.f.data() + group * out_channels * depth;
      for (std::int64_t first = 0; first < positions; first += kTile) {
        const std::int64_t count = std::min(kTile, positions - first);
        gather_columns(source, in_channels, w, first, count, columns.data());
        kernels::multiply({factors, columns.data(), target + first, static_cast<std::size_t>(out_channels),
                           static_cast<std::size_t>(count), static_cast<std::size_t>(depth),
                           static_cast<std::size_t>(depth), kTile, static_cast<std::size_t>(positions)});
      }
    }
  add_bias(call, operands.bias, out, static_cast<std::size_t>(positions));
  return one(std::move(out));
}

// Transposed convolution: every input adds its product with the kernel to a window of the output.
std::vector<Array> conv_transpose(const Call& call) {
  const Operands operands = operands_of(call);
  const Array &x = *operands.x, &weight = *operands.weight;  // [inputs, outputs of a group, kernel]
  const std::int64_t groups = operands.groups, n = x.dims[0];
  call.require(x.dims[1] == weight.dims[0] && x.dims[1] % groups == 0,
               "channels, groups and weight do not match");
  Window w;
  w.spatial = x.rank() - 2;
  w.kernel = operands.kernel;
  w.stride = three(call, "strides", w.spatial, 1);
  w.dilation = three(call, "dilations", w.spatial, 1);
  const std::string pad_type = call.text("pad_type", "valid");
  const auto shape = call.find_integers("output_shape");
  if (pad_type == "custom") read_pads(call, w);
  call.require(pad_type == "custom" || pad_type == "valid" || pad_type == "same", "unknown pad_type");
  call.require(!shape || shape->size() == x.rank(), "output_shape must have the rank of x");
  for (std::size_t at = 0; at < 3; ++at) {
    const bool is_used = at + w.spatial >= 3;
    w.in[at] = is_used ? x.dims[2 + at + w.spatial - 3] : 1;
    const std::int64_t whole = (w.in[at] - 1) * w.stride[at] + w.extent(at);
    if (pad_type == "same" && is_used) {
      const std::int64_t total = std::max<std::int64_t>(0, whole - w.in[at] * w.stride[at]);
      w.before[at] = total / 2;
      w.out[at] = w.in[at] * w.stride[at];
    } else {
      w.out[at] = whole - w.before[at] - w.after[at];
    }
    if (shape && is_used) w.out[at] = (*shape)[2 + at + w.spatial - 3];
    call.require(w.in[at] > 0 && w.out[at] > 0, "the result is empty");
  }
  const std::int64_t in_channels = x.dims[1] / groups, out_channels = weight.dims[1];
  Array out = Array::floats(x.type, w.dims(n, out_channels * groups));
  const std::int64_t rows = out_channels * w.taps(), inputs = w.inputs(), positions = w.positions();
  // products[row, input position] = Σ weightᵀ · x for a tile of input positions
  std::vector<float> turned(count_of({rows, in_channels})), products(count_of({rows, kTile}));
  for (std::int64_t group = 0; group < groups; ++group) {
    const float* factors = weight.f.data() + group * in_channels * rows;
    for (std::int64_t c = 0; c < in_channels; ++c)
      for (std::int64_t row = 0; row < rows; ++row)
        turned[static_cast<std::size_t>(row * in_channels + c)] = factors[c * rows + row];
    for (std::int64_t image = 0; image < n; ++image) {
      const float* source = x.f.data() + (image * groups + group) * in_channels * inputs;
      float* target = out.f.data() + (image * groups + group) * out_channels * positions;
      for (std::int64_t first = 0; first < inputs; first += kTile) {
        const std::int64_t count = std::min(kTile, inputs - first);
        kernels::multiply({turned.data(), source + first, products.data(), static_cast<std::size_t>(rows),
                           static_cast<std::size_t>(count), static_cast<std::size_t>(in_channels),
                           static_cast<std::size_t>(in_channels), static_cast<std::size_t>(inputs), kTile});
        const float* row = products.data();
        for (std::int64_t c = 0; c < out_channels; ++c)
          for (std::int64_t kd = 0; kd < w.kernel[0]; ++kd)
            for (std::int64_t kh = 0; kh < w.kernel[1]; ++kh)
              for (std::int64_t kw = 0; kw < w.kernel[2]; ++kw, row += kTile)
                for (std::int64_t at = 0; at < count; ++at) {
                  const std::int64_t p = first + at;
                  const std::int64_t iw = p % w.in[2], ih = p / w.in[2] % w.in[1], id = p / w.in[2] / w.in[1];
                  const std::int64_t od = id * w.stride[0] - w.before[0] + kd * w.dilation[0];
                  const std::int64_t oh = ih * w.stride[1] - w.before[1] + kh * w.dilation[1];
                  const std::int64_t ow = iw * w.stride[2] - w.before[2] + kw * w.dilation[2];
                  if (od < 0 || od >= w.out[0] || oh < 0 || oh >= w.out[1] || ow < 0 || ow >= w.out[2])
                    continue;
                  target[((c * w.out[0] + od) * w.out[1] + oh) * w.out[2] + ow] += row[at];
                }
      }
    }
  }
  add_bias(call, operands.bias, out, static_cast<std::size_t>(positions));
  return one(std::move(out));
}

enum class Pool { kMax, kAverage, kL2 };

template <Pool kPool>
std::vector<Array> pool(const Call& call) {
  const Array& x = call.floats("x");
  call.require(x.rank() >= 3 && x.rank() <= 5, "x must have 3 to 5 dimensions");
  call.array("kernel_sizes");
  const Window w = window_of(call, x, three(call, "kernel_sizes", x.rank() - 2, 1));
  const bool counts_padding = !call.flag("exclude_padding_from_average", false);
  Array out = Array::floats(x.type, w.dims(x.dims[0], x.dims[1]));
  const std::int64_t planes = x.dims[0] * x.dims[1];
  std::size_t into = 0;
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t od = 0; od < w.out[0]; ++od)
      for (std::int64_t oh = 0; oh < w.out[1]; ++oh)
        for (std::int64_t ow = 0; ow < w.out[2]; ++ow) {
          const Three first = {od * w.stride[0] - w.before[0], oh * w.stride[1] - w.before[1],
                               ow * w.stride[2] - w.before[2]};
          std::int64_t inside = 0;
          double sum = 0,
                 padded = 1;  // double: the product of hostile window sizes could overflow an integer
          float most = -std::numeric_limits<float>::infinity();
          // With ceil_mode a window may extend beyond the padding; that part does not count.
          for (std::size_t at = 0; at < 3; ++at)
            padded *=
                static_cast<double>(std::min(first[at] + w.kernel[at], w.in[at] + w.after[at]) - first[at]);
          for (std::int64_t d = std::max<std::int64_t>(0, first[0]);
               d < std::min(w.in[0], first[0] + w.kernel[0]); ++d)
            for (std::int64_t h = std::max<std::int64_t>(0, first[1]);
                 h < std::min(w.in[1], first[1] + w.kernel[1]); ++h)
              for (std::int64_t c = std::max<std::int64_t>(0, first[2]);
                   c < std::min(w.in[2], first[2] + w.kernel[2]); ++c) {
                const float value =
                    x.f[static_cast<std::size_t>(((plane * w.in[0] + d) * w.in[1] + h) * w.in[2] + c)];
                ++inside;
                most = std::max(most, value);
                sum += kPool == Pool::kL2 ? static_cast<double>(value) * value : value;
              }
          float result = most;
          if (kPool == Pool::kL2) result = static_cast<float>(std::sqrt(sum));
          if (kPool == Pool::kAverage)
            result = static_cast<float>(sum /
                                        std::max(1.0, counts_padding ? padded : static_cast<double>(inside)));
          out.f[into++] = result;
        }
  return one(std::move(out));
}

constexpr Operation kConvolutions[] = {
    {"avg_pool", pool<Pool::kAverage>}, {"conv", conv},
    {"conv_transpose", conv_transpose}, {"l2_pool", pool<Pool::kL2>},
    {"max_pool", pool<Pool::kMax>},
};

}  // namespace

std::span<const Operation> conv_operations() { return kConvolutions; }

}  // namespace ounce::mil
