#include "formats/coreml/emit/production.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <span>

#include "formats/coreml/emit/slabs.h"
#include "formats/coreml/file/bits.h"
#include "formats/coreml/file/values.h"
#include "formats/coreml/plan/palettes.h"
#include "kernels/half.h"
#include "kernels/pack.h"
#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::coreml {
namespace {

using kernels::Affine;
using plan::Encoding;
using quant::FloatSource;

template <class T>
Bytes as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

DataType float_type(const Decision& decision) {
  return decision.weight.is_half() ? DataType::kFloat16 : DataType::kFloat32;
}

std::uint64_t packed_bytes(std::uint64_t values, unsigned bits) { return (values * bits + 7) / 8; }

// Converts values to bytes in the type of the weight.
std::string float_bytes(const std::vector<float>& values, DataType type) {
  if (type == DataType::kFloat32) return std::string(as_bytes(values));
  std::vector<std::uint16_t> halves(values.size());
  kernels::HalfStats stats;
  kernels::f32_to_f16(reinterpret_cast<const std::byte*>(values.data()), values.size(), halves.data(), stats);
  return std::string(as_bytes(halves));
}

// Rounds values to the weight's type.
void round_to(DataType type, std::vector<float>& values) {
  if (type == DataType::kFloat32) return;
  const std::string halves = float_bytes(values, type);
  kernels::f16_to_f32(reinterpret_cast<const std::byte*>(halves.data()), values.size(), values.data());
}

// Writes quantized values, packed if they have fewer than 8 bits. `first` must be a multiple of 8, or of 2
// for 4 bits.
void write_codes(const std::vector<std::uint8_t>& codes, std::size_t first, unsigned bits,
                 const io::Place& place) {
  if (bits == 8) return place.write(first, as_bytes(codes));
  std::vector<std::uint8_t> packed(bytes_of_stream(codes.size(), bits));
  pack_stream(codes.data(), codes.size(), bits, packed.data());
  place.write(first * bits / 8, as_bytes(packed));
}

std::string zero_bytes(const Decision& decision, const std::vector<Affine>& affine) {
  std::vector<std::uint8_t> zeros;
  for (const Affine& group : affine) zeros.push_back(static_cast<std::uint8_t>(group.zero));
  if (!decision.is_packed()) return std::string(as_bytes(zeros));
  std::vector<std::uint8_t> packed((zeros.size() + 1) / 2);
  kernels::pack_pairs(zeros.data(), zeros.size(), packed.data());
  return std::string(as_bytes(packed));
}

std::string scale_bytes(const Decision& decision, const std::vector<Affine>& affine) {
  std::vector<float> scales;
  scales.reserve(affine.size());
  for (const Affine& group : affine) scales.push_back(group.scale);
  return float_bytes(scales, float_type(decision));
}

// Runs the steps of one slab in this thread.
void in_order(std::size_t count, const std::function<void(std::size_t)>& run) {
  for (std::size_t i = 0; i < count; ++i) run(i);
}

// Visits all slabs of a weight, with the values of each. A single slab uses all threads.
void for_each_slab(const Decision& decision, const FloatSource& floats, const ForEach& for_each,
                   const std::function<void(const Slab&, const FloatSource&, const ForEach&)>& visit) {
  const std::size_t slabs = slab_count(decision.layout);
  if (slabs == 1) return visit(slab_at(decision.layout, 0), floats, for_each);
  const auto type = decision.weight.is_half() ? quant::FloatType::kFloat16 : quant::FloatType::kFloat32;
  for_each(slabs, [&](std::size_t i) {
    const Slab slab = slab_at(decision.layout, i);
    visit(slab, FloatSource(floats.bytes_of(slab.first, slab.count), type), in_order);
    floats.release(slab.first, slab.count);
  });
}

// Writes values of fewer than 8 bits, or bytes, one after another.
class BitWriter {
 public:
  BitWriter(const io::Place& place, unsigned bits) : place_(place), bits_(bits) {}

