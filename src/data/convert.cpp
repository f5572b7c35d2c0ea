#include "data/tensor.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/half.h"

namespace ounce::data {
namespace {

// Calls visit with the C++ type of the elements, as a std::type_identity. Returns false for 16-bit floats,
// which have no C++ type, and for types that are not numeric.
template <class Visit>
bool with_type_of(ElementType type, const Visit& visit) {
  switch (type) {
    case ElementType::kFloat: return visit(std::type_identity<float>()), true;
    case ElementType::kDouble: return visit(std::type_identity<double>()), true;
    case ElementType::kInt8: return visit(std::type_identity<std::int8_t>()), true;
    case ElementType::kInt16: return visit(std::type_identity<std::int16_t>()), true;
    case ElementType::kInt32: return visit(std::type_identity<std::int32_t>()), true;
    case ElementType::kInt64: return visit(std::type_identity<std::int64_t>()), true;
    case ElementType::kUint8: return visit(std::type_identity<std::uint8_t>()), true;
    case ElementType::kBool: return visit(std::type_identity<std::uint8_t>()), true;
    case ElementType::kUint16: return visit(std::type_identity<std::uint16_t>()), true;
    case ElementType::kUint32: return visit(std::type_identity<std::uint32_t>()), true;
    case ElementType::kUint64: return visit(std::type_identity<std::uint64_t>()), true;
    default: return false;
  }
}

bool is_integer(ElementType type) {
  bool is_integral = false;
  with_type_of(type, [&]<class T>(std::type_identity<T>) { is_integral = std::is_integral_v<T>; });
  return is_integral;
}

bool is_float(ElementType type) { return is_float_weight_type(type); }

const std::byte* first_byte(const TensorView& tensor) {
  return reinterpret_cast<const std::byte*>(tensor.bytes.data());
}

// Calls visit with a pointer to the first element and their number. Throws for types without a C++ type.
template <class Visit>
void visit_values(const TensorView& tensor, const std::string& where, const Visit& visit) {
  const bool is_known = with_type_of(tensor.type, [&]<class T>(std::type_identity<T>) {
    visit(reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T));
  });
  if (!is_known)
    throw Error(ErrorCode::kBadInput,
                fmt::format("values of type {} cannot be used as numbers", name_of(tensor.type)), where);
}

template <class To>
std::string integers(const Tensor& tensor, To most, ElementType type, const std::string& where) {
  std::string bytes;
  visit_values(tensor, where, [&](const auto* values, std::size_t count) {
    using From = std::remove_cvref_t<decltype(*values)>;
    bytes.resize(count * sizeof(To));
    To* const out = reinterpret_cast<To*>(bytes.data());
    if constexpr (std::is_integral_v<From>) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!std::in_range<To>(values[i]) || static_cast<To>(values[i]) > most) {
          throw Error(ErrorCode::kBadInput,
                      fmt::format("the value {} does not fit into {}", values[i], name_of(type)), where);
        }
        out[i] = static_cast<To>(values[i]);
      }
    }
  });
  return bytes;
}

std::string to_integer_bytes(const Tensor& tensor, ElementType type, const std::string& where) {
  std::string bytes;
  with_type_of(type, [&]<class To>(std::type_identity<To>) {
    if constexpr (std::is_integral_v<To>) {
      const To most = type == ElementType::kBool ? To{1} : std::numeric_limits<To>::max();
      bytes = integers<To>(tensor, most, type, where);
    }
  });
  return bytes;
}

[[noreturn]] void refuse_overflow(ElementType type, const std::string& where) {
  throw Error(ErrorCode::kBadInput, fmt::format("a value is too large for {}", name_of(type)), where);
}

