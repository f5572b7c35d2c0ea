#include "api/groundwork.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "api/calibrate_file.h"
#include "api/observation.h"
#include "api/source_digest.h"
#include "graph/verify.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "passes/prepare.h"

namespace ounce::api {
Groundwork::Groundwork(const std::filesystem::path& model, const QuantizeOptions& options) : model_(model) {
  if (!options.recipe.is_integer()) return;
  if (options.recipe.format == Format::kStatic) observe(model, options);
  prepare(model, options.recipe);
}

void Groundwork::observe(const std::filesystem::path& source, const QuantizeOptions& options) {
  if (!options.ranges.empty()) {
    ranges_ = load_ranges(options.ranges);
    ThreadPool pool(options.threads);
    const onnx::Model model = onnx::read_model(source);
    if (ranges_->model != source_digest(model, {}, pool)) {
      throw Error(ErrorCode::kBadInput, "these ranges are of another model; run 'ounce calibrate' on this one",
                  options.ranges.string());
    }
    return;
  }
  if (options.trial.data.is_generated()) {
    throw Error(ErrorCode::kUsage,
                "static needs to see real data: give --data, or --ranges from 'ounce calibrate'",
                source.string());
  }
  CalibrateOptions how;
  how.data = options.trial.data;
  how.runtime.library = options.trial.runtime.library;
  how.progress = options.progress;
  Observation observed = observe_activations(source, how);
  ranges_ = std::move(observed.ranges);
  notes_ = std::move(observed.notes);
}

void Groundwork::prepare(const std::filesystem::path& source, const Recipe& recipe) {
  onnx::Model model = onnx::read_model(source);
  graph::verify(model);
  passes::prepare(model, recipe);

  folder_ = std::make_unique<TemporaryFolder>("quantize");
  model_ = folder_->path() / "model.onnx";
  ThreadPool pool;
  onnx::ModelOutput output(model, model_, {ExternalData::kAuto, "0"});
  output.write(pool, nullptr);
  output.commit();
}

}  // namespace ounce::api
