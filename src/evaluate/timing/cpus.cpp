#include "evaluate/timing/cpus.h"

#include <ounce/error.h>

#include <algorithm>
#include <limits>

#include "base/cancel.h"
#include "base/machine.h"
#include "evaluate/compare/difference.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/matched_interface.h"
#include "evaluate/models/open.h"
#include "runtime/ort/library.h"

namespace ounce::evaluate {
namespace {

struct Agreement {
  double sqnr_db = std::numeric_limits<double>::infinity();  // of the worst output
  std::uint64_t samples = 0, answers = 0, flips = 0;
  std::string runtime_version;  // on the other CPU
  bool is_same_release = true;  // on both CPUs
};

struct Compared {
  std::vector<OutputMeter> outputs;
  std::uint64_t samples = 0;
};

// Runs a model on this CPU and on the other one, on the first batches.
Compared compare_runs(StatefulExecutor& here, StatefulExecutor& there, data::Feed& feed,
                      std::uint64_t batches) {
  Compared compared;
  for (const data::ValueDescription& output : here.model().outputs())
    compared.outputs.emplace_back(output, std::nullopt);
  data::Batch batch;
  for (std::uint64_t i = 0; i < std::min(feed.batches(), batches); ++i) {
    throw_if_cancelled();
    feed.read(i, batch);
    std::vector<data::Tensor> expected;
    for (const data::TensorView& view : here.run(batch)) expected.push_back(data::copy_of(view));
    const auto given = there.run(batch);
    for (std::size_t k = 0; k < expected.size(); ++k) compared.outputs[k].add(expected[k], given[k]);
    compared.samples += batch.names.size();
  }
  return compared;
}

Agreement agreement_of(const Loader& load, const AcrossCpus& models, const runtime::ExecutorOptions& there,
                       std::uint64_t batches) {
  StatefulExecutor ours(load(models.here), models.carry), theirs(load(there), models.carry);
  const Compared compared = compare_runs(ours, theirs, *models.feed, batches);
  Agreement found;
  found.runtime_version = theirs.model().library_version();
  found.is_same_release = found.runtime_version == ours.model().library_version();
  found.samples = compared.samples;
  std::vector<OutputComparison> outputs;
  bool has_same_shapes = true;
  for (const OutputMeter& meter : compared.outputs) {
    outputs.push_back(meter.result());
    outputs.back().is_state = is_state(models.carry, outputs.back().name);
    outputs.back().is_judged = is_wanted(models.outputs, outputs.back().name);
    if (!is_judged(outputs.back())) continue;
    has_same_shapes &= meter.shape_differences() == 0;
    found.answers += meter.answers();
    found.flips += meter.other_answers();
  }
  found.sqnr_db = has_same_shapes ? worst_sqnr(outputs) : -std::numeric_limits<double>::infinity();
  return found;
}

constexpr std::uint64_t kTriedSamples = 2;

#if defined(__aarch64__)
constexpr const char* kMachine = "arm64";
#else
constexpr const char* kMachine = "x64";
#endif

// The CPU of the target; empty if it is this machine's.
std::string cpu_of(const target::Target& target) {
  if (target.machine != kMachine) return target.machine;
  return target.cpu == "vnni" ? std::string() : target.cpu;
}

// Options for running in exactly the target's release of the runtime.
runtime::ExecutorOptions options_there(const target::Target& target, const CheckOptions& options) {
  RuntimeOptions there;
  there.isolate = Isolation{.memory = 0, .seconds = 300};
  there.remote = options.remote;
  const std::string cpu = options.remote ? std::string() : cpu_of(target);
  runtime::ExecutorOptions how =
      cpu.empty() ? executor_options(there) : runtime::on_cpu(cpu, executor_options(there)).options;
  how.library = target.version;
  if (how.remote && !options.remote) how.remote->library = target.version;
  return how;
}

}  // namespace

CpuComparison compare_on(const std::string& cpu, const AcrossCpus& models) {
  CpuComparison result;
  result.cpu = cpu;
  try {
    const runtime::CpuAccess there = runtime::on_cpu(cpu, models.here);
    result.how = there.how;
    const std::uint64_t batches =
        std::min(models.feed->batches(), there.is_emulated ? models.emulated_samples : models.samples);
    if (batches == 0) {
      result.why_not = "the model is too large for a quick test in an emulator; use `verify() with cpus`";
      return result;
    }
    const Agreement candidate = agreement_of(models.model, models, there.options, batches);
    CpuComparison found = result;
    found.runtime_version = candidate.runtime_version;
    found.samples = candidate.samples;
    found.sqnr_db = candidate.sqnr_db;
    found.answers = candidate.answers;
    found.flips = candidate.flips;
    const bool decides = !found.is_same() && candidate.is_same_release;
    found.reference_sqnr_db = std::numeric_limits<double>::quiet_NaN();  // not run
    if (decides || !models.is_original_optional) {
      const Agreement reference = agreement_of(models.original, models, there.options, batches);
      found.reference_sqnr_db = reference.sqnr_db;
      found.reference_flips = reference.flips;
    }
    result = found;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kUsage) throw;
    result.why_not = error.what();
  }
  return result;
}

