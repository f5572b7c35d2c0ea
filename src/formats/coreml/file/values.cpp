#include "formats/coreml/file/values.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <cstring>
#include <utility>

namespace ounce::coreml {
namespace {

using protobuf::Cursor;
using protobuf::Origin;

template <class Field>
constexpr std::uint32_t number(Field field) {
  return static_cast<std::uint32_t>(field);
}

int fixed_width(TensorField field) {
  if (field == TensorField::kFloats) return 4;
  return field == TensorField::kDoubles ? 8 : 0;
}

class ImmediateChecker {
 public:
  explicit ImmediateChecker(const Origin& origin) : origin_(origin) {}

  ImmediateContent immediate(Bytes message, int depth) const {
    ImmediateContent content;
    Cursor cursor(message, origin_, "ImmediateValue");
    if (depth > kMaxNesting) cursor.fail("values are nested too deeply");
    bool is_seen = false;
    while (cursor.next()) {
      if (is_seen) cursor.fail("a value appears twice");
      is_seen = true;
      switch (cursor.field<ImmediateField>()) {
        case ImmediateField::kTensor: tensor(cursor.bytes(), content); break;
        case ImmediateField::kTuple:
        case ImmediateField::kList: values(cursor.bytes(), depth, content); break;
        case ImmediateField::kDictionary: pairs(cursor.bytes(), depth, content); break;
        default: cursor.skip();
      }
    }
    return content;
  }

 private:
  void tensor(Bytes message, ImmediateContent& content) const {
    content.values = 0;
    Cursor cursor(message, origin_, "TensorValue");
    while (cursor.next()) {
      const auto field = cursor.field<TensorField>();
      const bool is_known = field >= TensorField::kFloats && field <= TensorField::kBytes;
      if (!is_known) {
        cursor.skip();
        continue;
      }
      Cursor values(cursor.bytes(), origin_, "TensorValue");
      while (values.next()) {
        if (values.field<RepeatedField>() != RepeatedField::kValue) {
          values.skip();
        } else if (field == TensorField::kBytes) {
          content.is_raw = true;
          content.bytes += values.bytes().size();
        } else if (field == TensorField::kStrings) {
          values.bytes();
          ++*content.values;
        } else {
          *content.values += values.entries(fixed_width(field)).count;
        }
      }
    }
  }

  void values(Bytes message, int depth, ImmediateContent& content) const {
    Cursor cursor(message, origin_, "ListValue");
    while (cursor.next()) {
      if (cursor.field<ListField>() == ListField::kValue) {
        value(cursor.bytes(), depth, content);
      } else {
        cursor.skip();
      }
    }
  }

  void pairs(Bytes message, int depth, ImmediateContent& content) const {
    Cursor cursor(message, origin_, "DictionaryValue");
    while (cursor.next()) {
      if (cursor.field<ListField>() != ListField::kValue) {
        cursor.skip();
        continue;
      }
      Cursor pair(cursor.bytes(), origin_, "KeyValuePair");
      while (pair.next()) {
        const auto field = pair.field<EntryField>();
        if (field == EntryField::kKey || field == EntryField::kValue) {
          value(pair.bytes(), depth, content);
        } else {
          pair.skip();
        }
      }
    }
  }

  void value(Bytes message, int depth, ImmediateContent& content) const {
    Cursor cursor(message, origin_, "Value");
    while (cursor.next()) {
      switch (cursor.field<ValueField>()) {
        case ValueField::kImmediate:
          content.hides_blob |= immediate(cursor.bytes(), depth + 1).hides_blob;
          break;
        case ValueField::kBlob:
          content.hides_blob = true;
          cursor.skip();
          break;
        default: cursor.skip();
      }
    }
  }

