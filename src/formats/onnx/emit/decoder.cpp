#include "formats/onnx/emit/decoder.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/emit/nbits.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/half.h"
#include "kernels/pack.h"
#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::passes {
namespace {

using plan::Encoding;

// Undoes kernels::Packing: shifts the values of each part out of their bytes and concatenates the parts.
class PartUnpacker {
 public:
  PartUnpacker(BodyEditor& editor, std::size_t place, Bytes codes, unsigned bits, std::uint64_t count)
      : editor_(editor), place_(place), codes_(codes), packing_{bits}, count_(count) {}

  Bytes unpack() {
    std::vector<Bytes> parts;
    for (unsigned part = 0; part < packing_.parts(); ++part) parts.push_back(part_of(part));
    Chain all(editor_, place_, parts.front());
    all.node(Op::kConcat, {parts.begin() + 1, parts.end()}, all.integer("axis", 0));
    if (count_ % packing_.parts() != 0)
      all.node(Op::kSlice, {integers(0), integers(static_cast<std::int64_t>(count_))});
    return all.value();
  }

 private:
  Bytes integers(std::int64_t value) { return editor_.add_integers(place_, {value}); }

  Bytes part_of(unsigned part) {
    const std::vector<kernels::Packing::Piece> pieces = packing_.pieces(part);
    if (pieces.size() == 1) return piece_of(pieces.front()).value();
    Bytes sum = piece_of(pieces.front()).cast(ElementType::kInt32).value();
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const Bytes factor = editor_.add_shared(fmt::format("factor {}", pieces[i].from),
                                              scalar(ElementType::kInt32, std::int32_t{1} << pieces[i].from));
      Chain piece = piece_of(pieces[i]);
      sum = piece.cast(ElementType::kInt32).node(Op::kMul, {factor}).node(Op::kAdd, {sum}).value();
    }
    return Chain(editor_, place_, sum).cast(ElementType::kUint8).value();
  }

  Chain piece_of(const kernels::Packing::Piece& piece) {
    Chain chain(editor_, place_, codes_);
    if (packing_.bytes() != 1) {
      const auto length = static_cast<std::int64_t>(packing_.length(count_));
      chain.node(Op::kSlice, {integers(piece.byte * length), integers((piece.byte + 1) * length)});
    }
    if (piece.shift + piece.bits != 8) chain.shift(bits(8 - piece.shift - piece.bits), "LEFT");
    if (piece.bits != 8) chain.shift(bits(8 - piece.bits), "RIGHT");
    return chain;
  }

  Bytes bits(unsigned count) {
    return editor_.add_shared(fmt::format("shift {}", count),
                              scalar(ElementType::kUint8, static_cast<std::uint8_t>(count)));
  }

  BodyEditor& editor_;
  std::size_t place_;
  Bytes codes_;
  kernels::Packing packing_;
  std::uint64_t count_;
};

// The values of a packed weight, one per byte.
Bytes unpacked(BodyEditor& editor, std::size_t place, const plan::Decision& decision, Bytes codes) {
  return PartUnpacker(editor, place, codes, decision.bits(), decision.weight.values()).unpack();
}

void add_dequantize(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
                    const StoredNames& stored, Bytes output) {
  std::vector<Bytes> inputs = {float_scales(editor, place, decision, stored)};
  if (!stored.zeros.empty()) inputs.push_back(stored.zeros);
  Chain chain(editor, place, stored.codes);
  switch (decision.granularity) {
    case GranularityKind::kBlock:
      chain.node(Op::kDequantizeLinear, inputs,
                 chain.integer("axis", static_cast<std::int64_t>(decision.block_axis())),
                 chain.integer("block_size", static_cast<std::int64_t>(decision.block)));
      break;
    case GranularityKind::kChannel:
      chain.node(Op::kDequantizeLinear, inputs,
                 chain.integer("axis", static_cast<std::int64_t>(decision.weight.channels->first)));
      break;
    default: chain.node(Op::kDequantizeLinear, inputs);
  }
  chain.finish(output);
}

