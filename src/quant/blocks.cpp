#include "quant/blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "kernels/half.h"
#include "kernels/pack.h"
#include "quant/layout.h"

namespace ounce::quant {
namespace {

using kernels::kPanelBlocks;

constexpr std::size_t kCodesPerByte = 4;                  // with 2 bits
constexpr std::size_t kPanelTile = std::size_t{1} << 16;  // values read before they are split: 256 KiB

// The number of values of a block that exist in the source.
std::size_t block_columns(const BlockRows& shape, std::size_t block) {
  return std::min(shape.block, shape.columns - block * shape.block);
}

// Splits a tile of whole blocks, read in pieces that are long in memory, into panels.
void show_columns(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
                  const VisitPanel& visit) {
  const std::size_t per_tile = std::max<std::size_t>(1, kPanelTile / (count * shape.block));
  std::vector<float> scratch, tile(per_tile * shape.block * count), panel(shape.block * kPanelBlocks);
  for (std::size_t begin = 0; begin < shape.blocks(); begin += per_tile) {
    const std::size_t end = std::min(shape.blocks(), begin + per_tile), top = begin * shape.block;
    const std::size_t height = std::min(shape.columns, end * shape.block) - top;
    const FloatSource::Matrix matrix =
        source.matrix(top * shape.rows + first, height, count, shape.rows, scratch);
    for (std::size_t i = 0; i < height; ++i)
      std::memcpy(tile.data() + i * count, matrix.data + i * matrix.stride * sizeof(float),
                  count * sizeof(float));
    for (std::size_t block = begin; block < end; ++block) {
      const float* const from = tile.data() + (block - begin) * shape.block * count;
      const std::size_t columns = block_columns(shape, block);
      for (std::size_t row = 0; row < count; row += kPanelBlocks) {
        const std::size_t rows = std::min(kPanelBlocks, count - row);
        if (rows < kPanelBlocks || columns < shape.block) std::fill(panel.begin(), panel.end(), 0.0F);
        if (rows == kPanelBlocks) {  // constant size, for the compiler
          for (std::size_t i = 0; i < columns; ++i)
            std::memcpy(panel.data() + i * kPanelBlocks, from + i * count + row,
                        kPanelBlocks * sizeof(float));
        } else {
          for (std::size_t i = 0; i < columns; ++i)
            std::copy_n(from + i * count + row, rows, panel.data() + i * kPanelBlocks);
        }
        visit({first + row, rows, block}, panel.data());
      }
    }
  }
}

void show_rows(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
               const VisitPanel& visit) {
  std::vector<float> scratch, panel(shape.block * kPanelBlocks), row_values(shape.block);
  for (std::size_t row = 0; row < count; row += kPanelBlocks) {
    const std::size_t rows = std::min(kPanelBlocks, count - row);
    for (std::size_t block = 0; block < shape.blocks(); ++block) {
      const std::size_t columns = block_columns(shape, block);
      if (rows < kPanelBlocks || columns < shape.block) std::fill(panel.begin(), panel.end(), 0.0F);
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t at = (first + row + r) * shape.columns + block * shape.block;
        std::memcpy(row_values.data(), source.values(at, columns, scratch), columns * sizeof(float));
        for (std::size_t i = 0; i < columns; ++i) panel[i * kPanelBlocks + r] = row_values[i];
      }
      visit({first + row, rows, block}, panel.data());
    }
  }
}

// The position of a panel's values in packed rows.
struct PackedPlace {
  PackedPlace(const BlockRows& shape, const PanelPlace& place, unsigned bits)
      : row_bytes(shape.row_bytes(bits)),
        offset(place.block * shape.block * bits / 8),
        bytes(std::min(shape.block * bits / 8, row_bytes - offset)),
        per_byte(8 / bits) {}
  std::size_t row_bytes, offset, bytes;
  unsigned per_byte;
};

// The bytes of sixteen blocks, eight per word: values do not cross byte borders.
using Sixteen = std::array<std::uint64_t, 2>;
Sixteen load_sixteen(const std::uint8_t* bytes) {
  Sixteen words;
  std::memcpy(words.data(), bytes, sizeof words);
  return words;
}

}  // namespace

void for_each_panel(const FloatSource& source, const BlockRows& shape, std::size_t first, std::size_t count,
                    const VisitPanel& visit) {
  (shape.is_transposed ? show_columns : show_rows)(source, shape, first, count, visit);
}

