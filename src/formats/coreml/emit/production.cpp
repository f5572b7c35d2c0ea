#include "formats/coreml/emit/production.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <span>

#include "formats/coreml/file/values.h"
#include "kernels/half.h"
#include "kernels/pack.h"
#include "quant/codebook.h"
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

// Writes quantized values; packs two 4-bit values per byte. `first` must be even.
void write_codes(const std::vector<std::uint8_t>& codes, std::size_t first, bool is_packed,
                 const io::Place& place) {
  if (!is_packed) return place.write(first, as_bytes(codes));
  std::vector<std::uint8_t> packed((codes.size() + 1) / 2);
  kernels::pack_pairs(codes.data(), codes.size(), packed.data());
  place.write(first / 2, as_bytes(packed));
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
  for (const Affine& group : affine) scales.push_back(group.scale);
  return float_bytes(scales, float_type(decision));
}

class StoredWeight final : public io::Production {
 public:
  StoredWeight(std::shared_ptr<const CoremlFile> source, Decision decision)
      : source_(std::move(source)), decision_(std::move(decision)) {}

  std::uint64_t source_bytes() const override { return decision_.weight.bytes(); }

  void run(std::span<const io::Place> parts, const ForEach& for_each) const override {
    const auto values = source_->read(decision_.value);
    const FloatSource& floats = values->floats();
    if (decision_.is_half()) {
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

  void write_linear(const FloatSource& floats, std::span<const io::Place> parts,
                    const ForEach& for_each) const {
    const quant::Layout& layout = decision_.layout;
    std::vector<Affine> affine = decision_.affine;
    if (affine.empty()) {
      const auto ranges =
          decision_.ranges.empty() ? quant::find_ranges(floats, layout, for_each) : decision_.ranges;
      affine = quant::find_affine(floats, layout, decision_.format, ranges, decision_.scale, for_each);
    }
    part(parts, StoredPart::kScales).write(0, scale_bytes(decision_, affine));
    if (!decision_.format.is_symmetric)
      part(parts, StoredPart::kZeros).write(0, zero_bytes(decision_, affine));
    quant::for_each_tile(floats, quant::tile_size(layout.inner), for_each,
                         [&](std::size_t, std::size_t first, std::size_t count) {
                           std::vector<std::uint8_t> codes(count);
                           quant::encode_linear(floats, layout, decision_.format, affine, decision_.kernel,
                                                first, count, codes.data());
                           write_codes(codes, first, decision_.is_packed(), part(parts, StoredPart::kCodes));
                         });
  }

  // Writes one table per group, rounded to the type of the weight, and for each value the index of the
  // nearest rounded entry.
  void write_tables(const FloatSource& floats, std::span<const io::Place> parts,
                    const ForEach& for_each) const {
    const quant::Layout& layout = decision_.layout;
    const std::size_t entries = std::size_t{1} << decision_.bits();
    const std::vector<std::vector<float>> tables = fit_tables(floats, entries, for_each);
    std::vector<float> all;
    for (const auto& table : tables) all.insert(all.end(), table.begin(), table.end());
    part(parts, StoredPart::kScales).write(0, float_bytes(all, float_type(decision_)));
    std::vector<std::vector<float>> limits;
    for (const auto& table : tables) limits.push_back(quant::boundaries(table));
    quant::for_each_tile(
        floats, quant::tile_size(layout.inner), for_each,
        [&](std::size_t, std::size_t first, std::size_t count) {
          std::vector<std::uint8_t> codes(count);
          std::vector<float> scratch;
          const std::byte* values = floats.values(first, count, scratch);
          for_each_piece(first, count, [&](std::size_t at, std::size_t length, std::size_t group) {
            kernels::encode_nearest(values + (at - first) * sizeof(float), length, limits[group].data(),
                                    entries, codes.data() + (at - first));
          });
          write_codes(codes, first, decision_.is_packed(), part(parts, StoredPart::kCodes));
        });
  }

  // Visits the pieces of a range that belong to one group. With several groups, `inner` is not 1.
  template <class Visit>
  void for_each_piece(std::size_t first, std::size_t count, const Visit& visit) const {
    const quant::Layout& layout = decision_.layout;
    for (std::size_t at = first; at < first + count;) {
      const std::size_t end = std::min(first + count, (at / layout.inner + 1) * layout.inner);
      visit(at, end - at, at / layout.inner % layout.channels);
      at = end;
    }
  }

  std::vector<std::vector<float>> fit_tables(const FloatSource& floats, std::size_t entries,
                                             const ForEach& for_each) const {
    const quant::Layout& layout = decision_.layout;
    std::vector<std::vector<float>> tables(layout.groups());
    const auto ranges =
        decision_.ranges.empty() ? quant::find_ranges(floats, layout, for_each) : decision_.ranges;
    for_each(layout.groups(), [&](std::size_t group) {
      quant::CodebookFitter fitter(ranges[group].min, ranges[group].max);
      std::vector<float> scratch;
      for (std::size_t o = 0; o < layout.outer; ++o) {
        const std::size_t begin = (o * layout.channels + group) * layout.inner;
        for (std::size_t at = 0; at < layout.inner; at += quant::kTile) {
          const std::size_t count = std::min(quant::kTile, layout.inner - at);
          fitter.add(floats.values(begin + at, count, scratch), count);
          floats.release(begin + at, count);
        }
      }
      tables[group] = fitter.fit(entries);
      round_to(float_type(decision_), tables[group]);
    });
    return tables;
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
  add(StoredPart::kCodes, codes_type(decision), decision.weight.dims, decision.weight.values());
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
  }
  return tensors;
}

std::string part_bytes(const Decision& decision, StoredPart part) {
  return part == StoredPart::kZeros ? zero_bytes(decision, decision.affine)
                                    : scale_bytes(decision, decision.affine);
}

namespace {

// The parameters of a written operation: attributes (iOS16) or inputs (iOS18).
class WrittenWeight {
 public:
  WrittenWeight(const Decision& decision, const Operation& operation)
      : decision_(decision),
        operation_(operation),
        codes_(find({"quantized_data", "data", "indices", "source_val"})) {
    const std::uint64_t size = packed_bytes(decision.weight.values(), decision.bits());
    if (codes_.bytes().size() != size) fail("has another size");
    if (decision.is_half()) return;
    scales_ = floats_of(find({"scale", "lut"}));
    const std::size_t per_group = decision.is_linear() ? 1 : std::size_t{1} << decision.bits();
    if (scales_.size() != decision.layout.groups() * per_group) fail("has other scales");
    if (!decision.is_linear()) return;
    read_affine();
  }

  Bytes codes(std::size_t first, std::size_t count) const {
    return codes_.bytes().substr(first * decision_.bits() / 8, count * decision_.bits() / 8);
  }

  // `first` must be even.
  void decode(std::size_t first, std::size_t count, std::vector<float>& values) const {
    values.resize(count);
    const auto* const codes = reinterpret_cast<const std::uint8_t*>(codes_.bytes().data());
    if (decision_.is_half())
      return kernels::f16_to_f32(reinterpret_cast<const std::byte*>(codes) + first * sizeof(std::uint16_t),
                                 count, values.data());
    std::vector<std::uint8_t> unpacked;
    if (decision_.is_packed()) {
      unpacked.resize(count);
      const bool is_signed = decision_.is_linear() && decision_.format.sign == kernels::CodeSign::kSigned;
      (is_signed ? kernels::unpack_pairs_signed : kernels::unpack_pairs)(codes + first / 2, count,
                                                                         unpacked.data());
    }
    const std::uint8_t* const plain = decision_.is_packed() ? unpacked.data() : codes + first;
    if (decision_.is_linear()) {
      quant::decode_linear(plain, decision_.layout, decision_.format, affine_, first, count, values.data());
      round_to(float_type(decision_), values);
      return;
    }
    const quant::Layout& layout = decision_.layout;
    const std::size_t entries = std::size_t{1} << decision_.bits();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t group = (first + i) / layout.inner % layout.channels;
      values[i] = scales_[group * entries + plain[i]];
    }
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorCode::kInternal, fmt::format("the written weight {}", what),
                std::string(decision_.weight.name));
  }

  const Value* find_value(std::string_view name) const {
    const Value* const value = operation_.attribute(name);
    return value != nullptr ? value : bound_value(operation_, name);
  }
  const Value& find(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const Value* value = find_value(name); value != nullptr) return *value;
    }
    fail("is missing");
  }

  std::vector<float> floats_of(const Value& value) const {
    if (value.type.type != float_type(decision_)) fail("has scales of another type");
    const RawValues raw(value);
    std::vector<float> floats(raw.bytes().size() / (info_of(value.type.type).bits / 8U));
    if (value.type.type == DataType::kFloat32) {
      std::memcpy(floats.data(), raw.bytes().data(), raw.bytes().size());
    } else {
      kernels::f16_to_f32(reinterpret_cast<const std::byte*>(raw.bytes().data()), floats.size(),
                          floats.data());
    }
    return floats;
  }

  void read_affine() {
    std::vector<std::int64_t> zeros(scales_.size(), 0);
    const Value* const value =
        find_value("zero_point") != nullptr ? find_value("zero_point") : find_value("offset");
    if (value != nullptr) {
      const auto given = integers_of(*value);
      if (!given || (given->size() != 1 && given->size() != zeros.size())) fail("has other zero points");
      for (std::size_t i = 0; i < zeros.size(); ++i) zeros[i] = (*given)[given->size() == 1 ? 0 : i];
    }
    for (std::size_t i = 0; i < scales_.size(); ++i)
      affine_.push_back(quant::make_affine(scales_[i], static_cast<float>(zeros[i])));
  }

  const Decision& decision_;
  const Operation& operation_;
  RawValues codes_;
  std::vector<float> scales_;  // or tables
  std::vector<Affine> affine_;
};

}  // namespace

kernels::ErrorNorms compare_weight(const CoremlFile& source, const Decision& decision,
                                   const CoremlFile& written, const Operation& operation,
                                   const ForEach& for_each) {
  const WrittenWeight decoded(decision, operation);
  const auto values = source.read(decision.value);
  const FloatSource& floats = values->floats();
  std::vector<kernels::ErrorNorms> tiles(quant::tile_count(floats, quant::kTile));
  quant::for_each_tile(
      floats, quant::kTile, for_each, [&](std::size_t tile, std::size_t first, std::size_t count) {
        std::vector<float> again, scratch;
        decoded.decode(first, count, again);
        kernels::error_norms(floats.values(first, count, scratch), again.data(), count, tiles[tile]);
        written.model().release(decoded.codes(first, count));
      });
  kernels::ErrorNorms total;
  for (const kernels::ErrorNorms& tile : tiles) {
    total.signal += tile.signal;
    total.noise += tile.noise;
    if (!(tile.max_abs <= total.max_abs)) total.max_abs = tile.max_abs;
  }
  return total;
}

}  // namespace ounce::coreml
