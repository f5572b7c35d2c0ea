// What the activations of a model look like on real data: what static INT8 stands on.
//
//   ounce::CalibrateOptions options;
//   options.data.path = "calib.npz";
//   ounce::calibrate("model.onnx", "model.ranges", options);
//
// One pass over the data, in constant memory. Parts of the data can be observed on several machines: merged,
// the parts give the same file as one run.
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
  std::uint64_t shard = 0, shards = 1;  // of the samples, every shards-th one beginning with number `shard`
  Progress* progress = nullptr;
};

// One value as it was observed, and what each method would make of it.
struct ObservedValue {
  std::string name;
  std::uint64_t samples = 0, count = 0, not_finite = 0;
  double minimum = 0, maximum = 0;
  ValueRange mean, percentile, entropy, mse, chosen;    // chosen: what kAuto takes
  CalibrationMethod method = CalibrationMethod::kAuto;  // … and whose it is
  double sqnr_db = 0;                                   // predicted for 8 bits with that range
};

struct CalibrateResult {
  std::filesystem::path output;
  std::uint64_t samples = 0;
  std::vector<ObservedValue> values;  // in the order of their names
  std::vector<std::string> notes;
  double seconds = 0;
};

CalibrateResult calibrate(const std::filesystem::path& model, const std::filesystem::path& output,
                          const CalibrateOptions& options);

// The file that one run over all their data would have written.
CalibrateResult merge_ranges(const std::vector<std::filesystem::path>& parts,
                             const std::filesystem::path& output);

// A file of ranges, read again.
CalibrateResult read_ranges(const std::filesystem::path& file);

}  // namespace ounce
