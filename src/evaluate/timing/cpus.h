// A model and its original on another CPU, each held against itself here.
//
//                    here        there
//   original          ○ ────────── ○        what floats make of another CPU
//   model             ○ ────────── ○        more than that is the integers' fault
#pragma once

#include <ounce/cpus.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/source/data_feed.h"
#include "evaluate/models/open.h"
#include "runtime/executor.h"
#include "runtime/other_cpu.h"

namespace ounce::evaluate {

// Loads a model in the way that the options say.
using Loader = std::function<std::unique_ptr<runtime::Executor>(const runtime::ExecutorOptions&)>;

struct AcrossCpus {
  Loader original, model;
  runtime::ExecutorOptions here;
  data::Feed* feed = nullptr;
  std::map<std::string, std::string> carry = {};
  std::vector<std::string> outputs = {};  // to judge; empty: all
  std::uint64_t samples = 32;             // at most
  std::uint64_t emulated_samples = 4;     // … under an emulator, which takes its time; 0: not there
};

// What goes wrong is in the result; a CPU that nobody knows is thrown.
CpuComparison compare_on(const std::string& cpu, const AcrossCpus& models);

// A model on other CPUs (evaluate/timing/cpus.h), for the verbs that end with one.

struct OnCpus {
  std::vector<std::string> names;
  std::uint64_t samples = 32, emulated_samples = 4;
  std::vector<std::string> outputs = {};  // to judge; empty: all
};

std::vector<CpuComparison> compare_on_cpus(const std::filesystem::path& reference,
                                           const std::filesystem::path& candidate, const OnCpus& cpus,
                                           const RuntimeOptions& runtime, const OpenFeed& open);

}  // namespace ounce::evaluate
