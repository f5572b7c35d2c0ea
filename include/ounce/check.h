// Will a model run there, before it is shipped? Answers come from measurements of the real runtimes
// (tools/support_matrix): each release of ONNX Runtime from 1.14 on, on x64, arm64 and the web; for TFLite
// models releases of LiteRT and TensorFlow Lite on x64 and arm64.
//
//   ounce::CheckReport report = ounce::check("model.onnx", {{"android-arm64@1.22.0", "linux-x64@1.30.0"}});
//   // report.targets[0].loads(): false
//   ounce::check("model.tflite", {{"android-arm64@litert-2.3.0"}});
//
// Throws ounce::Error for a model that cannot be read, for targets that nobody knows, and for releases that
// are older than all that were measured or of another major version. A release between or after those that
// were measured is Verdict::kUnknown.
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
  kSlow,            // runs, but not in a kernel of its own type: converted or taken apart
  kUnknown,         // was not measured; never guessed
  kWrong,           // runs, with a wrong result
  kNotImplemented,  // the session cannot be created
  kFails,           // loads, and fails or crashes when it runs
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
  std::string source;  // the documentation that was read
  // Of the nodes of the main graph that run: those that the provider takes, the partitions that they form,
  // and the nodes of the largest one.
  std::size_t nodes = 0, taken = 0, partitions = 0, largest = 0;
  std::vector<std::string> left;  // op types that stay on the CPU, most frequent first
  std::string note;               // what concerns the whole model
  // Of those that are taken: nodes that compute, and partitions with such a node. The others only convert or
  // move data, which accelerates nothing.
  std::size_t computing = 0, computing_partitions = 0;
  // The rest of TargetCheck::nodes: constants that the runtime computes at load, and nodes inside of others.
  std::size_t folded = 0, nested = 0;
  bool is_node_by_node = false;  // the provider compiles no partitions
};

// The model was run on the target's machine and here, on the same made-up inputs.
struct Execution {
  bool is_run = false;
  std::string error;  // what went wrong there, or that its outputs are not what they are here
  std::string runtime_version;
  double sqnr_db = 0;  // of the worst output against the one here; infinite when they are identical
};

struct TargetCheck {
  std::string target;  // as it was asked for
  std::string
      measured;  // what the answers were measured on: "ONNX Runtime 1.22.0, arm64"; empty if nothing was
  Verdict verdict = Verdict::kRuns;  // the worst of all
  std::size_t nodes = 0, runs = 0, slow = 0, unknown = 0, broken = 0;
  // Integer nodes that saturate on x64 CPUs without VNNI, if the target may be one: how many, and what the
  // largest two neighbouring weights come to (128 is safe).
  std::size_t saturating = 0;
  int worst_pair = 0;
  std::vector<NodeFinding> findings;  // all nodes whose verdict is not kRuns
  std::vector<std::string> problems;  // of the model as a whole, because of which it does not load
  std::vector<std::string> notes;
  std::optional<Execution> execution;  // if it was asked for

  bool loads() const { return verdict != Verdict::kNotImplemented; }
};

struct CheckReport {
  std::filesystem::path model;
  std::string format = "ONNX";     // or "TFLite"
  std::uint64_t file_bytes = 0;    // with external data
  std::uint64_t memory_bytes = 0;  // of weights after loading, when runtimes have decoded them
  std::int64_t opset = 0, ir = 0;  // of ONNX
  std::vector<TargetCheck> targets;
  std::vector<ProviderHint> hints;  // documented, not measured
};

struct CheckOptions {
  std::vector<std::string> targets;  // empty: this machine
  bool execute = false;              // run the model there: arm64 under qemu, or behind `remote`
  std::optional<Remote> remote = std::nullopt;
  Progress* progress = nullptr;
};

CheckReport check(const std::filesystem::path& model, const CheckOptions& options);

// The releases that were measured: "x64 1.14.0" …, "x64 litert-2.3.0" …
std::vector<std::string> measured_releases();

}  // namespace ounce
