#include "fuzz/mutate_model.h"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace ounce::test {
namespace {

// The messages of the format; everything else of variable length is kBytes.
enum class Kind {
  kBytes,
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparse,
  kValueInfo,
  kType,
  kTensorType,
  kHolderType,  // sequence, optional
  kMapType,
  kShape,
  kDimension,
  kFunction,
  kEntry,  // opset import, key and value
  kTraining,
  kAnnotation,
};

struct Nested {
  Kind outer;
  std::uint32_t number;
  Kind inner;
};
constexpr auto kNested = std::to_array<Nested>({
    {Kind::kModel, 7, Kind::kGraph},       {Kind::kModel, 8, Kind::kEntry},
    {Kind::kModel, 14, Kind::kEntry},      {Kind::kModel, 20, Kind::kTraining},
    {Kind::kModel, 25, Kind::kFunction},   {Kind::kGraph, 1, Kind::kNode},
    {Kind::kGraph, 5, Kind::kTensor},      {Kind::kGraph, 11, Kind::kValueInfo},
    {Kind::kGraph, 12, Kind::kValueInfo},  {Kind::kGraph, 13, Kind::kValueInfo},
    {Kind::kGraph, 14, Kind::kAnnotation}, {Kind::kGraph, 15, Kind::kSparse},
    {Kind::kNode, 5, Kind::kAttribute},    {Kind::kAttribute, 5, Kind::kTensor},
    {Kind::kAttribute, 6, Kind::kGraph},   {Kind::kAttribute, 10, Kind::kTensor},
    {Kind::kAttribute, 11, Kind::kGraph},  {Kind::kAttribute, 14, Kind::kType},
    {Kind::kAttribute, 22, Kind::kSparse}, {Kind::kAttribute, 23, Kind::kSparse},
    {Kind::kTensor, 13, Kind::kEntry},     {Kind::kSparse, 1, Kind::kTensor},
    {Kind::kSparse, 2, Kind::kTensor},     {Kind::kValueInfo, 2, Kind::kType},
    {Kind::kType, 1, Kind::kTensorType},   {Kind::kType, 4, Kind::kHolderType},
    {Kind::kType, 5, Kind::kMapType},      {Kind::kType, 8, Kind::kTensorType},
    {Kind::kType, 9, Kind::kHolderType},   {Kind::kTensorType, 2, Kind::kShape},
    {Kind::kHolderType, 1, Kind::kType},   {Kind::kMapType, 2, Kind::kType},
    {Kind::kShape, 1, Kind::kDimension},   {Kind::kFunction, 7, Kind::kNode},
    {Kind::kFunction, 9, Kind::kEntry},    {Kind::kFunction, 11, Kind::kAttribute},
    {Kind::kTraining, 1, Kind::kGraph},    {Kind::kTraining, 2, Kind::kGraph},
    {Kind::kAnnotation, 2, Kind::kEntry},
});

Kind inner_kind(Kind outer, std::uint32_t number) {
  for (const Nested& each : kNested) {
    if (each.outer == outer && each.number == number) return each.inner;
  }
  return Kind::kBytes;
}

struct Field {
  std::uint32_t number = 0;
  protozero::pbf_wire_type type = protozero::pbf_wire_type::unknown;
  Kind kind = Kind::kBytes;
  std::uint64_t value = 0;    // of fixed length
  std::string bytes;          // kBytes
  std::vector<Field> fields;  // the other kinds
};
using Fields = std::vector<Field>;

constexpr int kDeepest = 40;

Fields read_fields(std::string_view bytes, Kind kind, int depth) {
  Fields fields;
  protozero::pbf_reader reader(bytes.data(), bytes.size());
  while (reader.next()) {
    Field field;
    field.number = reader.tag();
    field.type = reader.wire_type();
    switch (field.type) {
      case protozero::pbf_wire_type::varint: field.value = reader.get_uint64(); break;
      case protozero::pbf_wire_type::fixed32: field.value = reader.get_fixed32(); break;
      case protozero::pbf_wire_type::fixed64: field.value = reader.get_fixed64(); break;
      default: {
        const auto view = reader.get_view();
        field.kind = depth < kDeepest ? inner_kind(kind, field.number) : Kind::kBytes;
        if (field.kind == Kind::kBytes) {
          field.bytes.assign(view.data(), view.size());
        } else {
          field.fields = read_fields({view.data(), view.size()}, field.kind, depth + 1);
        }
      }
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string written(const Fields& fields) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const Field& field : fields) {
    switch (field.type) {
      case protozero::pbf_wire_type::varint: writer.add_uint64(field.number, field.value); break;
      case protozero::pbf_wire_type::fixed32:
        writer.add_fixed32(field.number, static_cast<std::uint32_t>(field.value));
        break;
      case protozero::pbf_wire_type::fixed64: writer.add_fixed64(field.number, field.value); break;
      default:
        writer.add_bytes(field.number, field.kind == Kind::kBytes ? field.bytes : written(field.fields));
    }
  }
  return bytes;
}

// Ops that the passes handle, and ops with subgraphs.
constexpr auto kOps = std::to_array<const char*>({"Conv",
                                                  "ConvTranspose",
                                                  "MatMul",
                                                  "Gemm",
                                                  "Add",
                                                  "Mul",
                                                  "Relu",
                                                  "Clip",
                                                  "Cast",
                                                  "Identity",
                                                  "Constant",
                                                  "ConstantOfShape",
                                                  "Transpose",
                                                  "Reshape",
                                                  "Squeeze",
                                                  "Concat",
                                                  "Split",
                                                  "Slice",
                                                  "Gather",
                                                  "MaxPool",
                                                  "Softmax",
                                                  "Sigmoid",
                                                  "LSTM",
                                                  "If",
                                                  "Loop",
                                                  "Scan",
                                                  "QuantizeLinear",
                                                  "DequantizeLinear",
                                                  "BatchNormalization",
                                                  "LayerNormalization",
                                                  "Resize",
                                                  "GlobalAveragePool",
                                                  "ReduceMean",
                                                  "Where",
                                                  "Pad"});
constexpr auto kNumbers = std::to_array<std::uint64_t>({0,
                                                        1,
                                                        2,
                                                        3,
                                                        7,
                                                        8,
                                                        10,
                                                        11,
                                                        16,
                                                        21,
                                                        127,
                                                        255,
                                                        65536,
                                                        0x7fffffff,
                                                        0x80000000,
                                                        0xffffffff,
                                                        std::uint64_t{1} << 40U,
                                                        std::uint64_t{1} << 62U,
                                                        ~std::uint64_t{0},
                                                        ~std::uint64_t{1}});
// Special values: zero, the smallest, the largest, infinity, NaN, half of a float.
constexpr auto kFloats = std::to_array<std::string_view>({{"\0\0\0\0", 4},
                                                          {"\1\0\0\0", 4},
                                                          {"\xff\xff\x7f\x7f", 4},
                                                          {"\0\0\x80\x7f", 4},
                                                          {"\0\0\xc0\xff", 4},
                                                          {"\0\0", 2}});

class Mutator {
 public:
  Mutator(Fields& model, std::uint64_t seed) : model_(model), random_(seed) {}

  void change() {
    messages_ = {&model_};
    texts_.clear();
    numbers_.clear();
    collect(model_);
    Fields& message = *messages_[below(messages_.size())];
    if (message.empty()) return;
    const std::size_t at = below(message.size());
    Field& field = message[at];
    switch (below(8)) {
      case 0: message.erase(message.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 1: message.insert(message.begin() + static_cast<std::ptrdiff_t>(at), Field(field)); break;
      case 2: std::swap(field, message[below(message.size())]); break;
      case 3: take_like(field); break;
      default: change_value(field);
    }
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  void collect(Fields& fields) {
    for (Field& field : fields) {
      if (field.kind != Kind::kBytes) {
        messages_.push_back(&field.fields);
        collect(field.fields);
      } else if (field.type == protozero::pbf_wire_type::length_delimited) {
        if (field.bytes.size() < kLongName) texts_.push_back(field.bytes);
      } else {
        numbers_.push_back(field.value);
      }
    }
  }

  // Replaces a field with another field of the same number: an input with another input, a node with another
  // node.
  void take_like(Field& field) {
    std::vector<const Field*> others;
    for (const Fields* message : messages_) {
      for (const Field& other : *message) {
        if (&other != &field && other.number == field.number && other.kind == field.kind &&
            other.type == field.type)
          others.push_back(&other);
      }
    }
    if (others.empty()) return;
    Field copy = *others[below(others.size())];
    field = std::move(copy);
  }

  void change_value(Field& field) {
    if (field.type != protozero::pbf_wire_type::length_delimited) return change_number(field.value);
    if (field.kind != Kind::kBytes) return;
    if (field.bytes.size() >= kLongName) return change_data(field.bytes);
    switch (below(5)) {
      case 0: field.bytes.clear(); break;
      case 1: field.bytes = kOps[below(kOps.size())]; break;
      case 2: change_data(field.bytes); break;
      default: field.bytes = texts_[below(texts_.size())];
    }
  }

  void change_number(std::uint64_t& number) {
    switch (below(4)) {
      case 0: ++number; break;
      case 1: --number; break;
      case 2: number = numbers_[below(numbers_.size())]; break;
      default: number = kNumbers[below(kNumbers.size())];
    }
  }

  // Sets all or one of the values to a special value, or truncates or extends the data.
  void change_data(std::string& bytes) {
    const std::string_view value = kFloats[below(kFloats.size())];
    const std::size_t at = below(bytes.size() + 1);
    switch (below(4)) {
      case 0: bytes.resize(at); break;
      case 1: bytes.insert(at, value); break;
      case 2: bytes.replace(at, value.size(), value); break;
      default:
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value[i % value.size()];
    }
  }

  static constexpr std::size_t kLongName = 48;
  Fields& model_;
  std::mt19937_64 random_;
  std::vector<Fields*> messages_;
  std::vector<std::string> texts_;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace

std::string mutate_model(const std::string& bytes, std::uint64_t seed) {
  try {
    Fields model = read_fields(bytes, Kind::kModel, 0);
    if (model.empty()) return bytes;
    Mutator mutator(model, seed);
    for (std::uint64_t changes = 1 + seed % 3; changes != 0; --changes) mutator.change();
    return written(model);
  } catch (const protozero::exception&) {
    return bytes;
  }
}

}  // namespace ounce::test
