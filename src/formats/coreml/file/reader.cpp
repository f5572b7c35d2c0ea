#include "formats/coreml/file/reader.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <functional>
#include <map>
#include <utility>

#include "formats/coreml/file/blobs.h"
#include "formats/coreml/file/package.h"
#include "formats/coreml/file/values.h"

namespace ounce::coreml {
namespace {

using protobuf::Cursor;
using protobuf::Origin;

constexpr std::uint64_t kLargestFile = 0xffffffffU;  // largest length in protobuf
constexpr std::size_t kMostWeightFiles = 1000;

using OpenWeights = std::function<WeightFile(const std::string& name)>;

class Reader {
 public:
  Reader(Model& model, const Origin& origin, OpenWeights open)
      : model_(model), origin_(origin), open_(std::move(open)) {}

  Kept<ModelProto> read_model_proto(Bytes message) {
    ModelProto proto;
    Cursor cursor(message, origin_, "Model");
    bool has_version = false;
    while (cursor.next()) {
      switch (cursor.field<ModelField>()) {
        case ModelField::kVersion:
          proto.version = cursor.integer();
          has_version = true;
          break;
        case ModelField::kDescription:
          single(cursor, proto.description);
          proto.description.push_back(read_description(cursor.bytes()));
          break;
        case ModelField::kMlProgram:
          content(cursor, proto);
          proto.program.push_back(read_program(cursor.bytes()));
          break;
        default:
          if (cursor.number() >= kFirstContent && cursor.is_length_delimited()) {
            content(cursor, proto);
            Cursor body = cursor;
            proto.body = body.bytes();
          }
          cursor.carry(proto.carried);
      }
    }
    if (!has_version || proto.content == 0)
      throw Error(ErrorCode::kBadInput, "not a Core ML model: it has no specification version or no content",
                  origin_.name);
    for (const auto& [name, blobs] : blobs_) require_apart(blobs, name);
    return {std::move(proto), message};
  }

 private:
  template <class T>
  static void single(const Cursor& cursor, const std::vector<T>& values) {
    if (!values.empty()) cursor.fail(fmt::format("field {} appears twice", cursor.number()));
  }
  static void content(const Cursor& cursor, ModelProto& proto) {
    if (proto.content != 0) cursor.fail("the model has two contents");
    proto.content = cursor.number();
  }
  // Bounds the memory, because a part needs more memory than its bytes in the file.
  void count(const Cursor& cursor) {
    if (++parts_ > kMostParts) cursor.fail(fmt::format("the program has more than {} parts", kMostParts));
  }

  Kept<Description> read_description(Bytes message) const {
    Description description;
    Cursor cursor(message, origin_, "ModelDescription");
    while (cursor.next()) {
      if (cursor.field<DescriptionField>() == DescriptionField::kMetadata) {
        single(cursor, description.metadata);
        description.metadata.push_back(read_metadata(cursor.bytes()));
      } else {
        cursor.carry(description.carried);
      }
    }
    return {std::move(description), message};
  }

  Kept<Metadata> read_metadata(Bytes message) const {
    Metadata metadata;
    Cursor cursor(message, origin_, "Metadata");
    while (cursor.next()) {
      if (cursor.field<MetadataField>() == MetadataField::kUserDefined) {
        MetadataEntry entry;
        const Bytes bytes = cursor.bytes();
        read_entry(bytes, "Metadata", entry.key, entry.value, entry.carried);
        metadata.user_defined.emplace_back(std::move(entry), bytes);
      } else {
        cursor.carry(metadata.carried);
      }
    }
    return {std::move(metadata), message};
  }

