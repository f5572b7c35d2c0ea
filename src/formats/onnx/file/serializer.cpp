#include "formats/onnx/file/serializer.h"

#include <cstdint>
#include <utility>
#include <variant>

#include "formats/onnx/file/tensor_reader.h"
#include "formats/protobuf/message_writer.h"

namespace ounce::onnx {

using protobuf::MessageWriter;

namespace {

constexpr std::uint64_t kExternalFrom = 1024;           // smaller tensors stay in the model file
constexpr std::uint64_t kPage = 4096, kCacheLine = 64;  // alignments in the data file
constexpr std::uint64_t kAlignToPageFrom = std::uint64_t{1} << 20;

class Serializer {
 public:
  Serializer(Placement placement, const std::string& location, bool rewrite_everything)
      : placement_(placement), location_(location), rewrite_everything_(rewrite_everything) {}

  Rope model(const Kept<ModelProto>& kept) {
    if (is_verbatim(kept, [this](const ModelProto& proto) { return moves(proto); }))
      return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.integer(ModelField::kIrVersion, kept->ir_version);
    out.message(ModelField::kGraph, graph(kept->graph));
    for (const auto& import : kept->opset_imports) out.message(ModelField::kOpsetImport, opset(import));
    for (const auto& entry : kept->metadata) out.message(ModelField::kMetadata, metadata(entry));
    for (const auto& info : kept->training) out.message(ModelField::kTrainingInfo, training(info));
    for (const auto& entry : kept->functions) out.message(ModelField::kFunction, function(entry));
    return out.finish();
  }

  Rope take_data() { return std::move(data_); }

 private:
  static Rope copy(Bytes bytes) {
    Rope rope;
    rope.append(bytes);
    return rope;
  }

  // --- Whether a message must be rewritten because tensors in it move to another file.

  template <class T, class Moves>
  bool is_verbatim(const Kept<T>& kept, Moves moves_inside) const {
    if (kept.is_edited() || rewrite_everything_) return false;
    return placement_ == Placement::kKeep || !moves_inside(*kept);
  }

  bool goes_external(const Tensor& tensor) const {
    return placement_ == Placement::kExternal && tensor.type != ElementType::kString &&
           tensor.byte_count() >= kExternalFrom;
  }
  bool moves_initializer(const Tensor& tensor) const { return goes_external(tensor) || tensor.is_external; }

  template <class Range, class Predicate>
  static bool any(const Range& range, Predicate predicate) {
    for (const auto& item : range) {
      if (predicate(item)) return true;
    }
    return false;
  }
  bool moves(const Attribute& attribute) const {
    // Runtimes do not support external data in attributes, so tensors there become inline.
    return any(attribute.tensors, [](const auto& tensor) { return tensor->is_external; }) ||
           any(attribute.sparse_tensors, [](const auto& sparse) { return sparse->is_external(); }) ||
           any(attribute.graphs, [this](const auto& graph) { return moves(**graph); });
  }
  bool moves(const Node& node) const {
    return any(node.attributes, [this](const auto& attribute) { return moves(*attribute); });
  }
  bool moves(const Graph& graph) const {
    return any(graph.initializers, [this](const auto& tensor) { return moves_initializer(*tensor); }) ||
           any(graph.sparse_initializers, [](const auto& sparse) { return sparse->is_external(); }) ||
           any(graph.nodes, [this](const auto& node) { return moves(*node); });
  }
  bool moves(const Function& function) const {
    return any(function.nodes, [this](const auto& node) { return moves(*node); }) ||
           any(function.attribute_defaults, [this](const auto& attribute) { return moves(*attribute); });
  }
  bool moves(const TrainingInfo& info) const {
    const auto graph_moves = [this](const auto& graph) { return moves(*graph); };
    return any(info.initialization, graph_moves) || any(info.algorithm, graph_moves);
  }
  bool moves(const ModelProto& proto) const {
    return moves(*proto.graph) ||
           any(proto.functions, [this](const auto& function) { return moves(*function); }) ||
           any(proto.training, [this](const auto& info) { return moves(*info); });
  }

  // --- Messages, each with its fields in ascending order.

