// A TFLite model as its file describes it: plain data, read by reader.h and written by writer.h.
//
//   tflite::Model model = tflite::read_model(path);          // checked: every index is in range
//   for (const tflite::Operator& op : model.subgraphs[0].operators) …
//   model.subgraphs[0].tensors[3].shape = {1, 224, 224, 3};
//
// Names and small payloads are views (Bytes) into the mapped file or into the model's own text, which
// intern() adds to; both live as long as the Model and its copies. The values of tensors are never copied:
// they stay views into the mapped file. A copy of a Model is cheap and may be changed on another thread.
//
// An empty vector and an absent one are the same here; runtimes do not distinguish them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/element_type.h"
#include "formats/tflite/file/tables.h"
#include "io/mapped_file.h"
#include "io/rope.h"

namespace ounce::tflite {

enum class TensorType : std::int8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt32 = 2,
  kUint8 = 3,
  kInt64 = 4,
  kString = 5,
  kBool = 6,
  kInt16 = 7,
  kComplex64 = 8,
  kInt8 = 9,
  kFloat64 = 10,
  kComplex128 = 11,
  kUint64 = 12,
  kResource = 13,
  kVariant = 14,
  kUint32 = 15,
  kUint16 = 16,
  kInt4 = 17,
  kBfloat16 = 18,
  kInt2 = 19,
  kUint4 = 20,
  kFloat8E4M3FN = 21,
  kFloat8E5M2 = 22,
};

// kUndefined for resources and variants, which have no values in a file.
ElementType element_type_of(TensorType type);
// Returns nullopt for a type that TFLite does not have.
std::optional<TensorType> tensor_type_of(ElementType type);

// Bytes of a tensor or of a custom operator, outside of the tables.
class Data {
 public:
  using Owned = std::shared_ptr<const std::string>;  // made in memory; small

  Data() = default;
  Data(Bytes bytes) : value_(bytes) {}  // NOLINT(google-explicit-constructor)
  Data(std::string bytes)               // NOLINT(google-explicit-constructor)
      : value_(std::make_shared<const std::string>(std::move(bytes))) {}
  Data(io::Computed computed) : value_(std::move(computed)) {}  // NOLINT(google-explicit-constructor)

  std::uint64_t size() const;
  bool empty() const { return size() == 0; }
  // Throws Error{kInternal} for values that are computed while the file is written.
  Bytes bytes() const;
  const io::Computed* computed() const { return std::get_if<io::Computed>(&value_); }
  bool operator==(const Data& other) const;

 private:
  std::variant<Bytes, Owned, io::Computed> value_;
};

// A union of tables.
struct Union {
  std::uint8_t type = 0;  // 0: none
  std::optional<Record> table;
  bool operator==(const Union&) const = default;
};

struct OperatorCode {
  std::int32_t code = 0;  // BuiltinOperator: file/ops.h has a row for each
  Bytes custom_code;
  std::int32_t version = 1;
  CarriedFields carried;
  bool operator==(const OperatorCode&) const = default;
};

struct Quantization {
  std::vector<float> min, max, scale;
  std::vector<std::int64_t> zero_point;
  Union details;               // if present, it replaces the numbers above
  std::int32_t dimension = 0;  // the axis of `scale`
  CarriedFields carried;
  bool operator==(const Quantization& other) const;  // compares the bits of floats: NaN equals itself
};

// The types of Quantization::details.
enum class DetailsType : std::uint8_t { kNone = 0, kCustom = 1, kBlockwise = 2, kMultiAxis = 3 };

struct Tensor {
  std::vector<std::int32_t> shape;
  TensorType type = TensorType::kFloat32;
  std::uint32_t buffer = 0;  // 0: no values
  Bytes name;
  std::optional<Quantization> quantization;
  bool is_variable = false;
  std::optional<Record> sparsity;
  std::vector<std::int32_t> shape_signature;  // -1: a dynamic dimension; empty: `shape` is static
  bool has_rank = false;
  std::vector<Record> variant_tensors;
  std::uint32_t external_buffer = 0;  // the id of an ExternalBuffer; 0: none
  CarriedFields carried;
  bool operator==(const Tensor&) const = default;
};

