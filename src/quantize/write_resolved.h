// The second part of quantize(): a resolved recipe becomes a file, which gets its name only after it has been
// reopened, compared with its source and run.
#pragma once

#include <ounce/prove.h>
#include <ounce/quantize.h>

#include <optional>
#include <string>

#include "formats/onnx/file/model.h"
#include "quantize/resolve.h"

namespace ounce::quantization {

// `result` says which model and where to; the rest is filled in. `options` are for this machine. The model
// states what was done; a gate that it has passed stands in the place of its trial. Throws what quantize()
// throws.
void write_resolved(const onnx::Model& original, const QuantizeOptions& options, Resolved resolved,
                    QuantizeResult& result, const std::optional<StatedGate>& gate = std::nullopt);

// What is said of a model that decodes weights at every run. Shapes alone decide how many it decodes, so that
// the same options give the same bytes on every machine; a timing only says how that went on this one.

// Empty unless decoding surely took more of a run than Recipe::decode_share.
std::string decoding_note(const Recipe& recipe, const TrialResult& trial);

}  // namespace ounce::quantization
