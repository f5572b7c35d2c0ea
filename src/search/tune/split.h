// One way to split data: the fit split makes a model (calibration, search), the judge split has the final
// word.
//
// Both take every other sample, because data is often sorted. With a carried state, in which each sample
// follows from the one before, they are the first and the second part of the sequence. A single sample is in
// both.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace ounce::search {

inline constexpr std::uint64_t kAllSamples = std::numeric_limits<std::uint64_t>::max();

// Part of the data, and how many samples that is.
struct DataPart {
  DataOptions data;
  std::uint64_t samples = 0;
};

// At most `most` samples of each split, or of all of them, evenly spaced. `samples`: how many `data` has. Of
// an odd number the fit split has one more.
DataPart fit_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most = kAllSamples);
DataPart judge_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most = kAllSamples);
DataPart evenly_spaced(const DataOptions& data, std::uint64_t samples, std::uint64_t most);

// The data of a search.
struct Split {
  DataPart search, held_out;
  bool is_same = false;  // there were too few samples for two parts
  std::string runtime_version;
};
Split split_data(const std::filesystem::path& model, const RuntimeOptions& runtime, const DataOptions& data);

}  // namespace ounce::search
