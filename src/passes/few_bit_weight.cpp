#include "passes/few_bit_weight.h"

#include <ounce/error.h>

#include <cstring>
#include <memory>
#include <string>

#include "kernels/half.h"
#include "onnx/values.h"
#include "plan/sources.h"
#include "quant/block_scales.h"

namespace ounce::passes {
namespace {

using onnx::ElementType;
using plan::Decision;
using quant::BlockRows;

template <class T>
onnx::Bytes as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const std::byte* bytes_of(const std::vector<float>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

class FewBitProduction final : public onnx::Production {
 public:
  // Keeps its own decision and tensor; the tensor's bytes stay in the mapped file.
  FewBitProduction(const onnx::Model& model, const Decision& decision)
      : model_(model), tensor_(*decision.weight.tensor), decision_(decision) {
    decision_.weight.tensor = &tensor_;
  }

  std::uint64_t source_bytes() const override { return tensor_.byte_count(); }

  void run(std::span<const onnx::Place> parts, const ForEach& for_each) const override {
    const plan::TensorSource source(model_, tensor_);
    quant::for_each_stripe(source.floats(), decision_.rows, for_each,
                           [&](std::size_t, std::size_t first, std::size_t count) {
                             write_rows(source.floats(), parts, first, count);
                           });
  }

 private:
  void write_rows(const quant::FloatSource& floats, std::span<const onnx::Place> parts, std::size_t first,
                  std::size_t count) const {
    const BlockRows& rows = decision_.rows;
    const std::size_t groups = count * rows.blocks(), width = rows.width();
    std::vector<kernels::Affine> affine(groups);
    std::vector<float> values(count * width);
    const bool is_found = !decision_.affine.empty();
    if (decision_.codes == nullptr || !is_found) quant::read_rows(floats, rows, first, count, values.data());
    if (is_found) {
      const auto from = decision_.affine.begin() + static_cast<std::ptrdiff_t>(first * rows.blocks());
      affine.assign(from, from + static_cast<std::ptrdiff_t>(groups));
    } else {
      const float* energy = decision_.energy == nullptr ? nullptr : decision_.energy->data();
      quant::find_block_scales(values.data(), count, rows.blocks(), rows.block, decision_.format,
                               {decision_.scale, energy}, affine.data());
    }
    write_scales(affine, first, parts[static_cast<std::size_t>(StoredPart::kScales)]);
    if (!decision_.format.is_symmetric)
      write_zeros(affine, first, count, parts[static_cast<std::size_t>(StoredPart::kZeros)]);
    const onnx::Place& place = parts[static_cast<std::size_t>(StoredPart::kCodes)];
    const std::size_t row_bytes = rows.row_bytes(decision_.bits());
    if (decision_.codes != nullptr) {
      const auto* packed = reinterpret_cast<const char*>(decision_.codes->data());
      return place.write(first * row_bytes, {packed + first * row_bytes, count * row_bytes});
    }
    std::vector<std::uint8_t> codes(values.size()), packed(count * row_bytes);
    kernels::quantize_runs(bytes_of(values), groups, rows.block, affine.data(), decision_.format.codes,
                           codes.data());
    for (std::size_t r = 0; r < count; ++r)
      quant::pack_codes(codes.data() + r * width, rows.is_padded ? width : rows.columns, decision_.bits(),
                        packed.data() + r * row_bytes);
    place.write(first * row_bytes, as_bytes(packed));
  }

  void write_scales(const std::vector<kernels::Affine>& affine, std::size_t first,
                    const onnx::Place& place) const {
    std::vector<float> scales;
    for (const kernels::Affine& group : affine) scales.push_back(group.scale);
    const std::size_t at = first * decision_.rows.blocks();
    if (!decision_.format.half_scales) return place.write(at * sizeof(float), as_bytes(scales));
    std::vector<std::uint16_t> halves(scales.size());
    kernels::HalfStats stats;
    kernels::f32_to_f16(bytes_of(scales), scales.size(), halves.data(), stats);
    place.write(at * sizeof(std::uint16_t), as_bytes(halves));
  }

  void write_zeros(const std::vector<kernels::Affine>& affine, std::size_t first, std::size_t count,
                   const onnx::Place& place) const {
    const std::size_t blocks = decision_.rows.blocks();
    const std::size_t row_bytes = decision_.rows.zero_row_bytes(decision_.bits());
    std::vector<std::uint8_t> codes(blocks), packed(count * row_bytes);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t b = 0; b < blocks; ++b)
        codes[b] = static_cast<std::uint8_t>(affine[r * blocks + b].zero);
      quant::pack_codes(codes.data(), blocks, decision_.bits(), packed.data() + r * row_bytes);
    }
    place.write(first * row_bytes, as_bytes(packed));
  }

  const onnx::Model& model_;
  const onnx::Tensor tensor_;
  Decision decision_;
};

// The rows of a written weight.
class WrittenRows {
 public:
  WrittenRows(const Decision& decision, const WrittenWeight& weight)
      : decision_(decision), codes_(*weight.codes), scales_(*weight.scales) {
    if (weight.zeros != nullptr) zeros_.emplace(*weight.zeros);
    const BlockRows& rows = decision.rows;
    const std::size_t width = decision.format.half_scales ? sizeof(std::uint16_t) : sizeof(float);
    const bool fits = codes_.bytes().size() == rows.code_bytes(decision.bits()) &&
                      scales_.bytes().size() == rows.groups() * width &&
                      (!zeros_ || zeros_->bytes().size() == rows.zero_bytes(decision.bits()));
    if (!fits)
      throw Error(ErrorCode::kInternal, "the written codes do not fit the weight",
                  std::string(decision.weight.name));
  }

