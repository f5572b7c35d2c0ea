#include "target/ort/model_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "formats/onnx/file/op_schemas.h"
#include "target/ort/saturation.h"

namespace ounce::target {
namespace {

using onnx::Bytes;
using Group = SupportMatrix::Group;

std::string type_name(ElementType type) {
  if (type == ElementType::kFloat) return "float";
  if (type == ElementType::kDouble) return "double";
  return std::string(name_of(type));
}

// A part of a key; nullopt matches any text.
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

// True if a variant such as "spatial=2 zero_points=none" matches. Lines omit dimensions that do not apply.
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

// Ops that a later opset removed: runtimes refuse them from that opset on.
struct Removed {
  std::string_view op_type;
  std::int64_t since;
  std::string_view instead;
};
constexpr Removed kRemoved[] = {{"Upsample", 10, "Resize"}, {"Scatter", 11, "ScatterElements"}};

// Returns why a model of this opset must not use this op; empty if it may, and for other domains.
std::string why_not_in_opset(Bytes domain, Bytes op_type, std::int64_t opset) {
  if (!domain.empty()) return {};
  for (const Removed& removed : kRemoved) {
    if (removed.op_type == op_type && opset >= removed.since)
      return fmt::format("opset {} does not have this op; {} replaced it in opset {}", opset, removed.instead,
                         removed.since);
  }
  if (onnx::find_op_schema(domain, op_type, opset) != nullptr) return {};
  const std::int64_t newest = onnx::newest_known_opset();
  for (std::int64_t later = opset + 1; later <= newest; ++later) {
    if (onnx::find_op_schema(domain, op_type, later) != nullptr)
      return fmt::format("opset {} does not have this op; it was added in opset {}", opset, later);
  }
  if (opset > newest) return {};  // unknown
  return fmt::format("opset {} does not have this op", opset);
}

}  // namespace

NodeChecker::NodeChecker(const onnx::Model& model, const graph::Index& index, const SupportMatrix& matrix)
    : model_(model),
      index_(index),
      matrix_(matrix),
      types_(model, index),
      shapes_(index),
      functions_(index) {}

// Also checks the fusion with Q/DQ: a node that runs may still not be fused with the Q/DQ around it.
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
        "not fused with the Q/DQ around it: dequantized, run in FP32 and quantized again on every run";
  support.types = pattern->substr(pattern->find(' ') + 1, pattern->find(" io=") - pattern->find(' ') - 1);
  return support;
}

NodeSupport NodeChecker::check_alone(std::size_t body, const onnx::Node& node, std::size_t column) const {
  NodeSupport support;
  if (functions_.are_called_by(node)) {
    support.answer = Answer::kRight;  // the nodes of its body are checked instead
    return support;
  }
  const onnx::Function* function = index_.bodies()[index_.root(body)].function;
  const auto& imports = function != nullptr ? function->opset_imports : model_.proto->opset_imports;
  const Bytes domain = onnx::is_default_domain(node.domain()) ? Bytes() : node.domain();
  const std::int64_t version = onnx::opset_version(imports, node.domain());
  if (std::string why = why_not_in_opset(domain, node.op_type(), version); !why.empty()) {
    support.answer = Answer::kRefused;
    support.why = std::move(why);
    return support;
  }
  const auto [entry, is_new] =
      groups_.try_emplace({std::string(domain), std::string(node.op_type()), version}, std::nullopt);
  if (is_new) entry->second = matrix_.find_group(domain, node.op_type(), version);
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
    support.why = answers.empty() ? "this combination was not measured" : "depends on the model: " + unknown;
  }
  return support;
}

namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{2} << 30;  // limit of protobuf messages

Verdict verdict_of(Answer answer) {
  switch (answer) {
    case Answer::kRight:
    case Answer::kUnchecked: return Verdict::kRuns;
    case Answer::kCast:
    case Answer::kExpanded: return Verdict::kSlow;
    case Answer::kWrong: return Verdict::kWrong;
    case Answer::kNoKernel:
    case Answer::kRefused: return Verdict::kNotImplemented;
    case Answer::kFails:
    case Answer::kCrashes: return Verdict::kFails;
    case Answer::kUnknown: break;
  }
  return Verdict::kUnknown;
}

const char* reason_of(Answer answer) {
  switch (answer) {
    case Answer::kCast: return "no kernel of this type: converted to another and back";
    case Answer::kExpanded: return "no kernel: expanded into other ops";
    case Answer::kWrong: return "gives a wrong result there";
    case Answer::kNoKernel: return "not implemented there";
    case Answer::kRefused: return "refused there when the model is loaded";
    case Answer::kFails: return "loads there, but fails at run time";
    case Answer::kCrashes: return "crashes the process there";
    default: return "";
  }
}

