// The second part of quantize(): a resolved recipe becomes a file, which gets its name only after it has been
// reopened, compared with its source and run.
#pragma once

#include <ounce/quantize.h>

#include "make/resolve.h"
#include "onnx/model.h"
#include "target/provider.h"

namespace ounce::make {

// Throws for targets that nobody knows, and for arithmetic that a target has not.
const target::Provider& provider_of(const Recipe& recipe);

// `result` says which model and where to; the rest is filled in. `options` are for this machine. Throws what
// quantize() throws.
void write_resolved(const onnx::Model& original, const QuantizeOptions& options, Resolved resolved,
                    QuantizeResult& result);

}  // namespace ounce::make
