#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/cancel.h"
#include "formats/coreml/emit/emitted.h"
#include "formats/coreml/emit/production.h"
#include "formats/coreml/file/values.h"

namespace ounce::coreml {
namespace {

constexpr const char* kSparse = "constexpr_sparse_to_dense";

// The operation that decodes the stored values; the first one if there are two.
const char* operation_type(const Decision& decision, bool has_inputs) {
  if (decision.is_sparse) {
    if (decision.is_half()) return kSparse;
    return decision.is_linear() ? "constexpr_sparse_blockwise_shift_scale" : "constexpr_lut_to_sparse";
  }
  if (decision.is_half()) return "constexpr_cast";
  if (!decision.is_linear()) return "constexpr_lut_to_dense";
  return has_inputs ? "constexpr_blockwise_shift_scale" : "constexpr_affine_dequantize";
}

class Storing {
 public:
  Storing(Model& model, const std::shared_ptr<const CoremlFile>& source, const Plan& plan)
      : model_(model), source_(source), plan_(plan) {
    std::map<const Operation*, const Decision*> decisions;
    for (const Decision& decision : plan.decisions) {
      if (decision.is_stored()) decisions[decision.constant] = &decision;
    }
    // The copy has the same operations in the same order.
    for_each_operation(source->model().program(), [&](const Operation& operation) {
      const auto found = decisions.find(&operation);
      places_.push_back(found == decisions.end() ? nullptr : found->second);
      for (const auto& output : operation.outputs) names_.insert(output->name);
    });
  }

  void run() {
    Program& program = model_.proto.edit().program[0].edit();
    for (auto& function : program.functions) {
      for (std::size_t i = 0; i < function->function->specializations.size(); ++i) {
        const Block& block = *function->function->specializations[i]->block;
        if (!has_stored(next_, count_of(block))) {
          next_ += count_of(block);
        } else {
          store(function.edit().function.edit().specializations[i].edit().block.edit());
        }
      }
    }
  }

 private:
  static std::size_t count_of(const Block& block) {
    std::size_t count = 0;
    for_each_operation(block, [&](const Operation&) { ++count; });
    return count;
  }
  bool has_stored(std::size_t first, std::size_t count) const {
    const auto begin = places_.begin() + static_cast<std::ptrdiff_t>(first);
    return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(count),
                       [](const Decision* decision) { return decision != nullptr; });
  }

  void store(Block& block) {
    std::vector<Kept<Operation>> operations;
    operations.reserve(block.operations.size());
    for (auto& operation : block.operations) {
      count_step();
      const Decision* const decision = places_[next_++];
      if (decision != nullptr) replace(operation.edit(), *decision, operations);
      for (std::size_t i = 0; i < operation->blocks.size(); ++i) {
        const std::size_t count = count_of(*operation->blocks[i]);
        if (has_stored(next_, count)) {
          store(operation.edit().blocks[i].edit());
        } else {
          next_ += count;
        }
      }
      operations.push_back(std::move(operation));
    }
    block.operations = std::move(operations);
  }