  // Reads an entry of a map whose value is a text or a message.
  void read_entry(Bytes message, const char* name, Bytes& key, Bytes& value, CarriedFields& carried) const {
    Cursor cursor(message, origin_, name);
    while (cursor.next()) {
      switch (cursor.field<EntryField>()) {
        case EntryField::kKey: cursor.once(key); break;
        case EntryField::kValue: cursor.once(value); break;
        default: cursor.carry(carried);
      }
    }
  }
  // The same for a required value.
  Bytes read_named(Bytes message, const char* name, Bytes& key, CarriedFields& carried) {
    Bytes value;
    Cursor cursor(message, origin_, name);
    count(cursor);
    while (cursor.next()) {
      switch (cursor.field<EntryField>()) {
        case EntryField::kKey: cursor.once_name(key); break;
        case EntryField::kValue: cursor.once(value); break;
        default: cursor.carry(carried);
      }
    }
    if (value.data() == nullptr) cursor.fail("an entry has no value");
    return value;
  }

  Kept<Program> read_program(Bytes message) {
    Program program;
    Cursor cursor(message, origin_, "Program");
    while (cursor.next()) {
      switch (cursor.field<ProgramField>()) {
        case ProgramField::kVersion: program.version = cursor.integer(); break;
        case ProgramField::kFunction: {
          const Bytes bytes = cursor.bytes();
          NamedFunction function;
          function.function =
              read_function(read_named(bytes, "Program.functions", function.name, function.carried));
          program.functions.emplace_back(std::move(function), bytes);
          break;
        }
        case ProgramField::kAttribute: program.attributes.push_back(read_attribute(cursor.bytes())); break;
        default: cursor.carry(program.carried);
      }
    }
    return {std::move(program), message};
  }

  Kept<Function> read_function(Bytes message) {
    Function function;
    Cursor cursor(message, origin_, "Function");
    while (cursor.next()) {
      switch (cursor.field<FunctionField>()) {
        case FunctionField::kInput: function.inputs.push_back(read_named_type(cursor.bytes())); break;
        case FunctionField::kOpset: cursor.once_name(function.opset); break;
        case FunctionField::kBlock: {
          const Bytes bytes = cursor.bytes();
          Specialization block;
          block.block =
              read_block(read_named(bytes, "Function.block_specializations", block.opset, block.carried), 0);
          function.specializations.emplace_back(std::move(block), bytes);
          break;
        }
        case FunctionField::kAttribute: function.attributes.push_back(read_attribute(cursor.bytes())); break;
        default: cursor.carry(function.carried);
      }
    }
    return {std::move(function), message};
  }

  Kept<Block> read_block(Bytes message, int depth) {
    Block block;
    Cursor cursor(message, origin_, "Block");
    count(cursor);
    if (depth > kMaxNesting) cursor.fail(fmt::format("blocks are nested more than {} deep", kMaxNesting));
    while (cursor.next()) {
      switch (cursor.field<BlockField>()) {
        case BlockField::kInput: block.inputs.push_back(read_named_type(cursor.bytes())); break;
        case BlockField::kOutput: block.outputs.push_back(cursor.name()); break;
        case BlockField::kOperation: block.operations.push_back(read_operation(cursor.bytes(), depth)); break;
        case BlockField::kAttribute: block.attributes.push_back(read_attribute(cursor.bytes())); break;
        default: cursor.carry(block.carried);
      }
    }
    return {std::move(block), message};
  }

  Kept<Operation> read_operation(Bytes message, int depth) {
    Operation operation;
    Cursor cursor(message, origin_, "Operation");
    count(cursor);
    while (cursor.next()) {
      switch (cursor.field<OperationField>()) {
        case OperationField::kType: cursor.once_name(operation.type); break;
        case OperationField::kInput: operation.inputs.push_back(read_input(cursor.bytes())); break;
        case OperationField::kOutput: operation.outputs.push_back(read_named_type(cursor.bytes())); break;
        case OperationField::kBlock: operation.blocks.push_back(read_block(cursor.bytes(), depth + 1)); break;
        case OperationField::kAttribute:
          operation.attributes.push_back(read_attribute(cursor.bytes()));
          break;
        default: cursor.carry(operation.carried);
      }
    }
    return {std::move(operation), message};
  }

