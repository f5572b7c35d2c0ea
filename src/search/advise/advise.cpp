#include <ounce/error.h>
#include <ounce/search.h>

#include "base/cancel.h"
#include "base/machine.h"
#include "data/source/open_source.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_command.h"
#include "formats/open.h"
#include "model/model_file.h"
#include "quantize/output_place.h"
#include "search/advise/family.h"
#include "search/advise/methods.h"
#include "target/litert/litert_target.h"
#include "target/target.h"

namespace ounce {
namespace {

SizeClass size_class(std::uint64_t bytes) {
  if (bytes < search::kSmallModel) return SizeClass::kSmall;
  return bytes > search::kLargeModel ? SizeClass::kLarge : SizeClass::kMedium;
}

}  // namespace

AdviseResult advise(const std::filesystem::path& path, const AdviseOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(path, "advise");
  const Stopwatch clock;
  if (!(options.budget > 0)) throw Error(ErrorCode::kUsage, "`budget` must be above zero");
  // Throw before anything is measured.
  if (model::detect(path) == ModelKind::kTflite)
    target::parse_litert_target(options.target);
  else
    target::parse_target(options.target);
  data::require_files(options.data);
  evaluate::require_program(options.metric_command);
  evaluate::require_outputs(options.outputs, path);
  AdviseResult result;
  result.model = path;
  result.budget = options.budget;

  // Inspect the model without running it.
  const model::ModelFilePtr file = formats::open_model(path);
  file->validate();
  result.bytes = file->bytes();
  result.size = size_class(result.bytes);
  result.family = search::find_family(*file);

  search::measure_methods(path, options, clock, result);
  result.risks = search::find_risks(*file, options, result);
  result.missing = search::find_missing(options, result);

  search::decide(options, result);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace ounce