  void add(std::uint8_t code) {
    pending_.push_back(code);
    if (pending_.size() == kBatch) flush();
  }
  void finish() { flush(); }

 private:
  static constexpr std::size_t kBatch = std::size_t{1} << 16;  // a multiple of 8

  void flush() {
    if (pending_.empty()) return;
    write_codes(pending_, written_, bits_, place_);
    written_ += pending_.size();
    pending_.clear();
  }

  const io::Place& place_;
  unsigned bits_;
  std::size_t written_ = 0;
  std::vector<std::uint8_t> pending_;
};

class StoredWeight final : public io::Production {
 public:
  StoredWeight(std::shared_ptr<const CoremlFile> source, Decision decision)
      : source_(std::move(source)), decision_(std::move(decision)) {}

  std::uint64_t source_bytes() const override { return decision_.weight.bytes(); }

  void run(std::span<const io::Place> parts, const ForEach& for_each) const override {
    const auto values = source_->read(decision_.value);
    const FloatSource& floats = values->floats();
    if (decision_.is_sparse) {
      write_sparse(floats, parts);
    } else if (decision_.is_half()) {
      write_halves(floats, part(parts, StoredPart::kCodes), for_each);
    } else if (decision_.is_linear()) {
      write_linear(floats, parts, for_each);
    } else {
      write_tables(floats, parts, for_each);
    }
  }

 private:
  // A part without a place in the weight file is written into the program.
  static const io::Place& part(std::span<const io::Place> parts, StoredPart which) {
    static const io::Place kNowhere = {[](std::uint64_t, std::string_view) {}};
    const auto index = static_cast<std::size_t>(which);
    return index < parts.size() && parts[index].write ? parts[index] : kNowhere;
  }

  static void write_halves(const FloatSource& floats, const io::Place& place, const ForEach& for_each) {
    quant::for_each_tile(
        floats, quant::kTile, for_each, [&](std::size_t, std::size_t first, std::size_t count) {
          std::vector<float> scratch;
          std::vector<std::uint16_t> halves(count);
          kernels::HalfStats stats;
          kernels::f32_to_f16(floats.values(first, count, scratch), count, halves.data(), stats);
          place.write(first * sizeof(std::uint16_t), as_bytes(halves));
        });
  }

  struct SlabScales {
    std::vector<Affine> affine;
    std::vector<Affine> of_ranges;  // that represent the largest magnitude; to compare rounding with
  };

  // In order, because the place of a value depends on those before it.
  void write_sparse(const FloatSource& whole, std::span<const io::Place> parts) const {
    if (!decision_.is_linear() && !decision_.is_half()) write_table_values(parts);
    BitWriter mask(part(parts, StoredPart::kMask), 1);
    BitWriter stored(part(parts, StoredPart::kCodes), std::min(decision_.bits(), 8U));
    for_each_slab(
        decision_, whole, in_order, [&](const Slab& slab, const FloatSource& floats, const ForEach& each) {
          const SlabScales scales =
              decision_.is_linear() ? write_scales(slab, floats, parts, each) : SlabScales();
          quant::for_each_tile(floats, quant::tile_size(slab.layout.inner), in_order,
                               [&](std::size_t, std::size_t first, std::size_t count) {
                                 const std::vector<std::uint8_t> codes =
                                     codes_of(slab, floats, scales, first, count);
                                 std::vector<float> scratch;
                                 const std::byte* const values = floats.values(first, count, scratch);
                                 const std::size_t width = codes.size() / count;
                                 for (std::size_t i = 0; i < count; ++i) {
                                   float value;
                                   std::memcpy(&value, values + i * sizeof value, sizeof value);
                                   mask.add(value != 0 ? 1 : 0);
                                   for (std::size_t k = 0; value != 0 && k < width; ++k)
                                     stored.add(codes[i * width + k]);
                                 }
                               });
        });
    mask.finish();
    stored.finish();
  }

