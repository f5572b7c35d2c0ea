// The second part of quantize(): a resolved recipe becomes a file, which gets its name only after it has been
// reopened, compared with its source and run.
#pragma once

#include <ounce/prove.h>
#include <ounce/quantize.h>

#include <optional>

#include "make/resolve.h"
#include "onnx/model.h"

namespace ounce::make {

// `result` says which model and where to; the rest is filled in. `options` are for this machine. The model
// states what was done; a gate that it has passed stands in the place of its trial. Throws what quantize()
// throws.
void write_resolved(const onnx::Model& original, const QuantizeOptions& options, Resolved resolved,
                    QuantizeResult& result, const std::optional<StatedGate>& gate = std::nullopt);

}  // namespace ounce::make
