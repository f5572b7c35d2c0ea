#include "formats/tflite/edit/graph_editor.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>

#include "base/cancel.h"
#include "base/text.h"

namespace ounce::tflite {

GraphEditor::GraphEditor(Model& model, std::size_t subgraph)
    : model_(model), subgraph_(subgraph), ops_(std::move(model.subgraphs[subgraph].operators)) {
  removed_.resize(ops_.size());
  original_size_ = ops_.size();
  const std::size_t tensors = graph().tensors.size();
  producers_.assign(tensors, kNone);
  uses_.resize(tensors);
  use_counts_.resize(tensors);
  fixed_.resize(tensors);
  is_input_.resize(tensors);
  for (std::size_t op = 0; op < ops_.size(); ++op) {
    count_step();
    for (std::size_t i = 0; i < ops_[op].inputs.size(); ++i) use(op, i);
    for (const std::int32_t output : ops_[op].outputs) {
      if (output < 0) continue;
      producers_[index(output)] = op;
      // A use before: of values that converters leave in the tensor.
      if (use_count(output) != 0) fix(output);
    }
  }
  for (std::size_t i = 0; i < model_.operator_codes.size(); ++i) {
    const OperatorCode& code = model_.operator_codes[i];
    if (code.custom_code.empty() && code.carried.empty())
      codes_.try_emplace({code.code, code.version}, static_cast<std::uint32_t>(i));
  }
  find_fixed();
}

void GraphEditor::fix(std::int64_t tensor) {
  if (tensor >= 0) fixed_[static_cast<std::size_t>(tensor)] = true;
}

void GraphEditor::find_fixed() {
  for (const std::int32_t input : graph().inputs) fixed_[index(input)] = is_input_[index(input)] = true;
  for (const std::int32_t output : graph().outputs) fix(output);
  for (const Signature& signature : model_.signatures) {
    if (signature.subgraph != subgraph_) continue;
    for (const TensorMap& map : signature.inputs) fix(map.tensor);
    for (const TensorMap& map : signature.outputs) fix(map.tensor);
  }
  for (const Operator& op : ops_) {
    for (const std::int32_t tensor : op.intermediates) fix(tensor);
  }
  for (std::size_t i = 0; i < graph().tensors.size(); ++i) {
    const Tensor& tensor = graph().tensors[i];
    if (tensor.is_variable) fixed_[i] = true;
    const auto type = tensor.quantization ? static_cast<DetailsType>(tensor.quantization->details.type)
                                          : DetailsType::kNone;
    if ((type != DetailsType::kBlockwise && type != DetailsType::kMultiAxis) ||
        !tensor.quantization->details.table)
      continue;
    fix(tensor.quantization->details.table->integer("scales"));
    fix(tensor.quantization->details.table->integer("zero_points"));
  }
}

Builtin GraphEditor::code(std::size_t op) const {
  return removed_[op] ? Builtin::kCustom : info(code_of(model_, ops_[op])).code;
}

std::int32_t GraphEditor::version(std::size_t op) const {
  return model_.operator_codes[ops_[op].opcode_index].version;
}

std::int32_t GraphEditor::input(std::size_t op, std::size_t i) const {
  return i < ops_[op].inputs.size() ? std::max(ops_[op].inputs[i], -1) : -1;
}

std::int32_t GraphEditor::output(std::size_t op, std::size_t i) const {
  return i < ops_[op].outputs.size() ? std::max(ops_[op].outputs[i], -1) : -1;
}

const Record* GraphEditor::options(std::size_t op, const char* table) const {
  const Union& options = ops_[op].options;
  return options.table && options.table->info().name == std::string_view(table) ? &*options.table : nullptr;
}

std::string GraphEditor::label(std::size_t op) const {
  const std::string name = op_name(model_.operator_codes[ops_[op].opcode_index]);
  const std::int32_t first = output(op);
  return first < 0 ? plain(name) : fmt::format("{} '{}'", plain(name), plain(tensor(first).name));
}

std::optional<GraphEditor::Use> GraphEditor::sole_use(std::int32_t tensor) const {
  if (is_fixed(tensor) || use_count(tensor) != 1) return std::nullopt;
  return uses(tensor).front();
}

const std::vector<GraphEditor::Use>& GraphEditor::uses(std::int32_t tensor) const {
  std::vector<Use>& found = uses_[index(tensor)];
  if (found.size() == use_count(tensor)) return found;
  std::erase_if(found, [&](const Use& use) {
    const auto& inputs = ops_[use.op].inputs;
    return use.input >= inputs.size() || inputs[use.input] != tensor;
  });
  const auto key = [](const Use& use) { return std::pair(use.op, use.input); };
  std::sort(found.begin(), found.end(), [&](const Use& a, const Use& b) { return key(a) < key(b); });
  found.erase(
      std::unique(found.begin(), found.end(), [&](const Use& a, const Use& b) { return key(a) == key(b); }),
      found.end());
  return found;
}

bool GraphEditor::is_constant(std::int32_t number) const {
  const Tensor& found = tensor(number);
  return producer(number) == kNone && !found.is_variable && !found.sparsity && found.external_buffer == 0 &&
         !data_of(model_, found).empty() && !is_input_[index(number)];
}

std::optional<std::vector<std::int64_t>> GraphEditor::integers(std::int32_t number, std::size_t most) const {
  if (number < 0 || !is_constant(number)) return std::nullopt;
  const Tensor& found = tensor(number);
  const Data& data = data_of(model_, found);
  const bool is_wide = found.type == TensorType::kInt64;
  const std::size_t width = is_wide ? sizeof(std::int64_t) : sizeof(std::int32_t);
  if ((!is_wide && found.type != TensorType::kInt32) || data.computed() != nullptr ||
      data.size() / width > most)
    return std::nullopt;
  std::vector<std::int64_t> values(data.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int32_t narrow = 0;
    std::memcpy(is_wide ? static_cast<void*>(&values[i]) : &narrow, data.bytes().data() + i * width, width);
    if (!is_wide) values[i] = narrow;
  }
  return values;
}

std::optional<float> GraphEditor::scalar(std::int32_t number) const {
  if (number < 0 || !is_constant(number)) return std::nullopt;
  const Tensor& found = tensor(number);
  const Data& data = data_of(model_, found);
  float value = 0;
  if (found.type != TensorType::kFloat32 || data.computed() != nullptr || data.size() != sizeof value)
    return std::nullopt;
  std::memcpy(&value, data.bytes().data(), sizeof value);
  return value;
}

void GraphEditor::use(std::size_t op, std::size_t i) {
  const std::int32_t tensor = ops_[op].inputs[i];
  if (tensor < 0) return;
  uses_[index(tensor)].push_back({op, i});
  ++use_counts_[index(tensor)];
}

void GraphEditor::drop_use(std::size_t op, std::size_t i) {
  if (ops_[op].inputs[i] >= 0) --use_counts_[index(ops_[op].inputs[i])];
}

void GraphEditor::set_input(std::size_t op, std::size_t i, std::int32_t tensor) {
  drop_use(op, i);
  ops_[op].inputs[i] = tensor;
  use(op, i);
  is_changed_ = true;
}

void GraphEditor::add_input(std::size_t op, std::int32_t tensor) {
  ops_[op].inputs.push_back(tensor);
  use(op, ops_[op].inputs.size() - 1);
  is_changed_ = true;
}

void GraphEditor::keep_inputs(std::size_t op, std::size_t count) {
  for (; ops_[op].inputs.size() > count; ops_[op].inputs.pop_back()) drop_use(op, ops_[op].inputs.size() - 1);
  is_changed_ = true;
}

void GraphEditor::set_output(std::size_t op, std::size_t i, std::int32_t tensor) {
  if (ops_[op].outputs[i] >= 0) producers_[index(ops_[op].outputs[i])] = kNone;
  ops_[op].outputs[i] = tensor;
  producers_[index(tensor)] = op;
  is_changed_ = true;
}

void GraphEditor::remove(std::size_t op) {
  for (std::size_t i = 0; i < ops_[op].inputs.size(); ++i) drop_use(op, i);
  for (const std::int32_t output : ops_[op].outputs) {
    if (output >= 0) producers_[index(output)] = kNone;
  }
  ops_[op].inputs.clear();
  ops_[op].outputs.clear();
  removed_[op] = is_changed_ = true;
}

void GraphEditor::replace_uses(std::int32_t tensor, std::int32_t by) {
  const std::vector<Use> moved = uses(tensor);
  for (const Use& use : moved) set_input(use.op, use.input, by);
}

Record& GraphEditor::set_options(std::size_t op, const char* table) {
  Union& options = ops_[op].options;
  is_changed_ = true;
  if (options.table && options.table->info().name == std::string_view(table)) return *options.table;
  options.type = builtin_options_type(table);
  return options.table.emplace(*builtin_options(options.type));
}

void GraphEditor::clear_options(std::size_t op) {
  ops_[op].options = {};
  is_changed_ = true;
}

std::uint32_t GraphEditor::operator_code(Builtin code, std::int32_t version) {
  const auto number = static_cast<std::int32_t>(code);
  const auto [found, is_new] =
      codes_.try_emplace({number, version}, static_cast<std::uint32_t>(model_.operator_codes.size()));
  if (is_new) {
    OperatorCode& added = model_.operator_codes.emplace_back();
    added.code = number;
    added.version = version;
  }
  return found->second;
}

void GraphEditor::set_code(std::size_t op, Builtin code, std::int32_t version) {
  ops_[op].opcode_index = operator_code(code, version);
  is_changed_ = true;
}

std::size_t GraphEditor::insert(std::size_t place, Builtin code, std::int32_t version,
                                std::vector<std::int32_t> inputs, std::vector<std::int32_t> outputs) {
  const std::size_t number = ops_.size();
  Operator& added = ops_.emplace_back();
  removed_.push_back(false);
  added.opcode_index = operator_code(code, version);
  for (const std::int32_t tensor : inputs) add_input(number, tensor);
  added.outputs = std::move(outputs);
  for (const std::int32_t output : added.outputs) producers_[index(output)] = number;
  inserted_[place].push_back(number);
  is_changed_ = true;
  return number;
}

std::int32_t GraphEditor::add(Tensor tensor) {
  std::vector<Tensor>& tensors = model_.subgraphs[subgraph_].tensors;
  tensors.push_back(std::move(tensor));
  producers_.push_back(kNone);
  uses_.emplace_back();
  use_counts_.push_back(0);
  fixed_.push_back(false);
  is_input_.push_back(false);
  is_changed_ = true;
  return static_cast<std::int32_t>(tensors.size() - 1);
}

std::int32_t GraphEditor::add_tensor(std::int32_t like, const std::string& ending) {
  Tensor added;
  added.shape = tensor(like).shape;
  added.type = tensor(like).type;
  added.shape_signature = tensor(like).shape_signature;
  added.has_rank = tensor(like).has_rank;
  added.name = model_.intern(fmt::format("{}{}", tensor(like).name, ending));
  return add(std::move(added));
}

std::uint32_t GraphEditor::add_buffer(Data values) {
  if (model_.buffers.empty()) model_.buffers.emplace_back();  // the first one is empty
  model_.buffers.emplace_back().data = std::move(values);
  return static_cast<std::uint32_t>(model_.buffers.size() - 1);
}

std::int32_t GraphEditor::add_constant(const std::string& name, std::vector<std::int32_t> shape,
                                       TensorType type, Data values) {
  Tensor added;
  added.shape = std::move(shape);
  added.type = type;
  added.name = model_.intern(name);
  added.buffer = add_buffer(std::move(values));
  return add(std::move(added));
}

void GraphEditor::make_constant(std::int32_t number, Data values) {
  const std::size_t op = producer(number);
  auto& outputs = ops_[op].outputs;
  std::replace(outputs.begin(), outputs.end(), number, -1);
  producers_[index(number)] = kNone;
  if (std::all_of(outputs.begin(), outputs.end(), [](std::int32_t output) { return output < 0; })) remove(op);
  Tensor& changed = at(number);
  changed.shape_signature.clear();
  changed.sparsity.reset();
  changed.external_buffer = 0;
  changed.buffer = add_buffer(std::move(values));
  is_changed_ = true;
}

void GraphEditor::set_shape(std::int32_t number, std::vector<std::int32_t> shape) {
  at(number).shape = std::move(shape);
  at(number).shape_signature.clear();
  is_changed_ = true;
}

void GraphEditor::swap_names(std::int32_t a, std::int32_t b) {
  std::swap(at(a).name, at(b).name);
  is_changed_ = true;
}

void GraphEditor::finish() {
  std::vector<Operator> order;
  order.reserve(ops_.size());
  for (std::size_t op = 0; op < original_size_; ++op) {
    if (const auto before = inserted_.find(op); before != inserted_.end()) {
      for (const std::size_t added : before->second) {
        if (!removed_[added]) order.push_back(std::move(ops_[added]));
      }
    }
    if (!removed_[op]) order.push_back(std::move(ops_[op]));
  }
  model_.subgraphs[subgraph_].operators = std::move(order);
}

}  // namespace ounce::tflite
