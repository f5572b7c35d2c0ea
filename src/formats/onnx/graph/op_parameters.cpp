#include "formats/onnx/graph/op_parameters.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"

namespace ounce::graph {
namespace {

void check_parameters(const onnx::Node& node, std::size_t number, std::int64_t version,
                      const std::string& where) {
  if (!onnx::is_default_domain(node.domain())) return;
  const onnx::OpSchema* schema = onnx::find_op_schema({}, node.op_type(), version);
  if (schema == nullptr) return;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("node '{}' {}: it is no {} of opset {}", node_label(node, number), why,
                            node.op_type(), version),
                where);
  };
  for (std::size_t i = 0; i < schema->inputs.size(); ++i) {
    if (schema->needs(i) && (i >= node.inputs.size() || node.inputs[i].empty()))
      refuse(fmt::format("lacks its input {}", i));
  }
  if (!schema->takes(node.inputs.size())) refuse(fmt::format("has {} inputs", node.inputs.size()));
  if (node.outputs.size() < schema->least_outputs) refuse(fmt::format("has {} outputs", node.outputs.size()));
}

}  // namespace

void check_op_parameters(const onnx::Model& model, const Index& index) {
  const Functions functions(index);
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const Body& body = index.bodies()[id];
    const std::int64_t version = opset_of(model, index, id);
    for (std::size_t i = 0; i < body.nodes().size(); ++i) {
      const onnx::Node& node = *body.nodes()[i];
      if (functions.called_by(node) == kNone) check_parameters(node, i, version, body.path);
    }
  }
}

}  // namespace ounce::graph
