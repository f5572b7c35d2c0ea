#include <ounce/calibrate.h>
#include <ounce/error.h>

#include "base/cancel.h"
#include "base/stopwatch.h"
#include "base/thread_pool.h"
#include "data/read_files.h"
#include "graph/verify.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "make/observation.h"
#include "make/output_place.h"
#include "make/ranges_file.h"
#include "make/source_digest.h"
#include "onnx/reader.h"
#include "passes/prepare.h"
#include "passes/unlist_constants.h"

namespace ounce {

CalibrateResult calibrate(const std::filesystem::path& path, const std::filesystem::path& output,
                          const CalibrateOptions& options) {
  const Call call(options.progress);
  const Stopwatch time;
  onnx::Model model = onnx::read_model(path);
  make::Inputs(model).add(options.data).add(options.runtime).require_apart(output);
  make::require_replaceable(output);
  io::require_place(output);
  make::require_observable(options, path);
  data::require_files(options.data);
  graph::verify(model);
  ThreadPool pool;
  const std::string digest = make::source_digest(model, {}, pool);
  Recipe recipe;
  recipe.format = Format::kStatic;
  passes::unlist_constants(model);
  passes::prepare(model, recipe);
  make::Observation observed =
      make::observe_activations(std::move(model), path, options, make::Watching::kForIntegers);
  observed.ranges.model = digest;
  CalibrateResult result = make::write_ranges(observed.ranges, output);
  result.notes.insert(result.notes.begin(), observed.notes.begin(), observed.notes.end());
  result.seconds = time.seconds();
  return result;
}

CalibrateResult merge_ranges(const std::vector<std::filesystem::path>& parts,
                             const std::filesystem::path& output) {
  const Stopwatch time;
  if (parts.empty()) throw Error(ErrorCode::kUsage, "there is nothing to merge");
  make::Inputs inputs;
  for (const std::filesystem::path& part : parts) inputs.add("one of the parts", part);
  inputs.require_apart(output);
  for (const std::filesystem::path& part : parts) io::require_readable(part);
  make::require_replaceable(output);
  io::require_place(output);
  observe::Ranges all;
  for (const std::filesystem::path& part : parts) all.add(make::load_ranges(part), part.string());
  CalibrateResult result = make::write_ranges(all, output);
  result.seconds = time.seconds();
  return result;
}

CalibrateResult read_ranges(const std::filesystem::path& file) {
  CalibrateResult result = make::describe_ranges(make::load_ranges(file));
  result.output = file;
  return result;
}

}  // namespace ounce
