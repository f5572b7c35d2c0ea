// How models are run: the runtime library and its settings, in this process, in a separate process, or on
// another machine.
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
  kAll,       // layouts are changed to those of this CPU
};
template <>
struct NamesOf<OptimizationLevel> {
  static constexpr Named<OptimizationLevel> kAll[] = {{OptimizationLevel::kNone, "none"},
                                                      {OptimizationLevel::kBasic, "basic"},
                                                      {OptimizationLevel::kExtended, "extended"},
                                                      {OptimizationLevel::kAll, "all"}};
};

// A separate process for a model, so that a crash of the model is an error of the call.
struct Isolation {
  std::uint64_t memory = 0;  // limit of the address space in bytes; 0: the memory of the machine
  double seconds = 120;      // limit for loading (plus a second per 10 MB), and for each run; 0: no limit
};

// Another machine, or another architecture in an emulator.
//
// With `via`, files are sent to the machine by commands that this prefix runs in its shell ("ssh board", "adb
// shell", "docker exec -i box sh -c"). The runner and the library stay in `folder`; later runs compare their
// digests and do not send them again. Models and data are removed at the end. Without `via`, the launcher
// starts the runner on this machine, for example in an emulator.
struct Remote {
  std::string via;
  std::string launcher;          // command before the runner: "qemu-aarch64 -L /usr/aarch64-linux-gnu"
  std::filesystem::path runner;  // local file for that machine; empty: ounce-runner or ounce-runner-arm64
  std::string library;   // local file for that machine, or a version; empty: the version of RuntimeOptions,
                         // else the newest for that machine
  std::string litert;    // the same for LiteRT
  std::string folder;    // on that machine; empty: a folder in /data/local/tmp, TMPDIR or /tmp
  bool keep = false;     // also keep models there, so that they are not sent again
  double seconds = 600;  // limit for each reply and for sending each file, in addition to those of Isolation
};

struct RuntimeOptions {
  std::string library;  // ONNX Runtime: a path, or a version such as "1.22.0"; empty: the newest
  std::string litert;   // LiteRT, for .tflite models: a path, or a version such as "2.3.0"; empty: the newest
  unsigned threads = 1;          // inside an op; 0: the runtime decides
  unsigned threads_between = 1;  // ops that run in parallel
  OptimizationLevel optimization = OptimizationLevel::kAll;
  std::map<std::string, std::string> config;       // session entries such as session.disable_quant_qdq
  std::optional<Isolation> isolate = Isolation{};  // unset: run models in this process, without protection
  std::optional<Remote> remote = std::nullopt;
};

// Returns the installed versions of ONNX Runtime, newest first: those of ./setup, else the library next to
// the program or in the Python package of its environment, else the library of the system. A library without
// a version is listed by its file name.
std::vector<std::string> installed_runtimes();

}  // namespace ounce