  // Makes `operation` the last one that decompresses the weight, and adds others to `before`.
  void replace(Operation& operation, const Decision& decision, std::vector<Kept<Operation>>& before) {
    const Blob source = *operation.attribute("val")->blob;
    std::map<std::string, Value> parameters;
    std::optional<Value> row_scales;
    const bool has_inputs = plan_.has_inputs();
    for (StoredTensor& tensor : stored_tensors(source_, decision)) {
      std::vector<std::int64_t> dims = dims_of(tensor, decision);
      const bool is_row_of_bytes =
          !has_inputs &&
          (tensor.part == StoredPart::kMask ||
           (!decision.is_linear() && tensor.part == StoredPart::kCodes && !decision.is_half()));
      if (is_row_of_bytes) tensor.type = DataType::kUint8;
      Value value = value_of(tensor, dims, decision, source);
      if (tensor.part == StoredPart::kRowScales) {
        row_scales = std::move(value);
      } else {
        parameters[parameter_of(tensor.part, decision)] = std::move(value);
      }
    }
    if (decision.is_half() && !decision.is_sparse) {
      parameters["output_dtype"] = string_value(model_, "fp32");
    } else if (!has_inputs && decision.is_linear()) {
      add_affine_parameters(decision, parameters);
    } else if (!has_inputs) {
      parameters["shape"] = shape_value(decision);
    }
    std::erase_if(operation.attributes, [](const auto& attribute) { return attribute->name == "val"; });
    if (row_scales) {
      Operation first = first_of_two(decision, std::move(parameters));
      parameters.clear();
      parameters["scale"] = std::move(*row_scales);
      operation.type = "constexpr_blockwise_shift_scale";
      put(operation, "data", add_output(first, decision, "_table", operation.outputs[0]->type));
      before.emplace_back(std::move(first));
    } else if (has_two_operations(decision)) {
      Operation first = first_of_two(decision, std::move(parameters));
      parameters.clear();
      operation.type = kSparse;
      put(operation, "mask",
          add_output(first, decision, "_mask", tensor_type(model_, DataType::kUint1, decision.weight.dims)));
      put(operation, "nonzero_data",
          add_output(first, decision, "_nonzero",
                     tensor_type(model_, operation.outputs[0]->type.type,
                                 {static_cast<std::int64_t>(decision.nonzeros)})));
      before.emplace_back(std::move(first));
    } else {
      operation.type = operation_type(decision, has_inputs);
    }
    for (auto& [name, value] : parameters) put(operation, name, std::move(value));
  }

  Operation first_of_two(const Decision& decision, std::map<std::string, Value> parameters) {
    Operation first;
    first.type = operation_type(decision, true);
    for (auto& [parameter, value] : parameters) put(first, parameter, std::move(value));
    return first;
  }

  // Adds an output, and a name if the operation has none. Returns the name of the output.
  Bytes add_output(Operation& operation, const Decision& decision, const char* ending, ValueType type) {
    std::string text = std::string(decision.weight.name) + ending;
    while (names_.contains(text)) text += "_";
    const Bytes name = model_.intern(text);
    names_.insert(name);
    NamedType output;
    output.name = name;
    output.type = std::move(type);
    operation.outputs.emplace_back(std::move(output));
    if (operation.attributes.empty()) {
      Attribute attribute;
      attribute.name = "name";
      attribute.value = Kept<Value>(string_value(model_, text));
      operation.attributes.emplace_back(std::move(attribute));
    }
    return name;
  }

  void put(Operation& operation, const std::string& name, Value value) {
    if (!plan_.has_inputs()) {
      Attribute attribute;
      attribute.name = model_.intern(name);
      attribute.value = Kept<Value>(std::move(value));
      operation.attributes.emplace_back(std::move(attribute));
      return;
    }
    Binding binding;
    binding.value.emplace_back(std::move(value));
    put(operation, name, std::move(binding));
  }
  void put(Operation& operation, const std::string& name, Bytes value) {
    Binding binding;
    binding.name = value;
    put(operation, name, std::move(binding));
  }
  void put(Operation& operation, const std::string& name, Binding binding) {
    Input input;
    input.name = model_.intern(name);
    input.argument.edit().bindings.emplace_back(std::move(binding));
    operation.inputs.emplace_back(std::move(input));
  }

  std::string parameter_of(StoredPart part, const Decision& decision) const {
    const bool has_inputs = plan_.has_inputs();
    if (decision.is_sparse && decision.is_half()) return part == StoredPart::kMask ? "mask" : "nonzero_data";
    if (decision.is_half()) return "source_val";
    if (decision.is_sparse && !decision.is_linear())
      return part == StoredPart::kMask    ? "indices_mask"
             : part == StoredPart::kCodes ? "indices_nonzero_data"
                                          : "lut";
    if (part == StoredPart::kMask) return "data_mask";
    if (part == StoredPart::kCodes && decision.is_sparse) return "nonzero_data";
    if (!decision.is_linear()) return part == StoredPart::kCodes ? "indices" : "lut";
    switch (part) {
      case StoredPart::kCodes: return has_inputs ? "data" : "quantized_data";
      case StoredPart::kScales: return "scale";
      default: break;
    }
    return has_inputs ? "offset" : "zero_point";
  }

