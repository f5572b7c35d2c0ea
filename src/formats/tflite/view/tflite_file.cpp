#include "formats/tflite/view/tflite_file.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "base/digest.h"
#include "formats/tflite/edit/float_values.h"
#include "formats/tflite/edit/metadata.h"
#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/ops.h"
#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/sparsity.h"
#include "formats/tflite/file/writer.h"

namespace ounce::tflite {
namespace {

using model::ValueId;

std::uint64_t number_of(const std::string& text) {
  const Digest digest = digest_of(text);
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

model::Port port_of(const Tensor& tensor, std::string name) {
  model::Port port;
  port.name = std::move(name);
  port.type = element_type_of(tensor.type);
  std::string sizes;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::int64_t size = is_dynamic(tensor, i) ? -1 : tensor.shape[i];
    port.shape.push_back({size, {}});
    sizes += fmt::format("{}{}", i == 0 ? "" : ",", size < 0 ? "?" : std::to_string(size));
  }
  port.text = fmt::format("{}[{}]", name_of(port.type), sizes);
  return port;
}

// Returns text unchanged, without the zeros that converters pad it with, and the size and a digest of other
// data.
std::string readable(Bytes value) {
  const Bytes text = value.substr(0, value.find_last_not_of('\0') + 1);
  if (text.find('\0') == Bytes::npos) return std::string(text);
  return fmt::format("{} bytes, digest {}", value.size(), hex(digest_of(value)));
}

// Values in the file, or a copy inside where the file has them in another form.
class Values final : public model::ConstantValues {
 public:
  Values(const Model& model, const Tensor& tensor)
      : copy_(copy_of(model, tensor)),
        floats_(copy_ ? quant::FloatSource(*copy_, quant::float_type_of(element_type_of(tensor.type)))
                      : floats_of(model, tensor)),
        is_widened_(!copy_ && data_of(model, tensor).computed() != nullptr) {}
  std::string_view bytes() const override {
    if (!is_widened_) return floats_.bytes();
    std::call_once(has_wide_, [this] { floats_.values(0, floats_.size(), wide_); });
    return {reinterpret_cast<const char*>(wide_.data()), wide_.size() * sizeof(float)};
  }
  const quant::FloatSource& floats() const override { return floats_; }

 private:
  static std::optional<std::string> copy_of(const Model& model, const Tensor& tensor) {
    const Data& data = data_of(model, tensor);
    if (tensor.sparsity) return densify(tensor, data.bytes());
    if (tensor.type != TensorType::kString || data.empty()) return std::nullopt;
    std::string texts;
    const auto at = [&](std::size_t i) {
      std::uint32_t value = 0;
      std::memcpy(&value, data.bytes().data() + i * sizeof value, sizeof value);
      return std::size_t{value};
    };
    for (std::size_t i = 1; i <= at(0); ++i) {
      const Bytes text = data.bytes().substr(at(i), at(i + 1) - at(i));
      texts += fmt::format("{}:{}", text.size(), text);
    }
    return texts;
  }

  std::optional<std::string> copy_;
  quant::FloatSource floats_;
  bool is_widened_;  // its bytes are not in memory before someone asks for them
  mutable std::once_flag has_wide_;
  mutable std::vector<float> wide_;
};

// The content of a field of the options, apart from subgraphs.
std::string content_of(const Record::Value& value) {
  if (const auto* bits = std::get_if<std::uint64_t>(&value)) return std::to_string(*bits);
  if (const auto* bytes = std::get_if<Bytes>(&value)) return fmt::format("{}:{}", bytes->size(), *bytes);
  std::string text;
  for (const Record& record : std::get<std::vector<Record>>(value)) {
    text += record.info().name;
    for (const Record::Field& field : record.fields())
      text += fmt::format(" {}={}", field.id, content_of(field.value));
  }
  return text;
}

// The quantization of a tensor as text; empty if it has none. The ranges that it was made from are left out.
std::string content_of(const Tensor& tensor) {
  if (!tensor.quantization) return {};
  const Quantization& quantization = *tensor.quantization;
  std::string text;
  // Tensors of scales replace the numbers, which may then be of any count.
  const auto type = static_cast<DetailsType>(quantization.details.type);
  const bool is_replaced = type == DetailsType::kBlockwise || type == DetailsType::kMultiAxis;
  for (std::size_t i = 0; !is_replaced && i < quantization.scale.size(); ++i)
    text += fmt::format(" {}:{}", quantization.scale[i], quantization.zero_point[i]);
  if (quantization.details.table) {
    for (const Record::Field& field : quantization.details.table->fields())
      text += fmt::format(" {}={}", field.id, content_of(field.value));
  }
  return text.empty() ? text : fmt::format("{}{}", quantization.dimension, text);
}

}  // namespace

std::map<std::string, std::uint64_t> TfliteFile::external() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const ExternalBuffer& buffer : model_.external_buffers)
    bytes[std::string(model_.external_buffer_groups[buffer.group].bytes("name"))] += buffer.length;
  return bytes;
}

