#include "formats/onnx/emit/compare_weights.h"

#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/onnx/emit/nbits.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/half.h"
#include "kernels/lookup.h"
#include "kernels/pack.h"
#include "quant/tiles.h"

namespace ounce::passes {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 15;  // elements: even, and a multiple of kRunBlock

using plan::Decision;
using plan::Encoding;

std::vector<float> scales_of(const onnx::Tensor& tensor) {
  const onnx::RawValues values(tensor);
  if (tensor.type == ElementType::kFloat16) {
    std::vector<float> floats(values.bytes().size() / 2);
    kernels::f16_to_f32(reinterpret_cast<const std::byte*>(values.bytes().data()), floats.size(),
                        floats.data());
    return floats;
  }
  std::vector<float> floats(values.bytes().size() / sizeof(float));
  std::memcpy(floats.data(), values.bytes().data(), floats.size() * sizeof(float));
  return floats;
}

std::vector<float> zeros_of(const onnx::Tensor& tensor) {
  const onnx::RawValues values(tensor);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.bytes().data());
  std::vector<std::uint8_t> codes(tensor.element_count());
  if (tensor.type == ElementType::kUint4) {
    kernels::unpack_pairs(bytes, codes.size(), codes.data());
  } else {
    std::copy_n(bytes, codes.size(), codes.data());
  }
  return {codes.begin(), codes.end()};
}

// Squares of very large and very small weights leave the range of binary32; those are added up in binary64.
void add_error(const std::byte* x, const float* y, std::size_t n, kernels::ErrorNorms& norms) {
  kernels::ErrorNorms piece;
  kernels::error_norms(x, y, n, piece);
  const bool is_in_range = std::isfinite(piece.signal) && std::isfinite(piece.noise) && piece.signal > 1e-20;
  if (!is_in_range) {
    piece = {};
    for (std::size_t i = 0; i < n; ++i) {
      float value = 0;
      std::memcpy(&value, x + i * sizeof value, sizeof value);
      const bool is_same = value == y[i] || (std::isnan(value) && std::isnan(y[i]));
      if (is_same && !std::isfinite(value)) continue;  // an infinite mask that is one still
      const double exact = static_cast<double>(value), error = exact - static_cast<double>(y[i]);
      piece.signal += exact * exact;
      piece.noise += error * error;
      const auto magnitude = static_cast<float>(std::fabs(error));
      if (!(magnitude <= piece.max_abs)) piece.max_abs = magnitude;
    }
  }
  norms.signal += piece.signal;
  norms.noise += piece.noise;
  if (!(piece.max_abs <= norms.max_abs)) norms.max_abs = piece.max_abs;
}

class Decoding {
 public:
  Decoding(const Decision& decision, const onnx::Model& written, const WrittenWeight& weight)
      : decision_(decision), written_(written), codes_(*weight.codes) {
    if (weight.scales != nullptr) scales_ = scales_of(*weight.scales);
    if (decision.encoding == Encoding::kInt32) {
      for (const kernels::Affine& group : decision.affine) scales_.push_back(group.scale);
    }
    if (!decision.is_linear()) return;
    std::vector<float> zeros;
    if (weight.zeros != nullptr) zeros = zeros_of(*weight.zeros);
    if (scales_.size() != decision.layout.groups() || (!zeros.empty() && zeros.size() != scales_.size())) {
      throw Error(ErrorCode::kInternal, "the written scales do not fit the weight",
                  std::string(decision.weight.name));
    }
    for (std::size_t g = 0; g < scales_.size(); ++g) {
      affine_.push_back(quant::make_affine(scales_[g], zeros.empty() ? decision.format.zero : zeros[g]));
    }
  }

  void decode(std::size_t first, std::size_t count, float* values) const {
    const char* bytes = codes_.bytes().data();
    if (decision_.encoding == Encoding::kBfloat16)
      return kernels::bf16_to_f32(reinterpret_cast<const std::byte*>(bytes) + first * 2, count, values);
    if (decision_.encoding == Encoding::kFloat16) {
      return kernels::f16_to_f32(reinterpret_cast<const std::byte*>(bytes) + first * 2, count, values);
    }
    if (decision_.encoding == Encoding::kInt32) return decode_bias(first, count, values);
    std::vector<std::uint8_t> unpacked;
    const std::uint8_t* codes = reinterpret_cast<const std::uint8_t*>(bytes) + first;
    if (decision_.is_packed()) {
      unpack(first, count, unpacked);
      codes = unpacked.data();
    }
    if (decision_.is_linear()) {
      quant::decode_linear(codes, decision_.layout, decision_.format, affine_, first, count, values);
    } else {
      kernels::decode_lookup(codes, count, scales_.data(), values);
    }
  }

