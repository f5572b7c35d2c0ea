#include "formats/onnx/file/reader.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <protozero/pbf_message.hpp>
#include <protozero/pbf_writer.hpp>

#include "formats/onnx/file/schema.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/file/types.h"

namespace ounce::onnx {
namespace {

// Limit of protozero's length prefixes; runtimes stop at 2 GiB already.
constexpr std::uint64_t kLargestFile = 0xffffffffU;

class Reader {
 public:
  Reader(Model& model, const Origin& origin, std::optional<std::filesystem::path> folder)
      : origin_(origin), tensors_(model, origin, std::move(folder)) {}

  Kept<ModelProto> read_model_proto(Bytes message) {
    ModelProto proto;
    Bytes graph;
    Cursor cursor(message, origin_, "ModelProto");
    while (cursor.next()) {
      switch (cursor.field<ModelField>()) {
        case ModelField::kIrVersion: proto.ir_version = cursor.integer(); break;
        case ModelField::kGraph: cursor.once(graph); break;
        case ModelField::kOpsetImport: proto.opset_imports.push_back(read_opset(cursor.bytes())); break;
        case ModelField::kMetadata: proto.metadata.push_back(read_metadata(cursor.bytes())); break;
        case ModelField::kTrainingInfo: proto.training.push_back(read_training(cursor.bytes())); break;
        case ModelField::kFunction: proto.functions.push_back(read_function(cursor.bytes())); break;
        default: cursor.carry(proto.carried);
      }
    }
    if (graph.data() == nullptr) {
      throw Error(ErrorCode::kBadInput, "not an ONNX model: it has no graph", origin_.name);
    }
    proto.graph = read_graph(graph, 0);
    return {std::move(proto), message};
  }

 private:
  Kept<Graph> read_graph(Bytes message, int depth) {
    Graph graph;
    Cursor cursor(message, origin_, "GraphProto");
    if (depth > kMaxNesting) cursor.fail(fmt::format("graphs are nested more than {} deep", kMaxNesting));
    while (cursor.next()) {
      switch (cursor.field<GraphField>()) {
        case GraphField::kNode: graph.nodes.push_back(read_node(cursor.bytes(), depth)); break;
        case GraphField::kName: cursor.once_name(graph.name); break;
        case GraphField::kInitializer: graph.initializers.push_back(tensors_.read(cursor.bytes())); break;
        case GraphField::kInput: graph.inputs.push_back(read_value_info(cursor.bytes())); break;
        case GraphField::kOutput: graph.outputs.push_back(read_value_info(cursor.bytes())); break;
        case GraphField::kValueInfo: graph.value_infos.push_back(read_value_info(cursor.bytes())); break;
        case GraphField::kSparseInitializer:
          graph.sparse_initializers.push_back(tensors_.read_sparse(cursor.bytes()));
          break;
        default: cursor.carry(graph.carried);
      }
    }
    return {std::move(graph), message};
  }

  Kept<Node> read_node(Bytes message, int depth) {
    Node node;
    Bytes op_type, domain;
    Cursor cursor(message, origin_, "NodeProto");
    while (cursor.next()) {
      switch (cursor.field<NodeField>()) {
        case NodeField::kInput: node.inputs.push_back(cursor.name()); break;
        case NodeField::kOutput: node.outputs.push_back(cursor.name()); break;
        case NodeField::kName: cursor.once_name(node.name); break;
        case NodeField::kOpType: cursor.once_name(op_type); break;
        case NodeField::kDomain: cursor.once_name(domain); break;
        case NodeField::kAttribute: node.attributes.push_back(read_attribute(cursor.bytes(), depth)); break;
        default: cursor.carry(node.carried);
      }
    }
    node.set_op(domain, op_type);
    return {std::move(node), message};
  }

