#include "passes/store_weights.h"

#include "passes/few_bit_ops.h"
#include "passes/stored_weight.h"

namespace ounce::passes {
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
    BodyEditor& editor = editors.of(decision.weight.body);
    const bool is_constant = decision.weight.constant != kNone;
    const std::size_t place = is_constant ? decision.weight.constant : BodyEditor::kFront;
    std::shared_ptr<const onnx::Production> by;
    StoredNames stored = add_stored_tensors(editor, place, source, decision, by);
    if (is_constant) {
      editor.replace_node(decision.weight.constant);
    } else {
      editor.remove_initializer(decision.weight.initializer);
    }
    if (decision.is_nbits()) {
      put_few_bit_ops(editors, index, place, decision, stored);
    } else if (decision.decoder == plan::Decoder::kLookup) {
      for (const graph::Use& use : decision.weight.value->uses)
        replace_lookup(editors.of(use.body), use.node, decision, stored);
    } else if (!decision.is_of_integer_op()) {
      add_decoder(editor, place, decision, stored, decision.weight.name);
    }
    result.push_back({i, stored, std::move(by)});
  }
  return result;
}

void set_metadata(onnx::Model& model, const std::string& key, const std::string& value) {
  auto& metadata = model.proto.edit().metadata;
  std::erase_if(metadata, [&](const auto& entry) { return entry->key == key; });
  onnx::MetadataEntry entry;
  entry.key = model.intern(key);
  entry.value = model.intern(value);
  metadata.emplace_back(entry);
}

}  // namespace ounce::passes
