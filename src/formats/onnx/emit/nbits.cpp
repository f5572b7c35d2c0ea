#include "formats/onnx/emit/nbits.h"

#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/digest.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/half.h"
#include "quant/blocks.h"

namespace ounce::passes {
namespace {

using kernels::kPanelBlocks;
using plan::Decision;
using quant::BlockRows;

constexpr std::size_t part_of(StoredPart part) { return static_cast<std::size_t>(part); }

const std::byte* bytes_of(const std::vector<float>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

// Digest and error of a written stripe of rows. The stripe is dequantized while the source values are in
// memory, so that they are read only once.
struct StripeProof {
  kernels::ErrorNorms norms;
  Digest codes{}, scales{}, zeros{};
};

class NbitsProduction final : public onnx::Production {
 public:
  // Copies the decision and the tensor; the tensor's bytes stay in the mapped file.
  NbitsProduction(const onnx::Model& model, const Decision& decision)
      : model_(model), tensor_(*decision.place.tensor), decision_(decision) {
    decision_.place.tensor = &tensor_;
  }

  std::uint64_t source_bytes() const override { return tensor_.byte_count(); }

  void run(std::span<const onnx::Place> parts, const ForEach& for_each) const override {
    const plan::TensorSource source(model_, tensor_);
    proofs_.assign(quant::stripe_count(decision_.rows), {});
    quant::for_each_stripe(source.floats(), decision_.rows, for_each,
                           [&](std::size_t stripe, std::size_t first, std::size_t count) {
                             proofs_[stripe] = write_rows(source.floats(), parts, first, count);
                           });
  }

  // One entry per stripe, after run().
  const std::vector<StripeProof>& proofs() const { return proofs_; }

 private:
  StripeProof write_rows(const quant::FloatSource& floats, std::span<const onnx::Place> parts,
                         std::size_t first, std::size_t count) const {
    const BlockRows& rows = decision_.rows;
    const std::size_t blocks = rows.blocks(), row_bytes = rows.row_bytes(decision_.bits());
    std::vector<kernels::Affine> affine(count * blocks);
    std::vector<std::uint8_t> packed(count * row_bytes);
    const bool is_found = decision_.codes != nullptr;
    if (is_found) {
      std::copy_n(decision_.affine.data() + first * blocks, affine.size(), affine.data());
      std::copy_n(decision_.codes->data() + first * row_bytes, packed.size(), packed.data());
    }
    StripeProof proof;
    std::vector<std::uint8_t> codes(rows.block * kPanelBlocks);
    std::vector<float> decoded(codes.size());
    quant::for_each_panel(floats, rows, first, count, [&](const quant::PanelPlace& place, const float* x) {
      std::array<kernels::Affine, kPanelBlocks> found{};
      const std::size_t at = place.row - first;
      std::uint8_t* const to = packed.data() + at * row_bytes;
      if (!is_found) {
        encode(x, place.block, found.data(), codes.data());
        quant::pack_panel(codes.data(), rows, place, decision_.bits(), to);
        for (std::size_t r = 0; r < place.rows; ++r) affine[(at + r) * blocks + place.block] = found[r];
      } else {
        for (std::size_t r = 0; r < place.rows; ++r) found[r] = affine[(at + r) * blocks + place.block];
      }
      quant::unpack_panel(to, rows, place, decision_.bits(), codes.data());
      kernels::decode_columns(codes.data(), rows.block, kPanelBlocks, found.data(), decision_.format.sign,
                              decoded.data());
      forget_beyond(place, decoded);
      kernels::error_norms(reinterpret_cast<const std::byte*>(x), decoded.data(), decoded.size(),
                           proof.norms);
    });
    proof.codes = write_part(as_bytes(packed), first * row_bytes, parts[part_of(StoredPart::kCodes)]);
    proof.scales = write_scales(affine, first, parts[part_of(StoredPart::kScales)]);
    if (!decision_.format.is_symmetric)
      proof.zeros = write_zeros(affine, first, count, parts[part_of(StoredPart::kZeros)]);
    return proof;
  }

  void encode(const float* x, std::size_t block, kernels::Affine* affine, std::uint8_t* codes) const {
    const std::size_t n = decision_.rows.block;
    const float* energy = decision_.energy == nullptr ? nullptr : decision_.energy->data() + block * n;
    quant::find_panel_scales(x, energy, n, decision_.format, decision_.scale, affine);
    kernels::quantize_columns(reinterpret_cast<const std::byte*>(x), n, kPanelBlocks, kPanelBlocks, affine,
                              decision_.format.codes, codes);
  }

  // Clears padding rows and columns, which have no source values.
  void forget_beyond(const quant::PanelPlace& place, std::vector<float>& decoded) const {
    const BlockRows& rows = decision_.rows;
    const std::size_t begin = place.block * rows.block;
    const std::size_t columns = rows.is_padded ? rows.block : std::min(rows.block, rows.columns - begin);
    std::fill(decoded.begin() + static_cast<std::ptrdiff_t>(columns * kPanelBlocks), decoded.end(), 0.0F);
    for (std::size_t i = 0; i < columns && place.rows < kPanelBlocks; ++i)
      std::fill_n(decoded.data() + i * kPanelBlocks + place.rows, kPanelBlocks - place.rows, 0.0F);
  }

  static Digest write_part(onnx::Bytes bytes, std::size_t at, const onnx::Place& place) {
    place.write(at, bytes);
    return digest_of(bytes);
  }

  Digest write_scales(const std::vector<kernels::Affine>& affine, std::size_t first,
                      const onnx::Place& place) const {
    std::vector<float> scales;
    for (const kernels::Affine& group : affine) scales.push_back(group.scale);
    const std::size_t at = first * decision_.rows.blocks();
    if (!decision_.format.half_scales) return write_part(as_bytes(scales), at * sizeof(float), place);
    std::vector<std::uint16_t> halves(scales.size());
    kernels::HalfStats stats;
    kernels::f32_to_f16(bytes_of(scales), scales.size(), halves.data(), stats);
    return write_part(as_bytes(halves), at * sizeof(std::uint16_t), place);
  }

  Digest write_zeros(const std::vector<kernels::Affine>& affine, std::size_t first, std::size_t count,
                     const onnx::Place& place) const {
    const std::size_t blocks = decision_.rows.blocks();
    const std::size_t row_bytes = decision_.rows.zero_row_bytes(decision_.bits());
    std::vector<std::uint8_t> codes(blocks), packed(count * row_bytes);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t b = 0; b < blocks; ++b)
        codes[b] = static_cast<std::uint8_t>(affine[r * blocks + b].zero);
      quant::pack_codes(codes.data(), blocks, decision_.bits(), packed.data() + r * row_bytes);
    }
    return write_part(as_bytes(packed), first * row_bytes, place);
  }

