// What a recipe says of single nodes and tensors (`nodes`, `include`, `exclude`), by names, so that it holds
// for a model of any format. Formats look up their own nodes and weights with these
// (formats/onnx/plan/weights.h).
#pragma once

#include <ounce/recipe.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}  // namespace re2

namespace ounce::plan {

// How a weight is to be stored, of whose nodes one at least was spoken of.
struct StorageOverride {
  Format format = Format::kFp32;
  bool is_asked = false;  // otherwise another of its nodes wants more bits than was asked for
};

// The most precise of what the nodes of a weight wanted; those that the recipe does not name (`has_others`)
// wanted `otherwise`. Nothing when that is what all wanted.
std::optional<StorageOverride> strongest_wish(const std::vector<Format>& asked, bool has_others,
                                              Format otherwise);

// The two names that people know a node by.
struct NodeNames {
  std::string value;      // the first one that it gives, with the path of its graph
  std::string_view name;  // its own; may be empty
};

// The formats that a recipe gives to single nodes.
struct NamedFormats {
  std::vector<std::optional<Format>> formats;  // of each node
  // Names of the recipe that no node has: the first of them, and the name that may be meant; empty for none.
  std::string unknown, guess;
  bool has_unknown = false;
};
NamedFormats find_named_formats(const Recipe& recipe, std::span<const NodeNames> nodes);
// "; did you mean 'x'?", or nothing.
std::string did_you_mean(const std::string& guess);

// Which tensors the user's --include and --exclude expressions mean. An expression is searched for in texts:
// the name of the tensor, and the name and op type of every node that uses it.
class Selection {
 public:
  using Texts = std::vector<std::string_view>;

  // Throws Error{kUsage} for an expression that is none.
  explicit Selection(const Recipe& recipe);
  // Expressions of nodes that are to be left out, given by another field.
  // `what` is of what one was looked for: "node of …".
  Selection(std::string field, const std::vector<std::string>& exclude, std::string what,
            bool ignores_unmatched);
  ~Selection();
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  // Empty when what has these texts is selected, otherwise the reason why not.
  std::string why_not(const Texts& texts);
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
  // The first that is found in one of the texts; all that are found are noted.
  static const Expression* match(std::vector<Expression>& expressions, const Texts& texts);

  std::vector<Expression> include_, exclude_;
  bool ignores_unmatched_ = false;
  std::string exclude_field_ = "`exclude`", exclude_reason_ = "excluded by";
  std::string what_ = "tensor, node or op type with float weights";
};

}  // namespace ounce::plan
