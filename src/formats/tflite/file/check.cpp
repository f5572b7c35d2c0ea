#include "formats/tflite/file/check.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/numbers.h"
#include "formats/tflite/file/ops.h"
#include "formats/tflite/file/sparsity.h"

namespace ounce::tflite {
namespace {

constexpr std::uint32_t kVersion = 3;
constexpr std::size_t kMaxRank = 64;     // runtimes end at 8
constexpr std::size_t kMaxNesting = 64;  // of subgraphs that call one another

template <class Index>
bool is_in(Index index, std::size_t count) {
  return index >= Index{0} && static_cast<std::size_t>(index) < count;
}

// The values of a string tensor: their number, the place of each and of the end, the texts.
bool are_strings(Bytes bytes, std::uint64_t count) {
  const auto at = [&](std::uint64_t i) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return std::uint64_t{value};
  };
  if (bytes.size() < sizeof(std::uint32_t) || at(0) != count) return false;
  const std::uint64_t head = (count + 2) * sizeof(std::uint32_t);
  if (count >= bytes.size() || head > bytes.size() || at(1) != head || at(count + 1) != bytes.size())
    return false;
  for (std::uint64_t i = 1; i <= count; ++i) {
    if (at(i) > at(i + 1)) return false;
  }
  return true;
}

class Check {
 public:
  Check(const Model& model, const std::string& name) : model_(model), name_(name) {}

  void run() {
    if (model_.version != kVersion)
      fail(fmt::format("has schema version {}, not {}", model_.version, kVersion), {});
    if (model_.subgraphs.empty()) fail("has no subgraph", {});
    for (std::size_t i = 0; i < model_.operator_codes.size(); ++i) {
      const OperatorCode& code = model_.operator_codes[i];
      if (code.code < 0) fail(fmt::format("operator code {} is negative", i), {});
      if (static_cast<Builtin>(code.code) == Builtin::kCustom && code.custom_code.data() == nullptr)
        fail(fmt::format("operator code {} is a custom operator without a name", i), {});
    }
    check_external_buffers();
    for (std::size_t i = 0; i < model_.subgraphs.size(); ++i) check_subgraph(i);
    check_calls();
    for (const Metadata& entry : model_.metadata) {
      if (!is_in(entry.buffer, model_.buffers.size()))
        fail(fmt::format("there is no buffer {}", entry.buffer), fmt::format("metadata '{}'", entry.name));
    }
    for (std::size_t i = 0; i < model_.signatures.size(); ++i) check_signature(i);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& where) const {
    throw Error(ErrorCode::kBadInput, fmt::format("not a valid TFLite model: {}", what),
                where.empty() ? name_ : fmt::format("{}, {}", name_, where));
  }

  void check_external_buffers() {
    for (const ExternalBuffer& buffer : model_.external_buffers) {
      const std::string where = fmt::format("external buffer {}", buffer.id);
      if (buffer.id == 0 || !external_.insert(buffer.id).second) fail("its id is not its own", where);
      if (!is_in(buffer.group, model_.external_buffer_groups.size()))
        fail(fmt::format("there is no group {}", buffer.group), where);
      if (!checked_add(buffer.offset, buffer.length)) fail("its end is beyond any file", where);
    }
  }

  void check_signature(std::size_t i) const {
    const Signature& signature = model_.signatures[i];
    const std::string where = fmt::format("signature {} '{}'", i, signature.key);
    if (!is_in(signature.subgraph, model_.subgraphs.size()))
      fail(fmt::format("there is no subgraph {}", signature.subgraph), where);
    for (const auto* maps : {&signature.inputs, &signature.outputs}) {
      for (const TensorMap& map : *maps) {
        if (!is_in(map.tensor, model_.subgraphs[signature.subgraph].tensors.size()))
          fail(fmt::format("there is no tensor {} for '{}'", map.tensor, map.name), where);
      }
    }
  }

  void check_subgraph(std::size_t index) const {
    const SubGraph& graph = model_.subgraphs[index];
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
      count_step();
      check_tensor(graph, graph.tensors[i], [&] { return describe_tensor(model_, index, i); });
    }
    const std::string where = fmt::format("subgraph {}", index);
    // Tensors that have a value before the operator that is checked next.
    std::vector<bool> has_value(graph.tensors.size()), is_made(graph.tensors.size());
    for (std::size_t i = 0; i < graph.tensors.size(); ++i)
      has_value[i] = graph.tensors[i].is_variable || is_constant(model_, graph.tensors[i]);
    for (const std::int32_t input : graph.inputs) {
      if (!is_in(input, graph.tensors.size()))
        fail(fmt::format("there is no tensor {} for an input", input), where);
      const auto tensor = static_cast<std::size_t>(input);
      if (is_made[tensor]) fail("is an input twice", describe_tensor(model_, index, tensor));
      has_value[tensor] = is_made[tensor] = true;
    }
    for (std::size_t i = 0; i < graph.operators.size(); ++i) check_operator(index, i, has_value, is_made);
    for (const std::int32_t output : graph.outputs) {
      if (!is_in(output, graph.tensors.size()))
        fail(fmt::format("there is no tensor {} for an output", output), where);
      if (!has_value[static_cast<std::size_t>(output)])
        fail("is an output and has no value",
             describe_tensor(model_, index, static_cast<std::size_t>(output)));
    }
  }

