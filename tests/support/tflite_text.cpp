#include "support/tflite_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "formats/tflite/edit/float_values.h"
#include "formats/tflite/file/ops.h"

namespace ounce::tflite {
namespace {

std::string names_of(const SubGraph& graph, const std::vector<std::int32_t>& tensors) {
  std::vector<std::string> names;
  for (const std::int32_t tensor : tensors)
    names.push_back(tensor < 0 ? "-" : std::string(graph.tensors[static_cast<std::size_t>(tensor)].name));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string options_of(const Operator& op) {
  std::string text;
  if (!op.options.table) return text;
  for (const Record::Field& field : op.options.table->fields()) {
    const FieldInfo& info = op.options.table->info().fields[field.id];
    if (info.kind == FieldKind::kFloat) {
      text += fmt::format(" {}={}", info.name, op.options.table->number(info.name));
    } else if (info.kind == FieldKind::kString) {
      text += fmt::format(" {}={}", info.name, op.options.table->bytes(info.name));
    } else if (is_vector(info.kind)) {
      text += fmt::format(" {}={}", info.name, fmt::join(op.options.table->integers(info.name), ","));
    } else {
      text += fmt::format(" {}={}", info.name, op.options.table->integer(info.name));
    }
  }
  return text;
}

template <class Number>
std::vector<Number> numbers_in(Bytes bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace

std::string text_of(const Model& model) {
  std::string text;
  for (const SubGraph& graph : model.subgraphs) {
    text += fmt::format("{} -> {}\n", names_of(graph, graph.inputs), names_of(graph, graph.outputs));
    for (const Operator& op : graph.operators) {
      const OperatorCode& code = model.operator_codes[op.opcode_index];
      text += fmt::format("{}{}({}){} -> {}\n", op_name(code),
                          code.version == 1 ? "" : fmt::format(".{}", code.version),
                          names_of(graph, op.inputs), options_of(op), names_of(graph, op.outputs));
    }
  }
  return text;
}

std::string constants_of(const Model& model) {
  std::string text;
  for (const SubGraph& graph : model.subgraphs) {
    for (const Tensor& tensor : graph.tensors) {
      const Data& data = data_of(model, tensor);
      if (data.empty()) continue;
      text += fmt::format("{} {}[{}] =", tensor.name, name_of(element_type_of(tensor.type)),
                          fmt::join(tensor.shape, ","));
      if (tensor.type == TensorType::kFloat32) {
        const quant::FloatSource source = floats_of(model, tensor);
        std::vector<float> values;
        const auto* floats = reinterpret_cast<const char*>(source.values(0, source.size(), values));
        text +=
            fmt::format(" {}", fmt::join(numbers_in<float>({floats, source.size() * sizeof(float)}), " "));
      } else if (tensor.type == TensorType::kInt64) {
        text += fmt::format(" {}", fmt::join(numbers_in<std::int64_t>(data.bytes()), " "));
      } else if (tensor.type == TensorType::kInt32) {
        text += fmt::format(" {}", fmt::join(numbers_in<std::int32_t>(data.bytes()), " "));
      } else {
        text += fmt::format(" {} bytes", data.size());
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace ounce::tflite
