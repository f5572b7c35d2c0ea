// Checks how a release of ONNX Runtime runs the nodes of a model, by the support matrix.
//
// If the file does not contain a property that the matrix distinguishes (for example, the rank of a value),
// the answer is known only if it is the same for all possible values; otherwise it is unknown.
#pragma once

#include <ounce/model.h>

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
  std::string types;  // bindings of the type variables: "T1=uint8 T2=int8"
  std::string why;    // set if the answer is unknown or the opset does not have the op
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
  // A cache: a model has few kinds of ops.
  mutable std::map<std::tuple<std::string, std::string, std::int64_t>, std::optional<SupportMatrix::Group>>
      groups_;
};

// A node whose verdict is not kRuns.
struct Finding {
  std::size_t body = 0, node = 0;
  NodeFinding described;
};

struct ModelSupport {
  TargetCheck check;
  std::vector<Finding> findings;
};

// Checks the limits of a model and all of its nodes. `target` must be a platform. Callers with several
// targets reuse the checker.
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

// Reads a dimension by which the support matrix distinguishes variants of an op
// (tools/support_matrix/README.md) from a node, in the notation of the matrix; nullopt if the file does not
// contain it. `otherwise` is the default value of an attribute.
std::optional<std::string> variant_of(const NodePlace& place, std::string_view dimension,
                                      std::string_view otherwise);

// Tells whether a release of ONNX Runtime fuses nodes between DequantizeLinear and QuantizeLinear into one
// integer op or runs them in FP32 between conversions. From the second table of the support matrix:
//
//   aaaaaaabbb aaaaaaabbb DepthToSpace x=uint8 form=DQ-op-Q io=float opset=13 a:Q+DQ+DepthToSpace+Q+DQ
//   b:Q+DepthToSpace+DQ
class Fusions {
 public:
  // The table of the matrix that is built into this program.
  static const Fusions& measured();
  explicit Fusions(std::string_view text);

  enum class Fate { kFused, kInFloats, kDoesNotLoad, kFails };
  // The result of a pattern in a release; nullopt if it was not measured.
  std::optional<Fate> find(const std::string& pattern, const Release& release) const;

 private:
  std::unordered_map<std::string_view, std::string_view> lines_;  // answers and legend, by pattern
  std::unordered_map<std::string_view, std::string_view> letters_;
};

// The pattern around a node in the notation of the table; nullopt for nodes without a DequantizeLinear at an
// input.
std::optional<std::string> pattern_of(const onnx::Model& model, const graph::Index& index,
                                      const graph::ElementTypes& types, const graph::Shapes& shapes,
                                      std::size_t body, const onnx::Node& node);

}  // namespace ounce::target
