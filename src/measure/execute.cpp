#include "measure/execute.h"

#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "measure/difference.h"
#include "measure/float_ports.h"
#include "measure/open.h"
#include "measure/stepper.h"

namespace ounce::measure {
namespace {

constexpr std::uint64_t kSamples = 2;

#if defined(__aarch64__)
constexpr const char* kMachine = "arm64";
#else
constexpr const char* kMachine = "x64";
#endif

// Debian's cross compiler brings the libraries that an emulated program needs.
std::string emulator() {
  const char* named = std::getenv("OUNCE_QEMU_AARCH64");
  return std::string(named != nullptr && *named != '\0' ? named : "qemu-aarch64") +
         " -L /usr/aarch64-linux-gnu";
}

RuntimeOptions options_there(const target::Target& target, const CheckOptions& options) {
  RuntimeOptions there;
  there.library = target.version;
  there.isolate = Isolation{.memory = 0, .seconds = 300};
  if (options.remote) {
    there.remote = options.remote;
  } else if (target.machine != kMachine) {
    there.remote = Remote{};
    there.remote->launcher = emulator();
  }
  return there;
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
  measure::Stepper reference(measure::load_as_floats(model, executor_options(here)), {});
  const auto outputs = reference.model().outputs();
  const OpenFeed open = open_feed(model, reference.model().inputs(), {});
  try {
    measure::Stepper there(measure::load_as_floats(model, executor_options(options_there(target, options))),
                           {});
    execution.runtime_version = there.model().library_version();
    std::vector<measure::OutputMeter> meters;
    for (const data::ValueDescription& output : outputs) meters.emplace_back(output, std::nullopt);
    data::Batch batch;
    for (std::uint64_t i = 0; i < std::min(open.feed->batches(), kSamples); ++i) {
      open.feed->read(i, batch);
      std::vector<data::Tensor> expected;
      for (const data::TensorView& view : reference.run(batch)) expected.push_back(data::copy_of(view));
      const auto given = there.run(batch);
      for (std::size_t k = 0; k < meters.size(); ++k) meters[k].add(expected.at(k), given[k]);
    }
    execution.sqnr_db = std::numeric_limits<double>::infinity();
    for (const measure::OutputMeter& meter : meters) {
      const OutputComparison compared = meter.result();
      if (meter.shape_differences() != 0 || compared.newly_not_finite != 0)
        execution.error = "the output '" + compared.name + "' is another one than here";
      execution.sqnr_db = std::min(execution.sqnr_db, compared.sqnr_db);
    }
    execution.is_run = true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kUsage) throw;
    execution.error = error.what();
  }
  return execution;
}

}  // namespace ounce::measure
