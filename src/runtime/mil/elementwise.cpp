// Operations on single values: activations, arithmetic, comparisons, casts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/mil/broadcast.h"
#include "runtime/mil/call.h"

namespace ounce::mil {
namespace {

// y = function(x), for floats.
template <class F>
std::vector<Array> map_floats(const Call& call, F function) {
  Array out = call.floats("x");
  for (float& value : out.f) value = function(value);
  return {std::move(out)};
}

template <float (*kFunction)(float)>
std::vector<Array> unary(const Call& call) {
  return map_floats(call, kFunction);
}

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }
float softplus(float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x))); }
float relu(float x) { return std::max(x, 0.0F); }
float relu6(float x) { return std::clamp(x, 0.0F, 6.0F); }
float silu(float x) { return x * sigmoid(x); }
float softsign(float x) { return x / (1.0F + std::abs(x)); }
float round_half_even(float x) { return std::nearbyint(x); }
float square_root(float x) { return std::sqrt(x); }
float exponential(float x) { return std::exp(x); }
float exponential2(float x) { return std::exp2(x); }
float sine(float x) { return std::sin(x); }
float cosine(float x) { return std::cos(x); }
float tangent(float x) { return std::tan(x); }
float sine_h(float x) { return std::sinh(x); }
float cosine_h(float x) { return std::cosh(x); }
float tangent_h(float x) { return std::tanh(x); }
float arc_sine(float x) { return std::asin(x); }
float arc_cosine(float x) { return std::acos(x); }
float arc_tangent(float x) { return std::atan(x); }
float arc_tangent_h(float x) { return std::atanh(x); }
float error_function(float x) { return std::erf(x); }
float floor_of(float x) { return std::floor(x); }
float ceil_of(float x) { return std::ceil(x); }

std::vector<Array> absolute(const Call& call) {
  Array out = call.array("x");
  for (float& value : out.f) value = std::abs(value);
  for (std::int32_t& value : out.i)
    value = value < 0 ? static_cast<std::int32_t>(0U - static_cast<std::uint32_t>(value)) : value;
  return {std::move(out)};
}

std::vector<Array> sign(const Call& call) {
  Array out = call.array("x");
  for (float& value : out.f) value = value > 0 ? 1.0F : value < 0 ? -1.0F : 0.0F;
  for (std::int32_t& value : out.i) value = value > 0 ? 1 : value < 0 ? -1 : 0;
  return {std::move(out)};
}

std::vector<Array> square(const Call& call) {
  Array out = call.array("x");
  for (float& value : out.f) value *= value;
  for (std::int32_t& value : out.i)
    value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) * static_cast<std::uint32_t>(value));
  return {std::move(out)};
}

std::vector<Array> logarithm(const Call& call) {
  const float epsilon = call.number("epsilon", 1e-45F);
  return map_floats(call, [=](float x) { return std::log(x + epsilon); });
}
std::vector<Array> rsqrt(const Call& call) {
  const float epsilon = call.number("epsilon", 1e-12F);
  return map_floats(call, [=](float x) { return 1.0F / std::sqrt(x + epsilon); });
}
std::vector<Array> inverse(const Call& call) {
  const float epsilon = call.number("epsilon", 1e-4F);
  return map_floats(call, [=](float x) { return 1.0F / (x + epsilon); });
}
std::vector<Array> threshold(const Call& call) {
  const float alpha = call.number("alpha");
  return map_floats(call, [=](float x) { return std::max(x, alpha); });
}
std::vector<Array> clip(const Call& call) {
  const float low = call.number("alpha"), high = call.number("beta");
  return map_floats(call, [=](float x) { return std::min(std::max(x, low), high); });
}
std::vector<Array> clamped_relu(const Call& call) {
  const float slope = call.number("alpha"), most = call.number("beta");
  return map_floats(call, [=](float x) { return std::min(x >= 0 ? x : slope * x, most); });
}
std::vector<Array> elu(const Call& call) {
  const float alpha = call.number("alpha", 1.0F);
  return map_floats(call, [=](float x) { return x >= 0 ? x : alpha * std::expm1(x); });
}
std::vector<Array> leaky_relu(const Call& call) {
  const float alpha = call.number("alpha", 0.01F);
  return map_floats(call, [=](float x) { return x >= 0 ? x : alpha * x; });
}
std::vector<Array> linear_activation(const Call& call) {
  const float alpha = call.number("alpha"), beta = call.number("beta", 0.0F);
  return map_floats(call, [=](float x) { return alpha * x + beta; });
}
std::vector<Array> scaled_tanh(const Call& call) {
  const float alpha = call.number("alpha", 1.0F), beta = call.number("beta", 1.0F);
  return map_floats(call, [=](float x) { return alpha * std::tanh(beta * x); });
}
std::vector<Array> sigmoid_hard(const Call& call) {
  const float alpha = call.number("alpha", 0.2F), beta = call.number("beta", 0.5F);
  return map_floats(call, [=](float x) { return std::min(std::max(alpha * x + beta, 0.0F), 1.0F); });
}
std::vector<Array> thresholded_relu(const Call& call) {
  const float alpha = call.number("alpha", 1.0F);
  return map_floats(call, [=](float x) { return x >= alpha ? x : 0.0F; });
}