void pack_panel(const std::uint8_t* codes, const BlockRows& shape, const PanelPlace& place, unsigned bits,
                std::uint8_t* packed) {
  const PackedPlace to(shape, place, bits);
  std::uint8_t joined[kPanelBlocks * kPanelBlocks], turned[kPanelBlocks * kPanelBlocks];
  for (std::size_t first = 0; first < to.bytes; first += kPanelBlocks) {
    const std::size_t bytes = std::min(kPanelBlocks, to.bytes - first);
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      Sixteen sum{};
      for (unsigned k = 0; k < to.per_byte; ++k) {
        const Sixteen next = load_sixteen(codes + ((first + byte) * to.per_byte + k) * kPanelBlocks);
        for (std::size_t half = 0; half < 2; ++half) sum[half] |= next[half] << (bits * k);
      }
      std::memcpy(joined + byte * kPanelBlocks, sum.data(), sizeof sum);
    }
    std::uint8_t* const at = packed + to.offset + first;
    if (bytes == kPanelBlocks && place.rows == kPanelBlocks) {
      kernels::turn_bytes(joined, kPanelBlocks, at, to.row_bytes);
      continue;
    }
    kernels::turn_bytes(joined, kPanelBlocks, turned, kPanelBlocks);
    for (std::size_t r = 0; r < place.rows; ++r)
      std::copy_n(turned + r * kPanelBlocks, bytes, at + r * to.row_bytes);
  }
}

void unpack_panel(const std::uint8_t* packed, const BlockRows& shape, const PanelPlace& place, unsigned bits,
                  std::uint8_t* codes) {
  const PackedPlace from(shape, place, bits);
  const std::uint64_t mask = ((std::uint64_t{1} << bits) - 1) * 0x0101010101010101;
  std::uint8_t rows[kPanelBlocks * kPanelBlocks] = {}, turned[kPanelBlocks * kPanelBlocks];
  if (from.bytes * from.per_byte < shape.block)
    std::fill_n(codes, shape.block * kPanelBlocks, std::uint8_t{0});
  for (std::size_t first = 0; first < from.bytes; first += kPanelBlocks) {
    const std::size_t bytes = std::min(kPanelBlocks, from.bytes - first);
    const std::uint8_t* const at = packed + from.offset + first;
    if (bytes == kPanelBlocks && place.rows == kPanelBlocks) {
      kernels::turn_bytes(at, from.row_bytes, turned, kPanelBlocks);
    } else {
      for (std::size_t r = 0; r < place.rows; ++r)
        std::copy_n(at + r * from.row_bytes, bytes, rows + r * kPanelBlocks);
      kernels::turn_bytes(rows, kPanelBlocks, turned, kPanelBlocks);
    }
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      const Sixteen joined = load_sixteen(turned + byte * kPanelBlocks);
      for (unsigned k = 0; k < from.per_byte; ++k) {
        const Sixteen one = {(joined[0] >> (bits * k)) & mask, (joined[1] >> (bits * k)) & mask};
        std::memcpy(codes + ((first + byte) * from.per_byte + k) * kPanelBlocks, one.data(), sizeof one);
      }
    }
  }
}

std::size_t stripe_count(const BlockRows& shape) { return (shape.rows + kStripeRows - 1) / kStripeRows; }

void for_each_stripe(const FloatSource& source, const BlockRows& shape, const ForEach& for_each,
                     const VisitRows& run) {
  // Parallel stripes read the same pages of a source that is read by columns: these pages are released when
  // several pages' worth of columns are done.
  const std::size_t pages = std::max<std::size_t>(1, kResident / (kPanelWidth * shape.columns));
  const std::size_t per_release = std::max<std::size_t>(1, pages * kPanelWidth / kStripeRows);
  for_each(stripe_count(shape), [&](std::size_t stripe) {
    const std::size_t first = stripe * kStripeRows, count = std::min(kStripeRows, shape.rows - first);
    run(stripe, first, count);
    if (!shape.is_transposed) {
      source.release(first * shape.columns, count * shape.columns);
    } else if ((stripe + 1) % per_release == 0) {
      source.release();
    }
  });
  source.release();
}

