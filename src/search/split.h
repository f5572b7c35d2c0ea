// The data of a search, cut in two: one part is calibrated and searched on, the other one has the final word.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace ounce::search {

struct Split {
  DataOptions search, held_out;
  std::uint64_t search_samples = 0, held_out_samples = 0;
  bool is_same = false;  // there were too few samples for two parts
  std::string runtime_version;
};

// Every other sample, as data often is in some order; with a carried state the first and the second half.
Split split_data(const std::filesystem::path& model, const RuntimeOptions& runtime, const DataOptions& data);

}  // namespace ounce::search
