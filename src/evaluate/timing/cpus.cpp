#include "evaluate/timing/cpus.h"

#include <ounce/error.h>

#include <algorithm>
#include <limits>

#include "base/cancel.h"
#include "evaluate/compare/difference.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/dequantized_io.h"
#include "evaluate/models/open.h"

namespace ounce::evaluate {
namespace {

struct Agreement {
  double sqnr_db = std::numeric_limits<double>::infinity();  // of the worst output
  std::uint64_t samples = 0, answers = 0, flips = 0;
  std::string runtime_version;  // there
};

// One model here and there, on the first samples.
Agreement agreement_of(const Loader& load, const AcrossCpus& models, const runtime::ExecutorOptions& there,
                       std::uint64_t batches) {
  StatefulExecutor ours(load(models.here), models.carry), theirs(load(there), models.carry);
  std::vector<OutputMeter> meters;
  for (const data::ValueDescription& output : ours.model().outputs())
    meters.emplace_back(output, std::nullopt);
  Agreement found;
  found.runtime_version = theirs.model().library_version();
  data::Batch batch;
  for (std::uint64_t i = 0; i < batches; ++i) {
    throw_if_cancelled();
    models.feed->read(i, batch);
    std::vector<data::Tensor> expected;
    for (const data::TensorView& view : ours.run(batch)) expected.push_back(data::copy_of(view));
    const auto given = theirs.run(batch);
    for (std::size_t k = 0; k < meters.size(); ++k) meters[k].add(expected.at(k), given[k]);
    found.samples += batch.names.size();
  }
  std::vector<OutputComparison> outputs;
  bool has_same_shapes = true;
  for (const OutputMeter& meter : meters) {
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
      result.why_not =
          "the model is too large to be tried under an emulator; `verify() with cpus` takes its time";
      return result;
    }
    const Agreement reference = agreement_of(models.original, models, there.options, batches);
    const Agreement candidate = agreement_of(models.model, models, there.options, batches);
    result.runtime_version = candidate.runtime_version;
    result.samples = candidate.samples;
    result.sqnr_db = candidate.sqnr_db;
    result.answers = candidate.answers;
    result.flips = candidate.flips;
    result.reference_sqnr_db = reference.sqnr_db;
    result.reference_flips = reference.flips;
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
  models.model = [&](const runtime::ExecutorOptions& how) { return load_as_floats(candidate, how); };
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

}  // namespace ounce::evaluate
