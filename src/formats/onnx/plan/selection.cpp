#include "formats/onnx/plan/selection.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/cancel.h"
#include "base/text.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::plan {
namespace {

// The first format that a node has decides, so the most precise one comes first.
constexpr std::array kByPrecision = {Format::kFp32, Format::kW16,    Format::kW8,    Format::kNbits8,
                                     Format::kW4,   Format::kNbits4, Format::kNbits2};

std::string guessed(const std::string& guess) {
  return guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess);
}

}  // namespace

NodeOverrides::NodeOverrides(const graph::Index& index, const Recipe& recipe)
    : is_integer_(recipe.is_integer()), otherwise_(recipe.storage_of_remainder()) {
  if (recipe.nodes.empty()) return;
  std::map<std::string, Format> left = recipe.nodes;
  std::set<std::string> met;
  const auto meet = [&](const auto& name_of) {
    graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
      if (node.outputs.empty() || node.outputs[0].empty()) return;
      const auto wanted = left.find(name_of(body, node));
      if (wanted == left.end()) return;
      by_node_.emplace(&node, wanted->second);
      met.insert(wanted->first);
    });
    for (const std::string& name : met) left.erase(name);
  };
  meet([&](std::size_t body, const onnx::Node& node) {
    return graph::value_path(index, body, node.outputs[0]);
  });
  // People know some nodes by their own names.
  meet([](std::size_t, const onnx::Node& node) { return std::string(node.name); });
  has_unknown_ = !left.empty();
  if (!has_unknown_) return;
  unknown_ = left.begin()->first;
  std::vector<std::string> known;
  graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    if (node.outputs.empty() || node.outputs[0].empty()) return;
    known.push_back(graph::value_path(index, body, node.outputs[0]));
    if (!node.name.empty()) known.emplace_back(node.name);
  });
  guess_ = nearest(unknown_, known);
}

void NodeOverrides::require_nodes() const {
  if (!has_unknown_) return;
  // What is computed on integers is prepared for it first.
  const char* const folded =
      is_integer_ ? "; normalisations, and sums with constants, become part of the op before them, which "
                    "then gives their value"
                  : "";
  throw Error(ErrorCode::kUsage, fmt::format("`nodes` '{}': no node has this name or gives this value{}{}",
                                             unknown_, guessed(guess_), folded));
}

void require_levels(const graph::Index& index, const Recipe& recipe) {
  const auto& levels = recipe.nbits.levels;
  if (levels.empty()) return;
  std::vector<std::string> products;
  std::map<std::string, std::string> others;  // value → op type
  graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    if (node.outputs.empty() || node.outputs[0].empty()) return;
    const std::string value = graph::value_path(index, body, node.outputs[0]);
    if (node.op() == Op::kMatMul || node.op() == Op::kGemm) {
      products.push_back(value);
    } else {
      others.emplace(value, node.op_type());
    }
  });
  for (const auto& [name, level] : levels) {
    if (std::find(products.begin(), products.end(), name) != products.end()) continue;
    const auto other = others.find(name);
    const std::string why =
        other == others.end()
            ? "no node gives this value" + guessed(nearest(name, products))
            : fmt::format("{} gives this value, and levels are for MatMul and Gemm", other->second);
    throw Error(ErrorCode::kUsage, fmt::format("`nbits.levels` '{}': {}", name, why));
  }
}

std::optional<Format> NodeOverrides::of(const onnx::Node& node) const {
  const auto found = by_node_.find(&node);
  return found == by_node_.end() ? std::nullopt : std::optional(found->second);
}

bool NodeOverrides::wants_floats(const onnx::Node& node) const {
  const std::optional<Format> wanted = of(node);
  return wanted && is_storage(*wanted);
}

struct NodeOverrides::Tally {
  std::vector<Format> asked;
  bool has_others = false;  // nodes that nobody spoke of
  int steps_left = kLongestSearch;
};

void NodeOverrides::ask_users(const graph::Index& index, const graph::Value& value, Tally& tally) const {
  for (const graph::Use& use : value.uses) {
    const onnx::Node& node = index.node(use);
    if (const auto wanted = of(node); wanted && is_storage(*wanted)) {
      tally.asked.push_back(*wanted);
      continue;
    }
    // A table that rows are looked up in is the weight of that very op; pieces that are cut out are not.
    const bool is_table = node.info().weight(use.input) && node.op() != Op::kSlice;
    const bool is_moved = node.info().moves_weight(use.input) && !is_table;
    const graph::Value* next = is_moved && !node.outputs.empty() && tally.steps_left-- > 0
                                   ? index.find(use.body, node.outputs[0]).value
                                   : nullptr;
    if (next == nullptr || next->uses.empty()) {
      tally.has_others = true;
    } else {
      ask_users(index, *next, tally);
    }
  }
}

std::optional<StorageOverride> NodeOverrides::storage(const graph::Index& index, const Weight& weight) const {
  if (by_node_.empty()) return std::nullopt;
  Tally tally;
  ask_users(index, *weight.value, tally);
  const auto is_usual = [this](Format format) { return format == otherwise_; };
  if (std::all_of(tally.asked.begin(), tally.asked.end(), is_usual)) return std::nullopt;
  for (const Format format : kByPrecision) {
    const bool is_asked = std::find(tally.asked.begin(), tally.asked.end(), format) != tally.asked.end();
    if (is_asked || (tally.has_others && format == otherwise_)) return StorageOverride{format, is_asked};
  }
  return std::nullopt;
}

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
    texts.insert(texts.end(), {node.name, node.op_type()});
  }
  return why_not(texts);
}

std::string Selection::why_not(const onnx::Node& node) {
  Texts texts = {node.name, node.op_type()};
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
