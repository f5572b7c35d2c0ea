// How a release of ONNX Runtime runs the nodes of a model, from the support matrix.
//
// If the file does not have all that the matrix distinguishes (the rank of a value, for example), the answer
// is known only when it is the same for all possible values; otherwise it is unknown. Nothing is guessed.
#pragma once

#include <ounce/check.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "formats/onnx/file/model.h"
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

// A node that does not plainly run, with its place.
struct Finding {
  std::size_t body = 0, node = 0;
  NodeFinding described;
};

struct ModelSupport {
  TargetCheck check;
  std::vector<Finding> findings;
};

// The support for a whole model: its limits and every node. `target` is a place (a system and a machine).
// Callers with several targets keep the checker.
ModelSupport support_of(const onnx::Model& model, const graph::Index& index, const NodeChecker& checker,
                        const Target& target);
ModelSupport support_of(const onnx::Model& model, const graph::Index& index, const Target& target);

struct NodePlace {
  const onnx::Model& model;
  const graph::Index& index;
  const graph::Shapes& shapes;
  std::size_t body;
  const onnx::Node& node;
};

// The value of a dimension by which the support matrix distinguishes variants of an op
// (tools/support_matrix/README.md), read from a node, in the matrix's spelling; nothing when the file does
// not tell. `otherwise` is the default of an attribute.
std::optional<std::string> variant_of(const NodePlace& place, std::string_view dimension,
                                      std::string_view otherwise);

// Whether a release of ONNX Runtime fuses nodes between DequantizeLinear and QuantizeLinear into one integer
// op, or runs them in FP32 between conversions. From the second table of the support matrix:
//
//   aaaaaaabbb aaaaaaabbb DepthToSpace x=uint8 form=DQ-op-Q io=float opset=13 a:Q+DQ+DepthToSpace+Q+DQ
//   b:Q+DepthToSpace+DQ
class Fusions {
 public:
  // The table of the matrix that this program was built with.
  static const Fusions& measured();
  explicit Fusions(std::string_view text);

  enum class Fate { kFused, kInFloats, kDoesNotLoad, kFails };
  // Of a pattern in a release; nothing when it was not measured.
  std::optional<Fate> find(const std::string& pattern, const Release& release) const;

 private:
  std::unordered_map<std::string_view, std::string_view> lines_;  // answers and legend, by pattern
  std::unordered_map<std::string_view, std::string_view> letters_;
};

// The pattern that a node is the middle of, as the table spells it; nothing for nodes that no
// DequantizeLinear feeds.
std::optional<std::string> pattern_of(const onnx::Model& model, const graph::Index& index,
                                      const graph::ElementTypes& types, const graph::Shapes& shapes,
                                      std::size_t body, const onnx::Node& node);

}  // namespace ounce::target
