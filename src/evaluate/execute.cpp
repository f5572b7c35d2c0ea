#include "evaluate/execute.h"

#include <ounce/cpus.h>
#include <ounce/error.h>
#include <ounce/runtime.h>

#include <algorithm>

#include "base/machine.h"
#include "evaluate/compare/difference.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/dequantized_io.h"
#include "evaluate/models/open.h"
#include "runtime/ort/library.h"
#include "runtime/other_cpu.h"

namespace ounce::evaluate {
namespace {

constexpr std::uint64_t kTriedSamples = 2;

#if defined(__aarch64__)
constexpr const char* kMachine = "arm64";
#else
constexpr const char* kMachine = "x64";
#endif

// The other CPU that the target is; empty when it is this machine's.
std::string cpu_of(const target::Target& target) {
  if (target.machine != kMachine) return target.machine;
  return target.cpu == "vnni" ? std::string() : target.cpu;
}

// In the release that the target has, and in no other.
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

bool can_execute(const target::Target& target, const CheckOptions& options) {
  return target.machine == kMachine || target.machine == "arm64" || options.remote.has_value();
}

Execution execute(const std::filesystem::path& model, const target::Target& target,
                  const CheckOptions& options) {
  Execution execution;
  RuntimeOptions here;
  here.isolate = Isolation{.memory = 0, .seconds = 300};
  evaluate::StatefulExecutor reference(evaluate::load_as_floats(model, executor_options(here)), {});
  const auto outputs = reference.model().outputs();
  const OpenFeed open = open_feed(model, reference.model().inputs(), {});
  try {
    evaluate::StatefulExecutor there(evaluate::load_as_floats(model, options_there(target, options)), {});
    execution.runtime_version = there.model().library_version();
    std::vector<evaluate::OutputMeter> meters;
    for (const data::ValueDescription& output : outputs) meters.emplace_back(output, std::nullopt);
    data::Batch batch;
    for (std::uint64_t i = 0; i < std::min(open.feed->batches(), kTriedSamples); ++i) {
      open.feed->read(i, batch);
      std::vector<data::Tensor> expected;
      for (const data::TensorView& view : reference.run(batch)) expected.push_back(data::copy_of(view));
      const auto given = there.run(batch);
      for (std::size_t k = 0; k < meters.size(); ++k) meters[k].add(expected.at(k), given[k]);
    }
    std::vector<OutputComparison> compared_outputs;
    for (const evaluate::OutputMeter& meter : meters) {
      const OutputComparison& compared = compared_outputs.emplace_back(meter.result());
      if (meter.shape_differences() != 0 || compared.newly_not_finite != 0)
        execution.error = "the output '" + compared.name + "' is another one than here";
    }
    execution.sqnr_db = worst_sqnr(compared_outputs);
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
    } catch (const Error&) {  // nothing here shows it
    }
  }
  return found;
}

std::string this_cpu() { return cpu_kernels(); }

std::vector<std::string> installed_runtimes() { return runtime::Library::installed_versions(); }

}  // namespace ounce
