#include "measure/on_cpus.h"

#include "measure/across_cpus.h"
#include "measure/float_ports.h"

namespace ounce::measure {

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

}  // namespace ounce::measure
