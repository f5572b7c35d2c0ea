#include "target/node_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "onnx/op_schemas.h"
#include "target/fusions.h"
#include "target/variants.h"

namespace ounce::target {
namespace {

using onnx::Bytes;
using Group = SupportMatrix::Group;

std::string type_name(ElementType type) {
  if (type == ElementType::kFloat) return "float";
  if (type == ElementType::kDouble) return "double";
  return std::string(name_of(type));
}

// A part of a key: a text, or anything.
using Part = std::optional<std::string>;

bool fits(std::string_view text, char by, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const std::size_t end = std::min(text.find(by), text.size());
    if (part && text.substr(0, end) != *part) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return text.empty();
}

bool fits_one(std::string_view bindings, const std::vector<Part>& parts) {
  if (parts.empty()) return bindings == "*";
  while (!bindings.empty()) {
    const std::size_t end = std::min(bindings.find(','), bindings.size());
    if (fits(bindings.substr(0, end), '/', parts)) return true;
    bindings.remove_prefix(std::min(end + 1, bindings.size()));
  }
  return false;
}

// "spatial=2 zero_points=none"; a line may leave dimensions out that do not apply to it.
bool fits_variant(std::string_view variant, const std::vector<SupportMatrix::Dimension>& dimensions,
                  const std::vector<Part>& parts) {
  while (!variant.empty()) {
    const std::size_t end = std::min(variant.find(' '), variant.size());
    const std::string_view entry = variant.substr(0, end);
    const std::size_t equals = entry.find('=');
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i].name == entry.substr(0, equals) && parts[i] && *parts[i] != entry.substr(equals + 1))
        return false;
    }
    variant.remove_prefix(std::min(end + 1, variant.size()));
  }
  return true;
}

// Ops that a later opset took out again: runtimes refuse them from there on.
struct Removed {
  std::string_view op_type;
  std::int64_t since;
  std::string_view instead;
};
constexpr Removed kRemoved[] = {{"Upsample", 10, "Resize"}, {"Scatter", 11, "ScatterElements"}};

// Why a model that declares this opset may not have this op; empty when it may, and for ops of others.
std::string why_not_in_opset(Bytes domain, Bytes op_type, std::int64_t opset) {
  if (!domain.empty()) return {};
  for (const Removed& removed : kRemoved) {
    if (removed.op_type == op_type && opset >= removed.since)
      return fmt::format("opset {} has no such op any more; {} took its place in {}", opset, removed.instead,
                         removed.since);
  }
  if (onnx::find_op_schema(domain, op_type, opset) != nullptr) return {};
  const std::int64_t newest = onnx::newest_known_opset();
  for (std::int64_t later = opset + 1; later <= newest; ++later) {
    if (onnx::find_op_schema(domain, op_type, later) != nullptr)
      return fmt::format("opset {} has no such op; it came with {}", opset, later);
  }
  if (opset > newest) return {};  // nobody here knows what it brought
  return fmt::format("opset {} has no such op", opset);
}

}  // namespace

NodeChecker::NodeChecker(const onnx::Model& model, const graph::Index& index, const SupportMatrix& matrix)
    : model_(model),
      index_(index),
      matrix_(matrix),
      types_(model, index),
      shapes_(index),
      functions_(index) {}

// A node of its own may run well and still not be fused with the Q/DQ around it.
NodeSupport NodeChecker::check(std::size_t body, const onnx::Node& node, std::size_t column) const {
  NodeSupport support = check_alone(body, node, column);
  if (support.answer != Answer::kRight && support.answer != Answer::kUnchecked) return support;
  const auto pattern = pattern_of(model_, index_, types_, shapes_, body, node);
  const auto fate = pattern ? Fusions::measured().find(*pattern, matrix_.releases()[column]) : std::nullopt;
  if (!fate || *fate == Fusions::Fate::kFused) return support;
  support.answer = *fate == Fusions::Fate::kInFloats      ? Answer::kExpanded
                   : *fate == Fusions::Fate::kDoesNotLoad ? Answer::kRefused
                                                          : Answer::kFails;
  if (*fate == Fusions::Fate::kInFloats)
    support.why =
        "not fused with the Q/DQ around it: decoded, computed in floats, and coded again at every run";
  support.types = pattern->substr(pattern->find(' ') + 1, pattern->find(" io=") - pattern->find(' ') - 1);
  return support;
}

NodeSupport NodeChecker::check_alone(std::size_t body, const onnx::Node& node, std::size_t column) const {
  NodeSupport support;
  if (functions_.are_called_by(node)) {
    support.answer = Answer::kRight;  // its body is what matters
    return support;
  }
  const onnx::Function* function = index_.bodies()[index_.root(body)].function;
  const auto& imports = function != nullptr ? function->opset_imports : model_.proto->opset_imports;
  const Bytes domain = onnx::is_default_domain(node.domain) ? Bytes() : node.domain;
  const std::int64_t version = onnx::opset_version(imports, node.domain);
  if (std::string why = why_not_in_opset(domain, node.op_type, version); !why.empty()) {
    support.answer = Answer::kRefused;
    support.why = std::move(why);
    return support;
  }
  const auto [entry, is_new] =
      groups_.try_emplace({std::string(domain), std::string(node.op_type), version}, std::nullopt);
  if (is_new) entry->second = matrix_.find_group(domain, node.op_type, version);
  const std::optional<Group>& group = entry->second;
  if (!group) {
    support.why = "this op was not measured";
    return support;
  }

  std::vector<Part> binding;
  std::string unknown;
  for (const std::string_view variable : group->variables) {
    Part bound = "-";
    const auto bind = [&](const std::vector<Bytes>& names, const std::vector<std::string_view>& signature) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty() || Group::parameter(signature, i) != variable) continue;
        const ElementType type = types_.type(body, names[i]);
        bound = type == ElementType::kUndefined ? std::nullopt : Part(type_name(type));
        if (!bound) unknown = fmt::format("the type of '{}' is not known", names[i]);
        return true;
      }
      return false;
    };
    if (!bind(node.inputs, group->inputs)) bind(node.outputs, group->outputs);
    support.types += fmt::format("{}{}={}", support.types.empty() ? "" : " ", variable, bound.value_or("?"));
    binding.push_back(std::move(bound));
  }
  const NodePlace place{model_, index_, shapes_, body, node};
  std::vector<Part> variant;
  for (const SupportMatrix::Dimension& dimension : group->dimensions) {
    variant.push_back(variant_of(place, dimension.name, dimension.otherwise));
    if (!variant.back() && unknown.empty()) unknown = fmt::format("its {} is not known", dimension.name);
  }

  std::set<char> answers;
  for (const SupportMatrix::Line& line : group->lines) {
    if (!fits_one(line.bindings, binding) || !fits_variant(line.variant, group->dimensions, variant))
      continue;
    answers.insert(line.answers.at(matrix_.releases()[column].place));
  }
  if (answers.size() == 1) {
    support.answer = static_cast<Answer>(*answers.begin());
    if (support.answer == Answer::kUnknown) support.why = "this was not measured";
  } else {
    support.why = answers.empty() ? "this combination was not measured" : "it depends, and " + unknown;
  }
  return support;
}

}  // namespace ounce::target