std::vector<CpuComparison> compare_on_cpus(const std::filesystem::path& reference,
                                           const std::filesystem::path& candidate, const OnCpus& cpus,
                                           const RuntimeOptions& runtime, const OpenFeed& open) {
  AcrossCpus models;
  models.original = [&](const runtime::ExecutorOptions& how) { return load_as_floats(reference, how); };
  std::vector<std::string> ignored;  // the comparison on this CPU has the same notes
  models.model = [&](const runtime::ExecutorOptions& how) {
    if (are_of_one_kind(reference, candidate)) return load_as_floats(candidate, how);
    return load_in_form_of(*load_as_floats(reference, models.here), reference, candidate, how, ignored);
  };
  models.here = executor_options(runtime);
  models.feed = open.feed.get();
  models.carry = open.options.carry;
  models.outputs = cpus.outputs;
  models.samples = cpus.samples;
  models.emulated_samples = cpus.emulated_samples;
  std::vector<CpuComparison> found;
  for (const std::string& cpu : cpus.names) found.push_back(compare_on(cpu, models));
  return found;
}

bool can_execute(const target::Target& target, const CheckOptions& options) {
  return target.machine == kMachine || target.machine == "arm64" || options.remote.has_value();
}

Execution execute(const std::filesystem::path& model, const target::Target& target,
                  const CheckOptions& options) {
  Execution execution;
  RuntimeOptions here;
  here.isolate = Isolation{.memory = 0, .seconds = 300};
  StatefulExecutor reference(load_as_floats(model, executor_options(here)), {});
  const OpenFeed open = open_feed(model, reference.model().inputs(), {});
  try {
    StatefulExecutor there(load_as_floats(model, options_there(target, options)), {});
    execution.runtime_version = there.model().library_version();
    std::vector<OutputComparison> outputs;
    for (const OutputMeter& meter : compare_runs(reference, there, *open.feed, kTriedSamples).outputs) {
      outputs.push_back(meter.result());
      if (meter.shape_differences() != 0 || outputs.back().newly_not_finite != 0)
        execution.error = "the output '" + outputs.back().name + "' differs from the one on this machine";
    }
    execution.sqnr_db = worst_sqnr(outputs);
    execution.is_run = true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kUsage) throw;
    execution.error = error.what();
  }
  return execution;
}

}  // namespace ounce::evaluate

namespace ounce {

std::vector<std::string> known_cpus() { return runtime::other_cpu_names(); }

std::vector<std::string> other_cpus() {
  std::vector<std::string> found;
  for (const char* const name : {"avx2", "arm64"}) {
    try {
      if (!runtime::on_cpu(name, {}).is_this_one) found.emplace_back(name);
    } catch (const Error&) {  // this machine cannot emulate it
    }
  }
  return found;
}

std::string this_cpu() { return cpu_kernels(); }

std::vector<std::string> installed_runtimes() { return runtime::Library::installed_versions(); }

}  // namespace ounce