// The values of each byte, without the scale: uint8 in the file, FP32 for Gather.
Bytes pair_table(BodyEditor& editor, float zero) {
  return editor.add_shared_value("pairs", [&] {
    constexpr int kBytes = 256;
    std::string pairs;
    for (int byte = 0; byte < kBytes; ++byte) {
      pairs += static_cast<char>(byte % 16 - static_cast<int>(zero));
      pairs += static_cast<char>(byte / 16 - static_cast<int>(zero));
    }
    const Bytes codes =
        editor.add_tensor(BodyEditor::kFront, make_tensor(ElementType::kInt8, {kBytes, 2}, std::move(pairs)));
    return Chain(editor, BodyEditor::kFront, codes).cast(ElementType::kFloat).value();
  });
}

void add_pairs(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
               const StoredNames& stored, Bytes output) {
  const onnx::Tensor& tensor = *decision.place.tensor;
  const Bytes indices = Chain(editor, place, stored.codes).cast(ElementType::kInt32).value();
  Chain chain(editor, place, pair_table(editor, decision.format.zero));
  chain.node(Op::kGather, {indices}).node(Op::kMul, {float_scales(editor, place, decision, stored)});
  chain.reshape(tensor.dims);
  if (tensor.type != ElementType::kFloat) chain.cast(tensor.type);
  chain.finish(output);
}

void add_rows(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
              const StoredNames& stored, Bytes output) {
  const onnx::Tensor& tensor = *decision.place.tensor;
  const Bytes codes = unpacked(editor, place, decision, stored.codes);
  const Bytes zero = editor.add_shared(
      "zero code", scalar(ElementType::kUint8, static_cast<std::uint8_t>(decision.format.zero)));
  const Bytes zeros =
      Chain(editor, place, zero).node(Op::kExpand, {editor.add_integers(place, {decision.view[0]})}).value();
  Chain chain(editor, place, codes);
  chain.node(Op::kDequantizeLinear, {float_scales(editor, place, decision, stored), zeros},
             chain.integer("axis", 0));
  chain.reshape(tensor.dims).finish(output);
}

}  // namespace

Bytes float_scales(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
                   const StoredNames& stored) {
  if (!decision.format.half_scales) return stored.scales;
  return Chain(editor, place, stored.scales).cast(ElementType::kFloat).value();
}

void add_decoder(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
                 const StoredNames& stored, Bytes output) {
  if (decision.is_split_nibbles) return add_rows(editor, place, decision, stored, output);
  if (decision.uses_pair_table) return add_pairs(editor, place, decision, stored, output);
  if (decision.decoder == plan::Decoder::kDq) return add_dequantize(editor, place, decision, stored, output);
  const onnx::Tensor& tensor = *decision.place.tensor;
  Bytes codes = stored.codes;
  if (decision.is_packed()) codes = unpacked(editor, place, decision, codes);
  Chain chain(editor, place, codes);
  if (decision.is_linear()) {
    chain.cast(ElementType::kFloat);
    if (decision.is_packed()) chain.reshape(decision.view);
    const auto as_float = [&](Bytes name) {
      return Chain(editor, place, name).cast(ElementType::kFloat).value();
    };
    if (!stored.zeros.empty()) {
      chain.node(Op::kSub, {as_float(stored.zeros)});
    } else if (decision.format.zero != 0) {
      chain.node(Op::kSub, {editor.add_shared("zero", scalar(ElementType::kFloat, decision.format.zero))});
    }
    chain.node(Op::kMul, {float_scales(editor, place, decision, stored)});
    if (decision.view != tensor.dims) chain.reshape(tensor.dims);
  } else if (decision.encoding == Encoding::kFloat16) {
    chain.cast(tensor.type);
  } else {
    // Gather takes its indices from the chain, so the codebook must be its first input.
    chain.cast(ElementType::kInt32);
    if (decision.is_packed()) chain.reshape(tensor.dims);
    const Bytes indices = chain.value();
    chain = Chain(editor, place, stored.scales);
    chain.node(Op::kGather, {indices});
  }
  if (tensor.type != ElementType::kFloat && decision.encoding != Encoding::kFloat16) chain.cast(tensor.type);
  chain.finish(output);
}

