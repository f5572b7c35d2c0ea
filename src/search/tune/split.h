// The data of a search, cut in two: one part is calibrated and searched on, the other one has the final word.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <algorithm>
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

// One half of the data, and an even choice of its samples: data is often sorted, so both halves go through
// all of it.

// Every other sample, beginning with the first or with the second one. With a carried state, in which each
// sample follows from the one before, the first or the second half of the sequence.
struct Half {
  const DataOptions& data;
  std::uint64_t samples;  // there are in `data`
  bool is_second;

  std::uint64_t size() const {
    const bool is_larger = is_second != data.carry.empty();  // of an odd number
    return samples < 2 ? samples : (samples + (is_larger ? 1 : 0)) / 2;
  }

  // Lets `chosen` be at most `most` of them, and gives their number. Of a single sample both halves are made.
  std::uint64_t choose(std::uint64_t most, DataOptions& chosen) const {
    chosen = data;
    if (samples < 2) return samples;
    if (!data.carry.empty()) {
      chosen.first = data.first + (is_second ? samples - size() : 0);
      return chosen.samples = std::min(size(), most);
    }
    const std::uint64_t stride = (size() + most - 1) / std::max<std::uint64_t>(most, 1);
    chosen.parts = data.parts * 2 * stride;
    chosen.part = data.part + (is_second ? data.parts : 0);
    return (size() + stride - 1) / stride;
  }
};

// Lets `chosen` be at most `most` of all samples in `data`, of which there are so many, and gives their
// number.
inline std::uint64_t choose_evenly(const DataOptions& data, std::uint64_t samples, std::uint64_t most,
                                   DataOptions& chosen) {
  chosen = data;
  if (samples < 2) return samples;
  if (!data.carry.empty()) return chosen.samples = std::min(samples, most);
  const std::uint64_t stride = (samples + most - 1) / std::max<std::uint64_t>(most, 1);
  chosen.parts = data.parts * stride;
  return (samples + stride - 1) / stride;
}

}  // namespace ounce::search