void pack_codes(const std::uint8_t* codes, std::size_t n, unsigned bits, std::uint8_t* packed) {
  if (bits == 8) {
    std::copy_n(codes, n, packed);
  } else if (bits == 4) {
    kernels::pack_pairs(codes, n, packed);
  } else {
    std::fill_n(packed, (n + kCodesPerByte - 1) / kCodesPerByte, std::uint8_t{0});
    for (std::size_t i = 0; i < n; ++i)
      packed[i / kCodesPerByte] |= static_cast<std::uint8_t>((codes[i] & 3U) << (2 * (i % kCodesPerByte)));
  }
}

void unpack_codes(const std::uint8_t* packed, std::size_t n, unsigned bits, std::uint8_t* codes) {
  if (bits == 8) {
    std::copy_n(packed, n, codes);
  } else if (bits == 4) {
    kernels::unpack_pairs(packed, n, codes);
  } else {
    for (std::size_t i = 0; i < n; ++i)
      codes[i] =
          static_cast<std::uint8_t>(unsigned{packed[i / kCodesPerByte]} >> (2 * (i % kCodesPerByte)) & 3U);
  }
}

namespace {

using kernels::Affine;
using kernels::kPanelBlocks;
using kernels::PanelBest;
using kernels::PanelCandidate;
using PanelFloats = std::array<float, kPanelBlocks>;

// Initial candidate scales, as shares of the range.
constexpr std::array<float, 9> kFewCoverage4 = {1.0F, 1.06F, 0.94F, 0.88F, 0.82F, 0.76F, 0.7F, 0.63F, 0.55F};
constexpr std::array<float, 9> kFewCoverage2 = {1.0F, 1.2F, 0.88F, 0.77F, 0.67F, 0.58F, 0.5F, 0.42F, 0.34F};
constexpr std::array<float, 1> kFewCoverage8 = {1.0F};
constexpr std::size_t kMostCandidates = 2 * kFewCoverage4.size();
constexpr int kRefinements = 2;
// The inverse of smaller ranges overflows.
constexpr float kLeastRange = 1024 * std::numeric_limits<float>::min();

std::span<const float> coverage_of(const LinearFormat& format) {
  const int steps = format.codes.hi - format.codes.lo;
  if (steps > 15) return kFewCoverage8;
  return steps > 3 ? std::span<const float>(kFewCoverage4) : std::span<const float>(kFewCoverage2);
}

float half_of(float value) {
  std::uint16_t half = 0;
  kernels::HalfStats stats;
  kernels::f32_to_f16(reinterpret_cast<const std::byte*>(&value), 1, &half, stats);
  float back = 0;
  kernels::f16_to_f32(reinterpret_cast<const std::byte*>(&half), 1, &back);
  return back;
}

// The scale search of one panel.
class Panel {
 public:
  Panel(const float* x, const float* energy, std::size_t n, const LinearFormat& format)
      : x_(x), energy_(energy), n_(n), format_(format) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t b = 0; b < kPanelBlocks; ++b) {
        const float value = x[i * kPanelBlocks + b];
        low_[b] = value < low_[b] ? value : low_[b];
        high_[b] = value > high_[b] ? value : high_[b];
      }
    }
    begin();
  }

  void search() {
    std::array<PanelCandidate, kMostCandidates> candidates;
    std::size_t count = 0;
    for (const float coverage : coverage_of(format_)) {
      for (const bool is_other : {false, true}) {
        PanelCandidate& candidate = candidates[count++];
        for (std::size_t b = 0; b < kPanelBlocks; ++b) {
          candidate.inverse[b] = (is_other ? other_inverse_ : inverse_)[b] / coverage;
          candidate.lo[b] = lowest_ - (is_other ? other_zero_ : zero_)[b];
          candidate.hi[b] = candidate.lo[b] + (highest_ - lowest_);
        }
      }
    }
    PanelBest best{};
    for (std::size_t b = 0; b < kPanelBlocks; ++b) {
      best.scale[b] = scale_[b];
      best.lo[b] = lowest_ - zero_[b];
    }
    kernels::improve_panel(x_, energy_, n_, candidates.data(), count, best);
    // The best scale for the quantized values gives other values, which have another best scale.
    for (int i = 0; i < kRefinements; ++i) {
      PanelCandidate candidate;
      for (std::size_t b = 0; b < kPanelBlocks; ++b) {
        candidate.inverse[b] = affine_of(best.scale[b], 0).inverse;
        candidate.lo[b] = best.lo[b];
        candidate.hi[b] = best.lo[b] + (highest_ - lowest_);
      }
      kernels::improve_panel(x_, energy_, n_, &candidate, 1, best);
    }
    for (std::size_t b = 0; b < kPanelBlocks; ++b) {
      scale_[b] = best.scale[b];
      zero_[b] = lowest_ - best.lo[b];
    }
  }

  void finish(Affine* affine) const {
    for (std::size_t b = 0; b < kPanelBlocks; ++b) {
      const bool is_empty = low_[b] == 0 && high_[b] == 0;
      affine[b] = is_empty ? Affine{1, 1, format_.is_symmetric ? format_.zero : lowest_}
                           : affine_of(scale_[b], zero_[b]);
    }
  }

 private:
  // Initializes the scale that reaches the largest value, and the two inverses and zero points to search
  // around.
  void begin() {
    for (std::size_t b = 0; b < kPanelBlocks; ++b) {
      if (format_.is_symmetric) {
        const float far = high_[b] >= -low_[b] ? high_[b] : low_[b];
        const float largest = std::fabs(far) < kLeastRange ? std::copysign(kLeastRange, far) : far;
        inverse_[b] = (lowest_ - format_.zero) / largest;
        other_inverse_[b] = (highest_ - format_.zero) / largest;
        zero_[b] = other_zero_[b] = format_.zero;
        scale_[b] = far / (lowest_ - format_.zero);
        continue;
      }
      // Zero must be exact, because padding and pruned weights are zeros.
      const float range = std::max(high_[b] / 2 - low_[b] / 2, kLeastRange);  // half of it, to avoid overflow
      scale_[b] = range / ((highest_ - lowest_) / 2);
      const float exact = lowest_ - low_[b] / scale_[b];
      zero_[b] = std::clamp(std::nearbyint(exact), lowest_, highest_);
      other_zero_[b] = std::clamp(exact < zero_[b] ? zero_[b] - 1 : zero_[b] + 1, lowest_, highest_);
      inverse_[b] = other_inverse_[b] = 1 / scale_[b];
    }
  }

  // In the precision of the file, and so that 1 / scale does not overflow.
  Affine affine_of(float scale, float zero) const {
    const float rounded = format_.half_scales ? half_of(scale) : scale;
    const float least = format_.half_scales ? 0x1p-24F : 4 * std::numeric_limits<float>::min();
    return std::fabs(rounded) < least ? make_affine(std::copysign(least, scale), zero)
                                      : make_affine(rounded, zero);
  }

  const float* x_;
  const float* energy_;
  std::size_t n_;
  const LinearFormat& format_;
  const float lowest_ = static_cast<float>(format_.codes.lo), highest_ = static_cast<float>(format_.codes.hi);
  PanelFloats low_{}, high_{};  // with zero in between
  PanelFloats inverse_{}, other_inverse_{}, other_zero_{};
  PanelFloats scale_{}, zero_{};  // the best so far
};

}  // namespace

