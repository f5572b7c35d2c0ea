// What a recipe says of single nodes (Recipe::nodes), looked up by node and by weight.
//
//   const NodeOverrides overrides(index, recipe);
//   overrides.require_nodes();
//   if (overrides.wants_floats(node)) …
//   if (const auto wanted = overrides.storage(index, weight)) …   // nothing: the recipe itself decides
#pragma once

#include <ounce/recipe.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::plan {

// The storage format of a weight with at least one overridden node.
struct StorageOverride {
  Format format = Format::kFp32;
  bool is_asked = false;  // false: another node of the weight needs more bits than the overridden one
};

class NodeOverrides {
 public:
  NodeOverrides() = default;  // no overrides
  NodeOverrides(const graph::Index& index, const Recipe& recipe);

  // Throws Error{kUsage} for a name that no node gives.
  void require_nodes() const;

  std::optional<Format> of(const onnx::Node& node) const;
  // Must the node stay in FP32?
  bool wants_floats(const onnx::Node& node) const;
  // The most precise format among those of the weight's nodes; nodes without an override have that of the
  // recipe. Nodes that take the weight through ops that only move it count, too.
  std::optional<StorageOverride> storage(const graph::Index& index, const Weight& weight) const;

 private:
  struct Tally;
  void ask_users(const graph::Index& index, const graph::Value& value, Tally& tally) const;

  bool is_integer_ = false;
  Format otherwise_ = Format::kW8;
  std::map<const onnx::Node*, Format> by_node_;
  std::string unknown_;  // a name that no node gives …
  std::string guess_;    // … and the one that may be meant; empty: none is near
  bool has_unknown_ = false;
};

// Throws Error{kUsage} for a name in NbitsRecipe::levels that is no value of a MatMul or Gemm.
void require_levels(const graph::Index& index, const Recipe& recipe);

}  // namespace ounce::plan

namespace re2 {

// Which tensors the user's --include and --exclude expressions mean.
class RE2;
}  // namespace re2

namespace ounce::plan {

// An expression is searched for in the name of the tensor, and in the name and op type of every node that
// uses it.
class Selection {
 public:
  // Throws Error{kUsage} for an expression that is none.
  explicit Selection(const Recipe& recipe);
  // Expressions of nodes that are to be left out, given by another field.
  // `what` is of what one was looked for: "node of …".
  Selection(std::string field, const std::vector<std::string>& exclude, std::string what,
            bool ignores_unmatched);
  ~Selection();
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  // Empty when the tensor is selected, otherwise the reason why not.
  std::string why_not(const graph::Index& index, const Weight& weight);
  std::string why_not(const onnx::Node& node);
  // The expressions that have matched nothing so far, if the recipe ignores them, with a note for each.
  // Otherwise throws Error{kUsage} that names the first one.
  std::vector<std::string> unmatched(std::vector<std::string>& notes) const;

 private:
  struct Expression {
    std::string text;
    std::unique_ptr<re2::RE2> regex;
    bool has_matched = false;
  };
  static std::vector<Expression> compile(const std::vector<std::string>& texts);
  using Texts = std::vector<onnx::Bytes>;
  // The first that is found in one of the texts; all that are found are noted.
  static const Expression* match(std::vector<Expression>& expressions, const Texts& texts);
  std::string why_not(const Texts& texts);

  std::vector<Expression> include_, exclude_;
  bool ignores_unmatched_ = false;
  std::string exclude_field_ = "`exclude`", exclude_reason_ = "excluded by";
  std::string what_ = "tensor, node or op type with float weights";
};

}  // namespace ounce::plan
