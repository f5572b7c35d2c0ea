// The recipe's rules for single nodes and tensors (`nodes`, `include`, `exclude`), matched by name and
// independent of the file format. Each format looks up its own nodes and weights with these classes
// (formats/onnx/plan/weights.h).
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_file.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace ounce::plan {

// The storage format of a weight if at least one of its nodes has an override.
struct StorageOverride {
  Format format = Format::kFp32;
  bool is_asked = false;  // false: another node of the weight needs more bits than the override
};

// The most precise format that the nodes of a weight need. `asked`: their overrides; nodes without one
// (`has_others`) need `otherwise`. Empty if all need `otherwise`.
std::optional<StorageOverride> strongest_wish(const std::vector<Format>& asked, bool has_others,
                                              Format otherwise);

// The two names by which users refer to a node.
struct NodeNames {
  std::string value;      // its first output, with the path of its graph
  std::string_view name;  // its own name; may be empty
};

// The formats that a recipe gives to single nodes.
struct NamedFormats {
  std::vector<std::optional<Format>> formats;  // by node
  // The first name in the recipe that no node has, and the most similar existing name; empty for none.
  std::string unknown, guess;
  bool has_unknown = false;
};
NamedFormats find_named_formats(const Recipe& recipe, std::span<const NodeNames> nodes);
// "; did you mean 'x'?", or empty.
std::string did_you_mean(const std::string& guess);

// Matches the regular expressions of `include` and `exclude`. Expressions are searched in several texts: the
// name of the tensor, and the names and op types of all nodes that use it.
class Selection {
 public:
  using Texts = std::vector<std::string_view>;

  // Throws Error{kUsage} for an invalid expression.
  explicit Selection(const Recipe& recipe);
  // Only exclude expressions, from another field of the recipe. `what`: the matched things in messages, "node
  // of …".
  Selection(std::string field, const std::vector<std::string>& exclude, std::string what,
            bool ignores_unmatched);
  ~Selection();
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  // Empty if something with these texts is selected, otherwise the reason.
  std::string why_not(const Texts& texts);
  // The expressions without a match so far, with a note for each, if the recipe ignores them. Otherwise
  // throws Error{kUsage} for the first one.
  std::vector<std::string> unmatched(std::vector<std::string>& notes) const;

 private:
  struct Expression {
    std::string text;
    std::unique_ptr<re2::RE2> regex;
    bool has_matched = false;
  };
  static std::vector<Expression> compile(const std::vector<std::string>& texts);
  // Returns the first expression that matches one of the texts, and marks all that match.
  static const Expression* match(std::vector<Expression>& expressions, const Texts& texts);

  std::vector<Expression> include_, exclude_;
  bool ignores_unmatched_ = false;
  std::string exclude_field_ = "`exclude`", exclude_reason_ = "excluded by";
  std::string what_ = "tensor, node or op type with float weights";
};

// The overrides for single nodes (Recipe::nodes) of a model of any format.
//
//   const NodeFormats formats(file, recipe);
//   std::optional<StorageOverride> wanted = formats.storage(value.users);
class NodeFormats {
 public:
  // Throws Error{kUsage} for a name that no node has.
  NodeFormats(const model::ModelFile& file, const Recipe& recipe);

  std::optional<Format> of(model::NodeId node) const;
  // The storage format for a weight used by these nodes; empty without an override.
  std::optional<StorageOverride> storage(std::span<const model::NodeId> users) const;

 private:
  Format otherwise_;
  std::vector<std::size_t> first_;  // node of each graph; empty if the recipe names none
  NamedFormats named_;
};

}  // namespace ounce::plan
