// The statistics of all observed values of a model, and their file: JSON, versioned, readable.
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

// Numbers of samples, in ascending order, from 0 on: `first`, `first` + `step`, … `count` of them.
struct SampleRun {
  std::uint64_t first = 0, step = 1, count = 0;

  bool operator==(const SampleRun&) const = default;
};

// Which samples of which data were observed, so that no sample counts twice when parts are merged, and
// missing ones are named.
//
//   Coverage whole = first;
//   whole.overlap(second);      // samples that both have
//   whole.add(second);          // the same as if one run had observed both
//   whole.missing();            // samples of its window that neither has
class Coverage {
 public:
  static constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 28;  // in one set of data

  // A set of data has `size` samples, of which [begin, end) were to be observed, by one run or by several.
  // Throws Error{kBadInput} for a size above kMostSamples.
  Coverage(std::string data, std::uint64_t size, std::uint64_t begin, std::uint64_t end);

  // Throws Error{kBadInput} for a sample that is covered already, or that the data does not have.
  void add(const SampleRun& run);
  // Samples that both have count once.
  void add(const Coverage& other);

  const std::string& data() const { return data_; }  // digest of the data
  std::uint64_t size() const { return size_; }
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }

  bool is_of_same_data(const Coverage& other) const { return data_ == other.data_ && size_ == other.size_; }
  // Runs that depend only on the set of samples.
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
  std::vector<Coverage> covers;  // by data; empty: an older version of ounce did not record it
  std::map<std::string, Statistics> values;
  std::shared_ptr<RangeMemo> memo = std::make_shared<RangeMemo>();  // of these values

  // Throws Error{kBadInput} when `other` is of another model, or covers a sample that is covered already;
  // `where` names it.
  void add(const Ranges& other, const std::string& where);
};

std::string to_json(const Ranges& ranges);
// Throws Error{kBadInput}; `where` names the file.
Ranges parse_ranges(std::string_view json, const std::string& where);

}  // namespace ounce::calibration
