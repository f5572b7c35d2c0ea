// The tables of a .tflite file that Ounce carries without interpreting most of them: the options of
// operators, sparsity, and so on. One row per table (tables.cpp) lists its fields, so that one reader checks
// any of them, one writer copies them exactly, and code reads and sets single fields by name:
//
//   const std::int64_t stride = record.integer("stride_w");
//   record.set("fused_activation_function", 1);
//
// A field that equals its default is the same as an absent one. A vector that is empty is not: RESHAPE with
// an empty `new_shape` gives a scalar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ounce::tflite {

// Bytes of the mapped file or of the model's own text; valid as long as the Model. A view whose data() is
// null is an absent field.
using Bytes = std::string_view;

enum class FieldKind : std::uint8_t {
  kBool,
  kInt8,
  kInt32,
  kUint32,
  kInt64,
  kFloat,
  kSubgraph,  // int32 or uint32: the index of a subgraph
  kString,
  kBools,  // vectors of numbers
  kBytes,
  kShorts,
  kInts,
  kUints,
  kLongs,
  kFloats,
  kSubgraphs,
  kTable,
  kTables,
  kUnionType,  // the next field is the kUnion
  kUnion,
};

struct TableInfo;

struct FieldInfo {
  const char* name;
  FieldKind kind;
  std::int64_t fallback = 0;  // the value of an absent scalar
  std::span<const TableInfo* const> tables =
      {};                  // of kTable, kTables: one; of kUnion: by its type, from 1 on
  std::uint8_t align = 0;  // of a vector, if more than its elements need
};

struct TableInfo {
  const char* name;
  std::span<const FieldInfo> fields;  // by field id
};

// The size in the file: of a scalar, of one element of a vector, or of the offset of any other field.
std::size_t width_of(FieldKind kind);
bool is_scalar(FieldKind kind);
bool is_vector(FieldKind kind);  // of numbers

// The table for the type of a union; null for a type that this version does not know.
const TableInfo* builtin_options(std::uint8_t type);
const TableInfo* builtin_options_2(std::uint8_t type);
const TableInfo* quantization_details(std::uint8_t type);
// The type of a union by name, such as "Conv2DOptions"; 0 for an unknown name.
std::uint8_t builtin_options_type(std::string_view name);

extern const TableInfo kSparsityParameters, kVariantSubType, kExternalBufferGroup;

// A field of a newer schema: a number whose meaning is unknown. Its bytes are carried.
struct CarriedField {
  std::uint16_t id = 0;
  Bytes bytes;
  bool operator==(const CarriedField&) const = default;
};
using CarriedFields = std::vector<CarriedField>;

class Record {
 public:
  using Value = std::variant<std::uint64_t, Bytes, std::vector<Record>>;
  struct Field {
    std::uint16_t id = 0;
    Value value;
    bool operator==(const Field&) const = default;
  };

  explicit Record(const TableInfo& info) : info_(&info) {}

  const TableInfo& info() const { return *info_; }
  // In the order of their ids. Scalars: the bits of the number, with its sign extended; strings and vectors:
  // the bytes of the elements; tables: the records.
  const std::vector<Field>& fields() const { return fields_; }
  const Value* find(std::string_view name) const;

  // Returns a number, or its default if it is absent. Throws Error{kInternal} if the table has no such field.
  std::int64_t integer(std::string_view name) const;
  float number(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;  // of a vector; empty if it is absent
  Bytes bytes(std::string_view name) const;                         // of a string or a vector

  void set(std::string_view name, std::int64_t value);
  void set(std::string_view name, float value);
  // The bytes live as long as the model.
  void set(std::string_view name, Bytes bytes);
  // Sets a field of any kind. A scalar that equals its default is removed.
  void put(std::uint16_t id, Value value);

  // Calls `function` with each index of a subgraph.
  template <class Function>
  void each_subgraph(const Function& function) const;

  CarriedFields carried;

  bool operator==(const Record& other) const = default;

 private:
  std::uint16_t id_of(std::string_view name) const;

  const TableInfo* info_;
  std::vector<Field> fields_;
};

template <class Function>
void Record::each_subgraph(const Function& function) const {
  for (std::size_t id = 0; id < info_->fields.size(); ++id) {
    const FieldInfo& field = info_->fields[id];
    if (field.kind == FieldKind::kSubgraph) function(integer(field.name));
    if (field.kind == FieldKind::kSubgraphs) {
      for (const std::int64_t index : integers(field.name)) function(index);
    }
  }
}

}  // namespace ounce::tflite