  // One byte for each value, or two for 16-bit floats.
  std::vector<std::uint8_t> codes_of(const Slab& slab, const FloatSource& floats, const SlabScales& scales,
                                     std::size_t first, std::size_t count) const {
    std::vector<std::uint8_t> codes(count);
    if (decision_.is_half()) {
      const std::string_view bytes = floats.bytes_of(first, count);
      return {bytes.begin(), bytes.end()};
    }
    if (decision_.codes != nullptr) {
      std::copy_n(decision_.codes->data() + slab.first + first, count, codes.data());
    } else if (!decision_.is_linear()) {
      encode_palette(decision_, floats, first, count, codes.data());
    } else {
      encode_balanced(slab, floats, scales, first, codes);
    }
    return codes;
  }

  // Rounding that preserves sums increases the squared error. It is used for kernels, or else for channels,
  // as far as the error stays below the one of nearest rounding with the scales of the ranges.
  void encode_balanced(const Slab& slab, const FloatSource& floats, const SlabScales& scales,
                       std::size_t first, std::vector<std::uint8_t>& codes) const {
    constexpr double kGainOfFewBits = 0.89;  // 0.5 dB
    const auto encode = [&](std::size_t kernel) {
      quant::encode_linear(floats, slab.layout, decision_.format, scales.affine, kernel, first, codes.size(),
                           codes.data());
    };
    encode(decision_.kernel);
    if (decision_.kernel == 0 || scales.of_ranges.empty()) return;
    const double limit = noise_of_ranges(slab, floats, scales, first, codes.size()) *
                         (decision_.is_packed() ? kGainOfFewBits : 1.0);
    if (noise_of(slab, floats, scales, first, codes) <= limit) return;
    if (decision_.kernel > 1) {
      encode(1);
      if (noise_of(slab, floats, scales, first, codes) <= limit) return;
    }
    encode(0);
  }

  double noise_of(const Slab& slab, const FloatSource& floats, const SlabScales& scales, std::size_t first,
                  const std::vector<std::uint8_t>& codes) const {
    std::vector<float> decoded(codes.size()), scratch;
    quant::decode_linear(codes.data(), slab.layout, decision_.format, scales.affine, first, codes.size(),
                         decoded.data());
    kernels::ErrorNorms norms;
    kernels::error_norms(floats.values(first, codes.size(), scratch), decoded.data(), codes.size(), norms);
    return norms.noise;
  }

  double noise_of_ranges(const Slab& slab, const FloatSource& floats, const SlabScales& scales,
                         std::size_t first, std::size_t count) const {
    std::vector<float> scratch;
    const std::byte* const values = floats.values(first, count, scratch);
    double noise = 0;
    quant::for_each_segment(slab.layout, first, count, [&](const quant::Segment& segment) {
      const std::byte* const x = values + (segment.first - first) * sizeof(float);
      const bool has_columns = segment.kind == quant::Segment::Kind::kColumns;
      std::vector<double> errors(has_columns ? segment.length : segment.rows, 0.0);
      const Affine* const affine = scales.of_ranges.data() + segment.group;
      if (has_columns) {
        kernels::squared_error_columns(x, segment.rows, segment.length, segment.length, affine, 1,
                                       decision_.format.codes, errors.data());
      } else {
        kernels::squared_error_runs(x, segment.rows, segment.length, affine, 1, decision_.format.codes,
                                    errors.data());
      }
      for (const double error : errors) noise += error;
    });
    return noise;
  }

