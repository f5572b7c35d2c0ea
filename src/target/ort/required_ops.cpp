#include "target/ort/required_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"

namespace ounce::target {
namespace {

using Ops = std::set<std::string>;
using OpsByVersion = std::map<std::pair<std::string, std::int64_t>, Ops>;

// The grammar has no quotes: a name that holds one of its signs would be read as something else.
std::string plain(onnx::Bytes name, const onnx::Node& node, std::size_t position) {
  const bool is_plain = !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == ';' || c == ',' || c == '{' || c == '}' || c == '#' ||
           c == '!';
  });
  if (!is_plain) {
    throw Error(ErrorCode::kBadInput, "has an op type or domain that a list of operators cannot hold",
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
    // A domain that nobody imports has its first version.
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

}  // namespace ounce::target