std::vector<std::pair<std::string, std::int64_t>> TfliteFile::opsets() const {
  std::map<std::string, std::int64_t> versions;
  for (const OperatorCode& code : model_.operator_codes) {
    std::int64_t& version = versions[op_name(code)];
    version = std::max(version, std::int64_t{code.version});
  }
  return {versions.begin(), versions.end()};
}

std::vector<std::pair<std::string, std::string>> TfliteFile::metadata() const {
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const Metadata& entry : model_.metadata)
    metadata.emplace_back(entry.name, readable(model_.buffers[entry.buffer].data.bytes()));
  for (const std::string& name : archive_names(model_)) metadata.emplace_back("associated file " + name, "");
  return metadata;
}

void TfliteFile::describe_ports() const {
  const SubGraph& graph = model_.subgraphs[0];
  const auto describe = [&](const std::vector<std::int32_t>& tensors, std::vector<std::string> names,
                            std::vector<model::Port>& ports) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      ports.push_back(port_of(graph.tensors[static_cast<std::size_t>(tensors[i])], std::move(names[i])));
  };
  describe(graph.inputs, input_names(model_), inputs_);
  describe(graph.outputs, output_names(model_), outputs_);
}

std::span<const model::Port> TfliteFile::inputs() const {
  std::call_once(has_ports_, [this] { describe_ports(); });
  return inputs_;
}

std::span<const model::Port> TfliteFile::outputs() const {
  std::call_once(has_ports_, [this] { describe_ports(); });
  return outputs_;
}

std::vector<model::QuantizedPort> TfliteFile::quantized_ports() const {
  const SubGraph& graph = model_.subgraphs[0];
  std::vector<model::QuantizedPort> ports;
  const auto add = [&](const std::vector<std::int32_t>& tensors, const std::vector<std::string>& names,
                       bool is_input) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = graph.tensors[static_cast<std::size_t>(tensors[i])];
      using enum TensorType;
      const bool is_integer =
          tensor.type == kInt8 || tensor.type == kUint8 || tensor.type == kInt16 || tensor.type == kUint16;
      if (!is_integer || !tensor.quantization || tensor.quantization->details.type != 0 ||
          tensor.quantization->scale.size() != 1 ||
          std::abs(tensor.quantization->scale[0]) < std::numeric_limits<float>::min())
        continue;
      ports.push_back({names[i],
                       is_input,
                       element_type_of(tensor.type),
                       tensor.quantization->scale,
                       {static_cast<float>(tensor.quantization->zero_point[0])}});
    }
  };
  add(graph.inputs, input_names(model_), true);
  add(graph.outputs, output_names(model_), false);
  return ports;
}

// Indices come from an input directly, or through operators that leave their values alone.
std::map<std::string, std::int64_t> TfliteFile::table_rows() const {
  const model::GraphView& graph = graphs()[0];
  const auto input_of = [&](ValueId value) {
    constexpr int kMostSteps = 16;
    for (int step = 0;
         step < kMostSteps && !value.is_absent() && graph.values[value.value].input == model::kNone; ++step) {
      const std::size_t producer = graph.values[value.value].producer;
      if (producer == model::kNone) return model::kNone;
      const Builtin code{code_of(model_, model_.subgraphs[0].operators[producer])};
      const bool keeps_values = code == Builtin::kCast || code == Builtin::kReshape ||
                                code == Builtin::kSqueeze || code == Builtin::kExpandDims;
      if (!keeps_values || graph.nodes[producer].inputs.empty()) return model::kNone;
      value = graph.nodes[producer].inputs[0];
    }
    return value.is_absent() ? model::kNone : graph.values[value.value].input;
  };
  std::map<std::string, std::int64_t> rows;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Operator& op = model_.subgraphs[0].operators[i];
    const Builtin code{code_of(model_, op)};
    if ((code != Builtin::kGather && code != Builtin::kEmbeddingLookup) || op.inputs.size() < 2) continue;
    const std::size_t table = code == Builtin::kGather ? 0 : 1;
    const ValueId values = graph.nodes[i].inputs[table];
    const std::size_t input = input_of(graph.nodes[i].inputs[1 - table]);
    if (input == model::kNone || values.is_absent() || !graph.values[values.value].constant) continue;
    const auto& dims = graph.values[values.value].constant->dims;
    const std::int64_t axis =
        code == Builtin::kGather && op.options.table ? op.options.table->integer("axis") : 0;
    const std::int64_t place = axis < 0 ? axis + static_cast<std::int64_t>(dims.size()) : axis;
    if (place < 0 || place >= static_cast<std::int64_t>(dims.size())) continue;
    const std::int64_t size = dims[static_cast<std::size_t>(place)];
    const auto [entry, is_new] = rows.try_emplace(inputs()[input].name, size);
    if (!is_new) entry->second = std::min(entry->second, size);
  }
  return rows;
}

