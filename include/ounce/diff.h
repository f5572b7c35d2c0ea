// What changed between two models?
//
//   const ounce::DiffResult result = ounce::diff("model.onnx", "model.w8.onnx");
//   if (!result.is_same()) log(result.nodes_added, result.tensors);
//
// Nodes and weights are the same by their place in the network, whatever they are called: names that differ
// are noted, and are no difference. Both files are read, nothing is run. Throws ounce::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/progress.h>

namespace ounce {

// Something that both models have, or one of them: `before` or `after` is empty where it is missing.
struct Change {
  std::string what;  // "opset", "input", "output", "metadata", "contract" …
  std::string name;  // of the domain, the input, the key
  std::string before, after;
};

struct OpCount {
  std::string op_type;  // "Conv", "com.microsoft.MatMulNBits"
  std::uint64_t before = 0, after = 0;
};

struct NodeChange {
  std::string name, scope, op_type;
  std::string name_after;            // another one, where it is called otherwise; else empty
  std::vector<std::string> changes;  // "attribute 'axis'", "takes 3 inputs instead of 2"; none of added ones
};

struct TensorChange {
  std::string name, scope;
  std::string name_after;     // where it is called otherwise; else empty
  std::string before, after;  // "float32[64,3,3,3]"; empty where it is missing
  bool is_compared = false;   // both have as many numbers: then the rest says how far they are apart
  double sqnr_db = 0;         // infinite when they are equal
  double max_abs_diff = 0;
  std::string remark;  // "is now made by Mul 'w_decoded'"
};

struct DiffResult {
  std::filesystem::path a, b;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  std::vector<Change> changes;  // of the model as a whole
  std::vector<OpCount> ops;     // all of them, those that differ first
  std::uint64_t nodes_matched = 0, nodes_renamed = 0, tensors_matched = 0, tensors_renamed = 0;
  std::vector<NodeChange> nodes_changed, nodes_added, nodes_removed;
  std::vector<TensorChange> tensors;  // those that differ, are new, or are gone; the furthest apart first

  bool is_same() const {
    return changes.empty() && nodes_changed.empty() && nodes_added.empty() && nodes_removed.empty() &&
           tensors.empty();
  }
};

DiffResult diff(const std::filesystem::path& a, const std::filesystem::path& b, Progress* progress = nullptr);

}  // namespace ounce
