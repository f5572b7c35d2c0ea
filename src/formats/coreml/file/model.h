// A Core ML model as its files describe it: plain data, read by reader.h and written by writer.h.
//
//   coreml::Model model = coreml::read_model("net.mlpackage");   // checked: every offset and size is in
//   range for (const auto& operation : coreml::main_block(model)->operations) …
//
// An ML Program is read whole: functions, blocks, operations with nested blocks, and values. A value is in
// the program itself (immediate) or in a weight file of the package (blob); its bytes are views into the
// mapped files. Models of other kinds, such as neural networks and pipelines, are carried as one message;
// network.h reads the weights of neural networks.
//
// Names and small payloads are views (Bytes) into the mapped files or into the model's own text, which
// intern() adds to; both live as long as the Model and its copies.
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

// Blocks inside blocks, types inside types, values inside values.
inline constexpr int kMaxNesting = 64;
inline constexpr std::size_t kMostDimensions = 64;  // of a tensor

// A type, read from its message. A new one is made by tensor_type() in values.h.
struct ValueType {
  enum class Kind : std::uint8_t { kNone, kTensor, kList, kTuple, kDictionary, kState };

  Kind kind = Kind::kNone;
  // Of a tensor, and of the tensor that a state holds.
  DataType type = DataType::kUnused;
  std::vector<std::int64_t> dims;  // -1: known when the model runs
  bool has_variadic_rank = false;
  Bytes message;

  bool is_tensor() const { return kind == Kind::kTensor; }
  // Nothing for what is no tensor and where a dimension is not known.
  std::optional<std::uint64_t> element_count() const;
  std::optional<std::uint64_t> byte_count() const;  // packed; nothing for strings
};

// Values in a weight file.
struct Blob {
  Bytes file;                // as the program names it: "@model_path/weights/weight.bin"
  std::uint64_t offset = 0;  // of the description, which is before the values; of a new blob: of the one
                             // whose place it takes …
  std::uint32_t part = 0;    // … and its number among those that do; 0: a blob of the file
  std::variant<Bytes, io::Computed> data;

  bool is_new() const { return part != 0; }
  std::uint64_t size() const;
  // Not of values that are computed while the file is written: throws Error{kInternal}.
  Bytes bytes() const;
};

struct Value {
  ValueType type;
  Bytes immediate;           // an ImmediateValue; null: none
  std::optional<Blob> blob;  // a value has one of the two, or neither
  CarriedFields carried;
};

struct Binding {
  Bytes name;                      // of a value …
  std::vector<Kept<Value>> value;  // … or one value
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
  std::vector<Kept<Operation>> operations;  // in the order in which they run
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
  std::uint32_t content = 0;                   // the number of the field that says what the model is
  Bytes body;                                  // … and its message, if it is not an ML Program
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
  std::vector<std::filesystem::path> others;  // files of the package besides the model and its weights

  // What the views point into.
  io::MappedFile file;
  std::map<std::string, WeightFile, std::less<>> weights;  // by the name that the program uses
  std::vector<std::shared_ptr<const std::string>> texts;

  bool is_program() const { return !proto->program.empty(); }
  const Program& program() const { return *proto->program[0]; }
  Bytes intern(std::string text);
  // Gives back the memory of bytes that have been read for now.
  void release(Bytes bytes) const;
  // Where a weight file is, relative to the package.
  std::filesystem::path weight_location(std::string_view name) const;
};

// "mlProgram", "neuralNetwork" …; a number for what is not named here.
std::string name_of_content(std::uint32_t content);

// The block of a function that runs: the specialization for its opset. Null if it has none.
const Block* active_block(const Function& function);
// The function that runs by default, and the name of it. Null if the model has none.
const NamedFunction* main_function(const Model& model);

// How to call an operation in a message: its first output, or its type.
std::string describe(const Operation& operation);

// Calls `visit` for each operation of a program, nested ones too, in the order of the file, whichever opset
// they are for.
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

// Names, order and nesting: every input is defined before it is used, no name is defined twice where both
// could be seen, blocks give what they say. Throws Error{kBadInput}.
void validate(const Model& model);

}  // namespace ounce::coreml
