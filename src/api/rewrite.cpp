#include "api/rewrite.h"

#include <ounce/version.h>

#include "passes/strip_constant_names.h"

namespace ounce::api {

std::vector<passes::Stored> rewrite(onnx::Model& model, const onnx::Model& source, const graph::Index& index,
                                    const plan::Plan& plan, const Provenance& provenance) {
  std::vector<passes::Stored> stored = passes::store_weights(model, source, index, plan);
  passes::strip_constant_names(model);
  passes::set_metadata(model, "ounce.version", version());
  passes::set_metadata(model, "ounce.plan", provenance.plan_digest);
  passes::set_metadata(model, "ounce.source", provenance.source_digest);
  return stored;
}

}  // namespace ounce::api
