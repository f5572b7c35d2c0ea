// Which tensors the user's --include and --exclude expressions mean.
#pragma once

#include <ounce/recipe.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/index.h"
#include "plan/weights.h"

namespace re2 {
class RE2;
}

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
