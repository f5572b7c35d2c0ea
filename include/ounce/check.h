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
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/names.h>
#include <ounce/progress.h>
#include <ounce/runtime.h>

namespace ounce {

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

}  // namespace ounce
