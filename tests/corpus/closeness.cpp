#include "corpus/closeness.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ounce::test {
namespace {

template <class T>
std::vector<double> numbers(const std::string& bytes) {
  std::vector<double> result;
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    result.push_back(static_cast<double>(value));
  }
  return result;
}

double from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  if (exponent == 31) value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  return (bits & 0x8000U) != 0 ? -value : value;
}

bool is_float(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kDouble || type == ElementType::kFloat16 ||
         type == ElementType::kBfloat16;
}

}  // namespace

std::vector<double> numbers_of(const runtime::Tensor& tensor) {
  switch (tensor.type) {
    case ElementType::kFloat: return numbers<float>(tensor.bytes);
    case ElementType::kDouble: return numbers<double>(tensor.bytes);
    case ElementType::kFloat16: {
      std::vector<double> values;
      for (const double bits : numbers<std::uint16_t>(tensor.bytes))
        values.push_back(from_half(static_cast<std::uint16_t>(bits)));
      return values;
    }
    case ElementType::kBfloat16: {
      std::string floats;
      for (std::size_t i = 0; i + 2 <= tensor.bytes.size(); i += 2)
        floats += std::string(2, '\0') + tensor.bytes.substr(i, 2);
      return numbers<float>(floats);
    }
    default: return numbers<std::uint8_t>(tensor.bytes);
  }
}

Closeness compare_outputs(const std::vector<runtime::Tensor>& reference,
                          const std::vector<runtime::Tensor>& candidate) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Closeness result;
  double signal = 0, noise = 0;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    const runtime::Tensor &a = reference[k], &b = candidate.at(k);
    if (a.type != b.type) result.difference = fmt::format("output {}: the element types differ", k);
    if (a.dims != b.dims) result.difference = fmt::format("output {}: the shapes differ", k);
    if (!is_float(a.type) && a.bytes != b.bytes)
      result.difference = fmt::format("output {}: the {} values differ", k, name_of(a.type));
    if (!result.difference.empty()) return result;
    if (!is_float(a.type)) continue;
    const std::vector<double> x = numbers_of(a), y = numbers_of(b);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) {
        if (std::isfinite(x[i])) signal += x[i] * x[i];
      } else if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
        noise = kInfinity;
      } else {
        signal += x[i] * x[i];
        noise += (x[i] - y[i]) * (x[i] - y[i]);
      }
    }
  }
  result.sqnr_db = noise == 0 ? kInfinity : 10 * std::log10(signal / noise);
  return result;
}

}  // namespace ounce::test