  void write_linear(const FloatSource& whole, std::span<const io::Place> parts,
                    const ForEach& for_each) const {
    for_each_slab(
        decision_, whole, for_each, [&](const Slab& slab, const FloatSource& floats, const ForEach& each) {
          const SlabScales scales = write_scales(slab, floats, parts, each);
          quant::for_each_tile(floats, quant::tile_size(slab.layout.inner), each,
                               [&](std::size_t, std::size_t first, std::size_t count) {
                                 write_codes(codes_of(slab, floats, scales, first, count), slab.first + first,
                                             decision_.bits(), part(parts, StoredPart::kCodes));
                               });
        });
  }

  // Finds, writes and returns the scales of a slab.
  SlabScales write_scales(const Slab& slab, const FloatSource& floats, std::span<const io::Place> parts,
                          const ForEach& for_each) const {
    SlabScales scales;
    std::vector<Affine>& affine = scales.affine;
    if (!decision_.affine.empty()) {
      const auto begin = decision_.affine.begin() + static_cast<std::ptrdiff_t>(slab.group);
      affine.assign(begin, begin + static_cast<std::ptrdiff_t>(slab.layout.groups()));
    } else {
      const auto ranges = quant::find_ranges(floats, slab.layout, for_each);
      affine = quant::find_affine(floats, slab.layout, decision_.format, ranges, decision_.scale, for_each);
      if (decision_.kernel != 0)
        scales.of_ranges =
            quant::find_affine(floats, slab.layout, decision_.format, ranges, ScaleMethod::kAbsMax, for_each);
    }
    const std::uint64_t width = decision_.weight.is_half() ? sizeof(std::uint16_t) : sizeof(float);
    part(parts, StoredPart::kScales).write(slab.group * width, scale_bytes(decision_, affine));
    if (!decision_.format.is_symmetric)
      part(parts, StoredPart::kZeros).write(slab.group * decision_.bits() / 8, zero_bytes(decision_, affine));
    return scales;
  }

  void write_table_values(std::span<const io::Place> parts) const {
    std::vector<float> all;
    for (const auto& table : decision_.tables) all.insert(all.end(), table.begin(), table.end());
    part(parts, StoredPart::kScales).write(0, float_bytes(all, float_type(decision_)));
    if (!decision_.row_scales.empty())
      part(parts, StoredPart::kRowScales).write(0, float_bytes(decision_.row_scales, float_type(decision_)));
  }

  void write_tables(const FloatSource& floats, std::span<const io::Place> parts,
                    const ForEach& for_each) const {
    write_table_values(parts);
    quant::for_each_tile(floats, quant::kTile, for_each,
                         [&](std::size_t, std::size_t first, std::size_t count) {
                           write_codes(codes_of({}, floats, {}, first, count), first, decision_.bits(),
                                       part(parts, StoredPart::kCodes));
                         });
  }

  const std::shared_ptr<const CoremlFile> source_;
  const Decision decision_;
};

DataType codes_type(const Decision& decision) {
  if (decision.is_half()) return DataType::kFloat16;
  if (!decision.is_linear()) return unsigned_type(decision.bits());
  const bool is_signed = decision.format.sign == kernels::CodeSign::kSigned;
  if (decision.is_packed()) return is_signed ? DataType::kInt4 : DataType::kUint4;
  return is_signed ? DataType::kInt8 : DataType::kUint8;
}

}  // namespace

