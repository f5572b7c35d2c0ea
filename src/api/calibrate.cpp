#include <fmt/format.h>
#include <ounce/calibrate.h>
#include <ounce/error.h>

#include <utility>
#include <vector>

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
namespace {

// What a part that is merged covers.
struct MergedPart {
  std::filesystem::path path;
  std::vector<observe::Coverage> covers;

  void require_apart(const MergedPart& earlier) const {
    for (const observe::Coverage& known : earlier.covers) {
      for (const observe::Coverage& own : covers) {
        const std::vector<observe::SampleRun> twice = known.overlap(own);
        if (twice.empty()) continue;
        const std::uint64_t count = observe::count_of(twice);
        throw Error(ErrorCode::kBadInput,
                    fmt::format("covers {} sample{} that {} covers, too ({}), and each may count once; leave out "
                                "one of the two",
                                count, count == 1 ? "" : "s", earlier.path.string(), observe::text_of(twice)),
                    path.string());
      }
    }
  }
};

}  // namespace

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
  if (observed.covers) observed.ranges.covers.push_back(*std::move(observed.covers));
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
  std::vector<MergedPart> merged;
  for (const std::filesystem::path& part : parts) {
    const observe::Ranges ranges = make::load_ranges(part);
    if (ranges.covers.empty())
      throw Error(ErrorCode::kBadInput,
                  "does not record which samples it covers, as an older version of ounce wrote it; run "
                  "`calibrate()` again",
                  part.string());
    MergedPart next{part, ranges.covers};
    if (ranges.model == all.model) {  // if not, add() refuses it
      for (const MergedPart& earlier : merged) next.require_apart(earlier);
    }
    merged.push_back(std::move(next));
    all.add(ranges, part.string());
  }
  CalibrateResult result = make::write_ranges(all, output);
  for (const observe::Coverage& coverage : all.covers) {
    const std::vector<observe::SampleRun> missing = coverage.missing();
    if (missing.empty()) continue;
    result.notes.push_back(
        fmt::format("{} of {} samples are in none of the parts: {}", observe::count_of(missing),
                    coverage.end() - coverage.begin(), observe::text_of(missing)));
  }
  result.seconds = time.seconds();
  return result;
}

CalibrateResult read_ranges(const std::filesystem::path& file) {
  CalibrateResult result = make::describe_ranges(make::load_ranges(file));
  result.output = file;
  return result;
}

}  // namespace ounce
