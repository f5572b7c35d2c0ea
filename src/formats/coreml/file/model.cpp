#include "formats/coreml/file/model.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/cancel.h"
#include "formats/coreml/file/description.h"

namespace ounce::coreml {

std::optional<std::uint64_t> ValueType::element_count() const {
  if (kind != Kind::kTensor || has_variadic_rank) return std::nullopt;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 64;  // bits of the widest type
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    const auto size = static_cast<std::uint64_t>(dim);
    if (size != 0 && count > kMost / size) return std::nullopt;
    count *= size;
  }
  return count;
}

std::optional<std::uint64_t> ValueType::byte_count() const {
  const auto count = element_count();
  const DataTypeInfo* const row = find_type(static_cast<std::int64_t>(type));
  if (!count || row == nullptr || row->bits == 0) return std::nullopt;
  return (*count * row->bits + 7) / 8;
}

std::uint64_t Blob::size() const {
  const auto* computed = std::get_if<io::Computed>(&data);
  return computed != nullptr ? computed->size : std::get<Bytes>(data).size();
}

Bytes Blob::bytes() const {
  if (const auto* bytes = std::get_if<Bytes>(&data)) return *bytes;
  throw Error(ErrorCode::kInternal, "the values of this blob are not computed yet");
}

const Argument* Operation::input(Bytes name) const {
  for (const auto& input : inputs) {
    if (input->name == name) return &*input->argument;
  }
  return nullptr;
}

const Value* Operation::attribute(Bytes name) const {
  for (const auto& attribute : attributes) {
    if (attribute->name == name) return &*attribute->value;
  }
  return nullptr;
}

Bytes Model::intern(std::string text) {
  return *texts.emplace_back(std::make_shared<const std::string>(std::move(text)));
}

void Model::release(Bytes bytes) const {
  file.release(bytes);
  for (const auto& [name, weights_of_name] : weights) weights_of_name.file.release(bytes);
}

std::filesystem::path Model::weight_location(std::string_view name) const {
  constexpr std::string_view kModelPath = "@model_path/";
  if (name.starts_with(kModelPath)) name.remove_prefix(kModelPath.size());
  return location.parent_path() / name;
}

std::string name_of_content(std::uint32_t content) {
  switch (static_cast<ModelField>(content)) {
    case ModelField::kPipelineClassifier: return "pipelineClassifier";
    case ModelField::kPipelineRegressor: return "pipelineRegressor";
    case ModelField::kPipeline: return "pipeline";
    case ModelField::kNeuralNetworkRegressor: return "neuralNetworkRegressor";
    case ModelField::kNeuralNetworkClassifier: return "neuralNetworkClassifier";
    case ModelField::kNeuralNetwork: return "neuralNetwork";
    case ModelField::kMlProgram: return "mlProgram";
    default: return fmt::format("model type {}", content);
  }
}

const Block* active_block(const Function& function) {
  for (const auto& specialization : function.specializations) {
    if (specialization->opset == function.opset) return &*specialization->block;
  }
  return nullptr;
}

const NamedFunction* main_function(const Model& model) {
  if (!model.is_program()) return nullptr;
  const auto& functions = model.program().functions;
  const std::string wanted = describe_model(model).default_function;
  for (const auto& function : functions) {
    if (function->name == wanted) return &*function;
  }
  return functions.size() == 1 ? &*functions[0] : nullptr;
}

std::string describe(const Operation& operation) {
  return operation.outputs.empty() ? std::string(operation.type)
                                   : fmt::format("{} '{}'", operation.type, operation.outputs[0]->name);
}

namespace {

[[noreturn]] void refuse(const Model& model, const std::string& what) {
  throw Error(ErrorCode::kBadInput, "not a valid Core ML model: " + what, model.path.string());
}

// The names that are visible to an operation, including those of enclosing blocks.
class Scope {
 public:
  explicit Scope(const Model& model) : model_(model) {}

  void check(const Function& function) {
    define(function.inputs);
    const Block* block = active_block(function);
    if (block == nullptr)
      refuse(model_, fmt::format("a function has no program for its opset '{}'", function.opset));
    check(*block);
  }

 private:
  void define(const std::vector<Kept<NamedType>>& values) {
    for (const auto& value : values) define(value->name);
  }
  void define(Bytes name) {
    if (name.empty()) refuse(model_, "a value has no name");
    if (!names_.insert(name).second) refuse(model_, fmt::format("'{}' is defined twice", name));
    defined_.push_back(name);
  }
  void require(Bytes name, const std::string& user) {
    if (!names_.contains(name)) refuse(model_, fmt::format("{} uses '{}' before it is defined", user, name));
  }

  void check(const Block& block) {
    const std::size_t before = defined_.size();
    define(block.inputs);
    for (const auto& operation : block.operations) {
      count_step();
      check(*operation);
    }
    for (const Bytes output : block.outputs) require(output, "the end of a block");
    for (; defined_.size() > before; defined_.pop_back()) names_.erase(defined_.back());
  }

  void check(const Operation& operation) {
    for (const auto& input : operation.inputs) {
      for (const auto& binding : input->argument->bindings) {
        if (binding->value.empty()) require(binding->name, describe(operation));
      }
    }
    const std::size_t values = operation.attribute("val") == nullptr ? 0 : 1;
    if (operation.type == "const" && (operation.outputs.size() != 1 || values != 1))
      refuse(model_, fmt::format("{} has no value", describe(operation)));
    for (const auto& block : operation.blocks) check(*block);
    define(operation.outputs);
  }

  const Model& model_;
  std::set<Bytes> names_;
  std::vector<Bytes> defined_;
};

}  // namespace

void validate(const Model& model) {
  if (!model.is_program()) return;
  std::set<Bytes> names;
  for (const auto& function : model.program().functions) {
    if (!names.insert(function->name).second)
      refuse(model, fmt::format("the function '{}' is defined twice", function->name));
    Scope(model).check(*function->function);
  }
  if (main_function(model) == nullptr) refuse(model, "the default function is missing");
}

}  // namespace ounce::coreml
