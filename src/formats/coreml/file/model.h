// A Core ML model as plain data, read by reader.h and written by writer.h.
//
//   coreml::Model model = coreml::read_model("net.mlpackage");   // all offsets and sizes are checked
//   const Block* block = active_block(*main_function(model)->function);
//   for (const auto& operation : block->operations) …
//
// An ML Program is read completely: functions, blocks, operations with nested blocks, and values. A value is
// in the program itself (immediate) or in a weight file of the package (blob); its bytes are views into the
// mapped files. Models of other kinds, such as neural networks and pipelines, are kept as one message;
// network.h reads the weights of neural networks.
//
// Names and small payloads are views (Bytes) into the mapped files or into texts that intern() adds to the
// model. Both live as long as the Model and its copies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/coreml/file/types.h"
#include "formats/protobuf/cursor.h"
#include "io/mapped_file.h"
#include "io/rope.h"

namespace ounce::coreml {

using protobuf::Bytes;
using protobuf::CarriedFields;
using protobuf::Kept;

// Largest nesting depth of blocks, types and values.
inline constexpr int kMaxNesting = 64;
inline constexpr std::size_t kMostDimensions = 64;  // of a tensor

// A type, read from its message. A new one is made by tensor_type() in values.h.
struct ValueType {
  enum class Kind : std::uint8_t { kNone, kTensor, kList, kTuple, kDictionary, kState };

  Kind kind = Kind::kNone;
  // The element type of a tensor, or of the tensor of a state.
  DataType type = DataType::kUnused;
  std::vector<std::int64_t> dims;  // -1: unknown until run time
  bool has_variadic_rank = false;
  Bytes message;

  bool is_tensor() const { return kind == Kind::kTensor; }
  // nullopt if this is not a tensor or a dimension is unknown.
  std::optional<std::uint64_t> element_count() const;
  std::optional<std::uint64_t> byte_count() const;  // packed; nullopt for strings
};

// Values in a weight file.
struct Blob {
  Bytes file;                // name in the program: "@model_path/weights/weight.bin"
  std::uint64_t offset = 0;  // of the description, or for a new blob: of the blob that it replaces
  std::uint32_t part = 0;    // 0: a blob of the file; otherwise its index among the new blobs for this offset
  std::variant<Bytes, io::Computed> data;

  bool is_new() const { return part != 0; }
  std::uint64_t size() const;
  // Throws Error{kInternal} for values that are computed while the file is written.
  Bytes bytes() const;
};

struct Value {
  ValueType type;
  Bytes immediate;           // an ImmediateValue; null: none
  std::optional<Blob> blob;  // a value has at most one of the two
  CarriedFields carried;
};

struct Binding {
  Bytes name;                      // of a value, or empty
  std::vector<Kept<Value>> value;  // one value if there is no name
  CarriedFields carried;
};

struct Argument {
  std::vector<Kept<Binding>> bindings;
  CarriedFields carried;
};

// Entries of maps.
struct Input {
  Bytes name;
  Kept<Argument> argument;
  CarriedFields carried;
};
struct Attribute {
  Bytes name;
  Kept<Value> value;
  CarriedFields carried;
};

struct NamedType {
  Bytes name;
  ValueType type;
  CarriedFields carried;
};

struct Block;

struct Operation {
  Bytes type;
  std::vector<Kept<Input>> inputs;
  std::vector<Kept<NamedType>> outputs;
  std::vector<Kept<Block>> blocks;
  std::vector<Kept<Attribute>> attributes;
  CarriedFields carried;

  const Argument* input(Bytes name) const;   // null if there is none
  const Value* attribute(Bytes name) const;  // null if there is none
};

struct Block {
  std::vector<Kept<NamedType>> inputs;
  std::vector<Bytes> outputs;
  std::vector<Kept<Operation>> operations;  // in order of execution
  std::vector<Kept<Attribute>> attributes;
  CarriedFields carried;
};

// The body of a function for one opset.
struct Specialization {
  Bytes opset;
  Kept<Block> block;
  CarriedFields carried;
};

struct Function {
  std::vector<Kept<NamedType>> inputs;
  Bytes opset;  // of the specialization that runs
  std::vector<Kept<Specialization>> specializations;
  std::vector<Kept<Attribute>> attributes;
  CarriedFields carried;
};

struct NamedFunction {
  Bytes name;
  Kept<Function> function;
  CarriedFields carried;
};

struct Program {
  std::int64_t version = 0;
  std::vector<Kept<NamedFunction>> functions;
  std::vector<Kept<Attribute>> attributes;
  CarriedFields carried;
};

struct MetadataEntry {
  Bytes key, value;
  CarriedFields carried;
};

struct Metadata {
  std::vector<Kept<MetadataEntry>> user_defined;
  CarriedFields carried;
};

struct Description {
  std::vector<Kept<Metadata>> metadata;  // one at most
  CarriedFields carried;                 // inputs, outputs, states …: description.h reads them
};

struct ModelProto {
  std::int64_t version = 0;                    // of the specification
  std::vector<Kept<Description>> description;  // one at most
  std::vector<Kept<Program>> program;          // one at most; of an ML Program
  std::uint32_t content = 0;                   // number of the field with the content
  Bytes body;                                  // message of that field if it is not an ML Program
  CarriedFields carried;
};

struct WeightFile {
  io::MappedFile file;
  Bytes bytes;
};

struct Model {
  Kept<ModelProto> proto;

  // Why a change of the weights cannot be written; empty if it can.
  std::string unwritable;

  std::filesystem::path path;  // of the package, or of the .mlmodel
  bool is_package = false;
  std::filesystem::path location;             // of the model file in the package
  std::vector<std::filesystem::path> others;  // files of the package other than the model and its weights

  // The owners of all views.
  io::MappedFile file;
  std::map<std::string, WeightFile, std::less<>> weights;  // by their names in the program
  std::vector<std::shared_ptr<const std::string>> texts;

  bool is_program() const { return !proto->program.empty(); }
  const Program& program() const { return *proto->program[0]; }
  Bytes intern(std::string text);
  // Releases the memory of mapped bytes until they are read again.
  void release(Bytes bytes) const;
  // The path of a weight file relative to the package.
  std::filesystem::path weight_location(std::string_view name) const;
};

// "mlProgram", "neuralNetwork" …; "model type N" for others.
std::string name_of_content(std::uint32_t content);

// The block of a function for its opset; null if there is none.
const Block* active_block(const Function& function);
// The default function; null if the model has none.
const NamedFunction* main_function(const Model& model);

// Names an operation in messages: its type and first output.
std::string describe(const Operation& operation);

// Calls `visit` for each operation of a program in file order, including nested ones and those of all opsets.
template <class Visit>
void for_each_operation(const Block& block, const Visit& visit) {
  for (const auto& operation : block.operations) {
    visit(*operation);
    for (const auto& inner : operation->blocks) for_each_operation(*inner, visit);
  }
}
template <class Visit>
void for_each_operation(const Program& program, const Visit& visit) {
  for (const auto& function : program.functions) {
    for (const auto& specialization : function->function->specializations)
      for_each_operation(*specialization->block, visit);
  }
}

// Checks names and order: inputs are defined before they are used, names are unique in their scope, and the
// outputs of blocks exist. Throws Error{kBadInput}.
void validate(const Model& model);

}  // namespace ounce::coreml
