#include "formats/tflite/prepare/remove_unused.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "formats/tflite/file/ops.h"

namespace ounce::tflite {
namespace {

constexpr std::uint32_t kGone = 0xffffffff;

// Some operators have effects that the graph does not show.
bool has_effects(const Model& model, const SubGraph& graph, const Operator& op) {
  const std::int32_t code = code_of(model, op);
  static constexpr auto kEffects = std::to_array<Builtin>(
      {Builtin::kCall, Builtin::kCallOnce, Builtin::kIf, Builtin::kWhile, Builtin::kCustom,
       Builtin::kDelegate, Builtin::kPlaceholderForGreaterOpCodes, Builtin::kVarHandle,
       Builtin::kReadVariable, Builtin::kAssignVariable, Builtin::kHashtable, Builtin::kHashtableFind,
       Builtin::kHashtableImport, Builtin::kHashtableSize, Builtin::kRandomUniform,
       Builtin::kRandomStandardNormal, Builtin::kMultinomial, Builtin::kStablehloCustomCall,
       Builtin::kStablehloRngBitGenerator});
  const bool is_pure = std::find(kEffects.begin(), kEffects.end(), info(code).code) == kEffects.end();
  bool has_subgraph = false;
  for (const Union* options : {&op.options, &op.options_2}) {
    if (options->table) options->table->each_subgraph([&](std::int64_t) { has_subgraph = true; });
  }
  const auto is_state = [&](std::int32_t tensor) {
    if (tensor < 0) return false;
    const Tensor& found = graph.tensors[static_cast<std::size_t>(tensor)];
    return found.is_variable || found.type == TensorType::kResource || found.type == TensorType::kVariant;
  };
  return !is_pure || has_subgraph || !op.intermediates.empty() || op.outputs.empty() ||
         std::any_of(op.inputs.begin(), op.inputs.end(), is_state) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), is_state);
}

template <class Function>
void each_scale_tensor(const Tensor& tensor, const Function& function) {
  if (!tensor.quantization || !tensor.quantization->details.table) return;
  const auto type = static_cast<DetailsType>(tensor.quantization->details.type);
  if (type != DetailsType::kBlockwise && type != DetailsType::kMultiAxis) return;
  for (const char* field : {"scales", "zero_points"}) {
    const std::int64_t other = tensor.quantization->details.table->integer(field);
    if (other >= 0) function(static_cast<std::size_t>(other), field);
  }
}

// The referenced tensors of one subgraph; removes unused operators.
class Uses {
 public:
  Uses(Model& model, std::size_t index) : model_(model), graph_(model.subgraphs[index]) {
    used_.resize(graph_.tensors.size());
    use(graph_.inputs);
    use(graph_.outputs);
    for (const Signature& signature : model.signatures) {
      if (signature.subgraph != index) continue;
      for (const auto* maps : {&signature.inputs, &signature.outputs}) {
        for (const TensorMap& map : *maps) use(map.tensor);
      }
    }
  }

  std::size_t remove_operators() {
    std::vector<bool> needed(graph_.operators.size());
    for (std::size_t i = graph_.operators.size(); i-- > 0;) {
      count_step();
      const Operator& op = graph_.operators[i];
      needed[i] = has_effects(model_, graph_, op) ||
                  std::any_of(op.outputs.begin(), op.outputs.end(), [&](std::int32_t tensor) {
                    return tensor >= 0 && used_[static_cast<std::size_t>(tensor)];
                  });
      if (!needed[i]) continue;
      use(op.inputs);
      use(op.outputs);
      use(op.intermediates);
    }
    const std::size_t before = graph_.operators.size();
    std::size_t next = 0;
    std::erase_if(graph_.operators, [&](const Operator&) { return !needed[next++]; });
    return before - graph_.operators.size();
  }

  const std::vector<bool>& tensors() const { return used_; }

 private:
  void use(const std::vector<std::int32_t>& tensors) {
    for (const std::int32_t tensor : tensors) {
      if (tensor >= 0) use(static_cast<std::size_t>(tensor));
    }
  }
  void use(std::size_t tensor) {
    std::vector<std::size_t> waiting = {tensor};  // scales may have scales
    while (!waiting.empty()) {
      const std::size_t next = waiting.back();
      waiting.pop_back();
      if (used_[next]) continue;
      used_[next] = true;
      each_scale_tensor(graph_.tensors[next],
                        [&](std::size_t other, const char*) { waiting.push_back(other); });
    }
  }

  Model& model_;
  SubGraph& graph_;
  std::vector<bool> used_;
};

// Is every number of the model one whose meaning is known?
bool is_known(const Record& record) {
  if (!record.carried.empty()) return false;
  for (const Record::Field& field : record.fields()) {
    if (const auto* records = std::get_if<std::vector<Record>>(&field.value)) {
      if (!std::all_of(records->begin(), records->end(), is_known)) return false;
    }
  }
  return true;
}

template <class Table>
bool has_carried(const std::vector<Table>& tables) {
  return std::any_of(tables.begin(), tables.end(), [](const Table& table) { return !table.carried.empty(); });
}

