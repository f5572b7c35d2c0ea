#include "runtime/mil/values.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <cstring>
#include <limits>

#include "formats/coreml/file/values.h"
#include "kernels/half.h"

namespace ounce::mil {
namespace {

template <class T>
void widen(std::string_view bytes, Array& out) {
  for (std::size_t at = 0; at < out.i.size(); ++at) {
    T value;
    std::memcpy(&value, bytes.data() + at * sizeof(T), sizeof value);
    // 64-bit values are sizes and indices. Values out of range mean limits such as "to the end" and are
    // clamped.
    if constexpr (sizeof(T) >= 4) {
      constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
      if (std::cmp_greater(value, kMost)) value = kMost;
      if (std::cmp_less(value, std::numeric_limits<std::int32_t>::min()))
        value = static_cast<T>(std::numeric_limits<std::int32_t>::min());
    }
    out.i[at] = static_cast<std::int32_t>(value);
  }
}

}  // namespace

std::vector<std::int32_t> unpack(std::string_view bytes, unsigned bits, std::size_t count) {
  if (bits == 0 || bits > 8 || count > bytes.size() * 8 / bits)
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} values of {} bits do not match {} bytes", count, bits, bytes.size()));
  std::vector<std::int32_t> values(count);
  std::size_t at_bit = 0;
  for (std::int32_t& value : values) {
    const std::size_t byte = at_bit / 8;
    unsigned two = static_cast<unsigned char>(bytes[byte]);
    if (byte + 1 < bytes.size())
      two |= static_cast<unsigned>(static_cast<unsigned char>(bytes[byte + 1])) << 8;
    value = static_cast<std::int32_t>(two >> at_bit % 8 & ((1U << bits) - 1));
    at_bit += bits;
  }
  return values;
}

ElementType element_of(coreml::DataType type) {
  using coreml::DataType;
  switch (type) {
    case DataType::kFloat16: return ElementType::kFloat16;
    case DataType::kFloat32: return ElementType::kFloat;
    case DataType::kBool: return ElementType::kBool;
    case DataType::kString: return ElementType::kString;
    case DataType::kInt8:
    case DataType::kInt4: return ElementType::kInt8;
    case DataType::kUint8:
    case DataType::kUint6:
    case DataType::kUint4:
    case DataType::kUint3:
    case DataType::kUint2:
    case DataType::kUint1: return ElementType::kUint8;
    case DataType::kInt16: return ElementType::kInt16;
    case DataType::kUint16: return ElementType::kUint16;
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kInt64:
    case DataType::kUint64: return ElementType::kInt32;
    default:
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the evaluator does not support the type {}", coreml::name_of(type)));
  }
}

Array array_of(const coreml::Value& value) {
  if (!value.type.is_tensor())
    throw Error(ErrorCode::kUnsupported, "the evaluator does not support lists, tuples or dictionaries");
  const coreml::DataType type = value.type.type;
  Array out;
  out.type = element_of(type);
  out.dims = value.type.dims;
  if (out.type == ElementType::kString) {
    if (const auto text = coreml::string_of(value)) out.text = std::string(*text);
    return out;
  }
  const std::size_t count = count_of(out.dims);
  const coreml::RawValues raw(value);
  const std::string_view bytes = raw.bytes();
  const unsigned bits = coreml::info_of(type).bits;
  if (count > bytes.size() * 8 / bits)
    throw Error(ErrorCode::kBadInput,
                fmt::format("a value has {} bytes for {} elements", bytes.size(), count));
  if (out.is_float()) {
    out.f.resize(count);
    const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
    if (type == coreml::DataType::kFloat16)
      kernels::f16_to_f32(from, count, out.f.data());
    else
      std::memcpy(out.f.data(), from, count * sizeof(float));
    return out;
  }
  if (bits < 8) {
    out.i = unpack(bytes, bits, count);
    if (coreml::info_of(type).is_signed)
      for (std::int32_t& code : out.i) code -= code >> (bits - 1) << bits;  // two's complement
    return out;
  }
  out.i.resize(count);
  switch (type) {
    case coreml::DataType::kBool: widen<std::uint8_t>(bytes, out); break;
    case coreml::DataType::kInt8: widen<std::int8_t>(bytes, out); break;
    case coreml::DataType::kUint8: widen<std::uint8_t>(bytes, out); break;
    case coreml::DataType::kInt16: widen<std::int16_t>(bytes, out); break;
    case coreml::DataType::kUint16: widen<std::uint16_t>(bytes, out); break;
    case coreml::DataType::kInt32: widen<std::int32_t>(bytes, out); break;
    case coreml::DataType::kUint32: widen<std::uint32_t>(bytes, out); break;
    case coreml::DataType::kInt64: widen<std::int64_t>(bytes, out); break;
    default: widen<std::uint64_t>(bytes, out); break;
  }
  return out;
}

}  // namespace ounce::mil
