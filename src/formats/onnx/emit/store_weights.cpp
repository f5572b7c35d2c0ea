#include "formats/onnx/emit/store_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "formats/onnx/emit/nbits.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/half.h"
#include "kernels/pack.h"
#include "quant/codebook.h"
#include "quant/layout.h"

namespace ounce::passes {
namespace {

using kernels::Affine;
using plan::Decision;
using plan::Encoding;
using quant::FloatSource;

const onnx::Place& part(std::span<const onnx::Place> parts, StoredPart which) {
  return parts[static_cast<std::size_t>(which)];
}

class WeightProduction : public onnx::Production {
 public:
  // Copies the decision and the tensor; the tensor's bytes stay in the mapped file.
  WeightProduction(const onnx::Model& model, const Decision& decision)
      : model_(model), tensor_(*decision.place.tensor), decision_(decision) {
    decision_.place.tensor = &tensor_;
  }

  std::uint64_t source_bytes() const override { return tensor_.byte_count(); }

  void run(std::span<const onnx::Place> parts, const ForEach& for_each) const override {
    const plan::TensorSource source(model_, tensor_);
    produce(source.floats(), parts, for_each);
  }

 protected:
  const Decision& decision() const { return decision_; }
  virtual void produce(const FloatSource& floats, std::span<const onnx::Place> parts,
                       const ForEach& for_each) const = 0;

  // Writes the quantized values of all tiles, one or two per byte.
  using Encode = std::function<void(std::size_t first, std::size_t count, std::uint8_t* codes)>;
  void write_codes(const FloatSource& floats, const onnx::Place& place, const ForEach& for_each,
                   const Encode& encode) const {
    if (decision_.is_packed() && packs_parts(decision_)) return write_parts(floats, place, for_each, encode);
    const bool is_packed = decision_.is_packed();
    quant::for_each_tile(floats, quant::tile_size(decision_.layout.inner), for_each,
                         [&](std::size_t, std::size_t first, std::size_t count) {
                           std::vector<std::uint8_t> codes(count);
                           encode(first, count, codes.data());
                           if (!is_packed) return place.write(first, as_bytes(codes));
                           std::vector<std::uint8_t> packed((count + 1) / 2);
                           kernels::pack_pairs(codes.data(), count, packed.data());
                           place.write(first / 2, as_bytes(packed));  // tiles begin at even elements
                         });
  }

 private:
  void write_parts(const FloatSource& floats, const onnx::Place& place, const ForEach& for_each,
                   const Encode& encode) const {
    const kernels::Packing packing{decision_.bits()};
    const std::size_t size = floats.size(), length = packing.length(size),
                      step = quant::tile_size(decision_.layout.inner);
    for_each((length + step - 1) / step, [&](std::size_t tile) {
      const std::size_t first = tile * step, count = std::min(step, length - first);
      std::vector<std::uint8_t> codes(count), packed(count * packing.bytes());
      for (unsigned part = 0; part < packing.parts(); ++part) {
        const std::size_t begin = std::min(part * length + first, size), n = std::min(count, size - begin);
        if (n == 0) break;  // the last parts may be shorter
        encode(begin, n, codes.data());
        kernels::pack_part(packing, part, codes.data(), n, packed.data(), count);
        floats.release(begin, n);
      }
      for (std::size_t byte = 0; byte < packing.bytes(); ++byte)
        place.write(byte * length + first, as_bytes(packed).substr(byte * count, count));
    });
  }

  const onnx::Model& model_;
  const onnx::Tensor tensor_;
  Decision decision_;
};

// True if DequantizeLinear takes 4-bit types.
bool takes_nibbles(const Decision& decision) {
  return decision.decoder == plan::Decoder::kDq && !decision.is_split_nibbles;
}

// DequantizeLinear needs zero points of the quantized type.
ElementType zeros_type(const Decision& decision) {
  return decision.is_packed() && takes_nibbles(decision) ? ElementType::kUint4 : ElementType::kUint8;
}

class LinearProduction final : public WeightProduction {
 public:
  using WeightProduction::WeightProduction;

 protected:
  void produce(const FloatSource& floats, std::span<const onnx::Place> parts,
               const ForEach& for_each) const override {
    const auto& layout = decision().layout;
    const auto& format = decision().format;
    const auto ranges =
        decision().ranges.empty() ? quant::find_ranges(floats, layout, for_each) : decision().ranges;
    const auto affine = decision().affine.empty()
                            ? quant::find_affine(floats, layout, format, ranges, decision().scale, for_each)
                            : decision().affine;
    std::vector<float> scales, zeros;
    for (const Affine& group : affine) {
      scales.push_back(group.scale);
      zeros.push_back(group.zero);
    }
    write_scales(scales, part(parts, StoredPart::kScales));
    if (!format.is_symmetric) write_zeros(zeros, part(parts, StoredPart::kZeros));
    write_codes(floats, part(parts, StoredPart::kCodes), for_each,
                [&](std::size_t first, std::size_t count, std::uint8_t* codes) {
                  if (decision().codes != nullptr) {
                    std::copy_n(decision().codes->data() + first, count, codes);
                    return;
                  }
                  quant::encode_linear(floats, layout, format, affine, decision().kernel, first, count,
                                       codes);
                });
  }

