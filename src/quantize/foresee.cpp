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
#include "quantize/onnx_emitter.h"
#include "quantize/output_place.h"
#include "quantize/recipe_json.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "target/ort/saturation.h"

namespace ounce::quantization {
namespace {

// Of the file that the plan leads to, with its statement.
std::uint64_t size_of(const onnx::Model& source, const graph::Index& index, const plan::Plan& plan,
                      const std::filesystem::path& path) {
  onnx::Model model = onnx::clone(source);
  const std::string any_digest(32, '0');  // all have the same size
  rewrite(model, source, index, plan, {any_digest, any_digest});
  Statement statement;
  statement.recipe = as_it_is(plan.recipe);
  statement.releases = oldest_releases(model);
  const std::uint64_t stated =
      onnx::metadata_field(Statement::kMetadataKey, statement_text(statement)).size();
  return stated + onnx::written_size(model, default_output(path, plan.recipe.format),
                                     {.data_tag = any_digest.substr(0, 16), .room = stated});
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
  std::stable_sort(
      info.tensors.begin(), info.tensors.end(),
      [](const TensorOutcome& a, const TensorOutcome& b) { return a.bytes_before > b.bytes_before; });
  if (plan.stored_count() == 0) {
    info.blockers.emplace_back(
        plan.decisions.empty() ? "no float weights: there is nothing to store smaller"
                               : "no float tensor can be stored smaller; the reasons stand with the tensors");
    return;
  }
  info.bytes_after = size_of(source, index, plan, info.path);
}

// Of kinds whose stages need no data: what a dry run says.
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
    if (file.kind() != model::ModelKind::kOnnx) return plan_by_dry_run(file.path(), recipe, info);
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
