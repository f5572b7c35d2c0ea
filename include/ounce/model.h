// Describes, checks, compares and copies models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>

namespace ounce {

// == Description ==
//
// Describes a model, and how quantize() would quantize it.
//
//   const ounce::ModelInfo info = ounce::inspect("model.onnx");
//   // info.inputs, info.ops, info.bytes_after

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

// == Platforms and runtime releases ==
//
// Checks whether a model loads and runs on a platform and runtime release. The verdicts come from
// measurements of the real runtimes (tools/support_matrix): each release of ONNX Runtime from 1.14 on, on
// x64, arm64 and the web; for TFLite models releases of LiteRT and TensorFlow Lite on x64 and arm64.
//
//   ounce::CheckReport report = ounce::check("model.onnx", {{"android-arm64@1.22.0", "linux-x64@1.30.0"}});
//   // report.targets[0].loads(): false
//   ounce::check("model.tflite", {{"android-arm64@litert-2.3.0"}});
//
// Throws ounce::Error for a model that cannot be read, for unknown targets, and for releases that are older
// than all measured ones or have another major version. Other releases that were not measured give
// Verdict::kUnknown.

enum class Verdict {
  kRuns,
  kSlow,            // runs, but not in a kernel for its type: converted or decomposed
  kUnknown,         // not measured
  kWrong,           // runs with a wrong result
  kNotImplemented,  // the session cannot be created
  kFails,           // loads, but fails or crashes when it runs
};
template <>
struct NamesOf<Verdict> {
  static constexpr Named<Verdict> kAll[] = {{Verdict::kRuns, "runs"},
                                            {Verdict::kSlow, "slow"},
                                            {Verdict::kUnknown, "unknown"},
                                            {Verdict::kWrong, "wrong"},
                                            {Verdict::kNotImplemented, "not_implemented"},
                                            {Verdict::kFails, "fails"}};
};

struct NodeFinding {
  std::string name, scope, op_type, domain;
  std::string types;  // "T1=uint8 T2=int8"
  Verdict verdict = Verdict::kRuns;
  std::string why;
};

struct ProviderHint {
  std::string provider;
  std::string source;  // the documentation that the hint is based on
  // Nodes of the main graph that run, the nodes that the provider takes, their partitions, and the nodes of
  // the largest partition.
  std::size_t nodes = 0, taken = 0, partitions = 0, largest = 0;
  std::vector<std::string> left;  // op types that stay on the CPU, most frequent first
  std::string note;               // about the whole model
  // Taken nodes that compute, and partitions with such a node. The other taken nodes only convert or move
  // data, which accelerates nothing.
  std::size_t computing = 0, computing_partitions = 0;
  // The other nodes of TargetCheck::nodes: constants that the runtime computes at load, and nodes of
  // subgraphs.
  std::size_t folded = 0, nested = 0;
  bool is_node_by_node = false;  // the provider compiles no partitions
};

// The model was run on the target and on this machine, on the same random inputs.
struct Execution {
  bool is_run = false;
  std::string error;  // why it failed on the target, or that the outputs differ
  std::string runtime_version;
  double sqnr_db = 0;  // of the worst output relative to this machine; infinite if identical
};

struct TargetCheck {
  std::string target;                // as in CheckOptions::targets
  std::string measured;              // the measured release: "ONNX Runtime 1.22.0, arm64"; empty if none was
  Verdict verdict = Verdict::kRuns;  // the worst verdict of all nodes
  std::size_t nodes = 0, runs = 0, slow = 0, unknown = 0, broken = 0;
  // INT8 nodes that may saturate on x64 CPUs without VNNI, if the target may be one, and the sum of their
  // largest two adjacent weights (128 is safe).
  std::size_t saturating = 0;
  int worst_pair = 0;
  std::vector<NodeFinding> findings;  // all nodes whose verdict is not kRuns
  std::vector<std::string> problems;  // of the whole model, which prevent loading
  std::vector<std::string> notes;
  std::optional<Execution> execution;  // with CheckOptions::execute

  bool loads() const { return verdict != Verdict::kNotImplemented; }
};

struct CheckReport {
  std::filesystem::path model;
  std::string format = "ONNX";     // or "TFLite"
  std::uint64_t file_bytes = 0;    // with external data
  std::uint64_t memory_bytes = 0;  // of the weights after loading, dequantized where the runtime does so
  std::int64_t opset = 0, ir = 0;  // of ONNX; else 0
  std::vector<TargetCheck> targets;
  std::vector<ProviderHint> hints;  // documented, not measured
};

struct CheckOptions {
  std::vector<std::string> targets;  // empty: this machine
  bool execute = false;              // also run the model on the target: arm64 under qemu, or on `remote`
  std::optional<Remote> remote = std::nullopt;
  Progress* progress = nullptr;
};

CheckReport check(const std::filesystem::path& model, const CheckOptions& options);

// Returns the measured releases: "x64 1.14.0", …, "x64 litert-2.3.0", …
std::vector<std::string> measured_releases();

// == Differences ==
//
// Lists the differences between two models.
//
//   const ounce::DiffResult result = ounce::diff("model.onnx", "model.w8.onnx");
//   if (!result.is_same()) log(result.nodes_added, result.tensors);
//
// Nodes and weights are matched by their position in the network. A different name alone is counted as
// renamed, not as a difference. No model is run. Throws ounce::Error.

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

// == Copies ==
//
// Copies a model without changing its values; merges external data into the model file, or splits it off;
// gives dynamic axes fixed lengths.

struct CopyOptions {
  ExternalData external_data = ExternalData::kAuto;
  std::string data_name = {};  // see QuantizeOptions
  // Fixed lengths of dynamic axes of the inputs, by parameter ("N") or place ("x:2"). A parameter gets its
  // length everywhere in the model. Empty: shapes are unchanged.
  std::map<std::string, std::int64_t> shape = {};
  Progress* progress = nullptr;
};

struct CopyResult {
  std::filesystem::path model, output;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  // With CopyOptions::shape: the inputs and outputs of the copy, "input x float32[1,3,224,224]".
  std::vector<std::string> ports = {};
};

// Checks `model` and writes a copy to `output`. With the default options the copy and its external files are
// byte-identical. Throws Error.
CopyResult copy_model(const std::filesystem::path& model, const std::filesystem::path& output,
                      const CopyOptions& options = {});

}  // namespace ounce