  Rope graph(const Kept<Graph>& kept) {
    if (is_verbatim(kept, [this](const Graph& inner) { return moves(inner); }))
      return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    for (const auto& entry : kept->nodes) out.message(GraphField::kNode, node(entry));
    out.text(GraphField::kName, kept->name);
    for (const auto& entry : kept->initializers) out.message(GraphField::kInitializer, initializer(entry));
    for (const auto& entry : kept->inputs) out.message(GraphField::kInput, value_info(entry));
    for (const auto& entry : kept->outputs) out.message(GraphField::kOutput, value_info(entry));
    for (const auto& entry : kept->value_infos) out.message(GraphField::kValueInfo, value_info(entry));
    for (const auto& entry : kept->sparse_initializers)
      out.message(GraphField::kSparseInitializer, sparse_tensor(entry));
    return out.finish();
  }

  Rope node(const Kept<Node>& kept) {
    if (is_verbatim(kept, [this](const Node& inner) { return moves(inner); })) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    for (const Bytes name : kept->inputs) out.text(NodeField::kInput, present(name));
    for (const Bytes name : kept->outputs) out.text(NodeField::kOutput, present(name));
    out.text(NodeField::kName, kept->name);
    out.text(NodeField::kOpType, kept->op_type());
    for (const auto& entry : kept->attributes) out.message(NodeField::kAttribute, attribute(entry));
    out.text(NodeField::kDomain, kept->domain());
    return out.finish();
  }

  Rope attribute(const Kept<Attribute>& kept) {
    if (is_verbatim(kept, [this](const Attribute& inner) { return moves(inner); }))
      return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(AttributeField::kName, kept->name);
    const bool is_list = kept->is_list;
    for (const auto& entry : kept->tensors) {
      out.message(is_list ? AttributeField::kTensors : AttributeField::kTensor, inline_tensor(entry));
    }
    for (const auto& entry : kept->graphs) {
      out.message(is_list ? AttributeField::kGraphs : AttributeField::kGraph, graph(*entry));
    }
    for (const auto& entry : kept->sparse_tensors) {
      out.message(is_list ? AttributeField::kSparseTensors : AttributeField::kSparseTensor,
                  sparse_tensor(entry));
    }
    return out.finish();
  }

  Rope initializer(const Kept<Tensor>& kept) {
    const bool is_copied = !kept.is_edited() && (placement_ == Placement::kKeep || !moves_initializer(*kept));
    if (is_copied) return copy(kept.file_bytes());
    return tensor(*kept, goes_external(*kept));
  }

  // A tensor in a place where runtimes do not support external data.
  Rope inline_tensor(const Kept<Tensor>& kept) {
    const bool is_copied = !kept.is_edited() && (placement_ == Placement::kKeep || !kept->is_external);
    return is_copied ? copy(kept.file_bytes()) : tensor(*kept, false);
  }

  Rope sparse_tensor(const Kept<SparseTensor>& kept) {
    const bool is_copied = !kept.is_edited() && (placement_ == Placement::kKeep || !kept->is_external());
    if (is_copied) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.message(SparseTensorField::kValues, inline_tensor(kept->values));
    out.message(SparseTensorField::kIndices, inline_tensor(kept->indices));
    for (const std::int64_t dim : kept->dims) out.integer(SparseTensorField::kDims, dim);
    return out.finish();
  }

  Rope tensor(const Tensor& tensor, bool to_data_file) {
    CarriedFields carried = tensor.carried;
    const bool is_text = tensor.type == ElementType::kString;  // the only type without a raw layout
    if (is_text) append_string_fields(tensor, carried);
    MessageWriter out(carried);
    for (const std::int64_t dim : tensor.dims) out.integer(TensorField::kDims, dim);
    out.integer(TensorField::kDataType, static_cast<std::int64_t>(tensor.type));
    out.text(TensorField::kName, tensor.name);
    if (is_text) return out.finish();
    Rope values = raw_values(tensor);
    if (to_data_file) {
      const std::uint64_t size = values.size();
      const std::uint64_t offset = add_to_data_file(std::move(values));
      for (const auto& [key, value] : {std::pair<Bytes, std::string>{"location", location_},
                                       {"offset", std::to_string(offset)},
                                       {"length", std::to_string(size)}}) {
        out.message(TensorField::kExternalData, entry(key, value));
      }
      out.integer(TensorField::kDataLocation, 1);
    } else {
      out.message(TensorField::kRawData, std::move(values));
    }
    return out.finish();
  }

