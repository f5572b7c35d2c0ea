#include <ounce/error.h>
#include <ounce/tune.h>

#include <algorithm>

#include "graph/verify.h"
#include "make/output_place.h"
#include "onnx/reader.h"
#include "search/tuning.h"

namespace ounce {
namespace {

// Was it written by this program?
bool is_ours(const std::filesystem::path& file) {
  try {
    const onnx::Model model = onnx::read_model(file);
    const auto& metadata = model.proto->metadata;
    return std::any_of(metadata.begin(), metadata.end(),
                       [](const auto& entry) { return entry->key == "ounce.plan"; });
  } catch (const Error&) {
    return false;  // no model at all
  }
}

}  // namespace

TuneResult tune(const std::filesystem::path& model, const std::filesystem::path& output,
                const TuneOptions& options) {
  if (options.data.is_generated())
    throw Error(ErrorCode::kUsage, "tune needs to see real data: give --data", model.string());
  if (options.budget.models == 0 && !(options.budget.seconds > 0))
    throw Error(ErrorCode::kUsage, "--budget must be more than nothing");
  const onnx::Model original = onnx::read_model(model);
  graph::verify(original);
  make::require_another_file(original, output, "the output would replace the input; choose another -o");
  const std::filesystem::path closest = search::closest_name(output);
  make::require_another_file(original, closest,
                             "what comes closest would replace the input; choose another -o");
  if (std::filesystem::exists(closest) && !is_ours(closest))
    throw Error(ErrorCode::kUsage, "is in the way of what comes closest; choose another -o",
                closest.string());
  make::require_folder(output);
  return search::find_best(model, output, options);
}

}  // namespace ounce
