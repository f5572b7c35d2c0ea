// The fields of each table of a .tflite file, by their ids: the one list that reader.cpp and writer.cpp
// follow.
//
// each_field(visitor, value) calls a function of the visitor for each field of the table that `value` is:
//   scalar(id, number, fallback)         absent if it equals its fallback
//   numbers(id, vector, Presence)        a vector of numbers
//   text(id, bytes)                      a string
//   name(id, bytes)                      a string without control characters
//   table(id, optional), tables(id, vector, Presence)
//   record(id, optional, info), records(id, vector, info)
//   variant(id, union, tables)           its type is the field `id`, its table the next one
//   data(id, offset, size, data)         a vector of bytes, or a place behind the tables
//   builtin_code(old, code, number)      two fields for one number
#pragma once

#include <concepts>
#include <type_traits>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

enum class Presence { kAlways, kUnlessEmpty };

template <class T, class Table>
concept IsTable = std::same_as<std::remove_const_t<T>, Table>;

template <class T>
struct TableName;
template <>
struct TableName<Model> {
  static constexpr const char* value = "Model";
};
template <>
struct TableName<OperatorCode> {
  static constexpr const char* value = "OperatorCode";
};
template <>
struct TableName<SubGraph> {
  static constexpr const char* value = "SubGraph";
};
template <>
struct TableName<Tensor> {
  static constexpr const char* value = "Tensor";
};
template <>
struct TableName<Quantization> {
  static constexpr const char* value = "QuantizationParameters";
};
template <>
struct TableName<Operator> {
  static constexpr const char* value = "Operator";
};
template <>
struct TableName<Buffer> {
  static constexpr const char* value = "Buffer";
};
template <>
struct TableName<ExternalBuffer> {
  static constexpr const char* value = "ExternalBuffer";
};
template <>
struct TableName<Metadata> {
  static constexpr const char* value = "Metadata";
};
template <>
struct TableName<Signature> {
  static constexpr const char* value = "SignatureDef";
};
template <>
struct TableName<TensorMap> {
  static constexpr const char* value = "TensorMap";
};

template <class V, IsTable<Model> T>
void each_field(V& v, T& model) {
  v.scalar(0, model.version, 0);
  v.tables(1, model.operator_codes, Presence::kAlways);
  v.tables(2, model.subgraphs, Presence::kAlways);
  v.text(3, model.description);
  v.tables(4, model.buffers, Presence::kAlways);
  v.numbers(5, model.metadata_buffer, Presence::kUnlessEmpty);
  v.tables(6, model.metadata, Presence::kUnlessEmpty);
  v.tables(7, model.signatures, Presence::kUnlessEmpty);
  v.records(8, model.external_buffer_groups, kExternalBufferGroup);
  v.tables(9, model.external_buffers, Presence::kUnlessEmpty);
}

template <class V, IsTable<OperatorCode> T>
void each_field(V& v, T& code) {
  v.builtin_code(0, 3, code.code);
  v.name(1, code.custom_code);
  v.scalar(2, code.version, 1);
}

template <class V, IsTable<SubGraph> T>
void each_field(V& v, T& graph) {
  v.tables(0, graph.tensors, Presence::kAlways);
  v.numbers(1, graph.inputs, Presence::kAlways);
  v.numbers(2, graph.outputs, Presence::kAlways);
  v.tables(3, graph.operators, Presence::kAlways);
  v.name(4, graph.name);
  v.scalar(5, graph.debug_metadata_index, -1);
}

template <class V, IsTable<Tensor> T>
void each_field(V& v, T& tensor) {
  v.numbers(0, tensor.shape, Presence::kAlways);
  v.scalar(1, tensor.type, TensorType::kFloat32);
  v.scalar(2, tensor.buffer, 0);
  v.name(3, tensor.name);
  v.table(4, tensor.quantization);
  v.scalar(5, tensor.is_variable, false);
  v.record(6, tensor.sparsity, kSparsityParameters);
  v.numbers(7, tensor.shape_signature, Presence::kUnlessEmpty);
  v.scalar(8, tensor.has_rank, false);
  v.records(9, tensor.variant_tensors, kVariantSubType);
  v.scalar(10, tensor.external_buffer, 0);
}

template <class V, IsTable<Quantization> T>
void each_field(V& v, T& quantization) {
  v.numbers(0, quantization.min, Presence::kUnlessEmpty);
  v.numbers(1, quantization.max, Presence::kUnlessEmpty);
  v.numbers(2, quantization.scale, Presence::kUnlessEmpty);
  v.numbers(3, quantization.zero_point, Presence::kUnlessEmpty);
  v.variant(4, quantization.details, quantization_details);
  v.scalar(6, quantization.dimension, 0);
}

template <class V, IsTable<Operator> T>
void each_field(V& v, T& op) {
  v.scalar(0, op.opcode_index, 0);
  v.numbers(1, op.inputs, Presence::kAlways);
  v.numbers(2, op.outputs, Presence::kAlways);
  v.variant(3, op.options, builtin_options);
  v.data(5, 9, 10, op.custom_options);
  v.scalar(6, op.custom_options_format, 0);
  v.numbers(7, op.mutating_variable_inputs, Presence::kUnlessEmpty);
  v.numbers(8, op.intermediates, Presence::kUnlessEmpty);
  v.variant(11, op.options_2, builtin_options_2);
  v.scalar(13, op.debug_metadata_index, -1);
}

template <class V, IsTable<Buffer> T>
void each_field(V& v, T& buffer) {
  v.data(0, 1, 2, buffer.data);
}

template <class V, IsTable<ExternalBuffer> T>
void each_field(V& v, T& buffer) {
  v.scalar(0, buffer.id, 0);
  v.scalar(1, buffer.group, 0);
  v.scalar(2, buffer.offset, 0);
  v.scalar(3, buffer.length, 0);
  v.name(4, buffer.packing);
}

template <class V, IsTable<Metadata> T>
void each_field(V& v, T& metadata) {
  v.name(0, metadata.name);
  v.scalar(1, metadata.buffer, 0);
}

template <class V, IsTable<TensorMap> T>
void each_field(V& v, T& map) {
  v.name(0, map.name);
  v.scalar(1, map.tensor, 0);
}

template <class V, IsTable<Signature> T>
void each_field(V& v, T& signature) {
  v.tables(0, signature.inputs, Presence::kUnlessEmpty);
  v.tables(1, signature.outputs, Presence::kUnlessEmpty);
  v.name(2, signature.key);
  v.text(3, signature.deprecated_tag);
  v.scalar(4, signature.subgraph, 0);
}

}  // namespace ounce::tflite