  Kept<Input> read_input(Bytes message) {
    Input input;
    input.argument = read_argument(read_named(message, "Operation.inputs", input.name, input.carried));
    return {std::move(input), message};
  }

  Kept<Argument> read_argument(Bytes message) {
    Argument argument;
    Cursor cursor(message, origin_, "Argument");
    while (cursor.next()) {
      if (cursor.field<ArgumentField>() == ArgumentField::kBinding) {
        argument.bindings.push_back(read_binding(cursor.bytes()));
      } else {
        cursor.carry(argument.carried);
      }
    }
    return {std::move(argument), message};
  }

  Kept<Binding> read_binding(Bytes message) {
    Binding binding;
    Cursor cursor(message, origin_, "Binding");
    count(cursor);
    while (cursor.next()) {
      switch (cursor.field<BindingField>()) {
        case BindingField::kName: cursor.once_name(binding.name); break;
        case BindingField::kValue:
          single(cursor, binding.value);
          binding.value.push_back(read_value(cursor.bytes()));
          break;
        default: cursor.carry(binding.carried);
      }
    }
    if ((binding.name.data() == nullptr) == binding.value.empty())
      cursor.fail("an input has both a name and a value, or neither");
    return {std::move(binding), message};
  }

  Kept<Attribute> read_attribute(Bytes message) {
    Attribute attribute;
    attribute.value = read_value(read_named(message, "attributes", attribute.name, attribute.carried));
    return {std::move(attribute), message};
  }

  Kept<NamedType> read_named_type(Bytes message) {
    NamedType named;
    Cursor cursor(message, origin_, "NamedValueType");
    count(cursor);
    while (cursor.next()) {
      switch (cursor.field<NamedTypeField>()) {
        case NamedTypeField::kName: cursor.once_name(named.name); break;
        case NamedTypeField::kType:
          if (named.type.message.data() != nullptr) cursor.fail("field 2 appears twice");
          named.type = read_type(cursor.bytes(), 0);
          break;
        default: cursor.carry(named.carried);
      }
    }
    return {std::move(named), message};
  }

  ValueType read_type(Bytes message, int depth) {
    ValueType type;
    type.message = message;
    Cursor cursor(message, origin_, "ValueType");
    if (depth > kMaxNesting) cursor.fail(fmt::format("types are nested more than {} deep", kMaxNesting));
    while (cursor.next()) {
      if (type.kind != ValueType::Kind::kNone) cursor.fail("a type appears twice");
      switch (cursor.field<ValueTypeField>()) {
        case ValueTypeField::kTensor:
          type.kind = ValueType::Kind::kTensor;
          read_tensor_type(cursor.bytes(), type);
          break;
        case ValueTypeField::kState: {
          type.kind = ValueType::Kind::kState;
          Cursor state(cursor.bytes(), origin_, "StateType");
          while (state.next()) {
            if (state.field<WrappedTypeField>() != WrappedTypeField::kType) {
              state.skip();
              continue;
            }
            ValueType held = read_type(state.bytes(), depth + 1);
            type.type = held.type;
            type.dims = std::move(held.dims);
            type.has_variadic_rank = held.has_variadic_rank;
          }
          break;
        }
        case ValueTypeField::kList:
          type.kind = ValueType::Kind::kList;
          check_types(cursor.bytes(), "ListType", depth);
          break;
        case ValueTypeField::kTuple:
          type.kind = ValueType::Kind::kTuple;
          check_types(cursor.bytes(), "TupleType", depth);
          break;
        case ValueTypeField::kDictionary:
          type.kind = ValueType::Kind::kDictionary;
          check_types(cursor.bytes(), "DictionaryType", depth);
          break;
        default: cursor.skip();
      }
    }
    return type;
  }

