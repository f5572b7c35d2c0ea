#include "passes/dynamic_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "onnx/attributes.h"
#include "onnx/settings.h"
#include "passes/constants.h"
#include "plan/dynamic_kernels.h"

namespace ounce::passes {

void put_dynamic_attention(BodyEditor& editor, std::size_t position, const CodedInput& input,
                           const StoredNames& weight) {
  constexpr std::size_t kBias = 2, kMask = 3, kPast = 4;  // inputs of Attention, by their place
  const onnx::Node& old = editor.node(position);
  onnx::Node node;
  node.name = old.name;
  node.op_type = "QAttention";
  node.domain = "com.microsoft";
  node.inputs = {input.codes,          weight.codes, input_of(old, kBias), input.scale,         weight.scales,
                 input_of(old, kMask), input.zero,   weight.zeros,         input_of(old, kPast)};
  while (node.inputs.back().empty()) node.inputs.pop_back();
  node.outputs = old.outputs;
  for (const auto& attribute : old.attributes) {
    const auto& known = plan::kAttentionAttributes;
    if (std::find(known.begin(), known.end(), attribute->name) != known.end())
      node.attributes.push_back(onnx::copy_of(attribute));
  }
  editor.replace_node(position);
  editor.add_node(position, std::move(node));
}

}  // namespace ounce::passes
