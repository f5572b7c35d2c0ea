#include "quantize/onnx_emitter.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/verify.h>

#include <algorithm>
#include <map>

#include "formats/onnx/edit/names.h"
#include "formats/onnx/emit/decoder.h"
#include "formats/onnx/emit/expose_values.h"
#include "formats/onnx/emit/half_graph.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/emit/static_ops.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/prepare/remove_nodes.h"
#include "formats/onnx/view/onnx_file.h"
#include "io/temporary_files.h"
#include "recipe/format_info.h"

namespace ounce::quantization {

namespace {

// Inner names are shortened only if this saves more than 1/kNamesShare of the bytes of the weights.
constexpr std::uint64_t kNamesShare = 500;

std::uint64_t shorten_names(onnx::Model& model, const plan::Plan& plan, std::vector<passes::Stored>& stored) {
  std::uint64_t bytes = 0;
  for (const plan::Decision& decision : plan.decisions)
    bytes += decision.is_stored() ? decision.stored_bytes : decision.weight.bytes();
  const passes::ShortenedNames shortened = passes::shorten_names(model, 1 + bytes / kNamesShare);
  for (passes::Stored& weight : stored) {
    const auto found = shortened.new_names.find(
        {plan.decisions[weight.decision].weight.graph, std::string(weight.names.codes)});
    if (found != shortened.new_names.end()) weight.names.codes = found->second;
  }
  return shortened.saved;
}

// Finds a tensor of the written file: an initializer or a Constant node. Subgraphs keep their indices, and
// two of them may use the same name for different tensors.
const onnx::Tensor* find_tensor(const graph::Index& index, std::size_t body, std::string_view name) {
  if (name.empty()) return nullptr;
  const auto& values = index.bodies().at(body).values;
  const auto found = values.find(name);
  const onnx::Tensor* tensor = nullptr;
  if (found != values.end() && found->second.initializer != graph::kNone) {
    tensor = &*index.bodies()[body].graph->initializers[found->second.initializer];
  } else if (found != values.end() && found->second.producer != graph::kNone) {
    tensor = plan::constant_tensor(*index.bodies()[body].nodes()[found->second.producer]);
  }
  if (tensor == nullptr)
    throw Error(ErrorCode::kInternal, fmt::format("'{}' is missing in the written file", name));
  return tensor;
}

// Channels are the second axis of values around convolutions, else the last axis.
model::Layout layout_of(const graph::Index& index, std::size_t body, onnx::Bytes name) {
  using enum model::Layout;
  const auto is_spatial = [](const onnx::Node& node) { return node.info().channels_second; };
  const auto found = index.find(body, name);
  if (found.value == nullptr) return kChannelsLast;
  const bool is_second =
      (found.value->producer != graph::kNone &&
       is_spatial(*index.bodies()[found.body].nodes()[found.value->producer])) ||
      std::any_of(found.value->uses.begin(), found.value->uses.end(),
                  [&](const graph::Use& use) { return use.input == 0 && is_spatial(index.node(use)); });
  return is_second ? kChannelsSecond : kChannelsLast;
}

std::vector<passes::ObservedValue> values_for_integers(const onnx::Model& model, const graph::Index& index,
                                                       const std::filesystem::path& source) {
  const plan::StaticNeeds needs = plan::static_needs(model, index);
  std::vector<passes::ObservedValue> values = passes::values_to_observe(model, index);
  std::erase_if(values, [&](const passes::ObservedValue& value) {
    return !needs.values.contains(plan::ValueKey{value.body, value.name});
  });
  if (!values.empty()) return values;
  const std::string why = !needs.values.empty()     ? "its ops are inside Loop, Scan or a function"
                          : needs.why_float.empty() ? "the model has no Conv, Gemm or MatMul"
                                                    : needs.why_float.front();
  throw Error(ErrorCode::kUnsupported,
              fmt::format("no op can run in INT8 ({}); `format=w8` needs no data", why), source.string());
}

}  // namespace

Rewritten rewrite(onnx::Model& model, const onnx::Model& source, const graph::Index& index,
                  const plan::Plan& plan, const Provenance& provenance) {
  passes::Editors editors(model, index);
  std::vector<passes::Stored> stored = plan.half.exists()
                                           ? passes::make_half_graph(editors, source, index, plan)
                                           : passes::store_weights(editors, source, index, plan);
  passes::put_integer_ops(editors, index, plan, stored);
  editors.finish();
  const bool has_nbits = std::any_of(plan.decisions.begin(), plan.decisions.end(),
                                     [](const plan::Decision& decision) { return decision.is_nbits(); });
  if (has_nbits) passes::import_domains(model);
  if (plan.recipe.is_integer()) {
    if (is_static(plan.recipe.format)) passes::restore_float_ops(model);
    passes::remove_dead_nodes(model);  // inputs of removed clamps, and type declarations
    passes::import_domains(model);
    passes::declare_ports(model, plan.integer.ports);
  }
  passes::declare_ports(model, plan.half.ports);
  const bool is_shortened = plan.half.exists() && !plan.recipe.half.keep_names;
  const std::uint64_t shortened = is_shortened ? shorten_names(model, plan, stored) : 0;
  if (plan.recipe.is_integer() || shortened != 0) passes::name_slices(model);
  passes::strip_constant_names(model);
  // A provenance record of the source does not apply to the result.
  std::erase_if(model.proto.edit().metadata,
                [](const auto& entry) { return entry->key == Statement::kMetadataKey; });
  onnx::set_metadata(model, "ounce.version", version());
  onnx::set_metadata(model, "ounce.plan", provenance.plan_digest);
  onnx::set_metadata(model, "ounce.source", provenance.source_digest);
  return {std::move(stored), shortened};
}

namespace {

onnx::WriteOptions write_options(const model::Destination& destination) {
  const std::string value(destination.value_bytes, ' ');
  return {.external_data = destination.external_data,
          .data_tag = destination.data_tag,
          .data_name = destination.data_name,
          .room = onnx::metadata_field(destination.key, value).size()};
}

}  // namespace

OnnxEmitted::OnnxEmitted(std::shared_ptr<const PreparedModel> prepared, const plan::Plan& plan,
                         const Provenance& provenance)
    : prepared_(std::move(prepared)),
      plan_(plan),
      model_(onnx::clone(prepared_->model())),
      rewritten_(rewrite(model_, prepared_->model(), prepared_->index(), plan_, provenance)) {}

std::uint64_t OnnxEmitted::size(const model::Destination& destination) const {
  const onnx::WriteOptions options = write_options(destination);
  return options.room +
         (output_ ? output_->total_bytes() : onnx::written_size(model_, destination.path, options));
}

void OnnxEmitted::write(const model::Destination& destination, ThreadPool& pool,
                        std::atomic<std::uint64_t>* done) {
  output_.emplace(model_, destination.path, write_options(destination));
  output_->write(pool, done);
}

model::ModelFilePtr OnnxEmitted::reopen() const {
  auto written = std::make_unique<const onnx::OnnxFile>(output_->reopen());
  written->validate();
  return written;
}

std::vector<model::WeightError> OnnxEmitted::compare(const model::ModelFile& file, ThreadPool& pool,
                                                     const std::function<void(std::size_t)>& seen) const {
  const onnx::OnnxFile& written = onnx::as_onnx(file);
  const std::vector<passes::Stored>& stored = rewritten_.stored;
  std::vector<model::WeightError> errors(stored.size());
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return plan_.decisions[stored[i].decision].weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        const plan::Decision& decision = plan_.decisions[stored[i].decision];
        const auto tensor = [&](std::string_view name) {
          return find_tensor(written.index(), decision.weight.graph, name);
        };
        const passes::StoredNames& names = stored[i].names;
        const passes::WrittenWeight weight{tensor(names.codes), tensor(names.scales), tensor(names.zeros),
                                           stored[i].by};
        errors[i] = {stored[i].decision, decision.limit != 0,
                     passes::compare_weight(prepared_->model(), decision, written.model(), weight, for_each)};
        seen(stored[i].decision);
      });
  return errors;
}

void OnnxEmitted::set_metadata(const std::string& key, const std::string& value) {
  output_->append(onnx::metadata_field(key, value));
}

model::Exposed expose(onnx::Model model, const std::filesystem::path& source, Watching watching) {
  const bool is_for_integers = watching == Watching::kForIntegers;
  ThreadPool pool;
  const graph::Index index(model);
  const std::vector<passes::ObservedValue> values =
      is_for_integers ? values_for_integers(model, index, source) : passes::float_values(model, index);
  std::map<passes::ObservedValue, model::Exposed::Value> described;
  for (const passes::ObservedValue& value : values) {
    model::Exposed::Value& entry = described[value];
    entry.name = graph::value_path(index, value.body, value.name);
    if (is_for_integers) entry.layout = layout_of(index, value.body, value.name);
  }
  const auto folder = std::make_shared<const TemporaryFolder>("calibrate");
  model::Exposed made{folder->path() / "model.onnx", {}, folder};
  for (const passes::Exposed& exposed : passes::expose_values(model, index, values))
    made.values[exposed.output] = described.at(exposed.value);
  onnx::write_temporary(model, made.model, pool);
  return made;
}

}  // namespace ounce::quantization
