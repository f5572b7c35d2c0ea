#include "formats/onnx/prepare/raise_opset.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <set>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::passes {

ValueTypes::ValueTypes(const graph::Index& index) : index_(index), declared_(index.bodies().size()) {
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    const graph::Body& body = index.bodies()[i];
    if (body.graph != nullptr) {
      for (const auto* infos : {&body.graph->inputs, &body.graph->outputs, &body.graph->value_infos})
        declare(i, *infos);
      for (const auto& tensor : body.graph->initializers)
        declare(i, tensor->name, {tensor->type, tensor->dims.size()});
    }
    for (const auto& node : body.nodes()) {
      note_attributes(*node);
      const onnx::Tensor* tensor = plan::constant_tensor(*node);
      if (tensor != nullptr && !node->outputs.empty())
        declare(i, node->outputs[0], {tensor->type, tensor->dims.size()});
    }
  }
}

void ValueTypes::declare(std::size_t body, const std::vector<onnx::Kept<onnx::ValueInfo>>& infos) {
  for (const auto& info : infos) {
    const onnx::ValueType type = onnx::read_type(info->type);
    if (type.kind != "tensor") continue;
    declare(body, info->name,
            {type.element, type.has_shape ? std::optional(type.shape.size()) : std::nullopt});
  }
}

void ValueTypes::declare(std::size_t body, onnx::Bytes name, Declared declared) {
  declared_[body].insert_or_assign(name, declared);
  note_float(declared.element);
}

void ValueTypes::note_float(ElementType type) {
  has_other_floats_ |= is_float_weight_type(type) && type != ElementType::kFloat;
}

// Records types that a node introduces by its attributes: tensor values, or a type to convert to.
void ValueTypes::note_attributes(const onnx::Node& node) {
  for (const auto& attribute : node.attributes) {
    for (const auto& tensor : attribute->tensors) note_float(tensor->type);
  }
  for (const char* name : {"to", "dtype", "output_dtype", "output_datatype"}) {
    const auto number = onnx::integer_attribute(node, name);
    if (number) note_float(ounce::element_type_of(*number).value_or(ElementType::kUndefined));
  }
}

const ValueTypes::Declared* ValueTypes::find(std::size_t body, onnx::Bytes name) const {
  const std::size_t home = index_.find(body, name).body;
  if (home == graph::kNone) return nullptr;
  const auto found = declared_[home].find(name);
  return found == declared_[home].end() ? nullptr : &found->second;
}

std::optional<ElementType> ValueTypes::float_type(std::size_t body, onnx::Bytes name) const {
  const Declared* declared = find(body, name);
  if (declared != nullptr && declared->element != ElementType::kUndefined) return declared->element;
  if (has_other_floats_) return std::nullopt;
  return ElementType::kFloat;
}

std::optional<std::size_t> ValueTypes::rank(std::size_t body, onnx::Bytes name) const {
  const Declared* declared = find(body, name);
  return declared == nullptr ? std::nullopt : declared->rank;
}

namespace {

using Imports = std::vector<onnx::Kept<onnx::OpsetImport>>;

constexpr std::int64_t kOldestWanted = 13;

bool is_default_import(const onnx::Kept<onnx::OpsetImport>& import) {
  return onnx::is_default_domain(import->domain);
}

// If the domain is not imported, none of its ops are used.
bool is_behind(const Imports& imports, std::int64_t wanted) {
  const std::int64_t version = onnx::opset_version(imports, "");
  return version != 0 && version < wanted;
}

void set_version(Imports& imports, std::int64_t wanted) {
  for (auto& import : imports) {
    if (is_default_import(import) && import->version < wanted) import.edit().version = wanted;
  }
}

class Raising {
 public:
  Raising(onnx::Model& model, std::int64_t wanted)
      : model_(model), wanted_(wanted), index_(model), types_(index_), editors_(model, index_) {
    for (const auto& function : model.proto->functions) {
      if (onnx::is_default_domain(function->domain)) own_functions_.insert(function->name);
    }
  }

  std::size_t run() {
    check_model();
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      const std::int64_t from = opset_of(model_, index_, body);
      if (from != 0 && from < wanted_) convert(body, from);
    }
    // No refusals after this point.
    editors_.finish();
    onnx::ModelProto& proto = model_.proto.edit();
    set_version(proto.opset_imports, wanted_);
    for (auto& function : proto.functions) {
      if (is_behind(function->opset_imports, wanted_)) set_version(function.edit().opset_imports, wanted_);
    }
    return changed_;
  }

 private:
  void check_model() const {
    if (!model_.proto->training.empty()) {
      throw Error(ErrorCode::kUnsupported,
                  "the model has training graphs, which cannot be converted to a newer opset; remove them");
    }
  }

  void convert(std::size_t body, std::int64_t from) {
    if (from < kOldestOpset) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("opset {} is older than {} and cannot be converted to a newer one; export the "
                              "model with a newer opset",
                              from, kOldestOpset),
                  index_.bodies()[body].path);
    }
    const auto& nodes = index_.bodies()[body].nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (onnx::is_default_domain(nodes[i]->domain()) && !own_functions_.contains(nodes[i]->op_type()))
        convert(body, i, from);
    }
  }

  void convert(std::size_t body, std::size_t position, std::int64_t from) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    if (onnx::find_op_schema("", node.op_type(), kNewestOpset) == nullptr) {
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("the model cannot be converted to a newer opset: ONNX has no op '{}' up to opset "
                      "{}; give its domain, or remove it",
                      node.op_type(), kNewestOpset),
          place_of(index_, body, position));
    }
    std::optional<NodeUpgrade> upgrade;
    for (const OpsetChange& change : opset_changes()) {
      if (change.op != node.op() || change.version <= from || change.version > wanted_) continue;
      if (!upgrade) upgrade.emplace(editors_.of(body), index_, types_, body, position);
      change.convert(*upgrade);
    }
    if (!upgrade || !upgrade->is_changed()) return;
    upgrade->finish();
    ++changed_;
  }

  onnx::Model& model_;
  std::int64_t wanted_;
  graph::Index index_;
  ValueTypes types_;
  Editors editors_;
  std::set<onnx::Bytes> own_functions_;  // that define ops in ONNX's own domain
  std::size_t changed_ = 0;
};

bool is_done(const onnx::ModelProto& proto, std::int64_t wanted) {
  if (is_behind(proto.opset_imports, wanted)) return false;
  for (const auto& function : proto.functions) {
    if (is_behind(function->opset_imports, wanted)) return false;
  }
  return true;
}

}  // namespace

std::size_t raise_opset(onnx::Model& model, std::int64_t wanted) {
  if (wanted < kOldestWanted || wanted > kNewestOpset) {
    throw Error(ErrorCode::kUsage, fmt::format("the target opset must be from {} to {}, not {}",
                                               kOldestWanted, kNewestOpset, wanted));
  }
  return is_done(*model.proto, wanted) ? 0 : Raising(model, wanted).run();
}

}  // namespace ounce::passes
