#include <fmt/format.h>
#include <ounce/check.h>
#include <ounce/error.h>

#include "api/outcome.h"
#include "graph/verify.h"
#include "onnx/reader.h"
#include "target/load_memory.h"
#include "target/model_support.h"
#include "target/support_matrix.h"

namespace ounce {

CheckReport check(const std::filesystem::path& path, const CheckOptions& options) {
  std::vector<target::Target> targets;
  for (const std::string& text : options.targets) targets.push_back(target::parse_target(text));
  if (targets.empty()) targets.push_back(target::parse_target(""));
  for (const target::Target& target : targets) {
    if (target.is_place()) continue;
    throw Error(ErrorCode::kUsage,
                fmt::format("--target '{}' says what computes but not where: linux-x64@1.30.0+{}, say",
                            target.name, target.name));
  }
  const onnx::Model model = onnx::read_model(path);
  const graph::Index index = graph::verify(model);
  CheckReport report;
  report.model = path;
  report.file_bytes = api::bytes_of(model);
  report.memory_bytes = target::weights_after_loading(index);
  report.opset = onnx::opset_version(model.proto->opset_imports, "");
  report.ir = model.proto->ir_version;
  for (const target::Target& target : targets)
    report.targets.push_back(target::support_of(model, index, target).check);
  return report;
}

std::vector<std::string> measured_releases() {
  std::vector<std::string> names;
  for (const target::Release& release : target::SupportMatrix::measured().releases())
    names.push_back(fmt::format("{} {}", release.machine, release.version));
  return names;
}

}  // namespace ounce