// Adds notes on the system, from the runtime's documentation.
void note_system(const onnx::Model& model, const Target& target, TargetCheck& check) {
  if (target.system != "linux" && target.system != "web")
    check.notes.push_back(fmt::format(
        "measured on Linux; {} builds have the same kernels, except for minimal builds", target.system));
  const bool is_external = !model.external_files.empty();
  if (is_external && target.system == "web")
    check.notes.emplace_back("external data: the web page must pass it in the session option externalData");
  if (is_external && (target.system == "android" || target.system == "ios"))
    check.notes.emplace_back("external data: the app must load the model from a file, not from memory");
}

void check_limits(const onnx::Model& model, const Release& release, TargetCheck& check) {
  const onnx::ModelProto& proto = *model.proto;
  const auto limit = [&](std::int64_t has, std::int64_t most, const char* what) {
    if (has > most)
      check.problems.push_back(fmt::format("{} {}; this release loads up to {}", what, has, most));
  };
  limit(onnx::opset_version(proto.opset_imports, ""), release.opset, "opset");
  limit(onnx::opset_version(proto.opset_imports, "ai.onnx.ml"), release.ml_opset, "opset of ai.onnx.ml");
  for (const auto& function : proto.functions) {
    limit(onnx::opset_version(function->opset_imports, ""), release.opset, "a function of opset");
    limit(onnx::opset_version(function->opset_imports, "ai.onnx.ml"), release.ml_opset,
          "a function of ai.onnx.ml");
  }
  limit(proto.ir_version, release.ir, "IR version");
  if (model.file.bytes().size() >= kLargestFile)
    check.problems.emplace_back(
        "no runtime reads files of 2 GiB or more: store the weights with `external_data=always`");
}

// Finds nodes whose sums saturate on the target. If the target names no x86 CPU, only adds a note.
std::set<std::pair<std::size_t, std::size_t>> find_saturating(const onnx::Model& model,
                                                              const graph::Index& index, const Target& target,
                                                              TargetCheck& check) {
  if (target.machine != "x64" || has_exact_dot(target)) return {};
  const Saturation found = find_saturation(model, index);
  if (!found.exists()) return {};
  check.saturating = found.nodes.size();
  check.worst_pair = found.worst;
  check.notes.push_back(found.sentence() +
                        (target.cpu.empty() ? "; append +avx2 or +vnni to the target to decide" : ""));
  if (target.cpu.empty()) return {};
  return found.nodes;
}

}  // namespace

ModelSupport support_of(const onnx::Model& model, const graph::Index& index, const Target& target) {
  return support_of(model, index, NodeChecker(model, index, SupportMatrix::measured()), target);
}

ModelSupport support_of(const onnx::Model& model, const graph::Index& index, const NodeChecker& checker,
                        const Target& target) {
  ModelSupport support;
  TargetCheck& check = support.check;
  check.target = target.name.empty() ? "host" : target.name;
  note_system(model, target, check);
  const SupportMatrix& matrix = SupportMatrix::measured();
  const auto column = matrix.find(target.machine, target.version);
  if (column) {
    const Release& release = matrix.releases()[*column];
    check.measured = fmt::format("ONNX Runtime {}, {}", release.version, release.machine);
    check_limits(model, release, check);
  } else {
    check.notes.push_back(target.version.empty()
                              ? fmt::format("no data for {}: no release was measured", target.machine)
                              : fmt::format("no data for ONNX Runtime {} on {} (latest measured: {})",
                                            target.version, target.machine, newest_measured(target.machine)));
  }
  if (!check.problems.empty()) check.verdict = Verdict::kNotImplemented;
  const auto saturating = find_saturating(model, index, target, check);
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    NodeSupport answer;
    if (column) answer = checker.check(body, node, *column);
    if (!column) answer.why = "this release was not measured";
    Verdict verdict = verdict_of(answer.answer);
    if (verdict < Verdict::kWrong && saturating.contains({body, position})) {
      verdict = Verdict::kWrong;
      answer.why = "sums of its 8-bit products saturate on CPUs without VNNI";
    }
    ++check.nodes;
    check.runs += verdict == Verdict::kRuns ? 1U : 0U;
    check.slow += verdict == Verdict::kSlow ? 1U : 0U;
    check.unknown += verdict == Verdict::kUnknown ? 1U : 0U;
    check.broken += verdict > Verdict::kUnknown ? 1U : 0U;
    check.verdict = std::max(check.verdict, verdict, [](Verdict a, Verdict b) {
      // Failing to load is worse than failing later.
      const auto rank = [](Verdict v) { return v == Verdict::kNotImplemented ? 100 : static_cast<int>(v); };
      return rank(a) < rank(b);
    });
    if (verdict == Verdict::kRuns) return;
    NodeFinding finding{graph::node_label(node, position),
                        index.bodies()[body].path,
                        std::string(node.op_type()),
                        std::string(node.domain()),
                        answer.types,
                        verdict,
                        answer.why.empty() ? reason_of(answer.answer) : answer.why};
    check.findings.push_back(finding);
    support.findings.push_back({body, position, std::move(finding)});
  });
  return support;
}

}  // namespace ounce::target
