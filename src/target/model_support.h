// What a release of ONNX Runtime makes of a whole model: its limits, and every node.
#pragma once

#include <ounce/check.h>

#include <vector>

#include "graph/index.h"
#include "onnx/model.h"
#include "target/node_support.h"
#include "target/target.h"

namespace ounce::target {

// A node that does not plainly run, with its place.
struct Finding {
  std::size_t body = 0, node = 0;
  NodeFinding described;
};

struct ModelSupport {
  TargetCheck check;
  std::vector<Finding> findings;
};

// `target` is a place (a system and a machine). Whoever asks for several targets keeps the checker.
ModelSupport support_of(const onnx::Model& model, const graph::Index& index, const NodeChecker& checker,
                        const Target& target);
ModelSupport support_of(const onnx::Model& model, const graph::Index& index, const Target& target);

}  // namespace ounce::target
