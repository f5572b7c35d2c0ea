#include "api/rewrite.h"

#include <ounce/error.h>
#include <ounce/version.h>

#include "passes/half_graph.h"
#include "passes/import_domains.h"
#include "passes/integer_ops.h"
#include "passes/integer_ports.h"
#include "passes/remove_dead_nodes.h"
#include "passes/strip_constant_names.h"

namespace ounce::api {

void require_same_file(const onnx::Model& first, const onnx::Model& second) {
  bool is_same =
      first.file.is_same_file(second.file) && first.external_files.size() == second.external_files.size();
  for (const auto& [location, file] : first.external_files) {
    const auto found = second.external_files.find(location);
    is_same = is_same && found != second.external_files.end() && file.is_same_file(found->second);
  }
  if (is_same) return;
  throw Error(ErrorCode::kIo, "the file was replaced while it was read; try again",
              first.file.path().string());
}

std::vector<passes::Stored> rewrite(onnx::Model& model, const onnx::Model& source, const graph::Index& index,
                                    const plan::Plan& plan, const Provenance& provenance) {
  passes::Editors editors(model, index);
  std::vector<passes::Stored> stored = plan.half.exists()
                                           ? passes::make_half_graph(editors, source, index, plan)
                                           : passes::store_weights(editors, source, plan);
  passes::put_integer_ops(editors, index, plan, stored);
  editors.finish();
  if (plan.recipe.is_integer()) {
    passes::remove_dead_nodes(model);  // what clamps took, and declared types
    passes::import_domains(model);
    passes::declare_ports(model, plan.integer.ports);
  }
  passes::declare_ports(model, plan.half.ports);
  passes::strip_constant_names(model);
  passes::set_metadata(model, "ounce.version", version());
  passes::set_metadata(model, "ounce.plan", provenance.plan_digest);
  passes::set_metadata(model, "ounce.source", provenance.source_digest);
  return stored;
}

}  // namespace ounce::api
