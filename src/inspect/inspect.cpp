#include <ounce/error.h>
#include <ounce/inspect.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/cancel.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/top_fields.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "quantize/output_place.h"
#include "quantize/recipe_json.h"
#include "quantize/rewrite.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "target/ort/saturation.h"

namespace ounce {
namespace {

constexpr std::uint32_t kProducerName = 2, kProducerVersion = 3;  // carried fields of the model

std::string carried_text(const onnx::CarriedFields& fields, std::uint32_t number) {
  for (const auto& field : fields) {
    if (field.number != number) continue;
    const onnx::Origin origin{field.bytes, "model"};
    onnx::Cursor cursor(field.bytes, origin, "ModelProto");
    if (cursor.next() && cursor.is_length_delimited()) return std::string(cursor.bytes());
  }
  return {};
}

std::vector<ValueDescription> describe(const std::vector<onnx::Kept<onnx::ValueInfo>>& values,
                                       const graph::Body& main, bool skip_initializers) {
  std::vector<ValueDescription> descriptions;
  for (const auto& value : values) {
    const auto found = main.values.find(value->name);
    const bool is_initializer = found != main.values.end() && found->second.initializer != graph::kNone;
    if (skip_initializers && is_initializer) continue;
    descriptions.push_back({std::string(value->name), onnx::describe(onnx::read_type(value->type))});
  }
  return descriptions;
}

std::vector<NamedCount> sorted(std::map<std::string, NamedCount>& counts) {
  std::vector<NamedCount> list;
  for (auto& [name, count] : counts) {
    count.name = name;
    list.push_back(count);
  }
  std::stable_sort(list.begin(), list.end(), [](const NamedCount& a, const NamedCount& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.count > b.count;
  });
  return list;
}

// Every tensor with the op that uses it first; Constant nodes pass their bytes on to that op.
void count_contents(const graph::Index& index, ModelInfo& info) {
  std::map<std::string, NamedCount> ops, types;
  const auto count_tensor = [&](const graph::Body& body, onnx::Bytes name, const onnx::Tensor& tensor) {
    const std::uint64_t bytes = tensor.byte_count();
    info.weight_bytes += bytes;
    NamedCount& type = types[std::string(name_of(tensor.type))];
    ++type.count;
    type.bytes += bytes;
    const auto value = body.values.find(name);
    if (value != body.values.end() && !value->second.uses.empty()) {
      ops[std::string(index.node(value->second.uses.front()).op_type)].bytes += bytes;
    }
  };
  for (const graph::Body& body : index.bodies()) {
    if (body.parent != graph::kNone) ++info.subgraphs;
    if (body.function != nullptr) ++info.functions;
    info.nodes += body.nodes().size();
    if (body.graph != nullptr) {
      for (const auto& tensor : body.graph->initializers) count_tensor(body, tensor->name, *tensor);
    }
    for (const auto& node : body.nodes()) {
      ++ops[std::string(node->op_type)].count;
      const onnx::Tensor* tensor = plan::constant_tensor(*node);
      if (tensor != nullptr && !node->outputs.empty()) count_tensor(body, node->outputs[0], *tensor);
    }
  }
  info.ops = sorted(ops);
  info.element_types = sorted(types);
}

// What quantize() would do: the plan, and the size it leads to.
void foresee(const std::filesystem::path& path, const onnx::Model& source, const graph::Index& index,
             const Recipe& recipe, ModelInfo& info) {
  ThreadPool pool;
  const plan::Plan plan = plan::make_plan(source, index, recipe, pool);
  info.notes = plan.notes;
  if (const target::Saturation found = target::find_saturation(source, index); found.exists()) {
    info.saturating_nodes = found.nodes.size();
    info.worst_pair = found.worst;
    info.notes.push_back(found.sentence());
  }
  for (const plan::Decision& decision : plan.decisions)
    info.tensors.push_back(quantization::outcome_of(decision, index));
  std::stable_sort(
      info.tensors.begin(), info.tensors.end(),
      [](const TensorOutcome& a, const TensorOutcome& b) { return a.bytes_before > b.bytes_before; });
  if (plan.stored_count() == 0) {
    info.blockers.emplace_back(
        plan.decisions.empty() ? "no float weights: there is nothing to store smaller"
                               : "no float tensor can be stored smaller; the reasons stand with the tensors");
    return;
  }
  onnx::Model model = onnx::clone(source);
  const std::string any_digest(32, '0');  // all have the same size
  quantization::rewrite(model, source, index, plan, {any_digest, any_digest});
  Statement statement;
  statement.recipe = quantization::as_it_is(recipe);
  statement.releases = quantization::oldest_releases(model);
  const std::uint64_t stated =
      onnx::metadata_field(Statement::kMetadataKey, quantization::statement_text(statement)).size();
  info.bytes_after = stated + onnx::written_size(model, default_output(path, recipe.format),
                                                 {.data_tag = any_digest.substr(0, 16), .room = stated});
}

}  // namespace

ModelInfo inspect(const std::filesystem::path& path, const Recipe& recipe) {
  const Call call(nullptr);
  validate(recipe);
  onnx::Model model = onnx::read_model(path);
  graph::verify(model);
  const std::vector<std::string> unlisted =
      recipe.keep_inputs ? std::vector<std::string>() : passes::listed_constants(model);
  if (!unlisted.empty()) passes::unlist_constants(model);
  const graph::Index index(model);
  const onnx::ModelProto& proto = *model.proto;
  ModelInfo info;
  info.path = path;
  info.bytes = onnx::bytes_of(model);
  info.ir_version = proto.ir_version;
  info.producer = carried_text(proto.carried, kProducerName);
  const std::string producer_version = carried_text(proto.carried, kProducerVersion);
  if (!producer_version.empty()) info.producer += " " + producer_version;
  for (const auto& import : proto.opset_imports) {
    info.opsets.emplace_back(import->domain.empty() ? "ai.onnx" : std::string(import->domain),
                             import->version);
  }
  for (const auto& entry : proto.metadata) info.metadata.emplace_back(entry->key, entry->value);
  info.inputs = describe(proto.graph->inputs, index.main(), true);
  info.outputs = describe(proto.graph->outputs, index.main(), false);
  for (const auto& [location, file] : model.external_files)
    info.external_files.push_back({location, 1, file.bytes().size()});
  count_contents(index, info);
  try {
    foresee(path, model, index, recipe, info);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUsage || error.code() == ErrorCode::kCancelled) throw;
    info.blockers.emplace_back(error.what());
  }
  if (!unlisted.empty()) info.notes.push_back(passes::sentence_of_unlisted(unlisted));
  return info;
}

}  // namespace ounce
