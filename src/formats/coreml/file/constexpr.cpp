#include "formats/coreml/file/constexpr.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "formats/coreml/file/values.h"
#include "kernels/half.h"

namespace ounce::coreml {
namespace {

using Dims = std::vector<std::int64_t>;

// A limit for sizes in broken files, so that a mask of one byte cannot ask for terabytes.
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 34;
constexpr std::size_t kLongestVector = 64;
// Longest chain of constexpr operations; joint compression needs two or three.
constexpr int kMostChained = 4;

std::uint64_t count_of(const Dims& dims) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || (dim != 0 && count > kMostValues / static_cast<std::uint64_t>(dim)))
      throw Error(ErrorCode::kBadInput, "a compressed weight has an invalid shape");
    count *= static_cast<std::uint64_t>(dim);
  }
  return count;
}

// Rounds an FP32 value to a type.
float rounded(float value, DataType type) {
  if (type != DataType::kFloat16) return value;
  std::uint16_t half = 0;
  kernels::HalfStats stats;
  kernels::ref::f32_to_f16(reinterpret_cast<const std::byte*>(&value), 1, &half, stats);
  kernels::ref::f16_to_f32(reinterpret_cast<const std::byte*>(&half), 1, &value);
  return value;
}

// Iterates over a tensor and gives the index of the block that contains the position, in a smaller tensor
// whose axes divide those of the larger one.
class BlockIndex {
 public:
  BlockIndex(const Dims& dims, const Dims& groups) : dims_(dims), position_(dims.size(), 0) {
    std::size_t stride = 1;
    strides_.resize(dims.size());
    blocks_.resize(dims.size());
    for (std::size_t i = dims.size(); i-- > 0;) {
      blocks_[i] = groups[i] == 0 ? 1 : dims[i] / groups[i];
      strides_[i] = stride;
      stride *= static_cast<std::size_t>(groups[i]);
    }
  }
  std::size_t group() const {
    std::size_t index = 0;
    for (std::size_t i = 0; i < dims_.size(); ++i)
      index += static_cast<std::size_t>(position_[i] / blocks_[i]) * strides_[i];
    return index;
  }
  void next() {
    for (std::size_t i = dims_.size(); i-- > 0;) {
      if (++position_[i] < dims_[i]) return;
      position_[i] = 0;
    }
  }

 private:
  Dims dims_, position_, blocks_;
  std::vector<std::size_t> strides_;
};

class Decoder {
 public:
  Decoder(const Operation& operation, const std::function<DecodedTensor(Bytes)>& find)
      : operation_(operation), find_(find) {}

  std::vector<DecodedTensor> decode() const {
    const Bytes type = operation_.type;
    if (type == "constexpr_affine_dequantize") return {affine()};
    if (type == "constexpr_blockwise_shift_scale") return {blockwise(parameter("data"))};
    if (type == "constexpr_lut_to_dense") return {lookup()};
    if (type == "constexpr_sparse_to_dense") return {dense()};
    if (type == "constexpr_cast") return {cast()};
    if (type == "constexpr_lut_to_sparse") return sparse_lookup();
    if (type == "constexpr_sparse_blockwise_shift_scale") return sparse_blockwise();
    throw Error(ErrorCode::kUnsupported, "unknown kind of compressed weight", describe(operation_));
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw Error(ErrorCode::kBadInput, fmt::format("a compressed weight {}", what), describe(operation_));
  }
  void require(bool fits, const char* what) const {
    if (!fits) refuse(what);
  }

