// How models are run: which ONNX Runtime, with which settings, in this process, in one of its own, or
// elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ounce/names.h>

namespace ounce {

enum class OptimizationLevel {
  kNone,
  kBasic,     // constants are folded from here on
  kExtended,  // nodes are fused
  kAll,       // layouts are changed to those of this machine
};
template <>
struct NamesOf<OptimizationLevel> {
  static constexpr Named<OptimizationLevel> kAll[] = {{OptimizationLevel::kNone, "none"},
                                                      {OptimizationLevel::kBasic, "basic"},
                                                      {OptimizationLevel::kExtended, "extended"},
                                                      {OptimizationLevel::kAll, "all"}};
};

// A process of its own for a model that nobody has judged; its crash is an error and not ours.
struct Isolation {
  std::uint64_t memory = 0;  // bytes of address space; 0: as much as the machine has
  double seconds = 120;      // for loading (and a second for each 10 MB), and for each run; 0: no limit
};

// Another machine, or another architecture under an emulator, for the model to run on.
//
// With `via`, what is needed is brought there by commands that this prefix runs in a shell there ("ssh
// board", "adb shell", "docker exec -i box sh -c"), and brought only once: the runner and the library stay in
// `folder` for the next time, which asks for their digest and sends nothing, because a library has 20 MB and
// a cable may be slow. Models and their data are removed in the end. Whoever wants nothing left removes the
// folder. Without `via`, the runner is started here, by the launcher: an emulator, say.
struct Remote {
  std::string via;
  std::string launcher;          // stands before the runner: "qemu-aarch64 -L /usr/aarch64-linux-gnu"
  std::filesystem::path runner;  // for that machine, a file here; empty: ounce-runner or ounce-runner-arm64
  std::string library;   // likewise, or a version; empty: the one of RuntimeOptions if that is a version,
                         // else the newest for that machine
  std::string litert;    // the same of LiteRT
  std::string folder;    // there; empty: one of ours in /data/local/tmp, TMPDIR or /tmp
  bool keep = false;     // models stay there too, and are not sent again
  double seconds = 600;  // for each answer and for sending each file; those of an Isolation do not count
};

struct RuntimeOptions {
  std::string library;   // a library's path, or a version such as "1.22.0"; empty: the newest there is
  std::string litert;    // LiteRT, which runs .tflite models, in the same way: "2.3.0"
  unsigned threads = 1;  // inside an op; 0: as many as the runtime likes
  unsigned threads_between = 1;  // for ops side by side
  OptimizationLevel optimization = OptimizationLevel::kAll;
  std::map<std::string, std::string> config;  // session entries such as session.disable_quant_qdq
  std::optional<Isolation> isolate =
      Isolation{};  // nothing: in this process, with all that a model may do to it
  std::optional<Remote> remote = std::nullopt;
};

// The versions of ONNX Runtime that are here, newest first: what set-up brought, else what lies beside the
// program or in the Python package of its environment, else the system's; a file's name where it does not say
// its version.
std::vector<std::string> installed_runtimes();

}  // namespace ounce
