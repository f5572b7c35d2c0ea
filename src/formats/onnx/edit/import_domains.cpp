#include "formats/onnx/edit/import_domains.h"

#include <set>

#include "formats/onnx/graph/index.h"

namespace ounce::passes {

void import_domains(onnx::Model& model) {
  const graph::Index index(model);
  std::map<std::size_t, std::set<onnx::Bytes>> missing;  // by the body around which there is none
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const std::size_t root = index.root(id);
    const onnx::Function* function = index.bodies()[root].function;
    const auto& imports = function != nullptr ? function->opset_imports : model.proto->opset_imports;
    for (const auto& node : index.bodies()[id].nodes()) {
      const bool is_known =
          onnx::is_default_domain(node->domain()) || onnx::opset_version(imports, node->domain()) != 0;
      if (!is_known) missing[root].insert(node->domain());
    }
  }
  for (const auto& [root, domains] : missing) {
    const graph::Body& body = index.bodies()[root];
    auto& imports = body.function != nullptr
                        ? model.proto.edit().functions[body.position].edit().opset_imports
                        : model.proto.edit().opset_imports;
    for (const onnx::Bytes domain : domains) {
      onnx::OpsetImport import;
      import.domain = domain;
      import.version = 1;
      imports.emplace_back(std::move(import));
    }
  }
}

}  // namespace ounce::passes
