#include "make/target_fit.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <map>
#include <string_view>
#include <vector>

#include "graph/verify.h"
#include "make/releases.h"
#include "make/rewrite.h"
#include "onnx/reader.h"
#include "onnx/settings.h"
#include "target/model_support.h"

namespace ounce::make {
namespace {

constexpr int kMostRounds = 4;

bool is_broken(const target::Finding& finding) { return finding.described.verdict > Verdict::kUnknown; }

// A node that gave an output of the model gives a value of its own now, and a Cast behind it the output; a
// Gemm is a product and a sum.
onnx::Bytes original_name(const graph::Index& written, const graph::Index& source, std::size_t body,
                          onnx::Bytes name) {
  const graph::Value* value = name.empty() ? nullptr : written.find(body, name).value;
  if (value == nullptr) return name;
  if (source.find(body, name).value == nullptr && value->uses.size() == 1) {
    const onnx::Node& user = written.node(value->uses.front());
    if ((is_op(user, "Add") || is_op(user, "Cast")) && !user.outputs.empty()) return user.outputs[0];
  }
  for (const graph::Use& use : value->uses) {
    const onnx::Node& user = written.node(use);
    if (!is_op(user, "Cast") || user.outputs.empty()) continue;
    const graph::Value* cast = written.find(use.body, user.outputs[0]).value;
    if (cast != nullptr && cast->is_output) return user.outputs[0];
  }
  return name;
}

// "1.14.0, 1.17.3 to 1.31.1": releases that follow each other in the table are one span.
std::string spans_of(const std::vector<const target::Release*>& releases) {
  std::string text;
  for (std::size_t i = 0; i < releases.size();) {
    std::size_t last = i;
    while (last + 1 < releases.size() && releases[last + 1] == releases[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", releases[i]->version);
    if (last != i) text += fmt::format(" to {}", releases[last]->version);
    i = last + 1;
  }
  return text;
}

[[noreturn]] void refuse(const target::ModelSupport& support, const onnx::Model& original,
                         const target::Target& target) {
  std::string why;
  if (!support.check.problems.empty()) why = support.check.problems.front();
  for (const target::Finding& finding : support.findings) {
    if (!why.empty() || !is_broken(finding)) continue;
    const NodeFinding& node = finding.described;
    why = fmt::format("node '{}' ({}{}{}): {}", node.name, node.op_type, node.types.empty() ? "" : " ",
                      node.types, node.why);
  }
  const target::ModelSupport before = target::support_of(original, graph::Index(original), target);
  const bool was_broken = before.check.verdict > Verdict::kUnknown;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} would not run on {}: {}; nothing was written",
                          was_broken ? "the model itself" : "the result", target.name, why));
}

}  // namespace

Recipe fit_to_target(const onnx::Model& original, const PreparedModel& prepared, const Recipe& given,
                     const target::Target& target, ThreadPool& pool, std::vector<std::string>& notes) {
  Recipe recipe = given;
  recipe.half.keep_names = true;  // what is lacking is found by its name
  const bool has_few_bits = is_few_bits(recipe.format);
  const Format in_floats = recipe.is_half() ? Format::kFp32 : has_few_bits ? Format::kW8 : recipe.rest();
  const onnx::Model& source = prepared.model();
  const graph::Index& index = prepared.index();
  std::map<std::string, std::size_t> lacking;
  for (int round = 0;; ++round) {
    const plan::Plan plan = plan::make_plan(source, index, recipe, pool, prepared.ranges());
    onnx::Model model = prepared.read();
    rewrite(model, source, index, plan, {});
    const graph::Index written(model);
    const target::ModelSupport support = target::support_of(model, written, target);
    std::size_t excluded = 0;
    for (const target::Finding& finding : support.findings) {
      if (!is_broken(finding)) continue;
      const onnx::Node& node = *written.bodies()[finding.body].nodes()[finding.node];
      for (const onnx::Bytes name : node.outputs) {
        const onnx::Bytes output = original_name(written, index, finding.body, name);
        const auto source_value = output.empty() ? graph::Index::Found{} : index.find(finding.body, output);
        if (source_value.value == nullptr || source_value.value->producer == graph::kNone) continue;
        const onnx::Node& asked = *index.bodies()[source_value.body].nodes()[source_value.value->producer];
        if (asked.outputs[0].empty()) continue;
        const std::string path = graph::value_path(index, source_value.body, asked.outputs[0]);
        if (const auto known = recipe.nodes.find(path);
            known != recipe.nodes.end() && is_storage(known->second) && !is_few_bits(known->second))
          continue;
        recipe.nodes[path] = in_floats;
        ++excluded;
        ++lacking[fmt::format("{} {}: {}", node.op_type, finding.described.types, finding.described.why)];
      }
    }
    if (support.check.verdict <= Verdict::kUnknown) break;
    const bool can_help = recipe.is_integer() || recipe.is_half() || has_few_bits;
    if (!can_help || excluded == 0 || round == kMostRounds) refuse(support, original, target);
  }
  for (const auto& [what, count] : lacking)
    notes.push_back(fmt::format("{} node{} in {}, as {} lacks {}", count, count == 1 ? " stays" : "s stay",
                                has_few_bits ? "floats" : "FP32", target.name, what));
  recipe.half.keep_names = given.half.keep_names;
  return recipe;
}

std::string where_it_fails(const onnx::Model& original, const onnx::Model& written) {
  const graph::Index before(original), after(written);
  const target::SupportMatrix& matrix = target::SupportMatrix::measured();
  const target::NodeChecker before_checker(original, before, matrix), after_checker(written, after, matrix);
  std::map<std::string_view, std::vector<const target::Release*>> failing;  // by machine
  std::string why;
  for (const target::Release& release : matrix.releases()) {
    const target::Target target = target_of(release);
    const target::ModelSupport support = target::support_of(written, after, after_checker, target);
    if (support.check.verdict <= Verdict::kUnknown) continue;
    if (target::support_of(original, before, before_checker, target).check.verdict > Verdict::kUnknown)
      continue;
    failing[release.machine].push_back(&release);
    if (!why.empty()) continue;
    for (const target::Finding& finding : support.findings) {
      if (!is_broken(finding)) continue;
      const NodeFinding& node = finding.described;
      why = fmt::format("{}{}{}: {}", node.op_type, node.types.empty() ? "" : " ", node.types, node.why);
      break;
    }
    if (why.empty() && !support.check.problems.empty()) why = support.check.problems.front();
  }
  std::string places;
  for (const auto& [machine, releases] : failing)
    places += fmt::format("{}{} on {}", places.empty() ? "" : ", ", spans_of(releases), machine);
  if (places.empty()) return {};
  return fmt::format(
      "it fails in ONNX Runtime {}, where the original works ({}); `target` keeps in FP32 what "
      "a release lacks",
      places, why);
}

}  // namespace ounce::make
