// Builds small ONNX models for tests, message by message. It writes bytes with protozero and uses nothing of
// the library under test, so that invalid models are as easy to build as valid ones.
//
//   ModelBuilder model;
//   model.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 8});
//   model.initializer("w", {4, 8}, weights);
//   model.node("MatMul", {"x", "w"}, {"y"});
//   std::string bytes = model.bytes();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ounce::test {

using Strings = std::vector<std::string>;
using Dims = std::vector<std::int64_t>;

// ONNX element types.
inline constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kInt64 = 7,
                     kBool = 9, kFloat16 = 10, kDouble = 11, kBfloat16 = 16, kUint4 = 21, kInt4 = 22;

// Encoded messages; each is a complete payload that field() can nest.
std::string field(std::uint32_t number, const std::string& payload);  // length-delimited
std::string field(std::uint32_t number, std::int64_t value);          // varint
std::string raw_floats(const std::vector<float>& values);

std::string tensor(const std::string& name, int type, const Dims& dims, const std::string& raw);
std::string float_tensor(const std::string& name, const Dims& dims, const std::vector<float>& values);
std::string external_tensor(const std::string& name, const Dims& dims, const std::string& location,
                            const std::string& offset, const std::string& length);
std::string value_info(const std::string& name, int type, const Dims& dims);
std::string int_attribute(const std::string& name, std::int64_t value);
std::string ints_attribute(const std::string& name, const std::vector<std::int64_t>& values);
std::string tensor_attribute(const std::string& name, const std::string& tensor);
std::string graph_attribute(const std::string& name, const std::string& graph);
std::string node(const std::string& op_type, const Strings& inputs, const Strings& outputs,
                 const Strings& attributes = {}, const std::string& name = {},
                 const std::string& domain = {});

class GraphBuilder {
 public:
  GraphBuilder() = default;
  GraphBuilder(const GraphBuilder&) = default;
  GraphBuilder& operator=(const GraphBuilder&) = default;
  virtual ~GraphBuilder() = default;

  GraphBuilder& input(const std::string& name, int type, const Dims& dims);
  GraphBuilder& output(const std::string& name, int type, const Dims& dims);
  GraphBuilder& initializer(const std::string& name, const Dims& dims, const std::vector<float>& values);
  GraphBuilder& initializer(const std::string& tensor_bytes);
  GraphBuilder& node(const std::string& op_type, const Strings& inputs, const Strings& outputs,
                     const Strings& attributes = {}, const std::string& name = {});
  GraphBuilder& add(std::uint32_t number, const std::string& payload);  // any other field
  virtual std::string bytes() const;

 private:
  std::string nodes_, initializers_, inputs_, outputs_, others_;
};

class ModelBuilder : public GraphBuilder {
 public:
  explicit ModelBuilder(std::int64_t opset = 17, std::int64_t ir_version = 8)
      : opset_(opset), ir_version_(ir_version) {}
  ModelBuilder& add_to_model(std::uint32_t number, const std::string& payload);
  std::string bytes() const override;

 private:
  std::int64_t opset_, ir_version_;
  std::string model_others_;
};

}  // namespace ounce::test