  const Value* value_of(Bytes name) const {
    const Value* const value = operation_.attribute(name);
    return value != nullptr ? value : bound_value(operation_, name);
  }
  std::optional<DecodedTensor> optional_parameter(Bytes name) const {
    if (const Value* value = value_of(name); value != nullptr) return decoded_value(*value);
    if (const auto bound = bound_name(operation_, name)) return find_(*bound);
    return std::nullopt;
  }
  DecodedTensor parameter(Bytes name) const {
    auto found = optional_parameter(name);
    require(found.has_value(), "lacks a parameter");
    return std::move(*found);
  }
  std::optional<std::int64_t> integer(Bytes name) const {
    const Value* const value = value_of(name);
    if (value == nullptr && !bound_name(operation_, name)) return std::nullopt;
    if (value != nullptr) return integer_of(*value);
    const DecodedTensor found = parameter(name);
    return found.values.size() == 1 ? std::optional(static_cast<std::int64_t>(found.values[0]))
                                    : std::nullopt;
  }
  // The shape in the attributes of iOS16.
  Dims shape() const {
    const Value* const value = value_of("shape");
    const auto sizes = value == nullptr ? std::nullopt : integers_of(*value);
    require(sizes.has_value(), "lacks its shape");
    count_of(*sizes);
    return *sizes;
  }

  std::size_t axis_of(std::int64_t axis, std::size_t rank) const {
    const std::int64_t place = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    require(place >= 0 && place < static_cast<std::int64_t>(rank), "has an axis out of range");
    return static_cast<std::size_t>(place);
  }

  DecodedTensor affine() const {
    DecodedTensor data = parameter("quantized_data");
    const DecodedTensor scale = parameter("scale"), zero = parameter("zero_point");
    const auto axis = integer("axis");
    require(axis.has_value(), "lacks its axis");
    Dims groups(data.dims.size(), 1);
    const std::size_t place = axis_of(*axis, data.dims.size());
    const auto channels = static_cast<std::size_t>(data.dims[place]);
    const auto fits = [&](const DecodedTensor& each) {
      return each.values.size() == 1 || each.values.size() == channels;
    };
    require(fits(scale) && fits(zero), "has scales or zero points that do not match its axis");
    groups[place] = data.dims[place];
    BlockIndex index(data.dims, groups);
    for (float& value : data.values) {
      const std::size_t group = index.group();
      const float offset = zero.values[zero.values.size() == 1 ? 0 : group];
      value = rounded((value - offset) * scale.values[scale.values.size() == 1 ? 0 : group], scale.type);
      index.next();
    }
    data.type = scale.type;
    return data;
  }

  void require_blocks(const Dims& dims, const Dims& groups) const {
    require(!dims.empty() && dims.size() == groups.size(), "has scales of another rank");
    for (std::size_t i = 0; i < dims.size(); ++i)
      require(groups[i] > 0 && dims[i] % groups[i] == 0, "has blocks that do not divide it");
  }

  DecodedTensor blockwise(DecodedTensor data) const {
    const DecodedTensor scale = parameter("scale");
    const auto offset = optional_parameter("offset");
    require_blocks(data.dims, scale.dims);
    require(!offset || offset->dims == scale.dims, "has a different number of offsets and scales");
    BlockIndex index(data.dims, scale.dims);
    for (float& value : data.values) {
      const std::size_t group = index.group();
      const float moved = offset ? rounded(value - offset->values[group], scale.type) : value;
      value = rounded(moved * scale.values[group], scale.type);
      index.next();
    }
    data.type = scale.type;
    return data;
  }

  // Unpacks values of less than 8 bits; the first value is in the lowest bits.
  std::vector<float> unpacked(const Value& value, unsigned bits, std::uint64_t count) const {
    const RawValues raw(value);
    require(raw.bytes().size() == (count * bits + 7) / 8, "has another number of values than its shape");
    std::vector<float> codes(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      unsigned code = 0;
      for (unsigned bit = 0; bit < bits; ++bit) {
        const std::uint64_t at = i * bits + bit;
        code |= ((unsigned{static_cast<unsigned char>(raw.bytes()[at / 8])} >> (at % 8)) & 1U) << bit;
      }
      codes[i] = static_cast<float>(code);
    }
    return codes;
  }

  DecodedTensor lookup() const {
    const DecodedTensor table = parameter("lut");
    if (operation_.attribute("indices") == nullptr) return lookup(parameter("indices"), table);
    // iOS16: packed indices and one table.
    DecodedTensor dense;
    dense.type = table.type;
    dense.dims = shape();
    unsigned bits = 0;
    while (bits < 8 && (std::size_t{1} << bits) < table.values.size()) ++bits;
    require(table.values.size() == std::size_t{1} << bits && bits != 0, "has a table of another size");
    dense.values = unpacked(*operation_.attribute("indices"), bits, count_of(dense.dims));
    for (float& value : dense.values) value = table.values[static_cast<std::size_t>(value)];
    return dense;
  }

