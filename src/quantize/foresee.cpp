#include "quantize/foresee.h"

#include <ounce/error.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <utility>

#include "base/thread_pool.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/view/onnx_file.h"
#include "formats/tflite/emit/emitted.h"
#include "quantize/onnx_emitter.h"
#include "quantize/output_place.h"
#include "quantize/recipe_json.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "quantize/tflite_stages.h"
#include "recipe/format_info.h"
#include "target/ort/saturation.h"

namespace ounce::quantization {
namespace {

// Size of the file that the plan leads to, including its provenance record.
std::uint64_t size_of(const onnx::Model& source, const graph::Index& index, const plan::Plan& plan,
                      const std::filesystem::path& path) {
  onnx::Model model = onnx::clone(source);
  const std::string any_digest(32, '0');  // the size does not depend on the digits
  rewrite(model, source, index, plan, {any_digest, any_digest});
  Statement statement;
  statement.recipe = as_it_is(plan.recipe);
  statement.releases = oldest_releases(model);
  const std::uint64_t stated =
      onnx::metadata_field(Statement::kMetadataKey, statement_text(statement)).size();
  return stated + onnx::written_size(model, default_output(path, plan.recipe.format),
                                     {.data_tag = any_digest.substr(0, 16), .room = stated});
}

void sort_by_size(std::vector<TensorOutcome>& tensors) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorOutcome& a, const TensorOutcome& b) {
    return a.bytes_before > b.bytes_before;
  });
}

void note_nothing_stored(bool has_tensors, ModelInfo& info) {
  info.blockers.emplace_back(has_tensors ? "no weight can be compressed; see the reason of each tensor"
                                         : "no floating-point weights to compress");
}

void plan_and_size(const onnx::Model& source, const Recipe& recipe, ModelInfo& info) {
  const graph::Index index(source);
  ThreadPool pool;
  const plan::Plan plan = plan::make_plan(source, index, recipe, pool);
  info.notes = plan.notes;
  if (const target::Saturation found = target::find_saturation(source, index); found.exists()) {
    info.saturating_nodes = found.nodes.size();
    info.worst_pair = found.worst;
    info.notes.push_back(found.sentence());
  }
  for (const plan::Decision& decision : plan.decisions)
    info.tensors.push_back(outcome_of(decision, index.bodies()[decision.weight.graph].path));
  sort_by_size(info.tensors);
  if (plan.stored_count() == 0) return note_nothing_stored(!plan.decisions.empty(), info);
  info.bytes_after = size_of(source, index, plan, info.path);
}

void foresee_tflite(const tflite::TfliteFile& file, const Recipe& recipe, ModelInfo& info) {
  TfliteWork work(file);
  ThreadPool pool;
  work.plan = tflite::make_plan(*work.prepared, recipe, pool);
  info.notes = work.notes;
  info.notes.insert(info.notes.end(), work.plan.notes.begin(), work.plan.notes.end());
  info.tensors = outcomes_of(work);
  sort_by_size(info.tensors);
  if (work.plan.stored_count() == 0) return note_nothing_stored(!info.tensors.empty(), info);
  const std::string any_digest(32, '0');  // the size does not depend on the digits
  Statement statement;
  statement.recipe = as_it_is(recipe);
  const tflite::TfliteEmitted emitted(work.prepared, work.plan, tflite_metadata(any_digest, any_digest));
  model::Destination destination;
  destination.key = Statement::kMetadataKey;
  destination.value_bytes = statement_text(statement).size();
  info.bytes_after = emitted.size(destination);
}

// For kinds of models whose stages need no data: uses a dry run.
void plan_by_dry_run(const std::filesystem::path& path, const Recipe& recipe, ModelInfo& info) {
  QuantizeOptions options;
  options.recipe = recipe;
  options.dry_run = true;
  options.trial.is_wanted = false;
  QuantizeResult result = quantize(path, default_output(path, recipe.format), options);
  info.notes = std::move(result.notes);
  info.tensors = std::move(result.tensors);
  std::stable_sort(
      info.tensors.begin(), info.tensors.end(),
      [](const TensorOutcome& a, const TensorOutcome& b) { return a.bytes_before > b.bytes_before; });
  info.bytes_after = result.bytes_after;
}

}  // namespace

void foresee(const model::ModelFile& file, const Recipe& recipe, ModelInfo& info) {
  std::vector<std::string> unlisted;
  try {
    if (const std::string why = why_not_for(file.kind(), recipe.format); !why.empty())
      throw Error(ErrorCode::kUnsupported, why, file.path().string());
    if (file.kind() == ModelKind::kTflite) return foresee_tflite(tflite::as_tflite(file), recipe, info);
    if (file.kind() == ModelKind::kCoreml) return plan_by_dry_run(file.path(), recipe, info);
    onnx::Model source = onnx::clone(onnx::as_onnx(file).model());
    if (!recipe.keep_inputs) unlisted = passes::listed_constants(source);
    if (!unlisted.empty()) passes::remove_initializer_inputs(source);
    plan_and_size(source, recipe, info);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUsage || error.code() == ErrorCode::kCancelled) throw;
    info.blockers.emplace_back(error.what());
  }
  if (!unlisted.empty()) info.notes.push_back(passes::sentence_of_unlisted(unlisted));
}

}  // namespace ounce::quantization
