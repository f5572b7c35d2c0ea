#include "fuzz/mutate_tflite.h"

#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "formats/tflite/file/ops.h"
#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/writer.h"

namespace ounce::test {
namespace {

using tflite::Builtin;
using tflite::Model;
using tflite::Operator;
using tflite::SubGraph;
using tflite::Tensor;

class TfliteMutator {
 public:
  TfliteMutator(Model& model, std::uint64_t seed) : model_(model), random_(seed) {}

  void run() {
    for (std::size_t changes = 1 + below(4); changes > 0; --changes)
      change(model_.subgraphs[below(model_.subgraphs.size())]);
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_.bits() % count; }
  std::int64_t number() {
    static constexpr auto kTfliteNumbers = std::to_array<std::int64_t>(
        {0, 1, 2, 3, 4, -1, -2, 5, 6, 7, 8, 16, 64, 127, 1 << 16, 1 << 30, 0x7fffffff, -0x80000000LL});
    return kTfliteNumbers[below(below(3) == 0 ? kTfliteNumbers.size() : 8)];
  }
  std::int32_t any_tensor(const SubGraph& graph) {
    return below(16) == 0 ? -1 : static_cast<std::int32_t>(below(graph.tensors.size()));
  }

  void change(SubGraph& graph) {
    if (graph.tensors.empty() || graph.operators.empty()) return;
    Tensor& tensor = graph.tensors[below(graph.tensors.size())];
    Operator& op = graph.operators[below(graph.operators.size())];
    switch (below(14)) {
      case 0: change_shape(tensor); break;
      case 1: tensor.type = static_cast<tflite::TensorType>(below(23)); break;
      case 2: tensor.is_variable = !tensor.is_variable; break;
      case 3:
        tensor.shape_signature = tensor.shape;
        if (!tensor.shape.empty()) tensor.shape_signature[below(tensor.shape.size())] = -1;
        break;
      case 4: tensor.buffer = static_cast<std::uint32_t>(below(model_.buffers.size())); break;
      case 5: change_values(tensor); break;
      case 6:
        if (!op.inputs.empty()) op.inputs[below(op.inputs.size())] = any_tensor(graph);
        break;
      case 7:
        if (below(2) == 0) {
          op.inputs.push_back(any_tensor(graph));
        } else if (!op.inputs.empty()) {
          op.inputs.pop_back();
        }
        break;
      case 8: graph.outputs.push_back(static_cast<std::int32_t>(below(graph.tensors.size()))); break;
      case 9: change_code(op); break;
      case 10: change_options(op); break;
      case 11: add_copy(graph, op); break;
      case 12: op.options = graph.operators[below(graph.operators.size())].options; break;
      default: add_reader(graph, tensor); break;
    }
  }

  // Also changes the values, so that the model is valid.
  void change_shape(Tensor& tensor) {
    if (below(4) == 0 || tensor.shape.empty()) {
      tensor.shape.insert(tensor.shape.begin() + static_cast<std::ptrdiff_t>(below(tensor.shape.size() + 1)),
                          1);
    } else if (below(3) == 0) {
      std::swap(tensor.shape[below(tensor.shape.size())], tensor.shape[below(tensor.shape.size())]);
    } else {
      tensor.shape[below(tensor.shape.size())] = static_cast<std::int32_t>(number());
    }
    const auto bytes = byte_count(tensor);
    if (tensor.buffer == 0 || !bytes || *bytes > 4096) return;
    tensor.buffer = static_cast<std::uint32_t>(model_.buffers.size());
    model_.buffers.emplace_back().data = tflite::Data(std::string(*bytes, '\1'));
  }

  void change_values(Tensor& tensor) {
    if (tensor.buffer == 0) return;
    std::string bytes(model_.buffers[tensor.buffer].data.bytes());
    if (bytes.empty()) return;
    const auto value = static_cast<std::uint32_t>(number());
    const std::size_t at = below(bytes.size()) / 4 * 4;
    for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
      bytes[at + i] = static_cast<char>(value >> (8 * i));
    model_.buffers[tensor.buffer].data = tflite::Data(std::move(bytes));
  }

  void change_code(Operator& op) {
    if (below(2) == 0) {
      op.opcode_index = static_cast<std::uint32_t>(below(model_.operator_codes.size()));
      return;
    }
    op.opcode_index = static_cast<std::uint32_t>(model_.operator_codes.size());
    model_.operator_codes.emplace_back().code = static_cast<std::int32_t>(below(tflite::op_rows().size()));
    if (model_.operator_codes.back().code == static_cast<std::int32_t>(Builtin::kCustom))
      model_.operator_codes.back().custom_code = "Custom";
  }

  void change_options(Operator& op) {
    if (!op.options.table) return;
    const auto& fields = op.options.table->info().fields;
    if (fields.empty()) return;
    const tflite::FieldInfo& field = fields[below(fields.size())];
    if (tflite::is_scalar(field.kind) && field.kind != tflite::FieldKind::kSubgraph)
      op.options.table->set(field.name,
                            field.kind == tflite::FieldKind::kBool ? number() & 1 : number() & 0x7f);
  }

  // Adds a copy of an operator, with new outputs, at the end.
  void add_copy(SubGraph& graph, const Operator& op) {
    Operator copy = op;
    for (std::int32_t& output : copy.outputs) {
      if (output < 0) continue;
      Tensor twin = graph.tensors[static_cast<std::size_t>(output)];
      graph.tensors.push_back(std::move(twin));
      output = static_cast<std::int32_t>(graph.tensors.size() - 1);
    }
    if (!copy.outputs.empty() && copy.outputs[0] >= 0 && below(2) == 0)
      graph.outputs.push_back(copy.outputs[0]);
    graph.operators.push_back(std::move(copy));
  }

  void add_reader(SubGraph& graph, const Tensor& tensor) {
    Tensor twin = tensor;
    const auto read = static_cast<std::int32_t>(&tensor - graph.tensors.data());
    twin.buffer = 0;
    twin.sparsity.reset();
    Operator added;
    change_code(added);
    added.inputs = {read};
    graph.tensors.push_back(std::move(twin));
    added.outputs = {static_cast<std::int32_t>(graph.tensors.size() - 1)};
    if (below(2) == 0) graph.outputs.push_back(added.outputs[0]);
    graph.operators.push_back(std::move(added));
  }

  Model& model_;
  Random random_;
};

}  // namespace

std::string mutate_tflite(const std::string& bytes, std::uint64_t seed) {
  try {
    Model model = tflite::read_model_from_memory(bytes, "input");
    if (model.subgraphs.empty()) return bytes;
    TfliteMutator(model, seed).run();
    return to_bytes(model);
  } catch (const Error&) {
    return bytes;
  }
}

}  // namespace ounce::test