std::vector<StoredTensor> stored_tensors(const std::shared_ptr<const CoremlFile>& source,
                                         const Decision& decision) {
  const auto production = std::make_shared<const StoredWeight>(source, decision);
  std::vector<StoredTensor> tensors;
  const auto add = [&](StoredPart part, DataType type, std::vector<std::int64_t> dims, std::uint64_t values) {
    tensors.push_back(
        {part, type, std::move(dims),
         io::Computed{production, static_cast<std::size_t>(part), packed_bytes(values, info_of(type).bits)}});
  };
  if (decision.is_sparse) {
    add(StoredPart::kMask, DataType::kUint1, decision.weight.dims, decision.weight.values());
    add(StoredPart::kCodes, codes_type(decision), {static_cast<std::int64_t>(decision.nonzeros)},
        decision.nonzeros);
  } else {
    add(StoredPart::kCodes, codes_type(decision), decision.weight.dims, decision.weight.values());
  }
  const std::uint64_t groups = decision.layout.groups();
  if (decision.is_linear()) {
    add(StoredPart::kScales, float_type(decision), decision.group_dims, groups);
    if (!decision.format.is_symmetric)
      add(StoredPart::kZeros, codes_type(decision), decision.group_dims, groups);
  } else if (!decision.is_half()) {
    const std::int64_t entries = std::int64_t{1} << decision.bits();
    std::vector<std::int64_t> dims = decision.group_dims;
    dims.insert(dims.end(), {entries, 1});
    add(StoredPart::kScales, float_type(decision), dims, groups * static_cast<std::uint64_t>(entries));
    if (!decision.row_scales.empty()) {
      std::vector<std::int64_t> rows(decision.weight.dims.size(), 1);
      const std::size_t axis = decision.weight.channels->first;
      rows[axis] = decision.weight.dims[axis];
      add(StoredPart::kRowScales, float_type(decision), rows, decision.row_scales.size());
    }
  }
  return tensors;
}

std::string part_bytes(const Decision& decision, StoredPart part) {
  switch (part) {
    case StoredPart::kZeros: return zero_bytes(decision, decision.affine);
    case StoredPart::kRowScales: return float_bytes(decision.row_scales, float_type(decision));
    default: return scale_bytes(decision, decision.affine);
  }
}

namespace {

// The parameters of the written operations: attributes (iOS16) or inputs (iOS18).
class WrittenWeight {
 public:
  WrittenWeight(const Decision& decision, const WrittenOperations& operations)
      : decision_(decision),
        operation_(operations.first != nullptr ? *operations.first : *operations.last),
        codes_(find(operation_, {"quantized_data", "data", "indices", "source_val", "nonzero_data",
                                 "indices_nonzero_data"})) {
    const std::uint64_t values = decision.weight.values();
    const std::uint64_t stored = decision.is_sparse ? decision.nonzeros : values;
    if (codes_.bytes().size() != bytes_of_stream(stored, decision.bits())) fail("has another size");
    if (decision.is_sparse) {
      mask_.emplace(find(operation_, {"mask", "data_mask", "indices_mask"}));
      if (mask_->bytes().size() != bytes_of_stream(values, 1)) fail("has another mask");
    }
    if (decision.is_half()) return;
    scales_.emplace(find(operation_, {"scale", "lut"}));
    check_type(find(operation_, {"scale", "lut"}));
    const std::size_t per_group = decision.is_linear() ? 1 : std::size_t{1} << decision.bits();
    if (scales_->bytes().size() != decision.layout.groups() * per_group * width()) fail("has other scales");
    if (decision.is_linear()) {
      read_zeros();
      return;
    }
    for (std::size_t group = 0; group < decision.layout.groups(); ++group)
      tables_.push_back(floats(*scales_, group * per_group, per_group));
    if (decision.row_scales.empty()) return;
    const RawValues rows(find(*operations.last, {"scale"}));
    row_scales_ = floats(rows, 0, rows.bytes().size() / width());
    if (row_scales_.size() != decision.row_scales.size()) fail("has other scales");
  }

  Bytes codes(std::size_t first, std::size_t count) const {
    return codes_.bytes().substr(first * decision_.bits() / 8, count * decision_.bits() / 8);
  }

