// Describes a model, and how quantize() would quantize it.
//
//   const ounce::ModelInfo info = ounce::inspect("model.onnx");
//   // info.inputs, info.ops, info.bytes_after
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
  std::int64_t ir_version = 0;  // for other formats the schema version
  std::string producer;
  std::vector<std::pair<std::string, std::int64_t>> opsets;  // for TFLite the version of each operator
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<ValueDescription> inputs, outputs;
  std::uint64_t nodes = 0, subgraphs = 0, functions = 0;
  std::vector<NamedCount> ops;            // count and bytes of weights; most bytes first
  std::vector<NamedCount> element_types;  // tensors by type
  std::vector<NamedCount> external_files;
  std::vector<TensorOutcome> tensors;  // the plan for every float tensor, largest first
  std::uint64_t weight_bytes = 0;      // of all tensors
  std::uint64_t bytes_after = 0;       // estimated size after quantize(); 0: it cannot be quantized
  // INT8 nodes whose results may differ on x86 CPUs without VNNI; see TargetCheck.
  std::uint64_t saturating_nodes = 0;
  int worst_pair = 0;
  std::vector<GraphBlock> blocks = {};  // in the order of the network
  std::vector<std::string> notes, blockers;
};

// Reads `model` without running it, and plans `recipe`. Throws Error if it cannot be read. A model that
// cannot be quantized is no error: see ModelInfo::blockers.
ModelInfo inspect(const std::filesystem::path& model, const Recipe& recipe = {});

}  // namespace ounce