  // In iOS16, scales are a vector or a scalar, indices are a vector of bytes, and a table has one axis.
  std::vector<std::int64_t> dims_of(const StoredTensor& tensor, const Decision& decision) const {
    if (!plan_.has_inputs() && tensor.part == StoredPart::kMask)
      return {static_cast<std::int64_t>(tensor.values.size)};
    if (plan_.has_inputs() || decision.is_half()) return tensor.dims;
    const bool is_codes = tensor.part == StoredPart::kCodes;
    if (!decision.is_linear())
      return {is_codes ? static_cast<std::int64_t>(tensor.values.size) : std::int64_t{1} << decision.bits()};
    if (is_codes) return tensor.dims;
    const auto groups = static_cast<std::int64_t>(decision.layout.groups());
    return groups == 1 ? std::vector<std::int64_t>() : std::vector<std::int64_t>{groups};
  }

  Value value_of(const StoredTensor& tensor, const std::vector<std::int64_t>& dims, const Decision& decision,
                 const Blob& source) {
    const bool is_of_groups = decision.is_linear() && tensor.part != StoredPart::kCodes;
    const std::size_t few = tensor.part == StoredPart::kRowScales ? decision.row_scales.size()
                            : is_of_groups                        ? decision.layout.groups()
                                                                  : kFewestInFile;
    if (few < kFewestInFile)
      return tensor_value(model_, tensor.type, dims, part_bytes(decision, tensor.part));
    const auto part = static_cast<std::uint32_t>(tensor.part) + 1;
    return blob_value(model_, tensor.type, dims, Blob{source.file, source.offset, part, tensor.values});
  }

  void add_affine_parameters(const Decision& decision, std::map<std::string, Value>& parameters) {
    const bool has_channels = decision.granularity == GranularityKind::kChannel;
    const std::size_t axis = has_channels ? decision.weight.channels->first : 0;
    parameters["axis"] = integer_value(model_, static_cast<std::int32_t>(axis));
    if (decision.format.is_symmetric)
      parameters["zero_point"] = tensor_value(model_, DataType::kInt8, {}, std::string(1, '\0'));
  }

  Value shape_value(const Decision& decision) {
    std::string bytes;
    for (const std::int64_t dim : decision.weight.dims) {
      const auto size = static_cast<std::uint32_t>(dim);
      bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    }
    return tensor_value(model_, DataType::kUint32, {static_cast<std::int64_t>(decision.weight.dims.size())},
                        bytes);
  }

  Model& model_;
  const std::shared_ptr<const CoremlFile>& source_;
  const Plan& plan_;
  std::vector<const Decision*> places_;  // by index of the operation; null: not replaced
  std::size_t next_ = 0;
  std::set<Bytes, std::less<>> names_;  // of all outputs
};

}  // namespace

void store_weights(Model& model, const std::shared_ptr<const CoremlFile>& source, const Plan& plan) {
  Storing(model, source, plan).run();
}

void raise_version(Model& model, const Plan& plan) {
  if (plan.version == model.proto->version) return;
  ModelProto& proto = model.proto.edit();
  proto.version = plan.version;
  const Bytes opset = model.intern(plan.opset);
  for (auto& named : proto.program[0].edit().functions) {
    const Bytes own = named->function->opset;
    if (own == opset) continue;
    Function& function = named.edit().function.edit();
    function.opset = opset;
    for (auto& specialization : function.specializations) {
      if (specialization->opset == own) specialization.edit().opset = opset;
    }
  }
}

}  // namespace ounce::coreml
