#include "passes/few_bit_ops.h"

#include "onnx/attributes.h"
#include "passes/chain.h"
#include "passes/constants.h"
#include "plan/few_bit_uses.h"

namespace ounce::passes {
namespace {

constexpr std::int64_t kAnyOpset = 1 << 20;  // the plan has looked at it

void add_integers(BodyEditor& editor, onnx::Node& node,
                  std::initializer_list<std::pair<Bytes, std::int64_t>> values) {
  for (const auto& [name, value] : values)
    node.attributes.emplace_back(onnx::make_integer_attribute(editor.model(), name, value));
}

void replace_product(BodyEditor& editor, std::size_t position, const plan::Decision& decision,
                     const StoredNames& stored) {
  const onnx::Node& old = editor.node(position);
  const Bytes bias = is_op(old, "Gemm") ? input_of(old, 2) : Bytes(), output = old.outputs[0];
  onnx::Node product;
  product.name = old.name;
  product.op_type = "MatMulNBits";
  product.domain = onnx::kContrib;
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
  sum.op_type = "Add";
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
  lookup.op_type = "GatherBlockQuantized";
  lookup.domain = onnx::kContrib;
  lookup.inputs = {table, old.inputs[1], stored.scales};
  if (!stored.zeros.empty()) lookup.inputs.push_back(stored.zeros);
  // Rows come in the type of the scales.
  const ElementType type = decision.weight.tensor->type;
  const bool is_cast = decision.format.half_scales && type != ElementType::kFloat16;
  const Bytes output = old.outputs[0], rows = is_cast ? editor.names().fresh("v") : output;
  lookup.outputs = {rows};
  lookup.carried = old.carried;
  add_integers(
      editor, lookup,
      {{"gather_axis", 0}, {"quantize_axis", 1}, {"block_size", static_cast<std::int64_t>(decision.block)}});
  // 1.22, which has kernels for 4 bits, does not know the attribute.
  if (decision.bits() != 4) add_integers(editor, lookup, {{"bits", decision.bits()}});
  editor.replace_node(position);
  editor.add_node(position, std::move(lookup));
  if (is_cast) Chain(editor, position, rows).cast(type).finish(output);
}

}  // namespace

void put_few_bit_ops(Editors& editors, const graph::Index& index, std::size_t place,
                     const plan::Decision& decision, const StoredNames& stored) {
  const plan::FewBitUses uses = plan::find_few_bit_uses(index, decision.weight, kAnyOpset);
  for (const plan::NodePlace& at : uses.products)
    replace_product(editors.of(at.body), at.node, decision, stored);
  for (const plan::NodePlace& at : uses.transposes) editors.of(at.body).remove_node(at.node);
  if (uses.lookups.empty()) return;
  Bytes table = stored.codes;
  if (decision.rows.is_padded) {
    table = Chain(editors.of(decision.weight.body), place, table)
                .reshape({static_cast<std::int64_t>(decision.rows.rows),
                          static_cast<std::int64_t>(decision.rows.row_bytes(decision.bits()))})
                .value();
  }
  for (const plan::NodePlace& at : uses.lookups)
    replace_lookup(editors.of(at.body), at.node, decision, stored, table);
}

}  // namespace ounce::passes