  // Codes that have been decoded; packed ones are let go at the end, as their halves are far apart.
  void release(std::size_t first, std::size_t count) const {
    const std::size_t width = decision_.encoding == Encoding::kInt32 ? 4 : decision_.is_half() ? 2 : 1;
    if (!decision_.is_packed()) written_.release(codes_.bytes().substr(first * width, count * width));
  }
  void release_all() const { written_.release(codes_.bytes()); }

 private:
  void decode_bias(std::size_t first, std::size_t count, float* values) const {
    for (std::size_t i = first; i < first + count; ++i) {
      std::int32_t code = 0;
      std::memcpy(&code, codes_.bytes().data() + i * sizeof code, sizeof code);
      *values++ = static_cast<float>(code) * scales_[scales_.size() == 1 ? 0 : i];
    }
  }

  void unpack(std::size_t first, std::size_t count, std::vector<std::uint8_t>& codes) const {
    const auto* packed = reinterpret_cast<const std::uint8_t*>(codes_.bytes().data());
    codes.resize(count);
    if (!packs_halves(decision_)) {  // tiles begin at even elements
      const bool is_signed = decision_.format.sign == kernels::CodeSign::kSigned;
      (is_signed ? kernels::unpack_pairs_signed : kernels::unpack_pairs)(packed + first / 2, count,
                                                                         codes.data());
      return;
    }
    const std::size_t half = codes_.bytes().size();
    const std::size_t low = first < half ? std::min(count, half - first) : 0;
    std::vector<std::uint8_t> other(count);
    kernels::unpack_halves(packed + first, low, codes.data(), other.data());
    if (low < count) {
      kernels::unpack_halves(packed + (first + low - half), count - low, other.data(), codes.data() + low);
    }
  }

  const Decision& decision_;
  const onnx::Model& written_;
  onnx::RawValues codes_;
  std::vector<float> scales_;
  std::vector<kernels::Affine> affine_;
};

}  // namespace

namespace {

// A bias is meant to be what it was plus its correction, a constant with a limit to stay within it.
kernels::ErrorNorms compare_with_meant(const Decision& decision, const quant::FloatSource& floats,
                                       const Decoding& decoding) {
  std::vector<float> meant(floats.size()), decoded(floats.size());
  std::memcpy(meant.data(), floats.bytes().data(), floats.bytes().size());
  for (std::size_t i = 0; i < decision.shift.size(); ++i) meant[i] += decision.shift[i];
  for (float& value : meant) {
    if (decision.limit != 0) value = std::clamp(value, -decision.limit, decision.limit);
  }
  decoding.decode(0, decoded.size(), decoded.data());
  kernels::ErrorNorms norms;
  add_error(reinterpret_cast<const std::byte*>(meant.data()), decoded.data(), decoded.size(), norms);
  return norms;
}

}  // namespace

kernels::ErrorNorms compare_weight(const onnx::Model& original, const Decision& decision,
                                   const onnx::Model& written, const WrittenWeight& weight,
                                   const ForEach& for_each) {
  if (decision.is_nbits()) return compare_few_bits(decision, written, weight, for_each);
  const plan::TensorSource source(original, *decision.weight.tensor);
  const Decoding decoding(decision, written, weight);
  if (decision.encoding == Encoding::kInt32 || decision.limit != 0)
    return compare_with_meant(decision, source.floats(), decoding);
  std::vector<kernels::ErrorNorms> tiles((source.floats().size() + quant::kTile - 1) / quant::kTile);
  quant::for_each_tile(source.floats(), quant::kTile, for_each,
                       [&](std::size_t tile, std::size_t first, std::size_t count) {
                         // In pieces that stay in the cache between decoding and comparing; the sums do not
                         // depend on them.
                         std::vector<float> decoded(std::min(kPiece, count)), scratch;
                         for (std::size_t at = 0; at < count; at += kPiece) {
                           const std::size_t length = std::min(kPiece, count - at);
                           decoding.decode(first + at, length, decoded.data());
                           const std::byte* values = source.floats().values(first + at, length, scratch);
                           add_error(values, decoded.data(), length, tiles[tile]);
                         }
                         decoding.release(first, count);
                       });
  decoding.release_all();
  kernels::ErrorNorms total;
  for (const kernels::ErrorNorms& tile : tiles) {
    total.signal += tile.signal;
    total.noise += tile.noise;
    total.max_abs = std::max(total.max_abs, tile.max_abs);
  }
  return total;
}

}  // namespace ounce::passes
