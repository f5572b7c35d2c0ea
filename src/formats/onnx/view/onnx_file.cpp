#include "formats/onnx/view/onnx_file.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/digest.h"
#include "base/json_text.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/validate.h"
#include "io/output_file.h"

namespace ounce::onnx {
namespace {

using Json = nlohmann::ordered_json;
using model::ValueId;

constexpr std::uint32_t kProducerName = 2, kProducerVersion = 3;  // carried fields of the model

std::string carried_text(const CarriedFields& fields, std::uint32_t number) {
  for (const auto& field : fields) {
    if (field.number != number) continue;
    const Origin origin{field.bytes, "model"};
    Cursor cursor(field.bytes, origin, "ModelProto");
    if (cursor.next() && cursor.is_length_delimited()) return std::string(cursor.bytes());
  }
  return {};
}

std::vector<float> numbers(const Json& json) {
  std::vector<float> values;
  if (!json.is_array() || json.empty() || json.size() > 65536) return {};
  for (const Json& value : json) {
    if (!value.is_number()) return {};
    values.push_back(value.get<float>());
  }
  return values;
}

void read_side(const Json& json, bool is_input, std::vector<model::QuantizedPort>& ports) {
  const auto refuse = [] {
    throw Error(ErrorCode::kBadInput, "is invalid", std::string("metadata '") + kPortsKey + "'");
  };
  if (!json.is_object()) refuse();
  for (const auto& [name, entry] : json.items()) {
    if (!entry.is_object() || !entry.contains("scale") || !entry.contains("zero_point") ||
        !entry.contains("type"))
      refuse();
    model::QuantizedPort port{name, is_input, ElementType::kUint8, numbers(entry["scale"]),
                              numbers(entry["zero_point"])};
    const std::string type = entry["type"].is_string() ? entry["type"].get<std::string>() : "";
    using enum ElementType;
    for (const auto known : {kUint8, kInt8, kUint16, kInt16, kFloat16, kBfloat16}) {
      if (type == name_of(known)) port.type = known;
    }
    const bool can_divide = std::all_of(port.scales.begin(), port.scales.end(), [](float scale) {
      return std::isfinite(scale) && std::abs(scale) >= std::numeric_limits<float>::min();
    });
    if (!can_divide || type != name_of(port.type) || port.scales.empty() ||
        port.scales.size() != port.zeros.size())
      refuse();
    ports.push_back(std::move(port));
  }
}

// Each text is preceded by its length, so that different inputs cannot give the same digest text.
void add_text(std::string& text, Bytes part) { text += fmt::format("{}:{}", part.size(), part); }

std::string shape_of(const Tensor& tensor) {
  std::string text = fmt::format("constant {}", static_cast<int>(tensor.type));
  for (const std::int64_t dim : tensor.dims) text += fmt::format(",{}", dim);
  return text;
}

std::uint64_t attribute_digest(const Node& node, const Attribute& attribute) {
  constexpr std::uint32_t kDocString = 13, kType = 20;  // old files have no type
  CarriedFields fields;
  for (const CarriedField& field : attribute.carried) {
    if (field.number != kDocString && field.number != kType) fields.push_back(field);
  }
  const bool has_values = node.op() != Op::kConstant;
  std::string text;
  for (const auto& tensor : attribute.tensors) {
    add_text(text, shape_of(*tensor));
    if (!has_values) continue;
    if (tensor->type == ElementType::kString) {
      append_string_fields(*tensor, fields);
    } else {
      add_text(text, RawValues(*tensor).bytes());
    }
  }
  // The order of fields depends on the writer.
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto& a, const auto& b) { return a.number < b.number; });
  for (const CarriedField& field : fields) add_text(text, field.bytes);
  text += fmt::format("{} graphs", attribute.graphs.size());
  const std::string digits = hex(digest_of(text));
  return std::stoull(digits.substr(0, 16), nullptr, 16);
}

model::Port describe_port(const ValueInfo& value) {
  const ValueType type = read_type(value.type);
  model::Port port;
  port.name = std::string(value.name);
  port.text = describe(type);
  if (type.kind == "tensor") port.type = type.element;
  for (const Dimension& dimension : type.shape)
    port.shape.push_back({dimension.value, std::string(dimension.parameter)});
  return port;
}

class Strings final : public model::ConstantValues {
 public:
  explicit Strings(const Tensor& tensor) {
    CarriedFields fields;
    append_string_fields(tensor, fields);
    for (const CarriedField& field : fields) add_text(text_, field.bytes);
  }
  std::string_view bytes() const override { return text_; }
  const quant::FloatSource& floats() const override { return none_; }

 private:
  std::string text_;
  quant::FloatSource none_{{}, quant::FloatType::kFloat32};
};

