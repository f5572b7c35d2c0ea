// Detects models that are already quantized, by Ounce or by another tool.
#pragma once

#include <ounce/recipe.h>

#include <string>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "model/model_file.h"

namespace ounce::quantization {

// Returns "already quantized by Ounce (w8)" for a model with Ounce's metadata; empty for others.
std::string why_written_by_ounce(const model::ModelFile& file);
std::string why_written_by_ounce(const onnx::Model& model);
// Also returns "already quantized (52 QLinearConv)" for a model of another tool that has nothing left to
// quantize. A model from quantization-aware training whose weights are still FP32 counts as an original.
std::string why_no_original(const onnx::Model& model, const graph::Index& index);

// Throws Error{kUnsupported} for a model that Ounce has quantized: "Already quantized by Ounce (w8). Quantize
// the original model instead." The weights of a model that runs in FP16 or BF16 may still be compressed.
void require_original(const onnx::Model& model, Format wanted);
void require_original(const model::ModelFile& file, Format wanted);
// The same for commands that make several formats. `what` is the verb in the message: "Publish", "Tune".
void require_original(const model::ModelFile& file, const std::string& what);

}  // namespace ounce::quantization
