#include <ounce/error.h>
#include <ounce/verify.h>

#include <chrono>

#include "api/runtime.h"
#include "measure/comparison.h"
#include "measure/edge_cases.h"
#include "measure/gates.h"

namespace ounce {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

VerifyResult verify(const std::filesystem::path& reference_path, const std::filesystem::path& candidate_path,
                    const VerifyOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (options.gates.max_drop && options.data.labels.empty())
    throw Error(ErrorCode::kUsage, "--max-drop needs labels: say which field holds them with --labels");
  VerifyResult result;
  result.reference = reference_path;
  result.candidate = candidate_path;
  result.is_generated = options.data.is_generated();

  // Load: both models are in the runtime, and take and give the same.
  for (const auto* path : {&reference_path, &candidate_path}) api::check_model(*path);
  const runtime::ExecutorOptions how = api::executor_options(options.runtime);
  measure::Stepper reference(runtime::load(reference_path, how), options.data.carry);
  measure::Stepper candidate(runtime::load(candidate_path, how), options.data.carry);
  measure::require_same_interface(reference.model(), candidate.model(), candidate_path);
  result.load_seconds = seconds_since(start);
  result.runtime_version = reference.model().library_version();

  // Compare: every sample goes through both, and is forgotten.
  const api::OpenFeed open = api::open_feed(reference_path, reference.model().inputs(), options.data);
  result.notes = open.feed->notes();
  measure::Comparison comparison(reference, candidate, options);
  comparison.run(*open.feed, options.progress);
  if (open.data != nullptr) open.data->require_agreement();
  comparison.fill(result);
  result.seconds = seconds_since(start);

  // Try what the data does not hold, and decide.
  if (options.edge_cases)
    result.edge_cases =
        measure::run_edge_cases(reference_path, reference, candidate, comparison, open.options);
  measure::judge(options.gates, result);
  return result;
}

}  // namespace ounce
