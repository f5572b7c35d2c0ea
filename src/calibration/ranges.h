// Calibration statistics of all observed values of a model, and their file (versioned JSON, one value per
// line).
//
//   {"format": "ounce.ranges", "version": 2, "model": "<digest>", "samples": 128,
//    "covers": [{"data": "<digest>", "size": 128, "window": [0, 128], "samples": [[first, step, count], …]}],
//    "values": {"conv1_out": {"samples": 128, "count": 1048576, "minimum": -3.1, "maximum": 7.9, …,
//                             "histogram": [[bin, count], …]}}}
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/calibrators.h"
#include "calibration/statistics.h"

namespace ounce::calibration {

// `count` sample indices in ascending order: `first`, `first` + `step`, … (0-based).
struct SampleRun {
  std::uint64_t first = 0, step = 1, count = 0;

  bool operator==(const SampleRun&) const = default;
};

// The observed samples of a data set. When parts are merged, it prevents samples from counting twice and
// lists missing ones.
//
//   Coverage whole = first;
//   whole.overlap(second);      // samples in both parts
//   whole.add(second);          // as if one run had observed both parts
//   whole.missing();            // samples of the window in no part
class Coverage {
 public:
  static constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 28;  // in one data set

  // The data set has `size` samples; [begin, end) is the window to observe, in one or several runs. Throws
  // Error{kBadInput} if the size exceeds kMostSamples.
  Coverage(std::string data, std::uint64_t size, std::uint64_t begin, std::uint64_t end);

  // Throws Error{kBadInput} if a sample is already covered or does not exist.
  void add(const SampleRun& run);
  // Computes the union.
  void add(const Coverage& other);

  const std::string& data() const { return data_; }  // digest of the data
  std::uint64_t size() const { return size_; }
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }

  bool is_of_same_data(const Coverage& other) const { return data_ == other.data_ && size_ == other.size_; }
  // The samples as runs, independent of the order in which they were added.
  std::vector<SampleRun> runs() const;
  std::vector<SampleRun> overlap(const Coverage& other) const;
  std::vector<SampleRun> missing() const;

 private:
  template <class IsWanted>
  std::vector<SampleRun> runs_of(const IsWanted& is_wanted) const;
  bool has(std::uint64_t sample) const { return sample < seen_.size() && seen_[sample]; }

  std::string data_;
  std::uint64_t size_, begin_, end_;
  std::vector<bool> seen_;  // up to the last sample
};

std::uint64_t count_of(const std::vector<SampleRun>& runs);
// "samples 2, 5, 8 …", counted from 1.
std::string text_of(const std::vector<SampleRun>& runs);

struct Ranges {
  static constexpr int kVersion = 2;

  std::string model;  // digest of the model that was observed
  std::uint64_t samples = 0;
  std::vector<Coverage> covers;  // one per data set; empty in files of older versions
  std::map<std::string, Statistics> values;
  std::shared_ptr<RangeMemo> memo = std::make_shared<RangeMemo>();  // of these values

  // Merges statistics of other samples. Throws Error{kBadInput} if `other` belongs to another model or covers
  // a sample that is already covered; `where` names it in the message.
  void add(const Ranges& other, const std::string& where);
};

std::string to_json(const Ranges& ranges);
// Throws Error{kBadInput}. `where` names the file in messages.
Ranges parse_ranges(std::string_view json, const std::string& where);

}  // namespace ounce::calibration