std::vector<Array> gelu(const Call& call) {
  const std::string mode = call.text("mode", "EXACT");
  if (mode == "EXACT")
    return map_floats(call, [](float x) { return 0.5F * x * (1.0F + std::erf(x * 0.70710678F)); });
  if (mode == "TANH_APPROXIMATION")
    return map_floats(call, [](float x) {
      return 0.5F * x * (1.0F + std::tanh(0.79788456F * (x + 0.044715F * x * x * x)));
    });
  call.require(mode == "SIGMOID_APPROXIMATION", "unknown mode");
  return map_floats(call, [](float x) { return x * sigmoid(1.702F * x); });
}

// Applies a function with parameters per channel (dimension 1).
template <class F>
std::vector<Array> map_channels(const Call& call, F function) {
  Array out = call.floats("x");
  call.require(out.rank() >= 2, "x has no channels");
  const auto channels = static_cast<std::size_t>(out.dims[1]);
  const std::size_t inner = product_of(out.dims, 2, out.rank());
  for (std::size_t at = 0; at < out.f.size(); ++at) out.f[at] = function(out.f[at], at / inner % channels);
  return {std::move(out)};
}

std::vector<Array> prelu(const Call& call) {
  const Array& alpha = call.floats("alpha");
  call.require(
      call.array("x").rank() >= 2 && alpha.f.size() == static_cast<std::size_t>(call.array("x").dims[1]),
      "alpha must have one value for each channel");
  return map_channels(call, [&](float x, std::size_t c) { return x >= 0 ? x : alpha.f[c] * x; });
}
std::vector<Array> softplus_parametric(const Call& call) {
  const Array &alpha = call.floats("alpha"), &beta = call.floats("beta");
  const Array& x = call.floats("x");
  call.require(x.rank() >= 2 && alpha.f.size() == static_cast<std::size_t>(x.dims[1]) &&
                   beta.f.size() == alpha.f.size(),
               "alpha and beta must have one value for each channel");
  return map_channels(call, [&](float v, std::size_t c) { return alpha.f[c] * softplus(beta.f[c] * v); });
}

// Integer arithmetic wraps at 32 bits.
std::int32_t wrap(std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint64_t>(value)); }

struct Add {
  static float f(float a, float b) { return a + b; }
  static std::int32_t i(std::int64_t a, std::int64_t b) { return wrap(a + b); }
};
struct Sub {
  static float f(float a, float b) { return a - b; }
  static std::int32_t i(std::int64_t a, std::int64_t b) { return wrap(a - b); }
};
struct Mul {
  static float f(float a, float b) { return a * b; }
  static std::int32_t i(std::int64_t a, std::int64_t b) { return wrap(a * b); }
};
struct Divide {
  static float f(float a, float b) { return a / b; }
  static std::int32_t i(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : wrap(a / b); }
};
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  const std::int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
struct FloorDivide {
  static float f(float a, float b) { return std::floor(a / b); }
  static std::int32_t i(std::int64_t a, std::int64_t b) { return wrap(floor_divide(a, b)); }
};
struct Modulo {
  static float f(float a, float b) { return a - b * std::floor(a / b); }
  static std::int32_t i(std::int64_t a, std::int64_t b) {
    return b == 0 ? 0 : wrap(a - b * floor_divide(a, b));
  }
};
struct Power {
  static float f(float a, float b) { return b == 2 ? a * a : std::pow(a, b); }
  static std::int32_t i(std::int64_t a, std::int64_t b) {
    const double power = std::pow(static_cast<double>(a), static_cast<double>(b));
    return std::abs(power) < 2147483648.0 ? static_cast<std::int32_t>(power) : 0;
  }
};
struct Maximum {
  static float f(float a, float b) { return std::max(a, b); }
  static std::int32_t i(std::int64_t a, std::int64_t b) { return wrap(std::max(a, b)); }
};
struct Minimum {
  static float f(float a, float b) { return std::min(a, b); }
  static std::int32_t i(std::int64_t a, std::int64_t b) { return wrap(std::min(a, b)); }
};

