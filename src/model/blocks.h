// Groups the nodes of the main graph into blocks, for charts of a model.
#pragma once

#include <ounce/quantize.h>

#include <string_view>
#include <vector>

#include "model/model_file.h"

namespace ounce::model {

// "/encoder/layer.3/attention/query/MatMul" → "/encoder/layer.3": the outermost numbered scope; empty without
// one.
std::string_view numbered_scope(std::string_view node);

// In the order of the network. Nodes with the same numbered scope form a block. A node without one joins the
// block before it, unless it has weights: then it begins a new block. Nodes that only give constants belong
// to no block. Empty if the model has more than kMostBlockNodes nodes.
inline constexpr std::size_t kMostBlockNodes = 20'000;
std::vector<GraphBlock> blocks_of(const ModelFile& file);

}  // namespace ounce::model