  void check_operator(std::size_t index, std::size_t i, std::vector<bool>& has_value,
                      std::vector<bool>& is_made) const {
    count_step();
    const SubGraph& graph = model_.subgraphs[index];
    const Operator& op = graph.operators[i];
    const auto refuse = [&](const std::string& what) { fail(what, describe_operator(model_, index, i)); };
    if (!is_in(op.opcode_index, model_.operator_codes.size()))
      refuse(fmt::format("there is no operator code {}", op.opcode_index));
    for (const auto* tensors : {&op.inputs, &op.outputs, &op.intermediates}) {
      for (const std::int32_t tensor : *tensors) {
        if (tensor != -1 && !is_in(tensor, graph.tensors.size()))
          refuse(fmt::format("there is no tensor {}", tensor));
      }
    }
    for (const std::int32_t input : op.inputs) {
      if (input >= 0 && !has_value[static_cast<std::size_t>(input)])
        refuse(fmt::format("reads tensor {} '{}' before it has a value", input,
                           graph.tensors[static_cast<std::size_t>(input)].name));
    }
    for (const std::int32_t output : op.outputs) {
      if (output < 0) continue;
      const auto tensor = static_cast<std::size_t>(output);
      if (is_made[tensor])
        refuse(fmt::format("tensor {} '{}' is made twice", output, graph.tensors[tensor].name));
      has_value[tensor] = is_made[tensor] = true;
    }
    for (const Union* options : {&op.options, &op.options_2}) {
      if (!options->table) continue;
      options->table->each_subgraph([&](std::int64_t subgraph) {
        if (!is_in(subgraph, model_.subgraphs.size()))
          refuse(fmt::format("there is no subgraph {}", subgraph));
      });
    }
  }