  Kept<Attribute> read_attribute(Bytes message, int depth) {
    Attribute attribute;
    Cursor cursor(message, origin_, "AttributeProto");
    const auto add_graph = [&] { attribute.graphs.emplace_back(read_graph(cursor.bytes(), depth + 1)); };
    bool has_tensor = false, has_graph = false, has_sparse_tensor = false;
    const auto single = [&](bool& seen) {
      if (seen) cursor.fail(fmt::format("field {} appears twice", cursor.number()));
      seen = true;
    };
    while (cursor.next()) {
      switch (cursor.field<AttributeField>()) {
        case AttributeField::kName: cursor.once_name(attribute.name); break;
        case AttributeField::kTensor:
          single(has_tensor);
          attribute.tensors.push_back(tensors_.read(cursor.bytes()));
          break;
        case AttributeField::kGraph:
          single(has_graph);
          add_graph();
          break;
        case AttributeField::kTensors:
          attribute.is_list = true;
          attribute.tensors.push_back(tensors_.read(cursor.bytes()));
          break;
        case AttributeField::kGraphs:
          attribute.is_list = true;
          add_graph();
          break;
        case AttributeField::kSparseTensor:
          single(has_sparse_tensor);
          attribute.sparse_tensors.push_back(tensors_.read_sparse(cursor.bytes()));
          break;
        case AttributeField::kSparseTensors:
          attribute.is_list = true;
          attribute.sparse_tensors.push_back(tensors_.read_sparse(cursor.bytes()));
          break;
        default: check_scalar(cursor); cursor.carry(attribute.carried);
      }
    }
    if (attribute.is_list && (has_tensor || has_graph || has_sparse_tensor)) {
      cursor.fail("an attribute has both one value and a list");
    }
    return {std::move(attribute), message};
  }

  // Checks the encoding of fields that attributes.h decodes later, with a cursor of its own.
  static void check_scalar(Cursor cursor) {
    switch (cursor.field<AttributeField>()) {
      case AttributeField::kInt:
      case AttributeField::kType: cursor.integer(); break;
      case AttributeField::kFloat: cursor.expect(protozero::pbf_wire_type::fixed32); break;
      case AttributeField::kString:
      case AttributeField::kStrings:
      case AttributeField::kReference: cursor.bytes(); break;
      case AttributeField::kFloats: cursor.entries(sizeof(float)); break;
      case AttributeField::kInts: cursor.entries(0); break;
      default: break;
    }
  }

  Kept<ValueInfo> read_value_info(Bytes message) {
    ValueInfo info;
    Cursor cursor(message, origin_, "ValueInfoProto");
    while (cursor.next()) {
      switch (cursor.field<ValueInfoField>()) {
        case ValueInfoField::kName: cursor.once_name(info.name); break;
        case ValueInfoField::kType:
          cursor.once(info.type);
          check_type(info.type, origin_);
          break;
        default: cursor.carry(info.carried);
      }
    }
    return {std::move(info), message};
  }

  Kept<OpsetImport> read_opset(Bytes message) {
    OpsetImport import;
    Cursor cursor(message, origin_, "OperatorSetIdProto");
    while (cursor.next()) {
      switch (cursor.field<OpsetField>()) {
        case OpsetField::kDomain: cursor.once_name(import.domain); break;
        case OpsetField::kVersion: import.version = cursor.integer(); break;
        default: cursor.carry(import.carried);
      }
    }
    return {std::move(import), message};
  }

  Kept<MetadataEntry> read_metadata(Bytes message) {
    MetadataEntry entry;
    Cursor cursor(message, origin_, "StringStringEntryProto");
    while (cursor.next()) {
      switch (cursor.field<EntryField>()) {
        case EntryField::kKey: cursor.once(entry.key); break;
        case EntryField::kValue: cursor.once(entry.value); break;
        default: cursor.carry(entry.carried);
      }
    }
    return {std::move(entry), message};
  }

  Kept<TrainingInfo> read_training(Bytes message) {
    TrainingInfo training;
    Cursor cursor(message, origin_, "TrainingInfoProto");
    while (cursor.next()) {
      switch (cursor.field<TrainingField>()) {
        case TrainingField::kInitialization:
          training.initialization.push_back(read_graph(cursor.bytes(), 1));
          break;
        case TrainingField::kAlgorithm: training.algorithm.push_back(read_graph(cursor.bytes(), 1)); break;
        default: cursor.carry(training.carried);
      }
    }
    if (training.initialization.size() > 1 || training.algorithm.size() > 1)
      cursor.fail("a graph appears twice");
    return {std::move(training), message};
  }

