#include <ounce/calibrate.h>

#include "api/calibrate_file.h"
#include "api/observation.h"
#include "base/stopwatch.h"

namespace ounce {

CalibrateResult calibrate(const std::filesystem::path& path, const std::filesystem::path& output,
                          const CalibrateOptions& options) {
  const Stopwatch time;
  api::require_replaceable(output);
  const api::Observation observed = api::observe_activations(path, options);
  CalibrateResult result = api::write_ranges(observed.ranges, output);
  result.notes.insert(result.notes.begin(), observed.notes.begin(), observed.notes.end());
  result.seconds = time.seconds();
  return result;
}

}  // namespace ounce
