#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/verify.h>

#include <cmath>

#include "base/cancel.h"
#include "base/machine.h"
#include "data/contract/contract_file.h"
#include "data/source/open_source.h"
#include "evaluate/compare/comparison.h"
#include "evaluate/compare/gates.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_command.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/models/feeds.h"
#include "evaluate/models/matched_interface.h"
#include "evaluate/models/open.h"
#include "evaluate/models/reference_outputs.h"
#include "evaluate/timing/cpus.h"
#include "io/mapped_file.h"

namespace ounce {
namespace {

// Identifies a model by everything that affects its outputs. A changed file is another model.
std::string identity_of(const std::filesystem::path& model, const RuntimeOptions& runtime) {
  std::error_code none;
  std::string identity =
      fmt::format("{} {} {} {} {} {} {}", std::filesystem::absolute(model, none).string(),
                  std::filesystem::last_write_time(model, none).time_since_epoch().count(),
                  std::filesystem::file_size(model, none), runtime.library, runtime.threads,
                  runtime.threads_between, static_cast<int>(runtime.optimization));
  for (const auto& [name, value] : runtime.config) identity += fmt::format(" {}={}", name, value);
  return identity;
}

std::unique_ptr<runtime::Executor> load_reference(const std::filesystem::path& model,
                                                  const runtime::ExecutorOptions& how,
                                                  const VerifyOptions& options) {
  if (options.reference_outputs != nullptr)
    options.reference_outputs->use_for(identity_of(model, options.runtime));
  return evaluate::answer_from(options.reference_outputs, evaluate::load_as_floats(model, how));
}

// The reference's contract, or the candidate's if only the candidate has one.
std::optional<Contract> shared_contract(const std::filesystem::path& reference,
                                        const std::filesystem::path& candidate,
                                        std::vector<std::string>& notes) {
  std::optional<Contract> ours = data::contract_in(reference), theirs = data::contract_in(candidate);
  if (ours && theirs && data::write_contract(*ours, -1) != data::write_contract(*theirs, -1))
    notes.emplace_back("the two models have different contracts; the reference's was used");
  return ours ? ours : theirs;
}

// With labels, the default gate limits the drop of the metric. If the metric could not be measured, the
// outputs are judged.
Gates with_default_gate(const VerifyOptions& options, VerifyResult& result) {
  Gates gates = options.gates;
  if (gates.set != GateSet::kNone) {
    const bool has_metric = !result.metrics.empty() && !std::isnan(result.metrics.front().drop);
    gates = evaluate::with_standard(gates, evaluate::weight_bits(result.candidate), has_metric);
  }
  if (evaluate::has_any(gates) || options.data.labels.empty()) return gates;
  if (!result.metrics.empty() && std::isnan(result.metrics.front().drop)) return gates;
  gates.max_drop = kDefaultDrop;
  result.notes.emplace_back(evaluate::kDefaultDropNote);
  return gates;
}

void note_unmeasured(VerifyResult& result) {
  if (result.metrics.empty()) return;
  const MetricResult& metric = result.metrics.front();
  if (!metric.why_not.empty())
    result.notes.push_back(fmt::format("{} was not measured: {}", metric.name, metric.why_not));
}

}  // namespace

VerifyResult verify(const std::filesystem::path& reference_path, const std::filesystem::path& candidate_path,
                    const VerifyOptions& options) {
  const CancellationScope scope(options.progress);
  const Stopwatch time;
  evaluate::find_metric(options.task, options.metric);  // throws for an unknown metric
  if ((options.gates.max_drop || !options.gates.max_drops.empty()) && !evaluate::has_metric(options))
    throw Error(
        ErrorCode::kUsage,
        "`gates.max_drop` needs labels: name their field with `labels`, or give `task` to compare with the "
        "original's predictions");
  if (options.runtime.remote && !options.cpus.empty())
    throw Error(ErrorCode::kUsage,
                "`cpus` emulates other CPUs on this machine: leave out `remote.via` and `remote.launcher`");
  evaluate::require_confidence(options.gates);
  evaluate::require_outputs(options.outputs, reference_path);
  for (const auto* path : {&reference_path, &candidate_path}) io::require_readable(*path);
  data::require_files(options.data);
  evaluate::require_program(options.metric_command);
  VerifyResult result;
  result.reference = reference_path;
  result.candidate = candidate_path;
  result.is_generated = options.data.is_generated();
  result.class_names = options.class_names;

  // Load both models and check that they have the same interface.
  result.reference_bytes = evaluate::check_model(reference_path).bytes;
  result.candidate_bytes = evaluate::check_model(candidate_path).bytes;
  const runtime::ExecutorOptions how = evaluate::executor_options(options.runtime);
  evaluate::StatefulExecutor reference(load_reference(reference_path, how, options), options.data.carry);
  evaluate::StatefulExecutor candidate(
      evaluate::load_in_form_of(reference.model(), reference_path, candidate_path, how, result.notes),
      options.data.carry);
  evaluate::require_same_interface(reference.model(), candidate.model(), candidate_path);
  result.load_seconds = time.seconds();
  result.runtime_version = reference.model().library_version();
  result.runtime = evaluate::runtimes_of(
      {{reference_path, result.runtime_version}, {candidate_path, candidate.model().library_version()}});
  if (!options.runtime.remote) result.cpu = this_cpu();

  // Compare the models sample by sample.
  DataOptions data_options = options.data;
  if (!data_options.contract)
    data_options.contract = shared_contract(reference_path, candidate_path, result.notes);
  // For models of different formats, the candidate's inputs are the merged ones, which suit both models.
  const std::vector<data::ValueDescription>& inputs =
      (evaluate::are_of_one_kind(reference_path, candidate_path) ? reference : candidate).model().inputs();
  if (data_options.is_generated()) {
    data_options = evaluate::find_lengths(inputs, data_options, [&](const DataOptions& tried) {
      data::Batch first;
      evaluate::open_feed(reference_path, inputs, tried).feed->read(0, first);
      reference.run(first);
    });
  }
  const evaluate::OpenFeed open = evaluate::open_feed(reference_path, inputs, data_options);
  VerifyOptions with_contract = options;
  with_contract.data.contract = open.options.contract;
  evaluate::Comparison comparison(reference, candidate, with_contract);
  evaluate::DigestingFeed feed(*open.feed);
  comparison.run(feed, options.progress);
  if (open.data != nullptr) open.data->require_agreement();
  for (std::string& note : open.feed->notes()) result.notes.push_back(std::move(note));
  comparison.fill(result);
  result.data_digest = feed.inputs();
  result.labels_digest = feed.labels();
  result.seconds = time.seconds();

  // Run edge cases that the data does not contain, and judge the result.
  if (options.edge_cases) {
    result.edge_cases =
        evaluate::run_edge_cases(reference_path, reference, candidate, inputs, comparison, open.options);
  }
  result.cpus = evaluate::compare_on_cpus(
      reference_path, candidate_path,
      {options.cpus, options.cpu_samples, options.emulated_samples, options.outputs}, options.runtime, open);
  note_unmeasured(result);
  evaluate::judge(with_default_gate(options, result), result);
  return result;
}

}  // namespace ounce
