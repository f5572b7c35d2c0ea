#include "fuzz/check_model.h"

#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/serializer.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/validate.h"
#include "fuzz/promise.h"

namespace ounce::test {
namespace {

using onnx::Model;
using onnx::Placement;

std::string text_of(const onnx::Rope& rope) {
  std::string text;
  for (const auto& piece : rope.pieces()) text += onnx::Rope::bytes_of(piece);
  promise(text.size() == rope.size(), "a rope reports a wrong size");
  return text;
}

std::string written(const Model& model, bool rewrite_everything) {
  return text_of(serialize(model, Placement::kKeep, {}, rewrite_everything).model);
}

void read_values(const onnx::Tensor& tensor) {
  if (tensor.type == ElementType::kString) return;
  promise(onnx::RawValues(tensor).bytes().size() == tensor.byte_count(),
          "a tensor has fewer values than its shape");
}

void read_everything(const onnx::Graph& graph) {
  for (const auto* list : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (const auto& info : *list) onnx::describe(onnx::read_type(info->type));
  }
  for (const auto& tensor : graph.initializers) read_values(*tensor);
  for (const auto& node : graph.nodes) {
    for (const auto& attribute : node->attributes) {
      onnx::integer_attribute(*node, attribute->name);
      onnx::integers_attribute(*node, attribute->name);
      onnx::string_attribute(*node, attribute->name);
      for (const auto& tensor : attribute->tensors) read_values(*tensor);
      for (const auto& inner : attribute->graphs) read_everything(**inner);
    }
  }
}

// Checks that the values of the main graph's initializers are preserved when they are written as raw data.
void check_edited_tensors(const std::string& bytes) {
  Model model = onnx::read_model_from_memory(bytes, "edited");
  for (auto& tensor : model.proto.edit().graph.edit().initializers) tensor.edit();
  const Model again = onnx::read_model_from_memory(written(model, false), "edited and written");
  const auto& before = model.proto->graph->initializers;
  const auto& after = again.proto->graph->initializers;
  promise(before.size() == after.size(), "a tensor was lost");
  for (std::size_t i = 0; i < before.size(); ++i) {
    promise(before[i]->type == after[i]->type && before[i]->dims == after[i]->dims,
            "a tensor changed its shape");
    if (before[i]->type == ElementType::kString) continue;
    promise(onnx::RawValues(*before[i]).bytes() == onnx::RawValues(*after[i]).bytes(),
            "a tensor changed its values");
  }
}

}  // namespace

bool check_model(const std::string& bytes) {
  auto model = unless_refused([&] { return onnx::read_model_from_memory(bytes, "input"); });
  if (!model) return false;
  promise(written(*model, false) == bytes, "an unedited model did not come back identical");
  read_everything(*model->proto->graph);

  const std::string rewritten = written(*model, true);
  const Model again = onnx::read_model_from_memory(rewritten, "rewritten");
  promise(written(again, true) == rewritten, "encoding a model a second time changed it");
  serialize(*model, Placement::kExternal, "model.data");
  check_edited_tensors(bytes);

  const bool fits = unless_refused([&] { return graph::validate(*model); }).has_value();
  promise(fits == unless_refused([&] { return graph::validate(again); }).has_value(),
          "encoding a model again changed its graph");
  graph::Names(*model).fresh("q");
  return fits;
}

}  // namespace ounce::test
