// A model on other CPUs (measure/across_cpus.h), for the verbs that end with one.
#pragma once

#include <ounce/cpus.h>

#include <filesystem>
#include <vector>

#include "measure/open.h"

namespace ounce::measure {

struct OnCpus {
  std::vector<std::string> names;
  std::uint64_t samples = 32, emulated_samples = 4;
  std::vector<std::string> outputs = {};  // to judge; empty: all
};

std::vector<CpuComparison> compare_on_cpus(const std::filesystem::path& reference,
                                           const std::filesystem::path& candidate, const OnCpus& cpus,
                                           const RuntimeOptions& runtime, const OpenFeed& open);

}  // namespace ounce::measure