template <class Op>
std::vector<Array> arithmetic(const Call& call) {
  const Array &x = call.array("x"), &y = call.array("y");
  call.require(x.is_float() == y.is_float() && !x.is_string() && !y.is_string(), "x and y differ in type");
  const Dims dims = broadcast_dims(call, x.dims, y.dims);
  Array out = Array::zeros_like(x, dims);
  if (x.is_float())
    for_each_pair(x.dims, y.dims, dims,
                  [&](std::size_t o, std::size_t a, std::size_t b) { out.f[o] = Op::f(x.f[a], y.f[b]); });
  else
    for_each_pair(x.dims, y.dims, dims,
                  [&](std::size_t o, std::size_t a, std::size_t b) { out.i[o] = Op::i(x.i[a], y.i[b]); });
  std::vector<Array> results;
  results.push_back(std::move(out));
  return results;
}

template <class Compare>
std::vector<Array> comparison(const Call& call) {
  const Array &x = call.array("x"), &y = call.array("y");
  call.require(!x.is_string() && !y.is_string(), "strings cannot be compared");
  const Dims dims = broadcast_dims(call, x.dims, y.dims);
  Array out = Array::integers(ElementType::kBool, dims);
  for_each_pair(x.dims, y.dims, dims, [&](std::size_t o, std::size_t a, std::size_t b) {
    out.i[o] = Compare()(x.number(a), y.number(b)) ? 1 : 0;
  });
  return {std::move(out)};
}

struct And {
  bool operator()(double a, double b) const { return a != 0 && b != 0; }
};
struct Or {
  bool operator()(double a, double b) const { return a != 0 || b != 0; }
};
struct Xor {
  bool operator()(double a, double b) const { return (a != 0) != (b != 0); }
};

std::vector<Array> logical_not(const Call& call) {
  Array out = call.array("x");
  call.require(!out.is_float() && !out.is_string(), "x is not a bool");
  for (std::int32_t& value : out.i) value = value == 0 ? 1 : 0;
  return {std::move(out)};
}

std::vector<Array> select(const Call& call) {
  const Array &cond = call.array("cond"), &a = call.array("a"), &b = call.array("b");
  call.require(!cond.is_float() && !cond.is_string(), "cond is not a bool");
  call.require(a.is_float() == b.is_float() && !a.is_string() && !b.is_string(), "a and b differ in type");
  const Dims both = broadcast_dims(call, a.dims, b.dims);
  const Dims dims = broadcast_dims(call, cond.dims, both);
  Array out = Array::zeros_like(a, dims);
  const BroadcastIndex of_a(a.dims, dims), of_b(b.dims, dims), of_cond(cond.dims, dims);
  for (std::size_t at = 0; at < out.size(); ++at) {
    const bool is_a = cond.i[of_cond(at)] != 0;
    if (a.is_float())
      out.f[at] = is_a ? a.f[of_a(at)] : b.f[of_b(at)];
    else
      out.i[at] = is_a ? a.i[of_a(at)] : b.i[of_b(at)];
  }
  return {std::move(out)};
}

std::int32_t to_integer(float value) {
  if (std::isnan(value)) return 0;
  const double limited = std::clamp(static_cast<double>(value), -2147483648.0, 2147483647.0);
  return static_cast<std::int32_t>(limited);
}

