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
namespace {

// Combinations that no runtime has kernels for.
void require_possible(const Recipe& recipe) {
  const auto refuse = [](const char* why) { throw Error(ErrorCode::kUsage, why); };
  const IntegerRecipe& integer = recipe.integer;
  const bool is_wide = is_16_bit(integer.activations);
  const bool is_dynamic = recipe.format == Format::kDynamic;
  if (recipe.granularity.kind == GranularityKind::kBlock)
    refuse("integer kernels know no blocks: --granularity channel or tensor");
  if (recipe.codebook || recipe.asymmetric)
    refuse("integer kernels take symmetric linear codes: leave out --codebook and --asymmetric");
  if (is_dynamic && integer.weights == WeightType::kS4)
    refuse("dynamic kernels take 8-bit weights: --weights s8 or u8");
  if (is_dynamic && recipe.rounding == Rounding::kAdaptive)
    refuse("--rounding adaptive looks at data: it is for --to static");
  if (is_dynamic || integer.dialect == Dialect::kQdq) return;
  if (is_wide || integer.weights == WeightType::kS4)
    refuse("integer ops are 8-bit: --dialect qdq for 16-bit activations and 4-bit weights");
  if (integer.activations == ActivationType::kS8 && integer.weights == WeightType::kU8)
    refuse("no runtime multiplies s8 activations with u8 weights: --weights s8");
}

// What people would otherwise find out on the device.
std::vector<std::string> warnings_for(const Recipe& recipe) {
  std::vector<std::string> notes;
  if (recipe.format != Format::kStatic) return notes;
  if (is_16_bit(recipe.integer.activations)) {
    notes.emplace_back(
        "16-bit activations have no integer kernels in ONNX Runtime's CPU provider: it computes in floats, slower "
        "than FP32; they are for accelerators");
  }
  if (recipe.integer.weights == WeightType::kS4) {
    notes.emplace_back(
        "4-bit weights of Conv and Gemm have no integer kernels in ONNX Runtime's CPU provider: it decodes them at "
        "every run; --to w4 stores as small and runs at FP32 speed");
  }
  return notes;
}

}  // namespace

Groundwork::Groundwork(const std::filesystem::path& model, const QuantizeOptions& options) : model_(model) {
  if (!options.recipe.is_integer()) return;
  require_possible(options.recipe);
  if (options.recipe.format == Format::kStatic) observe(model, options);
  prepare(model, options.recipe);
  const std::vector<std::string> warnings = warnings_for(options.recipe);
  notes_.insert(notes_.end(), warnings.begin(), warnings.end());
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