  // Decodes [first, first + count) of a slab. Its first value must be a multiple of 8, or of 2 for 4 bits.
  void decode(const Slab& slab, const std::vector<Affine>& affine, std::size_t first, std::size_t count,
              std::vector<float>& values) const {
    values.resize(count);
    const std::size_t at = slab.first + first;
    const auto* const codes = reinterpret_cast<const std::uint8_t*>(codes_.bytes().data());
    if (decision_.is_half())
      return kernels::f16_to_f32(reinterpret_cast<const std::byte*>(codes) + at * sizeof(std::uint16_t),
                                 count, values.data());
    std::vector<std::uint8_t> unpacked;
    if (decision_.is_packed()) {
      unpacked.resize(count);
      const bool is_signed = decision_.is_linear() && decision_.format.sign == kernels::CodeSign::kSigned;
      const std::uint8_t* const packed = codes + at * decision_.bits() / 8;
      if (is_signed) {
        kernels::unpack_pairs_signed(packed, count, unpacked.data());
      } else {
        unpack_stream(packed, count, decision_.bits(), unpacked.data());
      }
    }
    const std::uint8_t* const plain = decision_.is_packed() ? unpacked.data() : codes + at;
    if (!decision_.is_linear())
      return decode_palette(tables_, row_scales_, decision_, plain, at, count, values.data());
    quant::decode_linear(plain, slab.layout, decision_.format, affine, first, count, values.data());
    round_to(float_type(decision_), values);
  }

  // Decodes the next values of a sparse weight. Must be called in order.
  void decode_sparse(const Slab& slab, const std::vector<Affine>& affine, std::size_t first,
                     std::size_t count, std::vector<float>& values) {
    if (!next_mask_) {
      next_mask_.emplace(reinterpret_cast<const std::uint8_t*>(mask_->bytes().data()), 1U);
      next_code_.emplace(reinterpret_cast<const std::uint8_t*>(codes_.bytes().data()),
                         std::min(decision_.bits(), 8U));
    }
    values.assign(count, 0.0F);
    std::vector<std::uint8_t> mask(count), codes(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      mask[i] = next_mask_->next();
      if (mask[i] == 0) continue;
      if (++seen_ > decision_.nonzeros) fail("has another mask");
      codes[i] = next_code_->next();
      if (!decision_.is_half()) continue;
      const std::uint8_t half[] = {codes[i], next_code_->next()};
      kernels::ref::f16_to_f32(reinterpret_cast<const std::byte*>(half), 1, &values[i]);
    }
    if (decision_.is_half()) return;
    if (decision_.is_linear()) {
      if (decision_.is_packed() && decision_.format.sign == kernels::CodeSign::kSigned) {
        for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>((code ^ 8U) - 8U);
      }
      quant::decode_linear(codes.data(), slab.layout, decision_.format, affine, first, count, values.data());
      round_to(float_type(decision_), values);
    } else {
      decode_palette(tables_, row_scales_, decision_, codes.data(), slab.first + first, count, values.data());
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (mask[i] == 0) values[i] = 0;
    }
  }

  std::vector<Affine> affine_of(const Slab& slab) const {
    std::vector<Affine> affine;
    if (!decision_.is_linear()) return affine;
    const std::size_t groups = slab.layout.groups();
    const std::vector<float> scales = floats(*scales_, slab.group, groups);
    std::vector<std::uint8_t> zeros(groups, one_zero_);
    if (zeros_ && decision_.is_packed()) {
      unpack_stream(reinterpret_cast<const std::uint8_t*>(zeros_->bytes().data()) + slab.group / 2, groups, 4,
                    zeros.data());
    } else if (zeros_) {
      std::memcpy(zeros.data(), zeros_->bytes().data() + slab.group, groups);
    }
    affine.reserve(groups);
    for (std::size_t i = 0; i < groups; ++i)
      affine.push_back(quant::make_affine(scales[i], static_cast<float>(zeros[i])));
    return affine;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorCode::kInternal, fmt::format("the written weight {}", what),
                std::string(decision_.weight.name));
  }