 private:
  void write_scales(const std::vector<float>& scales, const onnx::Place& place) const {
    if (!decision().format.half_scales) return place.write(0, as_bytes(scales));
    std::vector<std::uint16_t> halves(scales.size());
    kernels::HalfStats stats;
    kernels::f32_to_f16(reinterpret_cast<const std::byte*>(scales.data()), scales.size(), halves.data(),
                        stats);
    place.write(0, as_bytes(halves));
  }

  void write_zeros(const std::vector<float>& zeros, const onnx::Place& place) const {
    std::vector<std::uint8_t> codes;
    for (const float zero : zeros) codes.push_back(static_cast<std::uint8_t>(zero));
    if (zeros_type(decision()) != ElementType::kUint4) return place.write(0, as_bytes(codes));
    std::vector<std::uint8_t> packed((codes.size() + 1) / 2);
    kernels::pack_pairs(codes.data(), codes.size(), packed.data());
    place.write(0, as_bytes(packed));
  }
};

class CodebookProduction final : public WeightProduction {
 public:
  using WeightProduction::WeightProduction;

 protected:
  void produce(const FloatSource& floats, std::span<const onnx::Place> parts,
               const ForEach& for_each) const override {
    const kernels::Range& range = decision().ranges.front();
    quant::CodebookFitter fitter(range.min, range.max);
    std::vector<float> scratch;
    for (std::size_t first = 0; first < floats.size(); first += quant::kTile) {
      const std::size_t count = std::min(quant::kTile, floats.size() - first);
      fitter.add(floats.values(first, count, scratch), count);
      floats.release(first, count);
    }
    const std::vector<float> codebook = fitter.fit(std::size_t{1} << decision().bits());
    const std::vector<float> limits = quant::boundaries(codebook);
    part(parts, StoredPart::kScales).write(0, as_bytes(codebook));
    write_codes(floats, part(parts, StoredPart::kCodes), for_each,
                [&](std::size_t first, std::size_t count, std::uint8_t* codes) {
                  std::vector<float> tile;
                  kernels::encode_nearest(floats.values(first, count, tile), count, limits.data(),
                                          codebook.size(), codes);
                });
  }
};

class HalfProduction final : public WeightProduction {
 public:
  using WeightProduction::WeightProduction;

 protected:
  void produce(const FloatSource& floats, std::span<const onnx::Place> parts,
               const ForEach& for_each) const override {
    const bool is_bfloat = decision().encoding == Encoding::kBfloat16;
    quant::for_each_tile(
        floats, quant::kTile, for_each, [&](std::size_t, std::size_t first, std::size_t count) {
          std::vector<float> scratch, limited;
          std::vector<std::uint16_t> halves(count);
          kernels::HalfStats stats;
          const std::byte* values = floats.values(first, count, scratch);
          if (decision().limit != 0) values = limit(values, count, limited);
          (is_bfloat ? kernels::f32_to_bf16 : kernels::f32_to_f16)(values, count, halves.data(), stats);
          part(parts, StoredPart::kCodes).write(first * sizeof(std::uint16_t), as_bytes(halves));
        });
  }

 private:
  const std::byte* limit(const std::byte* values, std::size_t count, std::vector<float>& limited) const {
    limited.resize(count);
    std::memcpy(limited.data(), values, count * sizeof(float));
    for (float& value : limited) value = std::clamp(value, -decision().limit, decision().limit);
    return reinterpret_cast<const std::byte*>(limited.data());
  }
};

// The int32 bias of an integer op. Its scales are those of the weight times that of the input.
class BiasProduction final : public WeightProduction {
 public:
  using WeightProduction::WeightProduction;