  // Checks the types inside a list, tuple or dictionary. Field 2 of a list is its length.
  void check_types(Bytes message, const char* name, int depth) {
    Cursor cursor(message, origin_, name);
    const bool is_list = std::string_view(name) == "ListType";
    while (cursor.next()) {
      const bool is_type = cursor.number() == 1 || (cursor.number() == 2 && !is_list);
      if (is_type) {
        read_type(cursor.bytes(), depth + 1);
      } else {
        cursor.skip();
      }
    }
  }

  void read_tensor_type(Bytes message, ValueType& type) {
    Cursor cursor(message, origin_, "TensorType");
    std::int64_t rank = 0, data_type = 0;
    while (cursor.next()) {
      switch (cursor.field<TensorTypeField>()) {
        case TensorTypeField::kDataType: data_type = cursor.integer(); break;
        case TensorTypeField::kRank: rank = cursor.integer(); break;
        case TensorTypeField::kDimension:
          if (type.dims.size() >= kMostDimensions) cursor.fail("a tensor has too many dimensions");
          type.dims.push_back(read_dimension(cursor.bytes(), type));
          break;
        default: cursor.skip();
      }
    }
    if (data_type != 0 && find_type(data_type) == nullptr)
      cursor.fail(fmt::format("unknown element type {}", data_type));
    type.type = static_cast<DataType>(data_type);
    if (rank < 0) {
      type.has_variadic_rank = true;
    } else if (rank != static_cast<std::int64_t>(type.dims.size()) && !type.has_variadic_rank) {
      cursor.fail(fmt::format("a tensor of rank {} has {} dimensions", rank, type.dims.size()));
    }
  }

  std::int64_t read_dimension(Bytes message, ValueType& type) const {
    std::int64_t size = -1;
    Cursor cursor(message, origin_, "Dimension");
    while (cursor.next()) {
      switch (cursor.field<DimensionField>()) {
        case DimensionField::kConstant: {
          size = 0;
          Cursor constant(cursor.bytes(), origin_, "ConstantDimension");
          while (constant.next()) {
            if (constant.field<ConstantDimensionField>() == ConstantDimensionField::kSize) {
              size = constant.integer();
            } else {
              constant.skip();
            }
          }
          if (size < 0) cursor.fail("a dimension is negative");
          break;
        }
        case DimensionField::kUnknown: {
          Cursor unknown(cursor.bytes(), origin_, "UnknownDimension");
          while (unknown.next()) {
            if (unknown.number() == 1) {
              type.has_variadic_rank |= unknown.integer() != 0;
            } else {
              unknown.skip();
            }
          }
          break;
        }
        default: cursor.skip();
      }
    }
    return size;
  }

  Kept<Value> read_value(Bytes message) {
    Value value;
    Bytes blob;
    Cursor cursor(message, origin_, "Value");
    count(cursor);
    while (cursor.next()) {
      switch (cursor.field<ValueField>()) {
        case ValueField::kType:
          if (value.type.message.data() != nullptr) cursor.fail("field 2 appears twice");
          value.type = read_type(cursor.bytes(), 0);
          break;
        case ValueField::kImmediate: cursor.once(value.immediate); break;
        case ValueField::kBlob: cursor.once(blob); break;
        default: cursor.carry(value.carried);
      }
    }
    if (value.immediate.data() != nullptr && blob.data() != nullptr)
      cursor.fail("a value is both in the model and in a weight file");
    if (value.immediate.data() != nullptr) check_immediate_of(value, cursor);
    if (blob.data() != nullptr) value.blob = read_blob_reference(blob, value.type);
    return {std::move(value), message};
  }

