#include "fuzz/check_tflite.h"

#include <algorithm>

#include "formats/tflite/edit/io_editor.h"
#include "formats/tflite/emit/store_weights.h"
#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/writer.h"
#include "formats/tflite/prepare/prepare.h"
#include "formats/tflite/view/tflite_file.h"
#include "fuzz/promise.h"

namespace ounce::test {
namespace {

constexpr std::uint64_t kNothingInside = 0;  // size limit: all buffers are written after the flatbuffer

void check_views(const tflite::Model& model) {
  const tflite::TfliteFile file(model);
  file.metadata();
  file.opsets();
  file.external();
  file.quantized_ports();
  file.table_rows();
  promise(file.inputs().size() == model.subgraphs[0].inputs.size(), "an input was lost");
  for (std::size_t graph = 0; graph < file.graphs().size(); ++graph) {
    for (std::size_t i = 0; i < file.graphs()[graph].nodes.size(); ++i) {
      file.attributes({graph, i});
      file.label({graph, i});
    }
    for (std::size_t i = 0; i < file.graphs()[graph].values.size(); ++i) {
      const auto& constant = file.graphs()[graph].values[i].constant;
      if (!constant) continue;
      try {
        const auto values = file.read({graph, i});
        std::vector<float> scratch;
        if (is_float_weight_type(constant->type) && values->floats().size() != 0)
          values->floats().values(0, values->floats().size(), scratch);
      } catch (const Error& error) {
        promise(error.code() == ErrorCode::kUnsupported, "values cannot be read");  // far too sparse
      }
    }
  }
}

void check_written(const tflite::Model& model, std::uint64_t largest) {
  const std::string written = tflite::to_bytes(model, largest);
  const tflite::Model again = tflite::read_model_from_memory(written, "written");
  promise(again.unwritable.empty(), "a written model cannot be written");
  const bool has_computed =
      std::any_of(model.buffers.begin(), model.buffers.end(),
                  [](const tflite::Buffer& buffer) { return buffer.data.computed() != nullptr; });
  // Computed values can be compared only after they are written. Equal buffers are written once.
  if (has_computed) return check_written(again, largest);
  promise(same_content(model, again), "writing a model changed its content");
  promise(tflite::to_bytes(again, largest) == written, "writing a model twice gives different bytes");
}

// Checks that a prepared model has the inputs, outputs and signatures of the original, and can be written and
// read.
void check_prepared(const tflite::Model& model) {
  tflite::Model prepared = model;
  const auto notes = tflite::prepare(prepared, {.static_int8 = true});
  promise(tflite::input_names(prepared) == tflite::input_names(model) &&
              tflite::output_names(prepared) == tflite::output_names(model),
          "preparing a model changed its inputs or outputs");
  promise(prepared.signatures.size() == model.signatures.size(), "preparing a model lost a signature");
  if (notes.empty()) promise(same_content(prepared, model), "a model changed without a note");
  check_written(prepared, tflite::kLargestFlatbuffer);
}

}  // namespace

bool check_tflite(const std::string& bytes) {
  const auto model = unless_refused([&] { return tflite::read_model_from_memory(bytes, "input"); });
  if (!model) return false;
  check_views(*model);
  if (!model->unwritable.empty()) return true;
  check_written(*model, tflite::kLargestFlatbuffer);
  check_written(*model, kNothingInside);
  tflite::Model exposed = *model;
  append_outputs(exposed, computed_tensors(exposed));
  check_written(exposed, tflite::kLargestFlatbuffer);
  check_prepared(*model);
  return true;
}

namespace {

std::vector<Recipe> tflite_recipes() {
  std::vector<Recipe> recipes(6);
  recipes[1].format = Format::kW16;
  recipes[2].format = Format::kW4;
  recipes[3].format = Format::kInt8Dynamic;
  recipes[4].memory = MemoryUse::kLow;
  recipes[5].granularity.kind = GranularityKind::kTensor;
  for (Recipe& recipe : recipes) {
    recipe.min_bytes = 1;
    validate(recipe);
  }
  return recipes;
}

}  // namespace

void check_tflite_quantize(const std::string& bytes) {
  if (bytes.empty()) return;
  static const std::vector<Recipe> recipes = tflite_recipes();
  static ThreadPool pool(1);
  const Recipe& recipe = recipes[static_cast<unsigned char>(bytes[0]) % recipes.size()];
  unless_refused([&] {
    tflite::Model model = tflite::read_model_from_memory(bytes.substr(1), "input");
    tflite::prepare(model, {});
    if (!model.unwritable.empty()) return true;
    const auto source = std::make_shared<const tflite::TfliteFile>(model);
    const tflite::Plan plan = tflite::make_plan(*source, recipe, pool);
    tflite::store_weights(model, source, plan);
    const tflite::TfliteFile written(tflite::read_model_from_memory(tflite::to_bytes(model), "written"));
    for (const tflite::Decision& decision : plan.decisions) {
      promise(!decision.reason.empty(), "a weight has no reason");
      if (decision.is_stored()) tflite::compare_weight(*source, decision, written, run_serially);
    }
    return true;
  });
}

}  // namespace ounce::test