 protected:
  void produce(const FloatSource& floats, std::span<const onnx::Place> parts, const ForEach&) const override {
    std::vector<float> scratch(floats.size());
    std::memcpy(scratch.data(), floats.bytes().data(), floats.bytes().size());
    const auto& affine = decision().affine;
    std::vector<std::int32_t> codes;
    for (std::size_t i = 0; i < scratch.size(); ++i) {
      const double value =
          double{scratch[i]} + (decision().shift.empty() ? 0.0 : double{decision().shift[i]});
      const double code = std::nearbyint(value / affine[affine.size() == 1 ? 0 : i].scale);
      codes.push_back(
          static_cast<std::int32_t>(std::clamp<double>(code, plan::kLeastBias, plan::kLargestBias)));
    }
    part(parts, StoredPart::kCodes).write(0, as_bytes(codes));
  }
};

std::shared_ptr<const onnx::Production> make_production(const onnx::Model& model, const Decision& decision) {
  if (decision.encoding == Encoding::kInt32) return std::make_shared<BiasProduction>(model, decision);
  if (decision.is_linear()) return std::make_shared<LinearProduction>(model, decision);
  if (decision.is_half()) return std::make_shared<HalfProduction>(model, decision);
  return std::make_shared<CodebookProduction>(model, decision);
}

ElementType codes_type(const Decision& decision) {
  if (decision.encoding == Encoding::kFloat16) return ElementType::kFloat16;
  if (decision.encoding == Encoding::kBfloat16) return ElementType::kBfloat16;
  if (decision.encoding == Encoding::kInt32) return ElementType::kInt32;
  if (!decision.is_linear() || (decision.is_packed() && !takes_nibbles(decision))) return ElementType::kUint8;
  if (decision.is_packed()) return decision.format.is_symmetric ? ElementType::kInt4 : ElementType::kUint4;
  return decision.format.sign == kernels::CodeSign::kSigned ? ElementType::kInt8 : ElementType::kUint8;
}

std::vector<std::int64_t> codes_dims(const Decision& decision) {
  const onnx::Tensor& tensor = *decision.place.tensor;
  if (decision.is_split_nibbles) return {decision.view[0] / 2, decision.view[1]};
  if (decision.uses_pair_table) {
    std::vector<std::int64_t> dims = decision.view;
    dims.back() /= 2;
    return dims;
  }
  if (decision.is_packed() && packs_parts(decision)) {
    const kernels::Packing packing{decision.bits()};
    return {static_cast<std::int64_t>(packing.bytes() * packing.length(tensor.element_count()))};
  }
  return decision.is_linear() ? decision.view : tensor.dims;
}

}  // namespace

bool packs_parts(const Decision& decision) {
  return decision.decoder == plan::Decoder::kDq ? decision.is_split_nibbles : !decision.uses_pair_table;
}

std::vector<StoredTensor> stored_tensors(const onnx::Model& model, const Decision& decision) {
  if (decision.is_nbits()) return nbits_tensors(model, decision);
  const auto production = make_production(model, decision);
  std::vector<StoredTensor> tensors;
  const auto add = [&](StoredPart which, ElementType type, std::vector<std::int64_t> dims) {
    onnx::Tensor tensor;
    tensor.type = type;
    tensor.dims = std::move(dims);
    tensor.data = onnx::Computed{production, static_cast<std::size_t>(which), tensor.byte_count()};
    tensors.push_back({which, std::move(tensor)});
  };
  add(StoredPart::kCodes, codes_type(decision), codes_dims(decision));
  if (decision.is_linear()) {
    add(StoredPart::kScales, decision.format.half_scales ? ElementType::kFloat16 : ElementType::kFloat,
        decision.scale_dims);
    if (!decision.format.is_symmetric) add(StoredPart::kZeros, zeros_type(decision), decision.scale_dims);
  } else if (!decision.is_half() && decision.encoding != Encoding::kInt32) {
    add(StoredPart::kScales, ElementType::kFloat, {std::int64_t{1} << decision.bits()});
  }
  return tensors;
}

namespace {

using graph::kNone;
using plan::Decision;

// Adds the tensors of a stored weight and returns their names.
StoredNames add_stored_tensors(BodyEditor& editor, std::size_t place, const onnx::Model& source,
                               const Decision& decision, std::shared_ptr<const onnx::Production>& by) {
  StoredNames names;
  for (StoredTensor& stored : stored_tensors(source, decision)) {
    if (decision.is_nbits()) by = std::get<onnx::Computed>(stored.tensor.data).by;
    const Bytes name = editor.add_tensor(place, std::move(stored.tensor));
    switch (stored.part) {
      case StoredPart::kCodes: names.codes = name; break;
      case StoredPart::kScales: names.scales = name; break;
      case StoredPart::kZeros: names.zeros = name; break;
    }
  }
  return names;
}

}  // namespace

std::vector<Stored> store_weights(Editors& editors, const onnx::Model& source, const graph::Index& index,
                                  const plan::Plan& plan) {
  std::vector<Stored> result;
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    const Decision& decision = plan.decisions[i];
    if (!decision.is_stored()) continue;
    BodyEditor& editor = editors.of(decision.weight.graph);
    const bool is_constant = decision.place.constant != kNone;
    const std::size_t place = is_constant ? decision.place.constant : BodyEditor::kFront;
    std::shared_ptr<const onnx::Production> by;
    StoredNames stored = add_stored_tensors(editor, place, source, decision, by);
    if (is_constant) {
      editor.replace_node(decision.place.constant);
    } else {
      editor.remove_initializer(decision.place.initializer);
    }
    if (decision.is_nbits()) {
      put_nbits_ops(editors, index, place, decision, stored);
    } else if (decision.decoder == plan::Decoder::kLookup) {
      for (const graph::Use& use : decision.place.value->uses)
        replace_lookup(editors.of(use.body), use.node, decision, stored);
    } else if (!decision.is_of_integer_op()) {
      add_decoder(editor, place, decision, stored, decision.weight.name);
    }
    result.push_back({i, stored, std::move(by)});
  }
  return result;
}

}  // namespace ounce::passes
