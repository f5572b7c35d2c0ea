#include "plan/selection.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/cancel.h"

namespace ounce::plan {

Selection::Selection(const Recipe& recipe)
    : include_(compile(recipe.include)),
      exclude_(compile(recipe.exclude)),
      ignores_unmatched_(recipe.ignore_unmatched) {}
Selection::Selection(std::string field, const std::vector<std::string>& exclude, std::string what,
                     bool ignores_unmatched)
    : exclude_(compile(exclude)),
      ignores_unmatched_(ignores_unmatched),
      exclude_field_(std::move(field)),
      exclude_reason_(exclude_field_),
      what_(std::move(what)) {}
Selection::~Selection() = default;

std::vector<Selection::Expression> Selection::compile(const std::vector<std::string>& texts) {
  std::vector<Expression> expressions;
  for (const std::string& text : texts) {
    auto regex = std::make_unique<re2::RE2>(text, re2::RE2::Quiet);
    if (!regex->ok()) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("'{}' is not a regular expression: {}", text, regex->error()));
    }
    expressions.push_back({text, std::move(regex), false});
  }
  return expressions;
}

const Selection::Expression* Selection::match(std::vector<Expression>& expressions, const Texts& texts) {
  const Expression* first = nullptr;
  for (Expression& expression : expressions) {
    const bool is_match = std::any_of(texts.begin(), texts.end(), [&](onnx::Bytes text) {
      count_step();
      return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression.regex);
    });
    if (!is_match) continue;
    expression.has_matched = true;
    if (first == nullptr) first = &expression;
  }
  return first;
}

std::string Selection::why_not(const Texts& texts) {
  const Expression* included = match(include_, texts);
  const Expression* excluded = match(exclude_, texts);
  if (excluded != nullptr) return fmt::format("{} '{}'", exclude_reason_, excluded->text);
  if (!include_.empty() && included == nullptr) return "not included";
  return {};
}

std::string Selection::why_not(const graph::Index& index, const Weight& weight) {
  Texts texts = {weight.name, weight.op_type};
  for (const graph::Use& use : weight.value->uses) {
    const onnx::Node& node = index.node(use);
    texts.insert(texts.end(), {node.name, node.op_type});
  }
  return why_not(texts);
}

std::string Selection::why_not(const onnx::Node& node) {
  Texts texts = {node.name, node.op_type};
  texts.insert(texts.end(), node.outputs.begin(), node.outputs.end());
  return why_not(texts);
}

std::vector<std::string> Selection::unmatched(std::vector<std::string>& notes) const {
  std::vector<std::string> found;
  const auto look_at = [&](const std::vector<Expression>& expressions, const std::string& field) {
    for (const Expression& expression : expressions) {
      if (expression.has_matched) continue;
      const std::string text = fmt::format("{} '{}' matches no {}", field, expression.text, what_);
      if (!ignores_unmatched_) throw Error(ErrorCode::kUsage, text);
      notes.push_back(text + "; it was ignored");
      found.push_back(expression.text);
    }
  };
  look_at(include_, "`include`");
  look_at(exclude_, exclude_field_);
  return found;
}

}  // namespace ounce::plan
