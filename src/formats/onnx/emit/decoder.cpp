#include "formats/onnx/emit/decoder.h"

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/attributes.h"

namespace ounce::passes {
namespace {

using plan::Encoding;

// One byte holds an element of the first half (low) and one of the second half (high).
Bytes unpack_halves(BodyEditor& editor, std::size_t place, Bytes codes, std::uint64_t count) {
  const Bytes four = editor.add_shared("four", scalar<std::uint8_t>(ElementType::kUint8, 4));
  const Bytes low = Chain(editor, place, codes).shift(four, "LEFT").shift(four, "RIGHT").value();
  const Bytes high = Chain(editor, place, codes).shift(four, "RIGHT").value();
  Chain all(editor, place, low);
  all.node(Op::kConcat, {high}, all.integer("axis", 0));
  if (count % 2 != 0) {
    all.node(Op::kSlice, {editor.add_integers(place, {0}),
                          editor.add_integers(place, {static_cast<std::int64_t>(count)})});
  }
  return all.value();
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

// The values of each byte, without their scale. As bytes in the file, as floats for Gather.
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
  const onnx::Tensor& tensor = *decision.weight.tensor;
  const Bytes indices = Chain(editor, place, stored.codes).cast(ElementType::kInt32).value();
  Chain chain(editor, place, pair_table(editor, decision.format.zero));
  chain.node(Op::kGather, {indices}).node(Op::kMul, {float_scales(editor, place, decision, stored)});
  chain.reshape(tensor.dims);
  if (tensor.type != ElementType::kFloat) chain.cast(tensor.type);
  chain.finish(output);
}

void add_rows(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
              const StoredNames& stored, Bytes output) {
  const onnx::Tensor& tensor = *decision.weight.tensor;
  const Bytes codes = unpack_halves(editor, place, stored.codes, tensor.element_count());
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
  if (decision.has_rows) return add_rows(editor, place, decision, stored, output);
  if (decision.has_pairs) return add_pairs(editor, place, decision, stored, output);
  if (decision.decoder == plan::Decoder::kDq) return add_dequantize(editor, place, decision, stored, output);
  const onnx::Tensor& tensor = *decision.weight.tensor;
  Bytes codes = stored.codes;
  if (decision.is_packed()) codes = unpack_halves(editor, place, codes, tensor.element_count());
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
    // Gather takes its indices from the chain, so the codebook goes in front.
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
  const ElementType type = decision.weight.tensor->type;
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

}  // namespace ounce::passes
