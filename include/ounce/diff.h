// Lists the differences between two models.
//
//   const ounce::DiffResult result = ounce::diff("model.onnx", "model.w8.onnx");
//   if (!result.is_same()) log(result.nodes_added, result.tensors);
//
// Nodes and weights are matched by their position in the network. A different name alone is counted as
// renamed, not as a difference. No model is run. Throws ounce::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/progress.h>

namespace ounce {

// A property of the whole model; `before` or `after` is empty if that model lacks it.
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
  std::string name_after;  // the name in the second model, if it differs; else empty
  std::vector<std::string>
      changes;  // "attribute 'axis'", "takes 3 inputs instead of 2"; empty for added nodes
};

struct TensorChange {
  std::string name, scope;
  std::string name_after;     // the name in the second model, if it differs; else empty
  std::string before, after;  // "float32[64,3,3,3]"; empty if that model lacks it
  bool is_compared = false;   // both have the same number of values, so the next fields are set
  double sqnr_db = 0;         // infinite if equal
  double max_abs_diff = 0;
  std::string remark;  // "is now made by Mul 'w_decoded'"
};

struct DiffResult {
  std::filesystem::path a, b;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  std::vector<Change> changes;  // of the whole model
  std::vector<OpCount> ops;     // all ops, those with different counts first
  std::uint64_t nodes_matched = 0, nodes_renamed = 0, tensors_matched = 0, tensors_renamed = 0;
  std::vector<NodeChange> nodes_changed, nodes_added, nodes_removed;
  std::vector<TensorChange> tensors;  // changed, added and removed weights, largest difference first

  bool is_same() const {
    return changes.empty() && nodes_changed.empty() && nodes_added.empty() && nodes_removed.empty() &&
           tensors.empty();
  }
};

// Compares model `b` with model `a`. Throws Error if one cannot be read.
DiffResult diff(const std::filesystem::path& a, const std::filesystem::path& b, Progress* progress = nullptr);

}  // namespace ounce