  static const Value* find_value(const Operation& operation, std::string_view name) {
    const Value* const value = operation.attribute(name);
    return value != nullptr ? value : bound_value(operation, name);
  }
  const Value& find(const Operation& operation, std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const Value* value = find_value(operation, name); value != nullptr) return *value;
    }
    fail("is missing");
  }

  std::size_t width() const { return decision_.weight.is_half() ? sizeof(std::uint16_t) : sizeof(float); }
  void check_type(const Value& value) const {
    if (value.type.type != float_type(decision_)) fail("has scales of another type");
  }
  std::vector<float> floats(const RawValues& raw, std::size_t first, std::size_t count) const {
    std::vector<float> values(count);
    const auto* const bytes = reinterpret_cast<const std::byte*>(raw.bytes().data()) + first * width();
    if (decision_.weight.is_half()) {
      kernels::f16_to_f32(bytes, count, values.data());
    } else {
      std::memcpy(values.data(), bytes, count * sizeof(float));
    }
    return values;
  }

  // Zero points of each group, or one for all of them.
  void read_zeros() {
    const Value* value = find_value(operation_, "zero_point");
    if (value == nullptr) value = find_value(operation_, "offset");
    if (value == nullptr) return;
    if (decision_.format.is_symmetric) {
      const auto given = integers_of(*value);
      if (!given || given->size() != 1) fail("has other zero points");
      one_zero_ = static_cast<std::uint8_t>(given->front());
      return;
    }
    zeros_.emplace(*value);
    const std::size_t groups = decision_.layout.groups();
    if (zeros_->bytes().size() != bytes_of_stream(groups, decision_.bits())) fail("has other zero points");
  }

  const Decision& decision_;
  const Operation& operation_;  // with the quantized values
  RawValues codes_;
  std::optional<RawValues> scales_, zeros_, mask_;
  std::optional<StreamReader> next_mask_, next_code_;
  std::uint64_t seen_ = 0;  // values that the mask has
  std::uint8_t one_zero_ = 0;
  std::vector<std::vector<float>> tables_;
  std::vector<float> row_scales_;
};

}  // namespace

kernels::ErrorNorms compare_weight(const CoremlFile& source, const Decision& decision,
                                   const CoremlFile& written, const WrittenOperations& operations,
                                   const ForEach& for_each) {
  WrittenWeight decoded(decision, operations);
  const auto values = source.read(decision.value);
  const FloatSource& whole = values->floats();
  kernels::ErrorNorms total;
  std::vector<kernels::ErrorNorms> slabs(slab_count(decision.layout));
  const auto add = [](const kernels::ErrorNorms& part, kernels::ErrorNorms& sum) {
    sum.signal += part.signal;
    sum.noise += part.noise;
    if (!(part.max_abs <= sum.max_abs)) sum.max_abs = part.max_abs;
  };
  for_each_slab(decision, whole, decision.is_sparse ? ForEach(in_order) : for_each,
                [&](const Slab& slab, const FloatSource& floats, const ForEach& each) {
                  const std::vector<Affine> affine = decoded.affine_of(slab);
                  std::vector<kernels::ErrorNorms> tiles(quant::tile_count(floats, quant::kTile));
                  quant::for_each_tile(floats, quant::kTile, decision.is_sparse ? ForEach(in_order) : each,
                                       [&](std::size_t tile, std::size_t first, std::size_t count) {
                                         std::vector<float> again, scratch;
                                         if (decision.is_sparse) {
                                           decoded.decode_sparse(slab, affine, first, count, again);
                                         } else {
                                           decoded.decode(slab, affine, first, count, again);
                                           written.model().release(decoded.codes(slab.first + first, count));
                                         }
                                         kernels::error_norms(floats.values(first, count, scratch),
                                                              again.data(), count, tiles[tile]);
                                       });
                  kernels::ErrorNorms& sum = slabs[slab_index(decision.layout, slab)];
                  for (const kernels::ErrorNorms& tile : tiles) add(tile, sum);
                });
  for (const kernels::ErrorNorms& slab : slabs) add(slab, total);
  return total;
}

}  // namespace ounce::coreml
