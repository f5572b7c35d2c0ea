#include <ounce/error.h>
#include <ounce/sensitivity.h>

#include "base/cancel.h"
#include "data/source/open_source.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_command.h"
#include "search/sensitivity/layer_ranking.h"

namespace ounce {
namespace {

void require_sense(const SensitivityOptions& options) {
  const Format format = options.format;
  if (format != Format::kStatic && format != Format::kDynamic && format != Format::kW8 &&
      format != Format::kW4)
    throw Error(ErrorCode::kUsage, "layers are compared in the formats static, dynamic, w8 and w4");
  if (format == Format::kStatic && options.data.is_generated())
    throw Error(ErrorCode::kUsage, "static needs to see real data: give `data`");
}

}  // namespace

SensitivityResult sensitivity(const std::filesystem::path& model, const SensitivityOptions& options) {
  const Call call(options.progress);
  require_sense(options);
  data::require_files(options.data);
  evaluate::require_program(options.metric_command);
  evaluate::require_outputs(options.outputs, model);
  return search::rank_layers(model, options);
}

}  // namespace ounce