// Numbers the values of a body: inputs first, then initializers, then node outputs, in file order.
class Numbering {
 public:
  explicit Numbering(const graph::Index& index) : numbers_(index.bodies().size()) {
    for (std::size_t i = 0; i < index.bodies().size(); ++i) {
      const graph::Body& body = index.bodies()[i];
      if (body.graph != nullptr) {
        for (const auto& input : body.graph->inputs) add(i, input->name);
        for (const auto& tensor : body.graph->initializers) add(i, tensor->name);
        for (const auto& sparse : body.graph->sparse_initializers) add(i, sparse->values->name);
      } else {
        for (const Bytes name : body.function->inputs) add(i, name);
      }
      for (const auto& node : body.nodes()) {
        for (const Bytes name : node->outputs) add(i, name);
      }
    }
  }

  ValueId find(const graph::Index& index, std::size_t body, Bytes name) const {
    const graph::Index::Found found = name.empty() ? graph::Index::Found{} : index.find(body, name);
    if (found.value == nullptr) return {body, model::kNone};
    const auto number = numbers_[found.body].find(name);
    return {found.body, number == numbers_[found.body].end() ? model::kNone : number->second};
  }
  std::vector<std::string_view> names(std::size_t body) const {
    std::vector<std::string_view> names(numbers_[body].size());
    for (const auto& [name, number] : numbers_[body]) names[number] = name;
    return names;
  }

 private:
  void add(std::size_t body, Bytes name) {
    if (!name.empty()) numbers_[body].try_emplace(name, numbers_[body].size());
  }

  std::vector<std::unordered_map<Bytes, std::size_t>> numbers_;
};

}  // namespace

std::vector<model::QuantizedPort> quantized_ports_of(const Model& model) {
  std::vector<model::QuantizedPort> ports;
  for (const auto& entry : model.proto->metadata) {
    if (entry->key != kPortsKey) continue;
    const Json json = parse_json_or_nothing<Json>(entry->value);
    const bool is_whole = json.is_object() && json.contains("inputs") && json.contains("outputs");
    read_side(is_whole ? json["inputs"] : Json(), true, ports);
    read_side(is_whole ? json["outputs"] : Json(), false, ports);
  }
  return ports;
}

TensorSource::TensorSource(const Model& model, const Tensor& tensor)
    : values_(tensor), floats_(values_.bytes(), quant::float_type_of(tensor.type), [&model](Bytes read) {
        model.release(read);
      }) {}

const graph::Index& OnnxFile::index() const {
  std::call_once(has_index_, [this] { index_.emplace(model_); });
  return *index_;
}

void OnnxFile::validate() const {
  graph::Index index = graph::validate(model_);
  std::call_once(has_index_, [&] { index_.emplace(std::move(index)); });
}

std::vector<std::filesystem::path> OnnxFile::files() const {
  std::vector<std::filesystem::path> files = {path()};
  for (const auto& [location, file] : model_.external_files) files.push_back(file.path());
  return files;
}

std::map<std::string, std::uint64_t> OnnxFile::external() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const auto& [location, file] : model_.external_files) bytes[location] = file.bytes().size();
  return bytes;
}

std::vector<std::pair<std::string, std::int64_t>> OnnxFile::opsets() const {
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  for (const auto& import : model_.proto->opset_imports)
    opsets.emplace_back(import->domain.empty() ? "ai.onnx" : std::string(import->domain), import->version);
  return opsets;
}

std::string OnnxFile::producer() const {
  const std::string name = carried_text(model_.proto->carried, kProducerName),
                    version = carried_text(model_.proto->carried, kProducerVersion);
  return version.empty() ? name : name + " " + version;
}

std::vector<std::pair<std::string, std::string>> metadata_of(const Model& model) {
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const auto& entry : model.proto->metadata) metadata.emplace_back(entry->key, entry->value);
  return metadata;
}

void OnnxFile::describe_ports() const {
  const Graph& graph = *model_.proto->graph;
  std::set<std::string_view> given;
  for (const auto& tensor : graph.initializers) given.insert(tensor->name);
  for (const auto& sparse : graph.sparse_initializers) given.insert(sparse->values->name);
  for (const auto& input : graph.inputs) {
    if (!given.contains(input->name)) inputs_.push_back(describe_port(*input));
  }
  for (const auto& output : graph.outputs) outputs_.push_back(describe_port(*output));
}

std::span<const model::Port> OnnxFile::inputs() const {
  std::call_once(has_ports_, [this] { describe_ports(); });
  return inputs_;
}

std::span<const model::Port> OnnxFile::outputs() const {
  std::call_once(has_ports_, [this] { describe_ports(); });
  return outputs_;
}

std::map<std::string, std::int64_t> OnnxFile::table_rows() const {
  return graph::index_bounds(model_, index());
}