void TfliteFile::describe_graphs() const {
  for (std::size_t index = 0; index < model_.subgraphs.size(); ++index) {
    const SubGraph& source = model_.subgraphs[index];
    model::GraphView& graph = graphs_.emplace_back();
    if (index != 0)
      graph.path = source.name.empty() ? fmt::format("subgraph {}", index) : std::string(source.name);
    graph.is_body = index != 0;
    graph.values.resize(source.tensors.size());
    std::set<std::string_view> taken;
    for (std::size_t i = 0; i < source.tensors.size(); ++i) {
      std::string_view name = source.tensors[i].name;
      if (name.empty() || !taken.insert(name).second) name = keep(fmt::format("{}#{}", name, i));
      graph.values[i].name = name;
    }
    const auto value_of = [&](std::int32_t tensor) {
      return ValueId{index, tensor < 0 ? model::kNone : static_cast<std::size_t>(tensor)};
    };
    for (const std::int32_t output : source.outputs) graph.outputs.push_back(value_of(output));
    for (std::size_t i = 0; i < source.operators.size(); ++i) {
      const Operator& op = source.operators[i];
      const OperatorCode& code = model_.operator_codes[op.opcode_index];
      model::NodeView& node = graph.nodes.emplace_back();
      node.op = keep(op_name(code));
      if (static_cast<Builtin>(code.code) == Builtin::kCustom) node.domain = "custom";
      for (const std::int32_t input : op.inputs) {
        node.inputs.push_back(value_of(input));
        if (input < 0) continue;
        auto& users = graph.values[static_cast<std::size_t>(input)].users;
        if (users.empty() || users.back() != model::NodeId{index, i}) users.push_back({index, i});
      }
      for (const std::int32_t output : op.outputs) {
        node.outputs.push_back(value_of(output));
        if (output < 0) continue;
        graph.values[static_cast<std::size_t>(output)].producer = i;
        if (node.name.empty()) node.name = graph.values[static_cast<std::size_t>(output)].name;
      }
    }
    for (std::size_t i = 0; i < source.inputs.size(); ++i)
      graph.values[static_cast<std::size_t>(source.inputs[i])].input = i;
    for (std::size_t i = 0; i < source.tensors.size(); ++i) {
      const Tensor& tensor = source.tensors[i];
      model::ValueView& value = graph.values[i];
      // Values in another file cannot be read.
      const bool has_values = is_constant(model_, tensor) && tensor.external_buffer == 0 &&
                              element_type_of(tensor.type) != ElementType::kUndefined;
      if (!has_values || value.producer != model::kNone || value.input != model::kNone) continue;
      const auto& dims = shapes_.emplace_back(tensor.shape.begin(), tensor.shape.end());
      value.constant =
          model::ConstantView{element_type_of(tensor.type), dims, data_of(model_, tensor).size()};
    }
  }
}

std::span<const model::GraphView> TfliteFile::graphs() const {
  std::call_once(has_graphs_, [this] { describe_graphs(); });
  return graphs_;
}

std::map<std::string, std::uint64_t> TfliteFile::attributes(model::NodeId id) const {
  const Operator& op = model_.subgraphs[id.graph].operators[id.node];
  std::map<std::string, std::uint64_t> digests;
  for (const Union* options : {&op.options, &op.options_2}) {
    if (!options->table) continue;
    for (const Record::Field& field : options->table->fields()) {
      const FieldInfo& info = options->table->info().fields[field.id];
      if (info.kind != FieldKind::kSubgraph && info.kind != FieldKind::kSubgraphs)
        digests[info.name] = number_of(content_of(field.value));
    }
  }
  // A weight may keep its bytes and get other scales.
  std::string quantization;
  for (const auto* tensors : {&op.inputs, &op.outputs}) {
    for (std::size_t i = 0; i < tensors->size(); ++i) {
      if ((*tensors)[i] < 0) continue;
      const Tensor& tensor = model_.subgraphs[id.graph].tensors[static_cast<std::size_t>((*tensors)[i])];
      if (const std::string content = content_of(tensor); !content.empty())
        quantization += fmt::format("{}{}:{}", tensors == &op.inputs ? "<" : ">", i, content);
    }
  }
  if (!quantization.empty()) digests["quantization"] = number_of(quantization);
  if (!op.custom_options.empty())
    digests["custom_options"] = number_of(std::string(op.custom_options.bytes()));
  return digests;
}

std::unique_ptr<const model::ConstantValues> TfliteFile::read(ValueId constant) const {
  if (!value(constant).constant)
    throw Error(ErrorCode::kInternal, "is no constant", std::string(value(constant).name));
  return std::make_unique<const Values>(model_, model_.subgraphs[constant.graph].tensors[constant.value]);
}

std::unique_ptr<const TfliteFile> open_file(const std::filesystem::path& path) {
  return std::make_unique<const TfliteFile>(read_model(path));
}

void write_with_metadata(const TfliteFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output_path) {
  Model model = file.model();
  set_metadata(model, key, value);
  ThreadPool pool;
  ModelOutput output(model, output_path);
  output.write(pool, nullptr);
  if (!same_content(output.reopen(), model))
    throw Error(ErrorCode::kInternal, "the written file differs from the model", output_path.string());
  output.commit();
}

}  // namespace ounce::tflite
