#include <ounce/advise.h>
#include <ounce/error.h>

#include "api/outcome.h"
#include "base/stopwatch.h"
#include "decide/advise_measure.h"
#include "decide/advise_risks.h"
#include "decide/advise_rules.h"
#include "decide/advise_verdict.h"
#include "decide/family.h"
#include "graph/verify.h"
#include "onnx/reader.h"
#include "target/target.h"

namespace ounce {
namespace {

SizeClass size_class(std::uint64_t bytes) {
  if (bytes < decide::kSmallModel) return SizeClass::kSmall;
  return bytes > decide::kLargeModel ? SizeClass::kLarge : SizeClass::kMedium;
}

}  // namespace

AdviseResult advise(const std::filesystem::path& path, const AdviseOptions& options) {
  const Stopwatch clock;
  if (!(options.budget > 0)) throw Error(ErrorCode::kUsage, "--budget must be above zero");
  target::parse_target(options.target);  // or refuse before anything is measured
  AdviseResult result;
  result.model = path;
  result.budget = options.budget;

  // What it is: nothing has been run yet.
  const onnx::Model model = onnx::read_model(path);
  const graph::Index index = graph::verify(model);
  result.bytes = api::bytes_of(model);
  result.size = size_class(result.bytes);
  result.family = decide::find_family(model, index);

  // What each method brings, and at which risk.
  decide::measure_methods(path, options, clock, result);
  result.risks = decide::find_risks(model, index, options, result);
  result.missing = decide::find_missing(options, result);

  decide::decide(options, result);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace ounce