std::vector<Array> cast(const Call& call) {
  struct Name {
    std::string_view name;
    ElementType type;
  };
  static constexpr std::array<Name, 9> kNames = {{{"fp16", ElementType::kFloat16},
                                                  {"fp32", ElementType::kFloat},
                                                  {"int32", ElementType::kInt32},
                                                  {"int16", ElementType::kInt16},
                                                  {"uint16", ElementType::kUint16},
                                                  {"int8", ElementType::kInt8},
                                                  {"uint8", ElementType::kUint8},
                                                  {"bool", ElementType::kBool},
                                                  {"int64", ElementType::kInt32}}};
  const Array& x = call.array("x");
  call.require(!x.is_string(), "a string cannot be cast");
  const std::string wanted = call.text("dtype", "");
  const auto* const row =
      std::find_if(kNames.begin(), kNames.end(), [&](const Name& n) { return n.name == wanted; });
  if (row == kNames.end()) call.fail(fmt::format("unknown type '{}'", wanted));
  const bool to_float = row->type == ElementType::kFloat || row->type == ElementType::kFloat16;
  Array out = to_float ? Array::floats(row->type, x.dims) : Array::integers(row->type, x.dims);
  for (std::size_t at = 0; at < x.size(); ++at) {
    if (to_float)
      out.f[at] = x.is_float() ? x.f[at] : static_cast<float>(x.i[at]);
    else if (row->type == ElementType::kBool)
      out.i[at] = x.number(at) != 0 ? 1 : 0;
    else
      out.i[at] = x.is_float() ? to_integer(x.f[at]) : x.i[at];
  }
  return {std::move(out)};
}

std::vector<Array> identity(const Call& call) { return {call.array("x")}; }

constexpr Operation kElementwise[] = {
    {"abs", absolute},
    {"acos", unary<arc_cosine>},
    {"add", arithmetic<Add>},
    {"asin", unary<arc_sine>},
    {"atan", unary<arc_tangent>},
    {"atanh", unary<arc_tangent_h>},
    {"cast", cast},
    {"ceil", unary<ceil_of>},
    {"clamped_relu", clamped_relu},
    {"clip", clip},
    {"cos", unary<cosine>},
    {"cosh", unary<cosine_h>},
    {"elu", elu},
    {"equal", comparison<std::equal_to<>>},
    {"erf", unary<error_function>},
    {"exp", unary<exponential>},
    {"exp2", unary<exponential2>},
    {"floor", unary<floor_of>},
    {"floor_div", arithmetic<FloorDivide>},
    {"gelu", gelu},
    {"greater", comparison<std::greater<>>},
    {"greater_equal", comparison<std::greater_equal<>>},
    {"identity", identity},
    {"inverse", inverse},
    {"leaky_relu", leaky_relu},
    {"less", comparison<std::less<>>},
    {"less_equal", comparison<std::less_equal<>>},
    {"linear_activation", linear_activation},
    {"log", logarithm},
    {"logical_and", comparison<And>},
    {"logical_not", logical_not},
    {"logical_or", comparison<Or>},
    {"logical_xor", comparison<Xor>},
    {"maximum", arithmetic<Maximum>},
    {"minimum", arithmetic<Minimum>},
    {"mod", arithmetic<Modulo>},
    {"mul", arithmetic<Mul>},
    {"not_equal", comparison<std::not_equal_to<>>},
    {"pow", arithmetic<Power>},
    {"prelu", prelu},
    {"real_div", arithmetic<Divide>},
    {"relu", unary<relu>},
    {"relu6", unary<relu6>},
    {"round", unary<round_half_even>},
    {"rsqrt", rsqrt},
    {"scaled_tanh", scaled_tanh},
    {"select", select},
    {"sigmoid", unary<sigmoid>},
    {"sigmoid_hard", sigmoid_hard},
    {"sign", sign},
    {"silu", unary<silu>},
    {"sin", unary<sine>},
    {"sinh", unary<sine_h>},
    {"softplus", unary<softplus>},
    {"softplus_parametric", softplus_parametric},
    {"softsign", unary<softsign>},
    {"sqrt", unary<square_root>},
    {"square", square},
    {"sub", arithmetic<Sub>},
    {"tan", unary<tangent>},
    {"tanh", unary<tangent_h>},
    {"threshold", threshold},
    {"thresholded_relu", thresholded_relu},
};

}  // namespace

std::span<const Operation> elementwise_operations() { return kElementwise; }

}  // namespace ounce::mil
