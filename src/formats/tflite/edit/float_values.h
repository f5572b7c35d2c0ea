// The values of float constants as FP32, and FP32 constants that are made of FP16 ones while a file is
// written: no copy of them is in memory.
//
//   model.buffers[b].data = widened(data, ElementType::kFloat16);
//   const quant::FloatSource values = floats_of(model, tensor);   // of such a constant, or of any other
#pragma once

#include "base/element_type.h"
#include "formats/tflite/file/model.h"
#include "quant/float_source.h"

namespace ounce::tflite {

// `values` as FP32: halves are converted when the file is written, FP32 is returned unchanged. The bytes
// live as long as the model.
Data widened(Data values, ElementType type);

// A float constant that has its values in the file and is not sparse, or one that widened() made. Values from
// the file are released when they have been read. Throws Error{kInternal} for values that something else
// computes.
quant::FloatSource floats_of(const Model& model, const Tensor& tensor);

}  // namespace ounce::tflite
