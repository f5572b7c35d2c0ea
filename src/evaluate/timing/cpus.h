// Runs a model and its original on another CPU and compares each with itself on this CPU:
//
//                 this CPU      other CPU
//   original          ○ ────────── ○        the difference of FP32 kernels between the CPUs
//   model             ○ ────────── ○        a larger difference is caused by integer kernels
#pragma once

#include <ounce/model.h>
#include <ounce/runtime.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/source/data_feed.h"
#include "evaluate/models/open.h"
#include "runtime/executor.h"
#include "target/target.h"

namespace ounce::evaluate {

// Loads a model with these options.
using Loader = std::function<std::unique_ptr<runtime::Executor>(const runtime::ExecutorOptions&)>;

struct AcrossCpus {
  Loader original, model;
  runtime::ExecutorOptions here;
  data::Feed* feed = nullptr;
  std::map<std::string, std::string> carry = {};
  std::vector<std::string> outputs = {};  // to judge; empty: all
  std::uint64_t samples = 32;             // at most
  std::uint64_t emulated_samples = 4;     // at most, in an emulator, which is slow; 0: none
  // Run the original only where it decides: the model differs by more than what is accepted without it, in
  // the same release of the runtime.
  bool is_original_optional = false;
};

// Compares on one CPU. Errors are recorded in the result, except Error{kUsage} for an unknown CPU.
CpuComparison compare_on(const std::string& cpu, const AcrossCpus& models);

// Options for several CPUs and model files.
struct OnCpus {
  std::vector<std::string> names;
  std::uint64_t samples = 32, emulated_samples = 4;
  std::vector<std::string> outputs = {};  // to judge; empty: all
};

std::vector<CpuComparison> compare_on_cpus(const std::filesystem::path& reference,
                                           const std::filesystem::path& candidate, const OnCpus& cpus,
                                           const RuntimeOptions& runtime, const OpenFeed& open);

// True if programs for the target's machine can run: on this machine, in an emulator, or on a remote machine.
bool can_execute(const target::Target& target, const CheckOptions& options);

// Runs a model for a target and on this machine, on the same random inputs. Errors for the target are
// recorded in the result. Throws if the model does not run on this machine.
Execution execute(const std::filesystem::path& model, const target::Target& target,
                  const CheckOptions& options);

}  // namespace ounce::evaluate