  const Origin& origin_;
};

// The TensorValue of an ImmediateValue; null if there is none.
protozero::pbf_reader tensor_of(Bytes immediate) {
  protozero::pbf_reader reader(immediate.data(), immediate.size());
  while (reader.next()) {
    if (reader.tag() == number(ImmediateField::kTensor)) return reader.get_message();
    reader.skip();
  }
  return {};
}

// Calls `visit` with the content of each field with values.
template <class Visit>
void for_each_field(const Value& value, const Visit& visit) {
  if (value.immediate.data() == nullptr) return;
  protozero::pbf_reader tensor = tensor_of(value.immediate);
  while (tensor.next()) {
    const auto field = static_cast<TensorField>(tensor.tag());
    if (field < TensorField::kFloats || field > TensorField::kBytes) {
      tensor.skip();
      continue;
    }
    protozero::pbf_reader values = tensor.get_message();
    while (values.next()) {
      if (values.tag() == number(RepeatedField::kValue)) {
        visit(field, values);
      } else {
        values.skip();
      }
    }
  }
}

template <class T>
void append(std::string& bytes, T value, std::size_t width) {
  bytes.append(reinterpret_cast<const char*>(&value), width);
}

// Numbers as varints, packed or one at a time.
template <class Visit>
void for_each_integer(protozero::pbf_reader& values, const Visit& visit) {
  if (values.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const std::int64_t entry : values.get_packed_int64()) visit(entry);
  } else {
    visit(values.get_int64());
  }
}

// Appends the bits of floats or doubles, packed or one at a time.
void append_fixed(protozero::pbf_reader& values, std::size_t width, std::string& bytes) {
  if (values.wire_type() == protozero::pbf_wire_type::length_delimited) {
    const auto view = values.get_view();
    bytes.append(view.data(), view.size());
  } else if (width == sizeof(float)) {
    append(bytes, values.get_fixed32(), width);
  } else {
    append(bytes, values.get_fixed64(), width);
  }
}

std::string decoded(const Value& value) {
  const std::size_t width = std::size_t{info_of(value.type.type).bits} / 8;
  std::string bytes;
  for_each_field(value, [&](TensorField field, protozero::pbf_reader& values) {
    switch (field) {
      case TensorField::kFloats: append_fixed(values, sizeof(float), bytes); break;
      case TensorField::kDoubles: append_fixed(values, sizeof(double), bytes); break;
      case TensorField::kInts:
      case TensorField::kLongInts:
      case TensorField::kBools:
        for_each_integer(values, [&](std::int64_t entry) { append(bytes, entry, width); });
        break;
      case TensorField::kBytes: {
        const auto view = values.get_view();
        bytes.append(view.data(), view.size());
        break;
      }
      default: values.skip();
    }
  });
  return bytes;
}

bool is_integer(DataType type) {
  return type != DataType::kBool && type != DataType::kString && type != DataType::kUnused &&
         !is_float(type) && type != DataType::kFloat8E4M3FN && type != DataType::kFloat8E5M2;
}

std::int64_t integer_at(Bytes bytes, std::size_t index, const DataTypeInfo& row) {
  std::uint64_t bits = 0;
  if (row.is_packed()) {
    for (std::size_t bit = 0; bit < row.bits; ++bit) {
      const std::size_t at = index * row.bits + bit;
      const unsigned byte = static_cast<unsigned char>(bytes[at / 8]);
      bits |= std::uint64_t{(byte >> (at % 8)) & 1U} << bit;
    }
  } else {
    std::memcpy(&bits, bytes.data() + index * (row.bits / 8U), row.bits / 8U);
  }
  const unsigned unused = 64U - row.bits;
  return row.is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                       : static_cast<std::int64_t>(bits);
}

}  // namespace

ImmediateContent check_immediate(Bytes message, const Origin& origin) {
  return ImmediateChecker(origin).immediate(message, 0);
}

RawValues::RawValues(const Value& value) {
  if (value.blob) {
    bytes_ = value.blob->bytes();
    return;
  }
  if (!value.type.is_tensor() || value.type.type == DataType::kString) return;
  decoded_ = decoded(value);
  bytes_ = decoded_;
}

std::vector<Bytes> strings_of(const Value& value) {
  std::vector<Bytes> strings;
  for_each_field(value, [&](TensorField field, protozero::pbf_reader& values) {
    if (field != TensorField::kStrings) return values.skip();
    const auto view = values.get_view();
    strings.emplace_back(view.data(), view.size());
  });
  return strings;
}

