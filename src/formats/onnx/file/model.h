// An ONNX model as stored in its file: plain data, read by reader.h and written by writer.h.
//
// Names and small payloads are views (Bytes) into the mapped file or into the model's own text,
// which intern() adds to; both live as long as the Model. Tensor bytes stay in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/element_type.h"
#include "formats/onnx/file/schema.h"
#include "formats/protobuf/cursor.h"
#include "io/mapped_file.h"
#include "io/rope.h"
#include "ops/op_info.h"

namespace ounce::onnx {

using io::Computed;
using io::Place;
using io::Production;
using protobuf::Bytes;
using protobuf::CarriedField;
using protobuf::CarriedFields;
using protobuf::Cursor;
using protobuf::Kept;
using protobuf::Origin;

// Values in the layout of raw_data, inside the mapped model or an external file.
struct Borrowed {
  Bytes bytes;
};
// Values in the layout of raw_data, owned by the model; small.
struct Owned {
  std::shared_ptr<const std::string> bytes;
};
// Values in a typed field (int32_data, string_data …) in that field's own encoding, perhaps in
// pieces: tensor_reader.h decodes them from the whole tensor message.
struct Encoded {
  TensorField field;
  Bytes tensor_message;
};

struct Tensor {
  Bytes name;
  std::vector<std::int64_t> dims;
  ElementType type = ElementType::kUndefined;
  std::variant<Borrowed, Owned, Encoded, Computed> data;
  bool is_external = false;  // Borrowed from another file than the model's
  CarriedFields carried;

  std::uint64_t element_count() const;
  std::uint64_t byte_count() const;  // in the layout of raw_data; 0 for strings
};

struct SparseTensor {
  Kept<Tensor> values, indices;
  std::vector<std::int64_t> dims;
  CarriedFields carried;

  bool is_external() const { return values->is_external || indices->is_external; }
};

struct Graph;

// A pointer with deep copy.
template <class T>
class Copied {
 public:
  explicit Copied(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Copied(const Copied& other) : value_(std::make_unique<T>(*other.value_)) {}
  Copied(Copied&&) noexcept = default;
  Copied& operator=(Copied other) noexcept {
    value_.swap(other.value_);
    return *this;
  }

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  T& operator*() { return *value_; }
  T* operator->() { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

struct Attribute {
  Bytes name;
  std::vector<Kept<Tensor>> tensors;               // t, tensors
  std::vector<Copied<Kept<Graph>>> graphs;         // g, graphs
  std::vector<Kept<SparseTensor>> sparse_tensors;  // sparse_tensor, sparse_tensors
  bool is_list = false;   // tensors/graphs/sparse_tensors rather than t/g/sparse_tensor
  CarriedFields carried;  // scalars and everything else: attributes.h reads them
};

struct Node {
  Bytes name;
  std::vector<Bytes> inputs, outputs;  // an empty name means an absent optional value
  std::vector<Kept<Attribute>> attributes;
  CarriedFields carried;

  Op op() const { return op_; }  // kUnknown for an op without a row in ops/op_info.cpp
  const ops::OpInfo& info() const { return ops::info(op_); }
  Bytes op_type() const { return op_type_; }
  Bytes domain() const { return domain_; }
  // Keeps the spelling of the domain in the file if the op belongs to that domain.
  void set_op(Op op);
  void set_op(Bytes domain, Bytes op_type);

 private:
  Op op_ = Op::kUnknown;
  Bytes op_type_, domain_;
};

struct ValueInfo {
  Bytes name;
  Bytes type;  // a TypeProto; types.h reads it
  CarriedFields carried;
};

struct Graph {
  Bytes name;
  std::vector<Kept<Node>> nodes;
  std::vector<Kept<Tensor>> initializers;
  std::vector<Kept<SparseTensor>> sparse_initializers;
  std::vector<Kept<ValueInfo>> inputs, outputs, value_infos;
  CarriedFields carried;
};

struct OpsetImport {
  Bytes domain;  // "" and "ai.onnx" are the same
  std::int64_t version = 0;
  CarriedFields carried;
};

struct Function {
  Bytes name, domain, overload;
  std::vector<Bytes> inputs, outputs, attributes;
  std::vector<Kept<Attribute>> attribute_defaults;
  std::vector<Kept<Node>> nodes;
  std::vector<Kept<OpsetImport>> opset_imports;
  CarriedFields carried;
};

struct TrainingInfo {
  std::vector<Kept<Graph>> initialization, algorithm;  // one each at most
  CarriedFields carried;
};

struct MetadataEntry {
  Bytes key, value;
  CarriedFields carried;
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::vector<Kept<OpsetImport>> opset_imports;
  Kept<Graph> graph;
  std::vector<Kept<MetadataEntry>> metadata;
  std::vector<Kept<TrainingInfo>> training;
  std::vector<Kept<Function>> functions;
  CarriedFields carried;
};

struct Model {
  Model() = default;
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;

  Kept<ModelProto> proto;

  // The storage that the views point into, starting with the model's own file.
  io::MappedFile file;
  std::map<std::string, io::MappedFile, std::less<>> external_files;  // by location
  std::vector<std::shared_ptr<std::deque<std::string>>> texts;        // only the last one is written to

  Bytes intern(std::string text);
  // Releases the memory of mapped bytes that are not needed for now.
  void release(Bytes bytes) const;

 private:
  friend Model clone(const Model& model);
  Model(const Model&) = default;
};

// Copies a model for editing. Its views point into the same files, which both models keep open. The copies
// are independent, also on different threads.
Model clone(const Model& model);

// Size of the model file and of its external files.
std::uint64_t bytes_of(const Model& model);

bool is_default_domain(Bytes domain);               // "" or "ai.onnx"
inline constexpr Bytes kContrib = "com.microsoft";  // the domain of ONNX Runtime's own ops
// The version of a domain in a list of imports; 0 if it is not listed.
std::int64_t opset_version(const std::vector<Kept<OpsetImport>>& imports, Bytes domain);

}  // namespace ounce::onnx
