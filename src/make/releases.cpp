#include "make/releases.h"

#include <set>
#include <string_view>

#include "graph/index.h"
#include "target/model_support.h"
#include "target/node_support.h"

namespace ounce::make {
namespace {

// More would take seconds for each model that is written; check() tells of those.
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

std::map<std::string, std::string> oldest_releases(const onnx::Model& model) {
  const graph::Index index(model);
  std::size_t nodes = 0;
  for (const auto& body : index.bodies()) nodes += body.nodes().size();
  if (nodes > kMostNodes) return {};
  const target::SupportMatrix& matrix = target::SupportMatrix::measured();
  const target::NodeChecker checker(model, index, matrix);
  std::map<std::string, std::string> oldest;
  std::set<std::string_view> ended;  // machines of which an older release was found that does not run it
  for (auto release = matrix.releases().rbegin(); release != matrix.releases().rend(); ++release) {
    if (ended.contains(release->machine)) continue;
    const Verdict verdict = target::support_of(model, index, checker, target_of(*release)).check.verdict;
    if (verdict <= Verdict::kSlow) {  // what nobody measured is not promised
      oldest[std::string(release->machine)] = release->version;
    } else {
      ended.insert(release->machine);
    }
  }
  return oldest;
}

}  // namespace ounce::make
