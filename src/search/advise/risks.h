// What may go wrong when this model is quantized, each with what was seen in the graph or measured.
#pragma once

#include <ounce/advise.h>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

std::vector<Risk> find_risks(const onnx::Model& model, const graph::Index& index,
                             const AdviseOptions& options, const AdviseResult& result);

// Data that would make the advice better.
std::vector<std::string> find_missing(const AdviseOptions& options, const AdviseResult& result);

}  // namespace ounce::search