struct Operator {
  std::uint32_t opcode_index = 0;
  std::vector<std::int32_t> inputs, outputs;  // tensors; -1: absent
  Union options, options_2;
  Data custom_options;
  std::int8_t custom_options_format = 0;
  std::vector<std::uint8_t> mutating_variable_inputs;
  std::vector<std::int32_t> intermediates;
  std::int32_t debug_metadata_index = -1;
  CarriedFields carried;
  bool operator==(const Operator&) const = default;
};

struct SubGraph {
  std::vector<Tensor> tensors;
  std::vector<std::int32_t> inputs, outputs;
  std::vector<Operator> operators;  // in the order in which they run
  Bytes name;
  std::int32_t debug_metadata_index = -1;
  CarriedFields carried;
  bool operator==(const SubGraph&) const = default;
};

struct Buffer {
  Data data;
  CarriedFields carried;
  bool operator==(const Buffer&) const = default;
};

// Values in another file, which Ounce names but does not open.
struct ExternalBuffer {
  std::uint32_t id = 0, group = 0;  // of Model::external_buffer_groups
  std::uint64_t offset = 0, length = 0;
  Bytes packing;
  CarriedFields carried;
  bool operator==(const ExternalBuffer&) const = default;
};

struct Metadata {
  Bytes name;
  std::uint32_t buffer = 0;
  CarriedFields carried;
  bool operator==(const Metadata&) const = default;
};

struct TensorMap {
  Bytes name;
  std::uint32_t tensor = 0;
  CarriedFields carried;
  bool operator==(const TensorMap&) const = default;
};

struct Signature {
  std::vector<TensorMap> inputs, outputs;
  Bytes key, deprecated_tag;
  std::uint32_t subgraph = 0;
  CarriedFields carried;
  bool operator==(const Signature&) const = default;
};

// A zip archive behind the tables. The parts count from its start.
struct Archive {
  Bytes bytes;
  std::uint64_t directory = 0, end_record = 0;
  std::uint64_t position = 0;  // of its start, as the offsets of its entries count; 0: from the start itself
};

struct Model {
  std::uint32_t version = 3;
  std::vector<OperatorCode> operator_codes;
  std::vector<SubGraph> subgraphs;  // the first one is the model
  Bytes description;
  std::vector<Buffer> buffers;  // the first one is empty
  std::vector<std::int32_t> metadata_buffer;
  std::vector<Metadata> metadata;
  std::vector<Signature> signatures;
  std::vector<Record> external_buffer_groups;
  std::vector<ExternalBuffer> external_buffers;
  CarriedFields carried;

  std::optional<Archive> archive;  // the associated files

  // The reason why this version cannot write the model without loss; empty if it can.
  std::string unwritable;

  // The memory that the views point into.
  io::MappedFile file;
  std::vector<std::shared_ptr<const std::string>> texts;

  Bytes intern(std::string text);
  // Releases the memory of mapped bytes; a later read maps them again.
  void release(Bytes bytes) const;
};

// The position of an operator or a tensor in the file, for error messages: "subgraph 0, tensor 4 'conv1'".
std::string describe_tensor(const Model& model, std::size_t subgraph, std::size_t tensor);
std::string describe_operator(const Model& model, std::size_t subgraph, std::size_t op);

std::int32_t code_of(const Model& model, const Operator& op);

// The values of a tensor in the file; empty if the file has none.
const Data& data_of(const Model& model, const Tensor& tensor);
// Whether a tensor has values before the model runs. Some converters leave values in a tensor that an
// operator writes: the operator replaces them.
bool is_constant(const Model& model, const Tensor& tensor);
// Is the dimension dynamic, as far as the file says? Its size in Tensor::shape is a placeholder then.
bool is_dynamic(const Tensor& tensor, std::size_t dimension);
// Of `shape`. Nothing if a dimension is negative or the product does not fit.
std::optional<std::uint64_t> element_count(const Tensor& tensor);
// The same for its values, dense and with sub-byte types packed. Nothing for strings, resources and variants.
std::optional<std::uint64_t> byte_count(const Tensor& tensor);

// How inputs and outputs of the model are called, in their order: as the first signature of subgraph 0 calls
// them, or by the names of their tensors. No two are equal, and none is empty.
std::vector<std::string> input_names(const Model& model);
std::vector<std::string> output_names(const Model& model);

// Two models with the same content: the same tables and the same values, wherever they are in the file.
// Nothing that the writer may choose counts, and neither does the model's own file.
bool same_content(const Model& a, const Model& b);

}  // namespace ounce::tflite
