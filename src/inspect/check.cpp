#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/model.h>

#include <set>

#include "base/cancel.h"
#include "evaluate/timing/cpus.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/validate.h"
#include "formats/tflite/file/reader.h"
#include "model/model_file.h"
#include "quantize/output_place.h"
#include "target/accelerators.h"
#include "target/litert/litert_support.h"
#include "target/litert_matrix.h"
#include "target/ort/model_support.h"
#include "target/ort/partitions.h"
#include "target/ort/provider_ops.h"
#include "target/ort/requirements.h"
#include "target/support_matrix.h"

namespace ounce {
namespace {

// The requested execution providers, and those that apps on the target's system commonly use.
std::set<std::string_view> providers_of(const std::vector<target::Target>& targets) {
  std::set<std::string_view> names;
  for (const target::Target& target : targets) {
    if (target.provider != "cpu") {
      names.insert(target.provider);
    } else if (target.system == "android") {
      names.insert({"nnapi", "xnnpack", "qnn"});
    } else if (target.system == "ios" || target.system == "macos") {
      names.insert({"coreml", "coreml-mlprogram", "xnnpack"});
    }
  }
  return names;
}

bool has_free_inputs(const onnx::Model& model) {
  for (const auto& input : model.proto->graph->inputs) {
    const onnx::ValueType type = onnx::read_type(input->type);
    for (const onnx::Dimension& dimension : type.shape) {
      if (dimension.value < 0) return true;
    }
  }
  return false;
}

std::vector<ProviderHint> hints_for(const std::vector<target::Target>& targets, const onnx::Model& model,
                                    const graph::Index& index) {
  std::vector<ProviderHint> hints;
  const std::set<std::string_view> names = providers_of(targets);
  if (names.empty()) return hints;
  const graph::ElementTypes types(model, index);
  std::size_t all = 0;
  graph::for_each_node(index, [&](std::size_t, std::size_t, const onnx::Node&) { ++all; });
  const std::size_t nested = all - index.main().nodes().size();
  for (const std::string_view name : names) {
    const target::ProviderPage* page = target::find_provider_page(name);
    if (page == nullptr) continue;
    const target::Partitions partitions =
        target::partitions_of(target::ProviderDocs(*page, model, index, types));
    const bool is_free = page->needs_fixed_shapes && has_free_inputs(model);
    hints.push_back(
        {std::string(name), std::string(page->source), partitions.nodes, partitions.taken,
         partitions.partitions, partitions.largest, partitions.left,
         is_free ? "it needs fixed shapes, but an input has dynamic dimensions; write a copy with fixed `shape`"
                 : std::string(page->note),
         partitions.computing, partitions.computing_partitions, partitions.folded, nested,
         page->is_node_by_node});
  }
  return hints;
}

CheckReport check_onnx(const std::filesystem::path& path, const CheckOptions& options) {
  std::vector<target::Target> targets;
  for (const std::string& text : options.targets) targets.push_back(target::parse_target(text));
  if (targets.empty()) targets.push_back(target::parse_target(""));
  for (const target::Target& target : targets) {
    if (target.is_place()) continue;
    throw Error(
        ErrorCode::kUsage,
        fmt::format("`targets`: '{}' names only a provider; add a platform, for example linux-x64@1.30.0+{}",
                    target.name, target.name));
  }
  const onnx::Model model = onnx::read_model(path);
  const graph::Index index = graph::validate(model);
  CheckReport report;
  report.file_bytes = onnx::bytes_of(model);
  report.memory_bytes = target::weights_after_loading(index);
  report.opset = onnx::opset_version(model.proto->opset_imports, "");
  report.ir = model.proto->ir_version;
  const target::NodeChecker checker(model, index, target::SupportMatrix::measured());
  for (const target::Target& target : targets) {
    report.targets.push_back(target::support_of(model, index, checker, target).check);
    if (!options.execute) continue;
    if (evaluate::can_execute(target, options)) {
      report.targets.back().execution = evaluate::execute(path, target, options);
    } else {
      report.targets.back().notes.push_back("not executed: this machine cannot run programs for " +
                                            target.machine);
    }
  }
  report.hints = hints_for(targets, model, index);
  return report;
}

CheckReport check_tflite(const std::filesystem::path& path, const CheckOptions& options) {
  std::vector<target::LitertTarget> targets;
  for (const std::string& text : options.targets) targets.push_back(target::parse_litert_target(text));
  if (targets.empty()) targets.push_back(target::parse_litert_target(""));
  const tflite::Model model = tflite::read_model(path);
  CheckReport report;
  report.format = "TFLite";
  report.file_bytes = model.file.bytes().size();
  report.memory_bytes = target::weights_after_loading(model);
  std::set<std::string_view> accelerators;
  for (const target::LitertTarget& target : targets) {
    report.targets.push_back(target::litert_support_of(model, target));
    if (options.execute)
      report.targets.back().notes.push_back(
          "not executed: check does not run .tflite models; use verify, which runs them in the installed "
          "LiteRT");
    if (!target.accelerator.empty()) {
      accelerators.insert(target.accelerator);
    } else if (target.system == "android") {
      accelerators.insert({"hexagon", "nnapi"});
    }
  }
  report.hints = target::accelerator_hints(model, accelerators);
  return report;
}

}  // namespace

CheckReport check(const std::filesystem::path& path, const CheckOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(path, "check");
  const bool is_tflite = model::detect(path) == model::ModelKind::kTflite;
  CheckReport report = is_tflite ? check_tflite(path, options) : check_onnx(path, options);
  report.model = path;
  return report;
}

std::vector<std::string> measured_releases() {
  std::vector<std::string> names;
  for (const target::Release& release : target::SupportMatrix::measured().releases())
    names.push_back(fmt::format("{} {}", release.machine, release.version));
  for (const target::LitertRelease& release : target::LitertMatrix::measured().releases())
    names.push_back(fmt::format("{} {}-{}", release.machine, release.runtime, release.version));
  return names;
}

}  // namespace ounce
