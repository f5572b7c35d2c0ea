// Everything that runs models, in a library that was built without ONNX Runtime.
#include <ounce/advise.h>
#include <ounce/bench.h>
#include <ounce/error.h>
#include <ounce/sensitivity.h>
#include <ounce/tune.h>
#include <ounce/verify.h>

#include "api/adaptive_rounding.h"
#include "api/asked_types.h"
#include "api/contract_data.h"
#include "api/execute.h"
#include "api/observation.h"
#include "api/optimized.h"
#include "api/refine.h"
#include "api/trial.h"

namespace ounce {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kUnsupported, "this ounce was built without ONNX Runtime and cannot run models");
}

}  // namespace

bool has_runtime() noexcept { return false; }
std::vector<std::string> installed_runtimes() { return {}; }
VerifyResult verify(const std::filesystem::path&, const std::filesystem::path&, const VerifyOptions&) {
  refuse();
}
AdviseResult advise(const std::filesystem::path&, const AdviseOptions&) { refuse(); }
SensitivityResult sensitivity(const std::filesystem::path&, const SensitivityOptions&) { refuse(); }
TuneResult tune(const std::filesystem::path&, const std::filesystem::path&, const TuneOptions&) { refuse(); }
BenchReport bench(const std::vector<std::filesystem::path>&, const BenchOptions&) { refuse(); }
api::Observation api::observe_activations(const std::filesystem::path&, const CalibrateOptions&, Watching) {
  refuse();
}
ContractCheck check_contract(const std::filesystem::path&, const DataOptions&, const RuntimeOptions&) {
  refuse();
}
void api::record(const std::filesystem::path&, const DataOptions&, const RuntimeOptions&, Contract&) {
  refuse();
}

bool api::can_execute(const target::Target&, const CheckOptions&) { refuse(); }
Execution api::execute(const std::filesystem::path&, const target::Target&, const CheckOptions&) { refuse(); }
void api::write_ort(const std::filesystem::path&, const std::filesystem::path&, const EmitOptions&) {
  refuse();
}
std::optional<onnx::Model> api::optimized_model(const std::filesystem::path&, const EmitOptions&) {
  return std::nullopt;
}
std::size_t api::declare_asked_types(onnx::Model&, const RuntimeOptions&) { return 0; }

api::Refinement api::refine(const std::filesystem::path&, std::shared_ptr<const Groundwork> ground,
                            const QuantizeOptions& options, const RefineLimits&) {
  return {options.recipe, std::move(ground), {}};
}

api::AdaptiveResult api::round_adaptively(const Groundwork&, const QuantizeOptions&, const onnx::Model&,
                                          const graph::Index&, plan::Plan&, ThreadPool&) {
  refuse();
}

TrialResult api::try_model(const std::filesystem::path&, const WrittenFiles&, std::uint64_t,
                           const TrialOptions&) {
  TrialResult result;
  result.why_not =
      "this ounce was built without ONNX Runtime: the weights were compared, the model was not run";
  return result;
}

}  // namespace ounce