  // The table has the shape [groups …, entries, vector]: the rank of the indices plus two.
  DecodedTensor lookup(const DecodedTensor& indices, const DecodedTensor& table) const {
    const std::size_t rank = indices.dims.size();
    require(rank != 0 && table.dims.size() == rank + 2, "has a table of another rank");
    const Dims groups(table.dims.begin(), table.dims.end() - 2);
    require_blocks(indices.dims, groups);
    const auto entries = static_cast<std::size_t>(table.dims[rank]),
               vector = static_cast<std::size_t>(table.dims[rank + 1]);
    require(vector != 0 && vector <= kLongestVector, "has a table of empty or very long vectors");
    DecodedTensor dense;
    dense.type = table.type;
    dense.dims = indices.dims;
    const auto given = integer("vector_axis");
    require(vector == 1 || given.has_value(), "lacks the axis of its vectors");
    const std::size_t axis = given ? axis_of(*given, rank) : rank - 1;
    dense.dims[axis] *= static_cast<std::int64_t>(vector);
    dense.values.resize(count_of(dense.dims));
    std::size_t after = 1;
    for (std::size_t i = axis + 1; i < rank; ++i) after *= static_cast<std::size_t>(indices.dims[i]);
    const auto along = static_cast<std::size_t>(indices.dims[axis]);
    BlockIndex index(indices.dims, groups);
    for (std::size_t i = 0; i < indices.values.size(); ++i) {
      const auto code = static_cast<std::size_t>(indices.values[i]);
      require(code < entries, "has an index beyond its table");
      const float* const from = table.values.data() + (index.group() * entries + code) * vector;
      const std::size_t outer = i / (along * after), place = i / after % along, inner = i % after;
      for (std::size_t k = 0; k < vector; ++k)
        dense.values[((outer * along + place) * vector + k) * after + inner] = from[k];
      index.next();
    }
    return dense;
  }

  DecodedTensor dense() const {
    const DecodedTensor nonzero = parameter("nonzero_data");
    DecodedTensor mask;
    if (operation_.attribute("mask") != nullptr && operation_.attribute("shape") != nullptr) {
      mask.dims = shape();
      mask.values = unpacked(*operation_.attribute("mask"), 1, count_of(mask.dims));
    } else {
      mask = parameter("mask");
    }
    return spread(nonzero, mask);
  }

  DecodedTensor spread(const DecodedTensor& nonzero, const DecodedTensor& mask) const {
    DecodedTensor dense;
    dense.type = nonzero.type;
    dense.dims = mask.dims;
    dense.values.assign(mask.values.size(), 0.0F);
    std::size_t next = 0;
    for (std::size_t i = 0; i < mask.values.size(); ++i) {
      if (mask.values[i] == 0) continue;
      require(next < nonzero.values.size(), "has fewer values than its mask");
      dense.values[i] = nonzero.values[next++];
    }
    require(next == nonzero.values.size(), "has more values than its mask");
    return dense;
  }
  static DecodedTensor gathered(const DecodedTensor& dense, const DecodedTensor& mask) {
    DecodedTensor nonzero;
    nonzero.type = dense.type;
    for (std::size_t i = 0; i < mask.values.size(); ++i) {
      if (mask.values[i] != 0) nonzero.values.push_back(dense.values[i]);
    }
    nonzero.dims = {static_cast<std::int64_t>(nonzero.values.size())};
    return nonzero;
  }

  DecodedTensor cast() const {
    DecodedTensor source = parameter("source_val");
    source.type = DataType::kFloat32;
    return source;
  }