  void check_immediate_of(const Value& value, const Cursor& cursor) {
    const ImmediateContent content = check_immediate(value.immediate, origin_);
    if (content.hides_blob && model_.unwritable.empty())
      model_.unwritable = "a list of values is in a weight file";
    if (!value.type.is_tensor() || !content.values || value.type.type == DataType::kUnused) return;
    const auto count = value.type.element_count();
    const bool is_string = value.type.type == DataType::kString;
    const bool fits = !count           ? false
                      : content.is_raw ? !is_string && content.bytes == *value.type.byte_count()
                                       : *content.values == *count;
    if (!fits) cursor.fail("the number of values of a tensor does not match its shape");
  }

  Blob read_blob_reference(Bytes message, const ValueType& type) {
    Blob blob;
    Cursor cursor(message, origin_, "BlobFileValue");
    std::int64_t offset = 0;
    while (cursor.next()) {
      switch (cursor.field<BlobField>()) {
        case BlobField::kFile: cursor.once_name(blob.file); break;
        case BlobField::kOffset: offset = cursor.integer(); break;
        default: cursor.fail("a reference to a weight file has an unknown field");
      }
    }
    if (!type.is_tensor() || type.type == DataType::kUnused)
      cursor.fail("a value in a weight file is not a tensor");
    blob.offset = static_cast<std::uint64_t>(offset);
    const std::string name(blob.file);
    auto file = model_.weights.find(name);
    if (file == model_.weights.end()) {
      if (model_.weights.size() >= kMostWeightFiles) cursor.fail("the model names too many weight files");
      file = model_.weights.emplace(name, open_(name)).first;
      check_weight_header(file->second.bytes, name);
    }
    const StoredBlob stored = read_blob(file->second.bytes, name, blob.offset, type);
    blobs_[name].emplace(blob.offset, stored);
    blob.data = stored.bytes;
    return blob;
  }

  Model& model_;
  const Origin& origin_;
  OpenWeights open_;
  std::map<std::string, std::map<std::uint64_t, StoredBlob>> blobs_;
  std::uint64_t parts_ = 0;
};

void read_into(Model& model, Bytes bytes, const std::string& name, const OpenWeights& open) {
  if (bytes.empty()) throw Error(ErrorCode::kBadInput, "the file is empty", name);
  if (bytes.size() > kLargestFile)
    throw Error(ErrorCode::kBadInput, "a Core ML model file must be smaller than 4 GiB", name);
  const Origin origin{bytes, name, "Core ML"};
  model.proto = Reader(model, origin, open).read_model_proto(bytes);
}

}  // namespace

Model read_model(const std::filesystem::path& path) { return read_model(path, path); }

Model read_model(const std::filesystem::path& path, const std::filesystem::path& name) {
  Model model;
  model.path = name;
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    model.file = io::MappedFile::open(path);
    read_into(model, model.file.bytes(), name.string(), [&](const std::string& weights) -> WeightFile {
      throw Error(
          ErrorCode::kBadInput,
          fmt::format("its weights are in '{}': an ML Program with weights needs its package", weights),
          name.string());
    });
    return model;
  }
  model.is_package = true;
  model.location = root_model(path, name.string());
  model.file = io::MappedFile::open_beneath(path, model.location);
  read_into(model, model.file.bytes(), (name / model.location).string(), [&](const std::string& weights) {
    const std::filesystem::path place = location_of_weights(model, weights, name.string());
    WeightFile file{io::MappedFile::open_beneath(path, place), {}};
    file.bytes = file.file.bytes();
    return file;
  });
  model.others = other_files(path, model);
  return model;
}

Model read_model_from_memory(std::string bytes, const std::map<std::string, std::string>& weights,
                             const std::string& name) {
  Model model;
  model.path = name;
  read_into(model, model.intern(std::move(bytes)), name, [&](const std::string& wanted) {
    const auto found = weights.find(wanted);
    if (found == weights.end())
      throw Error(ErrorCode::kBadInput, fmt::format("the weight file '{}' is missing", wanted), name);
    return WeightFile{{}, model.intern(found->second)};
  });
  return model;
}

}  // namespace ounce::coreml
