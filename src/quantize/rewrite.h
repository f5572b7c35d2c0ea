// The passes that quantize() runs, in their order, in one place: quantize() writes the result, inspect() only
// weighs it.
#pragma once

#include <string>
#include <vector>

#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::quantization {

// Digests are 32 hexadecimal digits; see base/digest.h.
struct Provenance {
  std::string plan_digest, source_digest;
};

struct Rewritten {
  std::vector<passes::Stored> stored;
  std::uint64_t shortened = 0;  // bytes of inner names that are gone
};

// `model` is a clone of `source`, which `index` and `plan` belong to.
Rewritten rewrite(onnx::Model& model, const onnx::Model& source, const graph::Index& index,
                  const plan::Plan& plan, const Provenance& provenance);

}  // namespace ounce::quantization
