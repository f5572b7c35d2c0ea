#include "target/ort/requirements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"

namespace ounce::target {
namespace {

using Ops = std::set<std::string>;
using OpsByVersion = std::map<std::pair<std::string, std::int64_t>, Ops>;

// Throws if a name contains a special character, because the syntax has no quotes.
std::string plain(onnx::Bytes name, const onnx::Node& node, std::size_t position) {
  const bool is_plain = !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == ';' || c == ',' || c == '{' || c == '}' || c == '#' ||
           c == '!';
  });
  if (!is_plain) {
    throw Error(ErrorCode::kBadInput,
                "has an op type or domain with characters that a list of operators cannot contain",
                graph::node_label(node, position));
  }
  return std::string(name);
}

const std::vector<onnx::Kept<onnx::OpsetImport>>& imports_of(const onnx::Model& model,
                                                             const graph::Index& index, std::size_t body) {
  const onnx::Function* function = index.bodies()[index.root(body)].function;
  return function != nullptr ? function->opset_imports : model.proto->opset_imports;
}

void add(const onnx::Model& model, OpsByVersion& ops) {
  const graph::Index index(model);
  const graph::Functions functions(index);
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (functions.are_called_by(node)) return;
    const bool is_onnx = onnx::is_default_domain(node.domain());
    // A domain that is not imported has version 1.
    const std::int64_t version =
        std::max<std::int64_t>(1, onnx::opset_version(imports_of(model, index, body), node.domain()));
    ops[{is_onnx ? "ai.onnx" : plain(node.domain(), node, position), version}].insert(
        plain(node.op_type(), node, position));
  });
}

}  // namespace

std::string required_ops(std::span<const onnx::Model* const> models) {
  OpsByVersion ops;
  for (const onnx::Model* model : models) add(*model, ops);
  std::string text = "# domain;version;operators\n";
  for (const auto& [key, names] : ops)
    text += fmt::format("{};{};{}\n", key.first, key.second, fmt::join(names, ","));
  return text;
}

namespace {

// The only use of the output of `use`'s node; null if there is not exactly one.
const graph::Use* next_use(const graph::Index& index, const graph::Use& use) {
  const onnx::Node& node = index.node(use);
  const graph::Value* value = node.outputs.empty() ? nullptr : index.find(use.body, node.outputs[0]).value;
  return value != nullptr && value->uses.size() == 1 ? &value->uses[0] : nullptr;
}

// True if packed 4-bit values (formats/onnx/emit/decoder.h) become bytes at load, which DequantizeLinear
// dequantizes.
bool become_rows(const graph::Index& index, const graph::Value& value) {
  for (const graph::Use* use = &value.uses.front(); use != nullptr; use = next_use(index, *use)) {
    const onnx::Node& node = index.node(*use);
    if (node.op() == Op::kDequantizeLinear) return true;
    if (node.op() != Op::kBitShift && node.op() != Op::kConcat && node.op() != Op::kSlice) return false;
  }
  return false;
}

// True if packed 4-bit values become indices into a table of pairs.
bool become_pairs(const graph::Index& index, const graph::Value& value) {
  const graph::Use* use = next_use(index, value.uses.front());
  if (use == nullptr || use->input != 1 || index.node(*use).op() != Op::kGather) return false;
  const auto [table, body] = index.find(use->body, index.node(*use).inputs[0]);
  if (table == nullptr || table->producer == graph::kNone) return false;
  const onnx::Node& cast = *index.bodies()[body].nodes()[table->producer];
  const graph::Value* bytes = cast.op() == Op::kCast ? index.find(body, cast.inputs[0]).value : nullptr;
  if (bytes == nullptr || bytes->initializer == graph::kNone) return false;
  const auto& dims = index.bodies()[body].graph->initializers[bytes->initializer]->dims;
  return dims.size() == 2 && dims[1] == 2;
}

std::uint64_t loaded_bytes(const graph::Index& index, const onnx::Tensor& tensor, const graph::Value& value) {
  const auto is_used_by = [&](Op op) {
    return !value.uses.empty() &&
           std::all_of(value.uses.begin(), value.uses.end(),
                       [&](const graph::Use& use) { return index.node(use).op() == op; });
  };
  constexpr std::uint64_t kFloat = 4;
  if (is_used_by(Op::kBitShift)) return tensor.element_count() * 2 * (become_rows(index, value) ? 1 : kFloat);
  if (is_used_by(Op::kCast)) return tensor.element_count() * (become_pairs(index, value) ? 2 : 1) * kFloat;
  return tensor.byte_count();
}

}  // namespace

std::uint64_t weights_after_loading(const graph::Index& index) {
  std::uint64_t bytes = 0;
  for (const graph::Body& body : index.bodies()) {
    const auto add = [&](const onnx::Tensor& tensor, onnx::Bytes name) {
      const auto found = body.values.find(name);
      if (found != body.values.end()) bytes += loaded_bytes(index, tensor, found->second);
    };
    if (body.graph != nullptr) {
      for (const auto& tensor : body.graph->initializers) add(*tensor, tensor->name);
    }
    for (const auto& node : body.nodes()) {
      const onnx::Tensor* tensor = graph::constant_tensor(*node);
      if (tensor != nullptr && !node->outputs.empty()) add(*tensor, node->outputs[0]);
    }
  }
  return bytes;
}

}  // namespace ounce::target