LinearFormat nbits_format(unsigned bits, bool is_symmetric) {
  const int codes = 1 << bits;
  return {{0, codes - 1},
          kernels::CodeSign::kUnsigned,
          is_symmetric ? static_cast<float>(codes / 2) : 0.0F,
          is_symmetric,
          false};
}

void find_panel_scales(const float* x, const float* energy, std::size_t n, const LinearFormat& format,
                       ScaleMethod method, Affine* affine) {
  Panel panel(x, energy, n, format);
  if (method == ScaleMethod::kMse) panel.search();
  panel.finish(affine);
}

void find_block_scales(const float* values, std::size_t rows, std::size_t blocks, std::size_t block,
                       const LinearFormat& format, const BlockSearch& search, Affine* affine) {
  const std::size_t width = blocks * block;
  const BlockRows shape{rows, width, block, false, true};
  const FloatSource source({reinterpret_cast<const char*>(values), rows * width * sizeof(float)},
                           FloatType::kFloat32);
  for_each_panel(source, shape, 0, rows, [&](const PanelPlace& place, const float* x) {
    std::array<Affine, kPanelBlocks> found;
    const float* energy = search.energy == nullptr ? nullptr : search.energy + place.block * block;
    find_panel_scales(x, energy, block, format, search.method, found.data());
    for (std::size_t r = 0; r < place.rows; ++r) affine[(place.row + r) * blocks + place.block] = found[r];
  });
}

}  // namespace ounce::quant
