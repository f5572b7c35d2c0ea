#include "support/model_builder.h"

#include <protozero/pbf_writer.hpp>
#include <cstring>

namespace ounce::test {
namespace {

std::string entry(const std::string& key, const std::string& value) {
  return field(1, key) + field(2, value);
}

std::string shape(const Dims& dims) {
  std::string bytes;
  for (const std::int64_t dim : dims) bytes += field(1, field(1, dim));
  return bytes;
}

}  // namespace

std::string field(std::uint32_t number, const std::string& payload) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_bytes(number, payload);
  return bytes;
}

std::string field(std::uint32_t number, std::int64_t value) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_int64(number, value);
  return bytes;
}

std::string raw_floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string tensor(const std::string& name, int type, const Dims& dims, const std::string& raw) {
  std::string bytes;
  for (const std::int64_t dim : dims) bytes += field(1, dim);
  return bytes + field(2, std::int64_t{type}) + field(8, name) + field(9, raw);
}

std::string float_tensor(const std::string& name, const Dims& dims, const std::vector<float>& values) {
  return tensor(name, kFloat, dims, raw_floats(values));
}

std::string external_tensor(const std::string& name, const Dims& dims, const std::string& location,
                            const std::string& offset, const std::string& length) {
  std::string bytes;
  for (const std::int64_t dim : dims) bytes += field(1, dim);
  bytes += field(2, std::int64_t{kFloat}) + field(8, name) + field(13, entry("location", location));
  if (!offset.empty()) bytes += field(13, entry("offset", offset));
  if (!length.empty()) bytes += field(13, entry("length", length));
  return bytes + field(14, std::int64_t{1});
}

std::string value_info(const std::string& name, int type, const Dims& dims) {
  return field(1, name) + field(2, field(1, field(1, std::int64_t{type}) + field(2, shape(dims))));
}

std::string int_attribute(const std::string& name, std::int64_t value) {
  return field(1, name) + field(3, value) + field(20, std::int64_t{2});
}

std::string ints_attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string bytes = field(1, name);
  for (const std::int64_t value : values) bytes += field(8, value);
  return bytes + field(20, std::int64_t{7});
}

std::string tensor_attribute(const std::string& name, const std::string& tensor_bytes) {
  return field(1, name) + field(5, tensor_bytes) + field(20, std::int64_t{4});
}

std::string graph_attribute(const std::string& name, const std::string& graph) {
  return field(1, name) + field(6, graph) + field(20, std::int64_t{5});
}

std::string node(const std::string& op_type, const Strings& inputs, const Strings& outputs,
                 const Strings& attributes, const std::string& name, const std::string& domain) {
  std::string bytes;
  for (const std::string& input : inputs) bytes += field(1, input);
  for (const std::string& output : outputs) bytes += field(2, output);
  if (!name.empty()) bytes += field(3, name);
  bytes += field(4, op_type);
  for (const std::string& attribute : attributes) bytes += field(5, attribute);
  if (!domain.empty()) bytes += field(7, domain);
  return bytes;
}

GraphBuilder& GraphBuilder::input(const std::string& name, int type, const Dims& dims) {
  inputs_ += field(11, value_info(name, type, dims));
  return *this;
}

GraphBuilder& GraphBuilder::output(const std::string& name, int type, const Dims& dims) {
  outputs_ += field(12, value_info(name, type, dims));
  return *this;
}

GraphBuilder& GraphBuilder::initializer(const std::string& name, const Dims& dims,
                                        const std::vector<float>& values) {
  return initializer(float_tensor(name, dims, values));
}

GraphBuilder& GraphBuilder::initializer(const std::string& tensor_bytes) {
  initializers_ += field(5, tensor_bytes);
  return *this;
}

GraphBuilder& GraphBuilder::node(const std::string& op_type, const Strings& inputs, const Strings& outputs,
                                 const Strings& attributes, const std::string& name) {
  nodes_ += field(1, test::node(op_type, inputs, outputs, attributes, name));
  return *this;
}

GraphBuilder& GraphBuilder::add(std::uint32_t number, const std::string& payload) {
  others_ += field(number, payload);
  return *this;
}

std::string GraphBuilder::bytes() const {
  return nodes_ + field(2, std::string("g")) + initializers_ + inputs_ + outputs_ + others_;
}

ModelBuilder& ModelBuilder::add_to_model(std::uint32_t number, const std::string& payload) {
  model_others_ += field(number, payload);
  return *this;
}

std::string ModelBuilder::bytes() const {
  return field(1, ir_version_) + field(7, GraphBuilder::bytes()) +
         field(8, field(1, std::string()) + field(2, opset_)) + model_others_;
}

}  // namespace ounce::test
