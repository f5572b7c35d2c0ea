#include "target/model_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "target/kernel_pairs.h"
#include "target/saturation.h"

namespace ounce::target {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{2} << 30;  // of a protobuf message

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
    case Answer::kExpanded: return "no kernel: taken apart into other ops";
    case Answer::kWrong: return "gives a wrong result there";
    case Answer::kNoKernel: return "not implemented there";
    case Answer::kRefused: return "refused there when the model is loaded";
    case Answer::kFails: return "loads there, and fails when it runs";
    case Answer::kCrashes: return "crashes the process there";
    default: return "";
  }
}

// What is known of systems besides their processor; from the runtime's documentation.
void note_system(const onnx::Model& model, const Target& target, TargetCheck& check) {
  if (target.system != "linux" && target.system != "web")
    check.notes.push_back(fmt::format(
        "measured on Linux; {} builds have the same kernels unless they are reduced", target.system));
  const bool is_external = !model.external_files.empty();
  if (is_external && target.system == "web")
    check.notes.emplace_back(
        "external data: the page has to hand it over by the session option externalData");
  if (is_external && (target.system == "android" || target.system == "ios"))
    check.notes.emplace_back("external data: the app has to load the model from a file, not from memory");
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
    check.problems.emplace_back("the file has 2 GiB or more, which no runtime reads: `external_data=always`");
}

// Nodes whose sums saturate on some x86 CPUs: the target may say that it is one of them, or leave it open.
std::set<std::pair<std::size_t, std::size_t>> find_saturating(const onnx::Model& model,
                                                              const graph::Index& index, const Target& target,
                                                              TargetCheck& check) {
  if (target.machine != "x64" || has_exact_products(target)) return {};
  const Saturation found = find_saturation(model, index);
  if (!found.exists()) return {};
  check.saturating = found.nodes.size();
  check.worst_pair = found.worst;
  check.notes.push_back(found.sentence() +
                        (target.cpu.empty() ? "; +avx2 or +vnni behind the target decides" : ""));
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
    check.notes.push_back(
        target.version.empty()
            ? fmt::format("no release for {} was measured: nothing is known of it", target.machine)
            : fmt::format("no data for ONNX Runtime {} on {} (latest measured: {})", target.version,
                          target.machine, newest_measured(target.machine)));
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
      // What does not load is worse than what fails later.
      const auto rank = [](Verdict v) { return v == Verdict::kNotImplemented ? 100 : static_cast<int>(v); };
      return rank(a) < rank(b);
    });
    if (verdict == Verdict::kRuns) return;
    NodeFinding finding{graph::node_label(node, position),
                        index.bodies()[body].path,
                        std::string(node.op_type),
                        std::string(node.domain),
                        answer.types,
                        verdict,
                        answer.why.empty() ? reason_of(answer.answer) : answer.why};
    check.findings.push_back(finding);
    support.findings.push_back({body, position, std::move(finding)});
  });
  return support;
}

}  // namespace ounce::target
