// What make and the verbs ask of the runtime, in a library that was built without it.
#include <ounce/error.h>

#include "data/read_files.h"
#include "make/adaptive_rounding.h"
#include "make/asked_types.h"
#include "make/error_meter.h"
#include "make/few_bit_fit.h"
#include "make/observation.h"
#include "make/optimized.h"
#include "make/trial.h"
#include "measure/contract_data.h"
#include "measure/execute.h"

namespace ounce {
namespace {

[[noreturn]] void refuse_to_run() {
  throw Error(ErrorCode::kUnsupported, "this ounce was built without ONNX Runtime and cannot run models");
}

}  // namespace

namespace measure {

ContractCheck check_contract(const std::filesystem::path&, const Contract&, const DataOptions&,
                             const RuntimeOptions&, const std::map<std::string, std::filesystem::path>&) {
  refuse_to_run();
}
void record(const std::filesystem::path&, const DataOptions&, const RuntimeOptions&, Contract&) {
  refuse_to_run();
}
bool can_execute(const target::Target&, const CheckOptions&) { refuse_to_run(); }
Execution execute(const std::filesystem::path&, const target::Target&, const CheckOptions&) {
  refuse_to_run();
}

}  // namespace measure

namespace make {

void require_observable(const CalibrateOptions&, const std::filesystem::path&) {}
Observation observe_activations(onnx::Model, const std::filesystem::path&, const CalibrateOptions&,
                                Watching) {
  refuse_to_run();
}
void write_ort(const std::filesystem::path&, const std::filesystem::path&, const EmitOptions&) {
  refuse_to_run();
}
std::optional<onnx::Model> optimized_model(const std::filesystem::path&, const EmitOptions&) {
  return std::nullopt;
}
std::size_t declare_asked_types(onnx::Model&, const RuntimeOptions&) { return 0; }

std::unique_ptr<ErrorMeter> measure_variants(const std::filesystem::path&, const QuantizeOptions&,
                                             std::uint64_t, MeasuredOn, AdaptPlan) {
  refuse_to_run();
}

void FewBitFitter::fit(plan::Plan&, ThreadPool&) { refuse_to_run(); }

AdaptiveResult round_adaptively(const PreparedModel&, const QuantizeOptions&, const onnx::Model&,
                                const graph::Index&, plan::Plan&, ThreadPool&) {
  refuse_to_run();
}

void require_trial(const onnx::Model&, const std::filesystem::path&, const TrialOptions& options) {
  data::require_files(options.data);
}

TrialResult try_model(const std::filesystem::path&, const WrittenFiles&, std::uint64_t, const TrialOptions&,
                      const TrialCosts&) {
  TrialResult result;
  result.why_not =
      "this ounce was built without ONNX Runtime: the weights were compared, the model was not run";
  return result;
}

}  // namespace make
}  // namespace ounce