std::string to_float_bytes(const Tensor& tensor, ElementType type, const std::string& where) {
  std::string bytes;
  if (type == ElementType::kDouble) {
    const std::vector<double> doubles = to_doubles(tensor, where);
    bytes.assign(reinterpret_cast<const char*>(doubles.data()), doubles.size() * sizeof(double));
    return bytes;
  }
  std::vector<float> floats;
  to_floats(tensor, floats, where);
  if (tensor.type == ElementType::kDouble) {
    const auto doubles = values_of<double>(tensor);
    for (std::size_t i = 0; i < floats.size(); ++i) {
      if (std::isinf(floats[i]) && !std::isinf(doubles[i])) refuse_overflow(type, where);
    }
  }
  const auto* source = reinterpret_cast<const std::byte*>(floats.data());
  if (type == ElementType::kFloat) {
    bytes.assign(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
    return bytes;
  }
  bytes.resize(floats.size() * sizeof(std::uint16_t));
  kernels::HalfStats stats;
  const auto narrow = type == ElementType::kFloat16 ? kernels::f32_to_f16 : kernels::f32_to_bf16;
  narrow(source, floats.size(), reinterpret_cast<std::uint16_t*>(bytes.data()), stats);
  if (stats.overflow != 0) refuse_overflow(type, where);
  return bytes;
}

}  // namespace

Tensor convert(Tensor tensor, ElementType to, const std::string& where) {
  if (tensor.type == to) return tensor;
  if (is_float(tensor.type) && is_float(to)) {
    tensor.bytes = to_float_bytes(tensor, to, where);
  } else if (is_integer(tensor.type) && is_integer(to)) {
    tensor.bytes = to_integer_bytes(tensor, to, where);
  } else if (is_integer(tensor.type) && is_float(to)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("the data is {}, but the model takes {}: define the scale with a contract (for pixels or "
                    "sound for example `rescale_factor=1/255` or `rescale_factor=1/32768`), or derive it "
                    "from the data "
                    "with `derive_contract=true`",
                    name_of(tensor.type), name_of(to)),
        where);
  } else {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the data is {}, but the model takes {}", name_of(tensor.type), name_of(to)),
                where);
  }
  tensor.type = to;
  return tensor;
}

std::string bytes_of_value(double value, ElementType type, const std::string& where) {
  Tensor one{ElementType::kInt64, {1}, std::string(sizeof(std::int64_t), '\0'), {}};
  if (is_float(type)) {
    one.type = ElementType::kDouble;
    values_of<double>(one)[0] = value;
  } else {
    values_of<std::int64_t>(one)[0] = std::llround(value);
  }
  return convert(std::move(one), type, where).bytes;
}

void to_floats(const TensorView& tensor, std::vector<float>& floats, const std::string& where) {
  if (tensor.type == ElementType::kFloat16 || tensor.type == ElementType::kBfloat16) {
    floats.resize(tensor.bytes.size() / sizeof(std::uint16_t));
    const auto widen = tensor.type == ElementType::kFloat16 ? kernels::f16_to_f32 : kernels::bf16_to_f32;
    widen(first_byte(tensor), floats.size(), floats.data());
    return;
  }
  visit_values(tensor, where, [&](const auto* values, std::size_t count) {
    floats.resize(count);
    for (std::size_t i = 0; i < count; ++i) floats[i] = static_cast<float>(values[i]);
  });
}

std::span<const float> floats_of(const TensorView& tensor, std::vector<float>& converted,
                                 const std::string& where) {
  if (tensor.type == ElementType::kFloat) return values_of<float>(tensor);
  to_floats(tensor, converted, where);
  return converted;
}

std::vector<double> to_doubles(const TensorView& tensor, const std::string& where) {
  if (tensor.type == ElementType::kFloat16 || tensor.type == ElementType::kBfloat16) {
    std::vector<float> floats;
    to_floats(tensor, floats, where);
    return {floats.begin(), floats.end()};
  }
  std::vector<double> doubles;
  visit_values(tensor, where, [&](const auto* values, std::size_t count) {
    doubles.resize(count);
    for (std::size_t i = 0; i < count; ++i) doubles[i] = static_cast<double>(values[i]);
  });
  return doubles;
}

}  // namespace ounce::data
