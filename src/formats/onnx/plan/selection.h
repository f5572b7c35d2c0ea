// What a recipe says of single nodes (Recipe::nodes), looked up by node and by weight.
//
//   const NodeOverrides overrides(index, recipe);
//   overrides.require_nodes();
//   if (overrides.wants_floats(node)) …
//   if (const auto wanted = overrides.storage(index, weight)) …   // nothing: the recipe itself decides
#pragma once

#include <ounce/recipe.h>

#include <map>
#include <optional>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/weights.h"
#include "plan/weights/selection.h"

namespace ounce::plan {

class NodeOverrides {
 public:
  NodeOverrides() = default;  // nobody overrides anything
  NodeOverrides(const graph::Index& index, const Recipe& recipe);

  // Throws Error{kUsage} for a name that no node gives.
  void require_nodes() const;

  std::optional<Format> of(const onnx::Node& node) const;
  // It is not to compute on integers.
  bool wants_floats(const onnx::Node& node) const;
  // The most precise of what the nodes of a weight wanted; those that nobody spoke of wanted what the recipe
  // says. A node takes a weight, too, when other ops move it on the way.
  std::optional<StorageOverride> storage(const graph::Index& index, const Weight& weight) const;

 private:
  struct Tally;
  void ask_users(const graph::Index& index, const graph::Value& value, Tally& tally) const;

  bool is_integer_ = false;
  Format otherwise_ = Format::kW8;
  std::map<const onnx::Node*, Format> by_node_;
  NamedFormats named_;
};

// Throws Error{kUsage} for a name in NbitsRecipe::levels that is no value of a MatMul or Gemm.
void require_levels(const graph::Index& index, const Recipe& recipe);

// What Selection looks for.
Selection::Texts texts_of(const graph::Index& index, const Weight& weight);
Selection::Texts texts_of(const onnx::Node& node);

}  // namespace ounce::plan