  static Rope raw_values(const Tensor& tensor) {
    Rope rope;
    if (const auto* borrowed = std::get_if<Borrowed>(&tensor.data)) {
      rope.append(borrowed->bytes);
    } else if (const auto* owned = std::get_if<Owned>(&tensor.data)) {
      rope.append(Bytes(*owned->bytes));
    } else if (const auto* computed = std::get_if<Computed>(&tensor.data)) {
      rope.append(*computed);
    } else {
      rope.append(decode_to_raw(tensor));
    }
    return rope;
  }

  std::uint64_t add_to_data_file(Rope values) {
    const std::uint64_t alignment = values.size() >= kAlignToPageFrom ? kPage : kCacheLine;
    const std::uint64_t offset = (data_.size() + alignment - 1) / alignment * alignment;
    const std::string padding(offset - data_.size(), '\0');
    data_.append(Bytes(padding));
    data_.append(std::move(values));
    return offset;
  }

  static Rope entry(Bytes key, Bytes value) {
    MessageWriter out({});
    out.text(EntryField::kKey, key);
    out.text(EntryField::kValue, value);
    return out.finish();
  }

  Rope value_info(const Kept<ValueInfo>& kept) const {
    if (is_verbatim(kept, never<ValueInfo>)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(ValueInfoField::kName, kept->name);
    out.text(ValueInfoField::kType, kept->type);
    return out.finish();
  }

  Rope opset(const Kept<OpsetImport>& kept) const {
    if (is_verbatim(kept, never<OpsetImport>)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(OpsetField::kDomain, kept->domain);
    out.integer(OpsetField::kVersion, kept->version);
    return out.finish();
  }

  Rope metadata(const Kept<MetadataEntry>& kept) const {
    if (is_verbatim(kept, never<MetadataEntry>)) return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(EntryField::kKey, kept->key);
    out.text(EntryField::kValue, kept->value);
    return out.finish();
  }

  Rope training(const Kept<TrainingInfo>& kept) {
    if (is_verbatim(kept, [this](const TrainingInfo& inner) { return moves(inner); }))
      return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    for (const auto& entry : kept->initialization) out.message(TrainingField::kInitialization, graph(entry));
    for (const auto& entry : kept->algorithm) out.message(TrainingField::kAlgorithm, graph(entry));
    return out.finish();
  }

  Rope function(const Kept<Function>& kept) {
    if (is_verbatim(kept, [this](const Function& inner) { return moves(inner); }))
      return copy(kept.file_bytes());
    MessageWriter out(kept->carried);
    out.text(FunctionField::kName, kept->name);
    for (const Bytes name : kept->inputs) out.text(FunctionField::kInput, present(name));
    for (const Bytes name : kept->outputs) out.text(FunctionField::kOutput, present(name));
    for (const Bytes name : kept->attributes) out.text(FunctionField::kAttribute, present(name));
    for (const auto& entry : kept->nodes) out.message(FunctionField::kNode, node(entry));
    for (const auto& import : kept->opset_imports) out.message(FunctionField::kOpsetImport, opset(import));
    out.text(FunctionField::kDomain, kept->domain);
    for (const auto& entry : kept->attribute_defaults)
      out.message(FunctionField::kAttributeDefault, attribute(entry));
    out.text(FunctionField::kOverload, kept->overload);
    return out.finish();
  }

  // In a list of names, an empty name means an absent value and is written.
  static Bytes present(Bytes name) { return name.data() == nullptr ? Bytes("") : name; }

  template <class T>
  static bool never(const T&) {
    return false;
  }

  Placement placement_;
  const std::string& location_;
  bool rewrite_everything_;
  Rope data_;
};

}  // namespace

Serialized serialize(const Model& model, Placement placement, const std::string& data_location,
                     bool rewrite_everything) {
  Serializer serializer(placement, data_location, rewrite_everything);
  Serialized result;
  result.model = serializer.model(model.proto);
  result.data = serializer.take_data();
  return result;
}

}  // namespace ounce::onnx