  const onnx::Model& model_;
  const onnx::Tensor tensor_;
  Decision decision_;
  mutable std::vector<StripeProof> proofs_;  // filled in by run()
};

// Checks that a stripe of the written file has the expected bytes.
void require_same(const onnx::RawValues& written, std::size_t at, std::size_t size, const Digest& meant,
                  const Decision& decision) {
  const onnx::Bytes bytes = written.bytes();
  if (at + size <= bytes.size() && digest_of(bytes.substr(at, size)) == meant) return;
  throw Error(ErrorCode::kInternal, "the file differs from what was written; nothing was written",
              std::string(decision.weight.name));
}

}  // namespace

std::vector<StoredTensor> nbits_tensors(const onnx::Model& model, const Decision& decision) {
  const auto production = std::make_shared<NbitsProduction>(model, decision);
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

kernels::ErrorNorms compare_nbits(const Decision& decision, const onnx::Model& written,
                                  const WrittenWeight& weight, const ForEach& for_each) {
  const auto* production = dynamic_cast<const NbitsProduction*>(weight.by.get());
  if (production == nullptr || production->proofs().size() != quant::stripe_count(decision.rows))
    throw Error(ErrorCode::kInternal, "these quantized values were not written",
                std::string(decision.weight.name));
  const onnx::RawValues codes(*weight.codes), scales(*weight.scales);
  const std::optional<onnx::RawValues> zeros =
      weight.zeros == nullptr ? std::nullopt : std::optional<onnx::RawValues>(*weight.zeros);
  const BlockRows& rows = decision.rows;
  const std::size_t row_bytes = rows.row_bytes(decision.bits()),
                    zero_bytes = rows.zero_row_bytes(decision.bits()),
                    scale_bytes =
                        rows.blocks() * (decision.format.half_scales ? sizeof(std::uint16_t) : sizeof(float));
  for_each(production->proofs().size(), [&](std::size_t stripe) {
    const StripeProof& proof = production->proofs()[stripe];
    const std::size_t first = stripe * quant::kStripeRows;
    const std::size_t count = std::min(quant::kStripeRows, rows.rows - first);
    require_same(codes, first * row_bytes, count * row_bytes, proof.codes, decision);
    require_same(scales, first * scale_bytes, count * scale_bytes, proof.scales, decision);
    if (zeros) require_same(*zeros, first * zero_bytes, count * zero_bytes, proof.zeros, decision);
  });
  written.release(codes.bytes());
  kernels::ErrorNorms total;
  for (const StripeProof& stripe : production->proofs()) {
    total.signal += stripe.norms.signal;
    total.noise += stripe.norms.noise;
    total.max_abs = std::max(total.max_abs, stripe.norms.max_abs);
  }
  return total;
}

namespace {

constexpr std::int64_t kAnyOpset = 1 << 20;  // the plan has already checked the opset

void add_integers(BodyEditor& editor, onnx::Node& node,
                  std::initializer_list<std::pair<Bytes, std::int64_t>> values) {
  for (const auto& [name, value] : values)
    node.attributes.emplace_back(onnx::make_integer_attribute(editor.model(), name, value));
}

void replace_product(BodyEditor& editor, std::size_t position, const plan::Decision& decision,
                     const StoredNames& stored) {
  const onnx::Node& old = editor.node(position);
  const Bytes bias = old.op() == Op::kGemm ? input_of(old, 2) : Bytes(), output = old.outputs[0];
  onnx::Node product;
  product.name = old.name;
  product.set_op(Op::kMatMulNBits);
  product.inputs = {old.inputs[0], stored.codes, stored.scales};
  if (!stored.zeros.empty()) product.inputs.push_back(stored.zeros);
  product.outputs = {bias.empty() ? output : editor.names().fresh("v")};
  product.carried = old.carried;
  add_integers(editor, product,
               {{"K", static_cast<std::int64_t>(decision.rows.columns)},
                {"N", static_cast<std::int64_t>(decision.rows.rows)},
                {"bits", decision.bits()},
                {"block_size", static_cast<std::int64_t>(decision.block)},
                {"accuracy_level", decision.accuracy_level}});
  onnx::Node sum;
  sum.set_op(Op::kAdd);
  sum.inputs = {product.outputs[0], bias};
  sum.outputs = {output};
  editor.replace_node(position);
  editor.add_node(position, std::move(product));
  if (!bias.empty()) editor.add_node(position, std::move(sum));
}

void replace_lookup(BodyEditor& editor, std::size_t position, const plan::Decision& decision,
                    const StoredNames& stored, Bytes table) {
  const onnx::Node& old = editor.node(position);
  onnx::Node lookup;
  lookup.name = old.name;
  lookup.set_op(Op::kGatherBlockQuantized);
  lookup.inputs = {table, old.inputs[1], stored.scales};
  if (!stored.zeros.empty()) lookup.inputs.push_back(stored.zeros);
  // Rows have the type of the scales.
  const ElementType type = decision.weight.type;
  const bool is_cast = decision.format.half_scales && type != ElementType::kFloat16;
  const Bytes output = old.outputs[0], rows = is_cast ? editor.names().fresh("v") : output;
  lookup.outputs = {rows};
  lookup.carried = old.carried;
  add_integers(
      editor, lookup,
      {{"gather_axis", 0}, {"quantize_axis", 1}, {"block_size", static_cast<std::int64_t>(decision.block)}});
  // ONNX Runtime 1.22, which supports 4 bits, does not know this attribute.
  if (decision.bits() != 4) add_integers(editor, lookup, {{"bits", decision.bits()}});
  editor.replace_node(position);
  editor.add_node(position, std::move(lookup));
  if (is_cast) Chain(editor, position, rows).cast(type).finish(output);
}

}  // namespace

void put_nbits_ops(Editors& editors, const graph::Index& index, std::size_t place,
                   const plan::Decision& decision, const StoredNames& stored) {
  const plan::NbitsUses uses = plan::find_nbits_uses(index, *decision.place.value, kAnyOpset);
  for (const plan::NodePlace& at : uses.products)
    replace_product(editors.of(at.body), at.node, decision, stored);
  for (const plan::NodePlace& at : uses.transposes) editors.of(at.body).remove_node(at.node);
  if (uses.lookups.empty()) return;
  Bytes table = stored.codes;
  if (decision.rows.is_padded) {
    table = Chain(editors.of(decision.weight.graph), place, table)
                .reshape({static_cast<std::int64_t>(decision.rows.rows),
                          static_cast<std::int64_t>(decision.rows.row_bytes(decision.bits()))})
                .value();
  }
  for (const plan::NodePlace& at : uses.lookups)
    replace_lookup(editors.of(at.body), at.node, decision, stored, table);
}

}  // namespace ounce::passes
