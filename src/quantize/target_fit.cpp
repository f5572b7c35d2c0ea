#include "quantize/target_fit.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "evaluate/models/open.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/view/onnx_file.h"
#include "io/temporary_files.h"
#include "quantize/onnx_emitter.h"
#include "recipe/format_info.h"
#include "target/ort/model_support.h"

namespace ounce::quantization {
namespace {

constexpr int kMostRounds = 4;

bool is_broken(const target::Finding& finding) { return finding.described.verdict > Verdict::kUnknown; }

// Finds the original name of a written value. Passes rename a value if a Cast is inserted before an output of
// the model, or if Gemm is split into MatMul and Add.
onnx::Bytes original_name(const graph::Index& written, const graph::Index& source, std::size_t body,
                          onnx::Bytes name) {
  const graph::Value* value = name.empty() ? nullptr : written.find(body, name).value;
  if (value == nullptr) return name;
  if (source.find(body, name).value == nullptr && value->uses.size() == 1) {
    const onnx::Node& user = written.node(value->uses.front());
    if ((user.op() == Op::kAdd || user.op() == Op::kCast) && !user.outputs.empty()) return user.outputs[0];
  }
  for (const graph::Use& use : value->uses) {
    const onnx::Node& user = written.node(use);
    if (user.op() != Op::kCast || user.outputs.empty()) continue;
    const graph::Value* cast = written.find(use.body, user.outputs[0]).value;
    if (cast != nullptr && cast->is_output) return user.outputs[0];
  }
  return name;
}

// Formats releases as "1.14.0, 1.17.3 to 1.31.1"; consecutive releases of the table form a span.
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
                          was_broken ? "the original" : "the result", target.name, why));
}

}  // namespace

Recipe fit_to_target(const onnx::Model& original, const PreparedModel& prepared, const Recipe& given,
                     const target::Target& target, ThreadPool& pool, std::vector<std::string>& notes) {
  Recipe recipe = given;
  recipe.half.keep_names = true;  // unsupported nodes are found by name
  const bool has_nbits = is_nbits(recipe.format);
  const Format in_floats =
      recipe.is_half() || has_nbits ? info_of(recipe.format).fallback : recipe.storage_of_remainder();
  const onnx::Model& source = prepared.model();
  const graph::Index& index = prepared.index();
  std::map<std::string, std::size_t> lacking;
  for (int round = 0;; ++round) {
    const plan::Plan plan = plan::make_plan(source, index, recipe, pool, prepared.ranges());
    onnx::Model model = onnx::clone(prepared.model());
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
            known != recipe.nodes.end() && is_storage(known->second) && !is_nbits(known->second))
          continue;
        recipe.nodes[path] = in_floats;
        ++excluded;
        ++lacking[fmt::format("{} {}: {}", node.op_type(), finding.described.types, finding.described.why)];
      }
    }
    if (support.check.verdict <= Verdict::kUnknown) break;
    const bool can_help = recipe.is_integer() || recipe.is_half() || has_nbits;
    if (!can_help || excluded == 0 || round == kMostRounds) refuse(support, original, target);
  }
  for (const auto& [what, count] : lacking)
    notes.push_back(fmt::format("{} node{} kept in FP32: {} does not support {}", count,
                                count == 1 ? "" : "s", target.name, what));
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
      "the result does not run in ONNX Runtime {}, where the original does ({}); with a `target`, ops that "
      "it "
      "does not support are kept in FP32",
      places, why);
}

namespace {

constexpr std::size_t kMostAsked = 4096;  // each value becomes an output of the model

// Outputs of nodes with unknown types, in file order.
std::vector<std::string> unknown_values(const onnx::Model& model) {
  const graph::Index index(model);
  const graph::ElementTypes types(model, index);
  std::vector<std::string> names;
  for (const auto& node : index.main().nodes()) {
    for (const onnx::Bytes name : node->outputs) {
      if (!name.empty() && types.type(0, name) == ElementType::kUndefined) names.emplace_back(name);
    }
  }
  return names;
}

void add_value(onnx::Model& model, std::vector<onnx::Kept<onnx::ValueInfo>>& values, const std::string& name,
               onnx::Bytes type) {
  onnx::ValueInfo info;
  info.name = model.intern(name);
  info.type = type;
  values.emplace_back(std::move(info));
}

// Loads the model with these values as outputs.
std::unique_ptr<runtime::Executor> load_with_outputs(const std::filesystem::path& source,
                                                     const std::vector<std::string>& names,
                                                     const RuntimeOptions& options) {
  onnx::Model model = onnx::read_model(source);
  auto& outputs = model.proto.edit().graph.edit().outputs;
  std::set<onnx::Bytes> present;
  for (const auto& output : outputs) present.insert(output->name);
  for (const std::string& name : names) {
    if (!present.contains(name)) add_value(model, outputs, name, {});
  }
  const TemporaryFolder folder("types");
  ThreadPool pool;
  const std::filesystem::path path = folder.path() / "model.onnx";
  onnx::write_temporary(model, path, pool);
  RuntimeOptions how = options;
  how.optimization = OptimizationLevel::kNone;  // only types are needed
  return runtime::load(path, evaluate::executor_options(how));
}

}  // namespace

std::size_t declare_asked_types(onnx::Model& model, const RuntimeOptions& options) {
  const std::vector<std::string> names = unknown_values(model);
  if (names.empty() || names.size() > kMostAsked) return 0;
  const std::set<std::string> asked(names.begin(), names.end());
  std::size_t count = 0;
  try {
    const auto loaded = load_with_outputs(model.file.path(), names, options);
    for (const data::ValueDescription& value : loaded->outputs()) {
      if (!asked.contains(value.name) || !value.is_tensor() || value.element == ElementType::kUndefined)
        continue;
      const onnx::Bytes type = onnx::make_element_type(model, value.element);
      add_value(model, model.proto.edit().graph.edit().value_infos, value.name, type);
      ++count;
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;  // otherwise the types remain unknown
  }
  return count;
}

namespace {

// Larger graphs would take seconds per written model. check() has no such limit.
constexpr std::size_t kMostNodes = 20'000;

}  // namespace

target::Target target_of(const target::Release& release) {
  target::Target target;
  target.system = release.machine == "wasm" ? "web" : "linux";
  target.machine = release.machine;
  target.version = release.version;
  target.provider = "cpu";
  return target;
}

std::map<std::string, std::string> oldest_releases(const model::ModelFile& model) {
  if (model.kind() != model::ModelKind::kOnnx) return {};
  return oldest_releases(onnx::as_onnx(model).model());
}

std::map<std::string, std::string> oldest_releases(const onnx::Model& model) {
  const graph::Index index(model);
  std::size_t nodes = 0;
  for (const auto& body : index.bodies()) nodes += body.nodes().size();
  if (nodes > kMostNodes) return {};
  const target::SupportMatrix& matrix = target::SupportMatrix::measured();
  const target::NodeChecker checker(model, index, matrix);
  std::map<std::string, std::string> oldest;
  std::set<std::string_view> ended;  // machines with a release that does not run the model
  for (auto release = matrix.releases().rbegin(); release != matrix.releases().rend(); ++release) {
    if (ended.contains(release->machine)) continue;
    const Verdict verdict = target::support_of(model, index, checker, target_of(*release)).check.verdict;
    if (verdict <= Verdict::kSlow) {  // kUnknown does not count as running
      oldest[std::string(release->machine)] = release->version;
    } else {
      ended.insert(release->machine);
    }
  }
  return oldest;
}

}  // namespace ounce::quantization