  Kept<Function> read_function(Bytes message) {
    Function function;
    Cursor cursor(message, origin_, "FunctionProto");
    while (cursor.next()) {
      switch (cursor.field<FunctionField>()) {
        case FunctionField::kName: cursor.once_name(function.name); break;
        case FunctionField::kDomain: cursor.once_name(function.domain); break;
        case FunctionField::kOverload: cursor.once_name(function.overload); break;
        case FunctionField::kInput: function.inputs.push_back(cursor.name()); break;
        case FunctionField::kOutput: function.outputs.push_back(cursor.name()); break;
        case FunctionField::kAttribute: function.attributes.push_back(cursor.name()); break;
        case FunctionField::kAttributeDefault:
          function.attribute_defaults.push_back(read_attribute(cursor.bytes(), 0));
          break;
        case FunctionField::kNode: function.nodes.push_back(read_node(cursor.bytes(), 0)); break;
        case FunctionField::kOpsetImport: function.opset_imports.push_back(read_opset(cursor.bytes())); break;
        default: cursor.carry(function.carried);
      }
    }
    return {std::move(function), message};
  }

  const Origin& origin_;
  TensorReader tensors_;
};

void read_into(Model& model, Bytes bytes, const std::string& name,
               std::optional<std::filesystem::path> folder) {
  if (bytes.empty()) throw Error(ErrorCode::kBadInput, "the file is empty", name);
  if (bytes.size() > kLargestFile) {
    throw Error(ErrorCode::kBadInput, "ONNX files are limited to 2 GiB; larger models need external data",
                name);
  }
  const Origin origin{bytes, name};
  model.proto = Reader(model, origin, std::move(folder)).read_model_proto(bytes);
}

}  // namespace

Model read_model(const std::filesystem::path& path) {
  return read_model(path, {.folder = path.parent_path(), .name = path.string(), .external_data_paths = {}});
}

Model read_model(const std::filesystem::path& path, const ReadOptions& options) {
  Model model;
  model.file = io::MappedFile::open(path);
  for (const auto& [location, stand_in] : options.external_data_paths) {
    model.external_files.emplace(location, io::MappedFile::open(stand_in));
  }
  read_into(model, model.file.bytes(), options.name, options.folder);
  return model;
}

Model read_model_from_memory(std::string bytes, std::string name) {
  Model model;
  read_into(model, model.intern(std::move(bytes)), name, std::nullopt);
  return model;
}

namespace {

constexpr auto kMetadataTag = static_cast<protozero::pbf_tag_type>(ModelField::kMetadata);

// The fields that remain if the metadata entries with is_left_out(entry) are removed.
template <class IsLeftOut>
std::vector<Bytes> kept_fields(Bytes file, const IsLeftOut& is_left_out) {
  std::vector<Bytes> kept;
  protozero::pbf_reader reader(file.data(), file.size());
  for (std::size_t begin = 0; reader.next();) {
    protozero::data_view entry;
    const bool is_metadata =
        reader.tag() == kMetadataTag && reader.wire_type() == protozero::pbf_wire_type::length_delimited;
    if (is_metadata) {
      entry = reader.get_view();
    } else {
      reader.skip();
    }
    const std::size_t end = file.size() - reader.length();
    if (!is_metadata || !is_left_out(entry)) kept.push_back(file.substr(begin, end - begin));
    begin = end;
  }
  return kept;
}

}  // namespace

std::vector<Bytes> fields_without_metadata(Bytes file) {
  return kept_fields(file, [](protozero::data_view) { return true; });
}

std::vector<Bytes> fields_without_entry(Bytes file, std::string_view key) {
  return kept_fields(file, [&](protozero::data_view view) {
    protozero::pbf_message<EntryField> entry(view);
    Bytes found;
    while (entry.next(EntryField::kKey, protozero::pbf_wire_type::length_delimited)) {
      const protozero::data_view name = entry.get_view();
      found = {name.data(), name.size()};
    }
    return found == key;
  });
}

std::string metadata_field(std::string_view key, std::string_view value) {
  std::string entry, field;
  protozero::pbf_writer inner(entry);
  inner.add_string(static_cast<protozero::pbf_tag_type>(EntryField::kKey), key.data(), key.size());
  inner.add_string(static_cast<protozero::pbf_tag_type>(EntryField::kValue), value.data(), value.size());
  protozero::pbf_writer(field).add_message(kMetadataTag, entry);
  return field;
}

void set_metadata(Model& model, const std::string& key, const std::string& value) {
  auto& metadata = model.proto.edit().metadata;
  std::erase_if(metadata, [&](const auto& entry) { return entry->key == key; });
  MetadataEntry entry;
  entry.key = model.intern(key);
  entry.value = model.intern(value);
  metadata.emplace_back(entry);
}

}  // namespace ounce::onnx
