// Models that are no originals to quantize: Ounce has written them, or another tool has quantized them.
#pragma once

#include <ounce/recipe.h>

#include <string>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "model/model_file.h"

namespace ounce::quantization {

// "already quantized by Ounce (w8)" for a model that carries the metadata of one; empty for others.
std::string why_written_by_ounce(const model::ModelFile& file);
std::string why_written_by_ounce(const onnx::Model& model);
// The same, and "already quantized (52 QLinearConv)" for a model of another tool that has nothing left to
// quantize. A model from quantization-aware training whose weights are still floats is an original.
std::string why_no_original(const onnx::Model& model, const graph::Index& index);

// Throws Error{kUnsupported} for a model that Ounce has quantized: "Already quantized by Ounce (w8). Quantize
// the original model instead." A model that computes in FP16 or BF16 may still be stored in fewer bits.
void require_original(const onnx::Model& model, Format wanted);
void require_original(const model::ModelFile& file, Format wanted);
// The same for what is made of a model in several formats at once. `what`: "Publish", "Tune".
void require_original(const onnx::Model& model, const std::string& what);

}  // namespace ounce::quantization