  std::vector<DecodedTensor> sparse_lookup() const {
    DecodedTensor mask = parameter("indices_mask");
    const DecodedTensor table = parameter("lut");
    const DecodedTensor dense = lookup(spread(parameter("indices_nonzero_data"), mask), table);
    if (dense.dims != mask.dims) mask = expanded(mask, dense.dims);
    DecodedTensor nonzero = gathered(dense, mask);
    return {std::move(mask), std::move(nonzero)};
  }
  // Expands a mask of vectors: repeats each value along the axis that the vectors extend.
  static DecodedTensor expanded(const DecodedTensor& mask, const Dims& dims) {
    DecodedTensor grown{mask.type, dims, std::vector<float>(count_of(dims))};
    BlockIndex index(dims, mask.dims);
    for (float& value : grown.values) {
      value = mask.values[index.group()];
      index.next();
    }
    return grown;
  }

  std::vector<DecodedTensor> sparse_blockwise() const {
    DecodedTensor mask = parameter("data_mask");
    DecodedTensor nonzero = gathered(blockwise(spread(parameter("nonzero_data"), mask)), mask);
    return {std::move(mask), std::move(nonzero)};
  }

  const Operation& operation_;
  const std::function<DecodedTensor(Bytes)>& find_;
};

}  // namespace

bool is_constexpr(const Operation& operation) { return operation.type.starts_with("constexpr_"); }

DecodedTensor decoded_value(const Value& value) {
  const auto count = value.type.element_count();
  const DataType type = value.type.type;
  if (!count || type == DataType::kUnused)
    throw Error(ErrorCode::kUnsupported, "the values of a compressed weight are not a tensor");
  const RawValues raw(value);
  DecodedTensor tensor{type, value.type.dims, std::vector<float>(*count)};
  const auto* const bytes = reinterpret_cast<const std::byte*>(raw.bytes().data());
  if (raw.bytes().size() < value.type.byte_count().value_or(0))
    throw Error(ErrorCode::kBadInput, "the values of a compressed weight are missing");
  if (type == DataType::kFloat32) {
    std::memcpy(tensor.values.data(), bytes, *count * sizeof(float));
  } else if (type == DataType::kFloat16) {
    kernels::f16_to_f32(bytes, *count, tensor.values.data());
  } else {
    const DataTypeInfo& row = info_of(type);
    const auto integers = row.bits <= 16 || *count <= 1 ? integers_of(value) : std::nullopt;
    if (!integers)
      throw Error(ErrorCode::kUnsupported, fmt::format("a compressed weight has values of {}", row.name));
    std::copy(integers->begin(), integers->end(), tensor.values.begin());
  }
  return tensor;
}

std::vector<DecodedTensor> decode_constexpr(const Operation& operation,
                                            const std::function<DecodedTensor(Bytes)>& find) {
  return Decoder(operation, find).decode();
}

void for_each_decoded(const Block& block,
                      const std::function<void(const Operation&, const std::vector<DecodedTensor>&)>& visit) {
  std::map<Bytes, std::pair<const Operation*, std::size_t>> places;  // of constants and constexpr operations
  int depth = 0;
  const std::function<DecodedTensor(Bytes)> find = [&](Bytes name) -> DecodedTensor {
    const auto found = places.find(name);
    if (found == places.end())
      throw Error(ErrorCode::kBadInput,
                  fmt::format("a compressed weight needs '{}', which is not a constant", name));
    const auto [operation, output] = found->second;
    if (operation->type == "const") return decoded_value(*operation->attribute("val"));
    if (++depth > kMostChained)
      throw Error(ErrorCode::kBadInput, "compressed weights form too long a chain", describe(*operation));
    std::vector<DecodedTensor> outputs = decode_constexpr(*operation, find);
    --depth;
    if (output >= outputs.size())
      throw Error(ErrorCode::kBadInput, "a compressed weight has fewer outputs than declared",
                  describe(*operation));
    return std::move(outputs[output]);
  };
  for (const auto& operation : block.operations) {
    const bool is_const = operation->type == "const" && operation->attribute("val") != nullptr;
    if (!is_const && !is_constexpr(*operation)) continue;
    depth = 0;
    if (!is_const) visit(*operation, decode_constexpr(*operation, find));
    for (std::size_t i = 0; i < operation->outputs.size(); ++i)
      places[operation->outputs[i]->name] = {&*operation, i};
  }
}

}  // namespace ounce::coreml
