#include "quantize/rewrite.h"

#include <ounce/prove.h>
#include <ounce/version.h>

#include <algorithm>

#include "formats/onnx/edit/names.h"
#include "formats/onnx/emit/half_graph.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/emit/integer_ports.h"
#include "formats/onnx/emit/restore_float_ops.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/prepare/remove_nodes.h"
#include "recipe/format_info.h"

namespace ounce::quantization {

namespace {

// Names pay for themselves while they are a small part of the file.
constexpr std::uint64_t kNamesShare = 500;

std::uint64_t shorten_names(onnx::Model& model, const plan::Plan& plan, std::vector<passes::Stored>& stored) {
  std::uint64_t bytes = 0;
  for (const plan::Decision& decision : plan.decisions)
    bytes += decision.is_stored() ? decision.stored_bytes : decision.weight.tensor->byte_count();
  const passes::ShortenedNames shortened = passes::shorten_names(model, 1 + bytes / kNamesShare);
  for (passes::Stored& weight : stored) {
    const auto found = shortened.new_names.find(
        {plan.decisions[weight.decision].weight.body, std::string(weight.names.codes)});
    if (found != shortened.new_names.end()) weight.names.codes = found->second;
  }
  return shortened.saved;
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
    passes::remove_dead_nodes(model);  // what clamps took, and declared types
    passes::import_domains(model);
    passes::declare_ports(model, plan.integer.ports);
  }
  passes::declare_ports(model, plan.half.ports);
  const bool is_shortened = plan.half.exists() && !plan.recipe.half.keep_names;
  const std::uint64_t shortened = is_shortened ? shorten_names(model, plan, stored) : 0;
  if (plan.recipe.is_integer() || shortened != 0) passes::name_slices(model);
  passes::strip_constant_names(model);
  // What was stated of the source is not true of this.
  std::erase_if(model.proto.edit().metadata,
                [](const auto& entry) { return entry->key == Statement::kMetadataKey; });
  onnx::set_metadata(model, "ounce.version", version());
  onnx::set_metadata(model, "ounce.plan", provenance.plan_digest);
  onnx::set_metadata(model, "ounce.source", provenance.source_digest);
  return {std::move(stored), shortened};
}

}  // namespace ounce::quantization