const Tensor* OnnxFile::tensor_of(std::size_t body, Bytes name) const {
  const graph::Body& home = index().bodies()[body];
  const graph::Value& value = home.values.at(name);
  if (value.initializer != graph::kNone) return &*home.graph->initializers[value.initializer];
  return value.producer == graph::kNone ? nullptr : graph::constant_tensor(*home.nodes()[value.producer]);
}

void OnnxFile::describe_graphs() const {
  const Numbering numbering(index());
  for (std::size_t i = 0; i < index().bodies().size(); ++i) {
    const graph::Body& body = index().bodies()[i];
    model::GraphView& graph = graphs_.emplace_back();
    graph.path = body.path;
    graph.is_function = body.function != nullptr;
    graph.is_body = body.parent != graph::kNone;
    for (const std::string_view name : numbering.names(i)) {
      const graph::Value& value = body.values.at(name);
      model::ValueView& view = graph.values.emplace_back();
      view.name = name;
      view.producer = value.producer;
      if (const Tensor* tensor = tensor_of(i, name); tensor != nullptr)
        view.constant = model::ConstantView{tensor->type, tensor->dims, tensor->byte_count()};
      for (const graph::Use& use : value.uses) view.users.push_back({use.body, use.node});
    }
    for (const auto& node : body.nodes()) {
      model::NodeView& view = graph.nodes.emplace_back();
      view.op = node->op_type();
      view.domain = is_default_domain(node->domain()) ? Bytes() : node->domain();
      view.name = node->name;
      for (const Bytes name : node->inputs) view.inputs.push_back(numbering.find(index(), i, name));
      for (const Bytes name : node->outputs) view.outputs.push_back(numbering.find(index(), i, name));
    }
    if (body.graph == nullptr) continue;
    for (std::size_t k = 0; k < body.graph->inputs.size(); ++k)
      graph.values[numbering.find(index(), i, body.graph->inputs[k]->name).value].input = k;
    for (const auto& output : body.graph->outputs)
      graph.outputs.push_back(numbering.find(index(), i, output->name));
  }
}

std::span<const model::GraphView> OnnxFile::graphs() const {
  std::call_once(has_graphs_, [this] { describe_graphs(); });
  return graphs_;
}

std::map<std::string, std::uint64_t> OnnxFile::attributes(model::NodeId id) const {
  const Node& node = *index().bodies()[id.graph].nodes()[id.node];
  std::map<std::string, std::uint64_t> digests;
  for (const auto& attribute : node.attributes)
    digests[std::string(attribute->name)] = attribute_digest(node, *attribute);
  return digests;
}

std::unique_ptr<const model::ConstantValues> OnnxFile::read(ValueId constant) const {
  const Tensor* tensor = tensor_of(constant.graph, value(constant).name);
  if (tensor == nullptr)
    throw Error(ErrorCode::kInternal, "is not a constant", std::string(value(constant).name));
  if (tensor->type == ElementType::kString) return std::make_unique<const Strings>(*tensor);
  return std::make_unique<const TensorSource>(model_, *tensor);
}

std::unique_ptr<const OnnxFile> open_file(const std::filesystem::path& path) {
  return std::make_unique<const OnnxFile>(read_model(path));
}

const OnnxFile& as_onnx(const model::ModelFile& file) {
  const auto* onnx = dynamic_cast<const OnnxFile*>(&file);
  if (onnx != nullptr) return *onnx;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("is a {} model, but this operation supports only ONNX models", name_of(file.kind())),
      file.path().string());
}

void write_with_metadata(const OnnxFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output_path) {
  Model model = clone(file.model());
  std::string content = key + value;  // the same name of a data file has the same content
  content += hex(digest_of(model.file.bytes()));
  for (const auto& [location, external] : model.external_files) content += hex(digest_of(external.bytes()));
  set_metadata(model, key, value);
  ThreadPool pool;
  ModelOutput output(model, output_path, {.data_tag = hex(digest_of(content)).substr(0, 16)});
  output.write(pool, nullptr);
  graph::validate(output.reopen());
  output.commit();
}

void replace_metadata(const std::filesystem::path& model, const std::string& key, const std::string& value) {
  const io::MappedFile file = io::MappedFile::open(model);
  std::vector<Bytes> fields = fields_without_entry(file.bytes(), key);
  const std::string field = metadata_field(key, value);
  fields.push_back(field);
  std::uint64_t size = 0;
  for (const Bytes& bytes : fields) size += bytes.size();
  io::OutputFile output(model, size);
  std::uint64_t at = 0;
  for (const Bytes& bytes : fields) {
    output.write(at, bytes);
    at += bytes.size();
  }
  output.commit();
}

}  // namespace ounce::onnx
