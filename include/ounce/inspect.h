// What is in a model, and what quantize() would do with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <ounce/quantize.h>

namespace ounce {

struct NamedCount {
  std::string name;
  std::uint64_t count = 0, bytes = 0;
};

struct ValueDescription {
  std::string name, type;  // "float32[N,3,224,224]"
  // {-1, 3, 224, 224}: -1 is a dynamic axis. Empty for scalars and unknown ranks.
  std::vector<std::int64_t> shape = {};
};

struct ModelInfo {
  std::filesystem::path path;
  std::uint64_t bytes = 0;      // model file and external data
  std::string format = "ONNX";  // of the file: "ONNX" or "TFLite"
  std::int64_t ir_version = 0;  // the schema version of another format
  std::string producer;
  std::vector<std::pair<std::string, std::int64_t>> opsets;  // TFLite: the version of each operator
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<ValueDescription> inputs, outputs;
  std::uint64_t nodes = 0, subgraphs = 0, functions = 0;
  std::vector<NamedCount> ops;            // how often, and the bytes of weights they use; most bytes first
  std::vector<NamedCount> element_types;  // tensors by type
  std::vector<NamedCount> external_files;
  std::vector<TensorOutcome> tensors;  // every float tensor as the recipe would treat it, largest first
  std::uint64_t weight_bytes = 0;      // all tensors
  std::uint64_t bytes_after = 0;       // what quantize() would write; 0 when it would refuse
  // Integer nodes that may give something else on x86 CPUs without VNNI; see TargetCheck.
  std::uint64_t saturating_nodes = 0;
  int worst_pair = 0;
  std::vector<std::string> notes, blockers;
};

ModelInfo inspect(const std::filesystem::path& model, const Recipe& recipe = {});

}  // namespace ounce
