// What a release of ONNX Runtime makes of a node of a model, from the support matrix.
//
// Where the file does not tell all that the matrix distinguishes (the rank of a value, say), the answer is
// known only when it is the same for all that it could be; otherwise it is unknown. Nothing is guessed.
#pragma once

#include <ounce/check.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/element_types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"
#include "target/support_matrix.h"
#include "target/target.h"

namespace ounce::target {

struct NodeSupport {
  Answer answer = Answer::kUnknown;
  std::string types;  // how the type variables are bound: "T1=uint8 T2=int8"
  std::string why;    // the answer is unknown, or the opset has no such op
};

class NodeChecker {
 public:
  NodeChecker(const onnx::Model& model, const graph::Index& index, const SupportMatrix& matrix);

  NodeSupport check(std::size_t body, const onnx::Node& node, std::size_t column) const;

 private:
  NodeSupport check_alone(std::size_t body, const onnx::Node& node, std::size_t column) const;
  const onnx::Model& model_;
  const graph::Index& index_;
  const SupportMatrix& matrix_;
  graph::ElementTypes types_;
  graph::Shapes shapes_;
  graph::Functions functions_;
  // Ops that were looked up: a model has few kinds of them.
  mutable std::map<std::tuple<std::string, std::string, std::int64_t>, std::optional<SupportMatrix::Group>>
      groups_;
};

// What a release of ONNX Runtime makes of a whole model: its limits, and every node.

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