void replace_lookup(BodyEditor& editor, std::size_t position, const plan::Decision& decision,
                    const StoredNames& stored) {
  const onnx::Node& gather = editor.node(position);
  const Bytes indices = gather.inputs[1], rows = gather.outputs[0];
  const ElementType type = decision.weight.type;
  editor.replace_node(position);
  const auto look_up = [&](Bytes table) {
    Chain chain(editor, position, table);
    chain.node(Op::kGather, {indices});
    return chain;
  };
  Chain chain = look_up(stored.codes);
  if (decision.is_linear()) {
    const bool has_row_scales = decision.granularity == GranularityKind::kChannel;
    const auto for_rows = [&](Bytes table, bool is_float) {
      Chain rows_of = has_row_scales ? look_up(table) : Chain(editor, position, table);
      if (!is_float) rows_of.cast(ElementType::kFloat);
      return rows_of.value();
    };
    chain.cast(ElementType::kFloat);
    if (!stored.zeros.empty()) chain.node(Op::kSub, {for_rows(stored.zeros, false)});
    chain.node(Op::kMul, {for_rows(stored.scales, !decision.format.half_scales)});
    if (type != ElementType::kFloat) chain.cast(type);
  } else if (decision.encoding == Encoding::kFloat16) {
    chain.cast(type);
  } else {
    const Bytes codes = chain.cast(ElementType::kInt32).value();
    chain = Chain(editor, position, stored.scales);
    chain.node(Op::kGather, {codes});
    if (type != ElementType::kFloat) chain.cast(type);
  }
  chain.finish(rows);
}

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
      throw Error(ErrorCode::kInternal, "the written scales do not match the weight",
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

  // Releases the memory of quantized values that have been processed. Packed values are released at the end,
  // because their parts are far apart.
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
    if (!packs_parts(decision_)) {  // tiles begin at even elements
      const bool is_signed = decision_.format.sign == kernels::CodeSign::kSigned;
      (is_signed ? kernels::unpack_pairs_signed : kernels::unpack_pairs)(packed + first / 2, count,
                                                                         codes.data());
      return;
    }
    const kernels::Packing packing{decision_.bits()};
    const std::size_t length = codes_.bytes().size() / packing.bytes();
    for (unsigned part = 0; part < packing.parts(); ++part) {
      const std::size_t begin = std::max(first, part * length),
                        end = std::min(first + count, (part + 1) * length);
      if (begin < end) {
        kernels::unpack_part(packing, part, packed + (begin - part * length), length, end - begin,
                             codes.data() + (begin - first));
      }
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

// The reference for a bias is the original plus its correction; for a constant with a limit, the clipped
// value.
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
  quant::add_error(reinterpret_cast<const std::byte*>(meant.data()), decoded.data(), decoded.size(), norms);
  return norms;
}

}  // namespace

kernels::ErrorNorms compare_weight(const onnx::Model& original, const Decision& decision,
                                   const onnx::Model& written, const WrittenWeight& weight,
                                   const ForEach& for_each) {
  if (decision.is_nbits()) return compare_nbits(decision, written, weight, for_each);
  const plan::TensorSource source(original, *decision.place.tensor);
  const Decoding decoding(decision, written, weight);
  if (decision.encoding == Encoding::kInt32 || decision.limit != 0)
    return compare_with_meant(decision, source.floats(), decoding);
  std::vector<kernels::ErrorNorms> tiles((source.floats().size() + quant::kTile - 1) / quant::kTile);
  quant::for_each_tile(source.floats(), quant::kTile, for_each,
                       [&](std::size_t tile, std::size_t first, std::size_t count) {
                         // Work in pieces that fit the cache; the sums do not depend on the piece size.
                         std::vector<float> decoded(std::min(kPiece, count)), scratch;
                         for (std::size_t at = 0; at < count; at += kPiece) {
                           const std::size_t length = std::min(kPiece, count - at);
                           decoding.decode(first + at, length, decoded.data());
                           const std::byte* values = source.floats().values(first + at, length, scratch);
                           quant::add_error(values, decoded.data(), length, tiles[tile]);
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