  void decode(std::size_t first, std::size_t count, float* values) const {
    const BlockRows& rows = decision_.rows;
    const std::size_t row_bytes = rows.row_bytes(decision_.bits()), width = rows.width();
    const auto* packed = reinterpret_cast<const std::uint8_t*>(codes_.bytes().data()) + first * row_bytes;
    std::vector<std::uint8_t> codes(count * width);
    for (std::size_t r = 0; r < count; ++r)
      quant::unpack_codes(packed + r * row_bytes, rows.is_padded ? width : rows.columns, decision_.bits(),
                          codes.data() + r * width);
    const std::vector<kernels::Affine> affine = affine_of(first, count);
    kernels::decode_runs(codes.data(), affine.size(), rows.block, affine.data(), decision_.format.sign,
                         values);
  }

 private:
  std::vector<kernels::Affine> affine_of(std::size_t first, std::size_t count) const {
    const std::size_t blocks = decision_.rows.blocks(), groups = count * blocks;
    std::vector<float> scales(groups);
    const auto* stored = reinterpret_cast<const std::byte*>(scales_.bytes().data());
    if (decision_.format.half_scales) {
      kernels::f16_to_f32(stored + first * blocks * sizeof(std::uint16_t), groups, scales.data());
    } else {
      std::memcpy(scales.data(), stored + first * blocks * sizeof(float), groups * sizeof(float));
    }
    std::vector<std::uint8_t> zeros(blocks, static_cast<std::uint8_t>(decision_.format.zero));
    std::vector<kernels::Affine> affine;
    for (std::size_t r = 0; r < count; ++r) {
      if (zeros_) {
        const std::size_t row_bytes = decision_.rows.zero_row_bytes(decision_.bits());
        const auto* packed = reinterpret_cast<const std::uint8_t*>(zeros_->bytes().data());
        quant::unpack_codes(packed + (first + r) * row_bytes, blocks, decision_.bits(), zeros.data());
      }
      for (std::size_t b = 0; b < blocks; ++b)
        affine.push_back(quant::make_affine(scales[r * blocks + b], zeros[b]));
    }
    return affine;
  }

  const Decision& decision_;
  onnx::RawValues codes_, scales_;
  std::optional<onnx::RawValues> zeros_;
};

}  // namespace

std::vector<StoredTensor> few_bit_tensors(const onnx::Model& model, const Decision& decision) {
  const auto production = std::make_shared<FewBitProduction>(model, decision);
  std::vector<StoredTensor> tensors;
  const auto add = [&](StoredPart which, ElementType type, std::vector<std::size_t> dims) {
    onnx::Tensor tensor;
    tensor.type = type;
    tensor.dims.assign(dims.begin(), dims.end());
    tensor.data = onnx::Computed{production, static_cast<std::size_t>(which), tensor.byte_count()};
    tensors.push_back({which, std::move(tensor)});
  };
  const BlockRows& rows = decision.rows;
  const unsigned bits = decision.bits();
  if (rows.is_padded) {
    add(StoredPart::kCodes, ElementType::kUint8, {rows.rows, rows.blocks(), rows.block * bits / 8});
  } else {
    add(StoredPart::kCodes, ElementType::kUint8, {rows.rows, rows.row_bytes(bits)});
  }
  add(StoredPart::kScales, decision.format.half_scales ? ElementType::kFloat16 : ElementType::kFloat,
      {rows.rows, rows.blocks()});
  if (!decision.format.is_symmetric)
    add(StoredPart::kZeros, ElementType::kUint8, {rows.rows, rows.zero_row_bytes(bits)});
  return tensors;
}

kernels::ErrorNorms compare_few_bits(const onnx::Model& original, const Decision& decision,
                                     const onnx::Model& written, const WrittenWeight& weight,
                                     const ForEach& for_each) {
  const plan::TensorSource source(original, *decision.weight.tensor);
  const WrittenRows decoding(decision, weight);
  std::vector<kernels::ErrorNorms> stripes(quant::stripe_count(decision.rows));
  quant::for_each_stripe(source.floats(), decision.rows, for_each,
                         [&](std::size_t stripe, std::size_t first, std::size_t count) {
                           std::vector<float> values(count * decision.rows.width()), decoded(values.size());
                           quant::read_rows(source.floats(), decision.rows, first, count, values.data());
                           decoding.decode(first, count, decoded.data());
                           kernels::error_norms(bytes_of(values), decoded.data(), values.size(),
                                                stripes[stripe]);
                         });
  written.release(onnx::RawValues(*weight.codes).bytes());
  kernels::ErrorNorms total;
  for (const kernels::ErrorNorms& stripe : stripes) {
    total.signal += stripe.signal;
    total.noise += stripe.noise;
    total.max_abs = std::max(total.max_abs, stripe.max_abs);
  }
  return total;
}

}  // namespace ounce::passes
