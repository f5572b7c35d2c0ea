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
#include "calibration/coverage.h"
#include "calibration/statistics.h"

namespace ounce::calibration {

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