bool is_known(const Model& model) {
  if (!model.carried.empty() || has_carried(model.operator_codes) || has_carried(model.subgraphs) ||
      has_carried(model.buffers) || has_carried(model.metadata) || has_carried(model.signatures))
    return false;
  for (const Signature& signature : model.signatures) {
    if (has_carried(signature.inputs) || has_carried(signature.outputs)) return false;
  }
  for (const SubGraph& graph : model.subgraphs) {
    if (has_carried(graph.operators) || has_carried(graph.tensors)) return false;
    for (const Operator& op : graph.operators) {
      for (const Union* options : {&op.options, &op.options_2}) {
        if (options->table && !is_known(*options->table)) return false;
      }
    }
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.quantization &&
          (!tensor.quantization->carried.empty() ||
           (tensor.quantization->details.table && !is_known(*tensor.quantization->details.table))))
        return false;
    }
  }
  return std::all_of(model.metadata_buffer.begin(), model.metadata_buffer.end(), [&](std::int32_t buffer) {
    return buffer >= 0 && static_cast<std::size_t>(buffer) < model.buffers.size();
  });
}

// Drops what is not used, and gives the new number of each.
template <class Item>
std::vector<std::uint32_t> keep_used(std::vector<Item>& items, const std::vector<bool>& used) {
  std::vector<std::uint32_t> numbers(items.size(), kGone);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!used[i]) continue;
    numbers[i] = next;
    if (next != i) items[next] = std::move(items[i]);
    ++next;
  }
  items.erase(items.begin() + next, items.end());
  return numbers;
}

void remove_tensors(Model& model, std::size_t index, const std::vector<bool>& used) {
  SubGraph& graph = model.subgraphs[index];
  const std::vector<std::uint32_t> numbers = keep_used(graph.tensors, used);
  const auto renumber = [&](std::vector<std::int32_t>& tensors) {
    for (std::int32_t& tensor : tensors) {
      if (tensor >= 0) tensor = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(tensor)]);
    }
  };
  renumber(graph.inputs);
  renumber(graph.outputs);
  for (Operator& op : graph.operators) {
    renumber(op.inputs);
    renumber(op.outputs);
    renumber(op.intermediates);
  }
  for (Signature& signature : model.signatures) {
    if (signature.subgraph != index) continue;
    for (auto* maps : {&signature.inputs, &signature.outputs}) {
      for (TensorMap& map : *maps) map.tensor = numbers[map.tensor];
    }
  }
  for (Tensor& tensor : graph.tensors) {
    each_scale_tensor(tensor, [&](std::size_t other, const char* field) {
      tensor.quantization->details.table->set(field, std::int64_t{numbers[other]});
    });
  }
}

std::vector<bool> used_buffers(const Model& model) {
  std::vector<bool> used(model.buffers.size());
  if (!used.empty()) used[0] = true;
  for (const SubGraph& graph : model.subgraphs) {
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.buffer != 0) used[tensor.buffer] = true;
    }
  }
  for (const Metadata& entry : model.metadata) used[entry.buffer] = true;
  for (const std::int32_t buffer : model.metadata_buffer) {
    if (buffer >= 0 && static_cast<std::size_t>(buffer) < used.size())
      used[static_cast<std::size_t>(buffer)] = true;
  }
  return used;
}

void remove_buffers(Model& model) {
  const std::vector<bool> used = used_buffers(model);
  const std::vector<std::uint32_t> numbers = keep_used(model.buffers, used);
  for (SubGraph& graph : model.subgraphs) {
    for (Tensor& tensor : graph.tensors) {
      if (tensor.buffer != 0) tensor.buffer = numbers[tensor.buffer];
    }
  }
  for (Metadata& entry : model.metadata) entry.buffer = numbers[entry.buffer];
  for (std::int32_t& buffer : model.metadata_buffer)
    buffer = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(buffer)]);
}

void remove_codes(Model& model) {
  std::vector<bool> used(model.operator_codes.size());
  for (const SubGraph& graph : model.subgraphs) {
    for (const Operator& op : graph.operators) used[op.opcode_index] = true;
  }
  const std::vector<std::uint32_t> numbers = keep_used(model.operator_codes, used);
  for (SubGraph& graph : model.subgraphs) {
    for (Operator& op : graph.operators) op.opcode_index = numbers[op.opcode_index];
  }
}

// Tensors that nothing refers to lose their values, and so do buffers. Counts both.
std::size_t empty_unused(Model& model, const std::vector<std::vector<bool>>& used) {
  std::size_t count = 0;
  for (std::size_t graph = 0; graph < used.size(); ++graph) {
    for (std::size_t i = 0; i < used[graph].size(); ++i) {
      Tensor& tensor = model.subgraphs[graph].tensors[i];
      if (used[graph][i] || !tensor.carried.empty() || tensor.sparsity || tensor.buffer == 0) continue;
      tensor.buffer = 0;
      ++count;
    }
  }
  const std::vector<bool> buffers = used_buffers(model);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i] || !model.buffers[i].carried.empty() || model.buffers[i].data.empty()) continue;
    model.buffers[i].data = Data();
    ++count;
  }
  return count;
}

}  // namespace

Changes remove_unused(Model& model) {
  Changes changes;
  std::vector<std::vector<bool>> used;
  for (std::size_t graph = 0; graph < model.subgraphs.size(); ++graph) {
    Uses uses(model, graph);
    changes.count += uses.remove_operators();
    used.push_back(uses.tensors());
  }
  if (!is_known(model)) {
    changes.count += empty_unused(model, used);
    return changes;
  }
  const auto items = [&] {
    std::size_t count = model.buffers.size() + model.operator_codes.size();
    for (const SubGraph& graph : model.subgraphs) count += graph.tensors.size();
    return count;
  };
  const std::size_t before = items();
  for (std::size_t graph = 0; graph < used.size(); ++graph) remove_tensors(model, graph, used[graph]);
  remove_buffers(model);
  remove_codes(model);
  changes.count += before - items();
  return changes;
}

}  // namespace ounce::tflite
