// What a model's outputs look like, and so how its quality is told (ounce/verify.h: Task). Shapes, types and
// the last ops tell; names do not.
#pragma once

#include <ounce/advise.h>

#include <cstddef>
#include <functional>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

// Fills in task and task_reason; both stay as they are where the outputs do not tell.
void propose_task(const onnx::Model& model, const graph::Index& index, FamilyFinding& finding);

// Walks from a value through the nodes of a graph, backwards or ahead, as far as the visitor wants to go:
// each value once, and not endlessly in a graph that somebody made to be endless. Backwards it also goes into
// the branches of an If.
//
//   walk_back(index, body, name, [&](std::size_t body, const onnx::Node& node) { return node.op_type ==
//   "Add"; });

// Is called with the body that a node stands in; true to go on beyond the node.
using Visit = std::function<bool(std::size_t, const onnx::Node&)>;

void walk_back(const graph::Index& index, std::size_t body, graph::Bytes name, const Visit& visit);
void walk_ahead(const graph::Index& index, std::size_t body, graph::Bytes name, const Visit& visit);

}  // namespace ounce::search
