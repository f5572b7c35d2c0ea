// Collects activation ranges on data, for static INT8 quantization.
//
//   ounce::CalibrateOptions options;
//   options.data.path = "calib.npz";
//   ounce::calibrate("model.onnx", "model.ranges", options);
//
// Makes one pass over the data in constant memory. Parts of the data can be observed on several machines; the
// merged parts equal the file of a single run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <ounce/data.h>
#include <ounce/progress.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>

namespace ounce {

struct CalibrateOptions {
  DataOptions data;
  RuntimeOptions runtime;
  std::uint64_t shard = 0, shards = 1;  // use every shards-th sample, starting with number `shard`
  Progress* progress = nullptr;
};

// An activation: its observed values, and the range that each method chooses.
struct ObservedValue {
  std::string name;
  std::uint64_t samples = 0, count = 0, not_finite = 0;
  double minimum = 0, maximum = 0;
  ValueRange mean, percentile, entropy, mse, chosen;    // chosen: the range of kAuto
  CalibrationMethod method = CalibrationMethod::kAuto;  // the method of the chosen range
  double sqnr_db = 0;                                   // predicted for 8 bits with the chosen range
};

struct CalibrateResult {
  std::filesystem::path output;
  std::uint64_t samples = 0;
  std::vector<ObservedValue> values;  // in alphabetical order
  std::vector<std::string> notes;
  double seconds = 0;
};

// Runs `model` on the data and writes the ranges to `output`. Throws Error.
CalibrateResult calibrate(const std::filesystem::path& model, const std::filesystem::path& output,
                          const CalibrateOptions& options);

// Merges the files of several shards into the file that one run over all data writes. Throws Error.
CalibrateResult merge_ranges(const std::vector<std::filesystem::path>& parts,
                             const std::filesystem::path& output);

// Reads a file that calibrate() wrote. Throws Error.
CalibrateResult read_ranges(const std::filesystem::path& file);

}  // namespace ounce
