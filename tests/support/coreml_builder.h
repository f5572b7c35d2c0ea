// Test support: builds Core ML packages.
//
//   CoremlBuilder model(9);                       // the version of the specification
//   model.input("x", {1, 4});
//   model.weights("w", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
//   model.op("linear", {{"x", "x"}, {"weight", "w"}}, "y", {1, 2});
//   model.output("y", {1, 2});
//   model.write(folder.path() / "net.mlpackage");
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

inline constexpr const char* kTestWeights = "@model_path/weights/weight.bin";

class CoremlBuilder {
 public:
  using Shape = std::vector<std::int64_t>;
  using Inputs = std::vector<std::pair<std::string, std::string>>;  // parameter and value

  explicit CoremlBuilder(std::int64_t version = 7, DataType type = DataType::kFloat16);

  CoremlBuilder& input(const std::string& name, const Shape& shape);
  CoremlBuilder& output(const std::string& name, const Shape& shape);
  // A constant in the weight file, in the builder's type.
  CoremlBuilder& weights(const std::string& name, const Shape& shape, const std::vector<float>& values);
  // A constant in the program.
  CoremlBuilder& constant(const std::string& name, Value value);
  Operation& op(const std::string& type, const Inputs& inputs, const std::string& output, const Shape& shape);
  CoremlBuilder& metadata(const std::string& key, const std::string& value);

  // Stores `bytes` in the weight file, and returns the value that refers to them.
  Value stored(DataType type, const Shape& shape, const std::string& bytes);

  // The block to which the next operations are added.
  Block& block();

  std::string bytes() const;         // the model file
  std::string weight_bytes() const;  // the weight file
  std::map<std::string, std::string> weight_files() const { return {{kTestWeights, weight_bytes()}}; }
  Model read() const;
  // Writes a package.
  void write(const std::filesystem::path& package) const;

  Model model;

 private:
  NamedType named(const std::string& name, const Shape& shape, DataType type);
  void describe(std::uint32_t field, const std::string& name, const Shape& shape);
  Attribute attribute(const std::string& name, Value value);

  DataType type_;
  std::string weights_;
  std::uint32_t blobs_ = 0;
};

// A convolution, a matrix product and a lookup table, with enough weights to be quantized.
CoremlBuilder small_coreml(std::int64_t version = 7, DataType type = DataType::kFloat16);
// Nested blocks, two functions, a state, lists, every element type, attributes, fields with unknown numbers.
CoremlBuilder everything_coreml();
// A neural network with 16-bit weights, quantized weights and a lookup table.
std::string neural_network();

// A model file and its weight file as one fuzzer input: 4 bytes with the size of the model file, the model
// file, the weight file.
std::string joined(const CoremlBuilder& model);
std::string joined(const std::string& model, const std::string& weights);

// A small model with every form of compressed weights of iOS16, or with `has_inputs` of iOS18.
CoremlBuilder compressed_coreml(bool has_inputs);

}  // namespace ounce::coreml
