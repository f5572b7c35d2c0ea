#include "plan/weights/selection.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/text.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

// Weight formats in descending precision.
std::vector<Format> by_precision() {
  std::vector<Format> formats;
  for (const FormatInfo& row : all_formats()) {
    if (is_storage(row.format)) formats.push_back(row.format);
  }
  const auto rank = [](Format format) {
    return std::pair(-int{info_of(format).weight_bits}, info_of(format).family);
  };
  std::sort(formats.begin(), formats.end(), [&](Format a, Format b) { return rank(a) < rank(b); });
  return formats;
}

}  // namespace

std::string did_you_mean(const std::string& guess) {
  return guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess);
}

std::optional<StorageOverride> strongest_wish(const std::vector<Format>& asked, bool has_others,
                                              Format otherwise) {
  const auto is_usual = [&](Format format) { return format == otherwise; };
  if (std::all_of(asked.begin(), asked.end(), is_usual)) return std::nullopt;
  for (const Format format : by_precision()) {  // the first requested format decides
    const bool is_asked = std::find(asked.begin(), asked.end(), format) != asked.end();
    if (is_asked || (has_others && format == otherwise)) return StorageOverride{format, is_asked};
  }
  return std::nullopt;
}

NamedFormats find_named_formats(const Recipe& recipe, std::span<const NodeNames> nodes) {
  NamedFormats found;
  found.formats.resize(nodes.size());
  std::map<std::string, Format, std::less<>> left(recipe.nodes.begin(), recipe.nodes.end());
  // Users may name a node by its own name or by its first output; an output name is unique.
  const auto meet = [&](const auto& name_of) {
    std::set<std::string> met;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto named = left.find(name_of(nodes[i]));
      if (named == left.end()) continue;
      if (!found.formats[i]) found.formats[i] = named->second;
      met.insert(named->first);
    }
    for (const std::string& name : met) left.erase(name);
  };
  meet([](const NodeNames& node) -> std::string_view { return node.value; });
  meet([](const NodeNames& node) { return node.name; });
  if (left.empty()) return found;
  found.has_unknown = true;
  found.unknown = left.begin()->first;
  std::vector<std::string> known;
  for (const NodeNames& node : nodes) {
    known.push_back(node.value);
    if (!node.name.empty()) known.emplace_back(node.name);
  }
  found.guess = nearest(found.unknown, known);
  return found;
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
    const bool is_match = std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
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

NodeFormats::NodeFormats(const model::ModelFile& file, const Recipe& recipe)
    : otherwise_(recipe.storage_of_remainder()) {
  if (recipe.nodes.empty()) return;
  std::vector<NodeNames> names;
  for (const model::GraphView& graph : file.graphs()) {
    first_.push_back(names.size());
    for (const model::NodeView& node : graph.nodes) {
      const std::string name(node.name);
      names.push_back({graph.path.empty() ? name : graph.path + "/" + name, node.name});
    }
  }
  named_ = find_named_formats(recipe, names);
  if (named_.has_unknown)
    throw Error(ErrorCode::kUsage, fmt::format("`nodes` '{}': no node has this output{}", named_.unknown,
                                               did_you_mean(named_.guess)));
}

std::optional<Format> NodeFormats::of(model::NodeId node) const {
  return first_.empty() ? std::nullopt : named_.formats[first_[node.graph] + node.node];
}

std::optional<StorageOverride> NodeFormats::storage(std::span<const model::NodeId> users) const {
  if (first_.empty()) return std::nullopt;
  std::vector<Format> asked;
  bool has_others = false;
  for (const model::NodeId user : users) {
    const std::optional<Format> wanted = of(user);
    if (wanted && is_storage(*wanted)) {
      asked.push_back(*wanted);
    } else {
      has_others = true;
    }
  }
  return strongest_wish(asked, has_others, otherwise_);
}

}  // namespace ounce::plan