std::optional<Bytes> string_of(const Value& value) {
  if (!value.type.is_tensor() || value.type.type != DataType::kString) return std::nullopt;
  const std::vector<Bytes> strings = strings_of(value);
  return strings.size() == 1 ? std::optional(strings[0]) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> integers_of(const Value& value) {
  if (!value.type.is_tensor() || !is_integer(value.type.type)) return std::nullopt;
  const RawValues raw(value);
  const auto count = value.type.element_count(), size = value.type.byte_count();
  if (!count || !size || *size > raw.bytes().size()) return std::nullopt;
  std::vector<std::int64_t> integers(*count);
  for (std::size_t i = 0; i < integers.size(); ++i)
    integers[i] = integer_at(raw.bytes(), i, info_of(value.type.type));
  return integers;
}

std::optional<std::int64_t> integer_of(const Value& value) {
  const auto integers = integers_of(value);
  return integers && integers->size() == 1 ? std::optional(integers->front()) : std::nullopt;
}

std::optional<bool> bool_of(const Value& value) {
  if (!value.type.is_tensor() || value.type.type != DataType::kBool) return std::nullopt;
  const RawValues raw(value);
  return raw.bytes().size() == 1 ? std::optional(raw.bytes()[0] != 0) : std::nullopt;
}

namespace {

const Binding* only_binding(const Operation& operation, Bytes input) {
  const Argument* argument = operation.input(input);
  return argument == nullptr || argument->bindings.size() != 1 ? nullptr : &*argument->bindings[0];
}

}  // namespace

const Value* bound_value(const Operation& operation, Bytes input) {
  const Binding* binding = only_binding(operation, input);
  return binding == nullptr || binding->value.empty() ? nullptr : &*binding->value[0];
}

std::optional<Bytes> bound_name(const Operation& operation, Bytes input) {
  const Binding* binding = only_binding(operation, input);
  return binding == nullptr || !binding->value.empty() ? std::nullopt : std::optional(binding->name);
}

ValueType tensor_type(Model& model, DataType type, const std::vector<std::int64_t>& dims) {
  std::string tensor;
  protozero::pbf_writer out(tensor);
  out.add_enum(number(TensorTypeField::kDataType), static_cast<std::int32_t>(type));
  if (!dims.empty()) out.add_int64(number(TensorTypeField::kRank), static_cast<std::int64_t>(dims.size()));
  for (const std::int64_t dim : dims) {
    std::string size, constant;
    if (dim != 0)
      protozero::pbf_writer(size).add_uint64(number(ConstantDimensionField::kSize),
                                             static_cast<std::uint64_t>(dim));
    protozero::pbf_writer(constant).add_message(number(DimensionField::kConstant), size);
    out.add_message(number(TensorTypeField::kDimension), constant);
  }
  std::string message;
  protozero::pbf_writer(message).add_message(number(ValueTypeField::kTensor), tensor);
  ValueType made;
  made.kind = ValueType::Kind::kTensor;
  made.type = type;
  made.dims = dims;
  made.message = model.intern(std::move(message));
  return made;
}

namespace {

// `content` is a message of type RepeatedFloats, RepeatedInts or another repeated type.
Value immediate_value(Model& model, ValueType type, TensorField field, const std::string& content) {
  std::string tensor, immediate;
  protozero::pbf_writer(tensor).add_message(number(field), content);
  protozero::pbf_writer(immediate).add_message(number(ImmediateField::kTensor), tensor);
  Value value;
  value.type = std::move(type);
  value.immediate = model.intern(std::move(immediate));
  return value;
}

}  // namespace

Value string_value(Model& model, const std::string& text) {
  std::string content;
  protozero::pbf_writer(content).add_string(number(RepeatedField::kValue), text);
  return immediate_value(model, tensor_type(model, DataType::kString, {}), TensorField::kStrings, content);
}

Value integer_value(Model& model, std::int32_t value) {
  return tensor_value(model, DataType::kInt32, {},
                      std::string(reinterpret_cast<const char*>(&value), sizeof value));
}

Value tensor_value(Model& model, DataType type, const std::vector<std::int64_t>& dims,
                   const std::string& bytes) {
  const DataTypeInfo& row = info_of(type);
  std::string content;
  protozero::pbf_writer out(content);
  switch (row.field) {
    case TensorField::kBytes: out.add_bytes(number(RepeatedField::kValue), bytes); break;
    case TensorField::kFloats: out.add_bytes(number(RepeatedField::kValue), bytes); break;  // packed
    case TensorField::kInts: {
      std::vector<std::int32_t> values;
      for (std::size_t i = 0; i < bytes.size() / (row.bits / 8U); ++i)
        values.push_back(static_cast<std::int32_t>(integer_at(bytes, i, row)));
      out.add_packed_int32(number(RepeatedField::kValue), values.begin(), values.end());
      break;
    }
    default:
      throw Error(ErrorCode::kInternal, fmt::format("creating values of {} is not supported", row.name));
  }
  return immediate_value(model, tensor_type(model, type, dims), row.field, content);
}

Value blob_value(Model& model, DataType type, const std::vector<std::int64_t>& dims, Blob blob) {
  Value value;
  value.type = tensor_type(model, type, dims);
  value.blob = std::move(blob);
  return value;
}

}  // namespace ounce::coreml