  template <class Where>
  void check_tensor(const SubGraph& graph, const Tensor& tensor, const Where& where) const {
    const auto refuse = [&](const std::string& what) { fail(what, where()); };
    if (static_cast<std::int8_t>(tensor.type) < 0 || tensor.type > TensorType::kFloat8E5M2)
      refuse(fmt::format("element type {} is unknown", static_cast<int>(tensor.type)));
    if (tensor.shape.size() > kMaxRank) refuse(fmt::format("has {} dimensions", tensor.shape.size()));
    if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](std::int32_t dim) { return dim < -1; }))
      refuse("a dimension is negative");
    if (!tensor.shape_signature.empty()) {
      if (tensor.shape_signature.size() != tensor.shape.size())
        refuse(fmt::format("has {} dimensions and a signature of {}", tensor.shape.size(),
                           tensor.shape_signature.size()));
      if (std::any_of(tensor.shape_signature.begin(), tensor.shape_signature.end(),
                      [](std::int32_t dim) { return dim < -1; }))
        refuse("a dimension is negative");
    }
    const bool is_static = std::find(tensor.shape.begin(), tensor.shape.end(), -1) == tensor.shape.end();
    const bool has_size =
        element_type_of(tensor.type) != ElementType::kUndefined && tensor.type != TensorType::kString;
    if (is_static && (has_size ? !byte_count(tensor) : !element_count(tensor))) refuse("its size has no end");
    check_values(tensor, is_static, has_size, refuse);
    if (tensor.quantization) check_quantization(graph, tensor, *tensor.quantization, refuse);
  }

  template <class Refuse>
  void check_values(const Tensor& tensor, bool is_static, bool has_size, const Refuse& refuse) const {
    if (tensor.buffer != 0 && !is_in(tensor.buffer, model_.buffers.size()))
      refuse(fmt::format("there is no buffer {}", tensor.buffer));
    if (tensor.external_buffer != 0 && !external_.contains(tensor.external_buffer))
      refuse(fmt::format("there is no external buffer {}", tensor.external_buffer));
    const Data& data = data_of(model_, tensor);
    if (tensor.sparsity) {
      const auto values = stored_values(tensor, refuse);
      const auto bits = static_cast<std::uint64_t>(info_of(element_type_of(tensor.type)).bits);
      const auto size = checked_multiply(values, bits);
      if (!has_size || !size || (*size + 7) / 8 != data.size())
        refuse(fmt::format("has {} stored values in {} bytes", values, data.size()));
      return;
    }
    if (data.empty()) return;
    if (tensor.is_variable) refuse("is a variable and a constant");
    if (tensor.external_buffer != 0) refuse("has values in the file and outside of it");
    if (!is_static) refuse("is a constant with a dynamic dimension");
    if (tensor.type == TensorType::kString) {
      if (data.computed() == nullptr && !are_strings(data.bytes(), *element_count(tensor)))
        refuse("its strings are not inside of its buffer");
    } else if (has_size && byte_count(tensor) != data.size()) {
      refuse(fmt::format("needs {} bytes and has {}", *byte_count(tensor), data.size()));
    }
  }

  template <class Refuse>
  void check_quantization(const SubGraph& graph, const Tensor& tensor, const Quantization& quantization,
                          const Refuse& refuse) const {
    const auto check_axis = [&](std::int64_t axis) {
      if (axis < 0 || (!tensor.shape.empty() && !is_in(axis, tensor.shape.size())))
        refuse(fmt::format("is quantized along axis {} of {}", axis, tensor.shape.size()));
    };
    const auto type = static_cast<DetailsType>(quantization.details.type);
    if (type == DetailsType::kBlockwise || type == DetailsType::kMultiAxis) {
      if (!quantization.details.table) refuse("its quantization has no parameters");
      const Record& details = *quantization.details.table;
      const std::int64_t scales = details.integer("scales"), zero_points = details.integer("zero_points"),
                         block_size = details.integer("block_size");
      if (!is_in(scales, graph.tensors.size()))
        refuse(fmt::format("there is no tensor {} of scales", scales));
      if (zero_points != -1 && !is_in(zero_points, graph.tensors.size()))
        refuse(fmt::format("there is no tensor {} of zero points", zero_points));
      if (block_size < 0 || (block_size == 0 && type == DetailsType::kBlockwise))
        refuse(fmt::format("has quantized blocks of {}", block_size));
      if (type == DetailsType::kBlockwise) {
        check_axis(quantization.dimension);
      } else {
        for (const std::int64_t axis : details.integers("quantized_dimensions")) check_axis(axis);
      }
      return;
    }
    const std::size_t scales = quantization.scale.size();
    if (scales == 0) return;
    check_axis(quantization.dimension);
    if (quantization.zero_point.size() != scales)
      refuse(fmt::format("has {} scales and {} zero points", scales, quantization.zero_point.size()));
    const std::int32_t channels =
        tensor.shape.empty() ? 1 : tensor.shape[static_cast<std::size_t>(quantization.dimension)];
    if (scales != 1 && channels != -1 && !(channels >= 0 && static_cast<std::size_t>(channels) == scales))
      refuse(fmt::format("has {} scales for {} channels", scales, channels));
    if (!std::all_of(quantization.scale.begin(), quantization.scale.end(),
                     [](float s) { return std::isfinite(s); }))
      refuse("a scale is not finite");
  }

  // Subgraphs that call one another, down to those that call none: each depth is known before its callers'.
  void check_calls() const {
    const std::size_t count = model_.subgraphs.size();
    std::vector<std::set<std::size_t>> callers(count);
    std::vector<std::size_t> waits_for(count), depth(count), ready;
    for (std::size_t i = 0; i < count; ++i) {
      std::set<std::size_t> called;
      for (const Operator& op : model_.subgraphs[i].operators) {
        for (const Union* options : {&op.options, &op.options_2}) {
          if (options->table)
            options->table->each_subgraph(
                [&](std::int64_t to) { called.insert(static_cast<std::size_t>(to)); });
        }
      }
      waits_for[i] = called.size();
      for (const std::size_t to : called) callers[to].insert(i);
      if (called.empty()) ready.push_back(i);
    }
    for (std::size_t done = 0; done < ready.size(); ++done) {
      const std::size_t graph = ready[done];
      if (depth[graph] > kMaxNesting)
        fail(fmt::format("subgraphs call one another more than {} deep", kMaxNesting), {});
      for (const std::size_t caller : callers[graph]) {
        depth[caller] = std::max(depth[caller], depth[graph] + 1);
        if (--waits_for[caller] == 0) ready.push_back(caller);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (waits_for[i] != 0) fail("calls itself", fmt::format("subgraph {}", i));
    }
  }

  const Model& model_;
  const std::string& name_;
  std::set<std::uint32_t> external_;
};

}  // namespace

void check(const Model& model, const std::string& name) { Check(model, name).run(); }

}  // namespace ounce::tflite
