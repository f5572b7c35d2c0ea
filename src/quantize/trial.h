// The trial: loads a written model in the runtime, in a separate process, and compares its outputs with the
// original's. The last step before the file gets its name.
#pragma once

#include <ounce/error.h>
#include <ounce/quantize.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "evaluate/models/open.h"
#include "formats/onnx/emit/expose_values.h"
#include "formats/onnx/file/model.h"
#include "io/temporary_files.h"
#include "model/model_file.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

// Written files that do not have their final names yet.
struct WrittenFiles {
  std::filesystem::path model;  // can be opened by any process of this user
  std::map<std::string, std::filesystem::path> external_data_paths;  // external data, by location
  std::filesystem::path name;                                        // final name, for messages
  std::vector<model::QuantizedPort> ports = {};                      // quantized inputs and outputs
};

// The written model outputs NaN or infinite values where the original outputs numbers, because weights or
// activations exceed the range of the format.
class NotFinite : public Error {
 public:
  explicit NotFinite(const std::string& message, std::string where = {})
      : Error(ErrorCode::kUnsupported, message, std::move(where)) {}
};

// The model does not load, does not run, or has outputs of other shapes.
class FailsInRuntime : public Error {
 public:
  FailsInRuntime(ErrorCode code, const std::string& message, std::string where, std::string why,
                 std::string runtime_version)
      : Error(code, message, std::move(where)),
        why_(std::move(why)),
        runtime_version_(std::move(runtime_version)) {}

  const std::string& why() const { return why_; }  // without advice
  const std::string& runtime_version() const { return runtime_version_; }

 private:
  std::string why_, runtime_version_;
};

// Used with TrialOptions::is_timed.
struct Timing {
  double shortest = 0;  // shortest run of the original, in seconds, that can be timed
  double seconds = 0;   // of timing for each of the two models
};

// Multiplications of the original on inputs of these shapes; null if unknown. A machine-independent measure
// of time, so that the result of a trial does not depend on the load of this machine.
using Work = std::function<double(const std::map<std::string, data::Dims>& inputs)>;

struct TrialCosts {
  Timing timing;
  Work work;
  bool is_integer = false;  // also count INT8 kernels
};

// Checks early that the runtime is found and that the data exists and fits the original. Throws Error.
void require_trial(const model::ModelFile& original, const TrialOptions& options);

// Compares the written model with the original. If the model cannot be run at all, the result says why.
// Throws Error{kUnsupported} if the original does not load, or if the outputs of the written model differ on
// another CPU; FailsInRuntime (Error{kInternal}) if the written model does not load or run; and NotFinite.
TrialResult try_model(const model::ModelFile& original, const WrittenFiles& written,
                      const TrialOptions& options, const TrialCosts& costs);

// The same for any existing file, without timing and without other CPUs.
TrialResult try_file(const model::ModelFile& original, const std::filesystem::path& model,
                     const Recipe& recipe, const TrialOptions& options);

// The input of an op in one batch.
struct SeenInput {
  std::span<const float> values;
  std::span<const std::int64_t> dims;
  std::size_t samples = 0;
};

// Runs the floating-point model on some of the data and passes the inputs of chosen ops to a callback.
//
//   InputWatch inputs(prepared, options, values, pool);
//   inputs.run([&](std::size_t i, const SeenInput& seen) { sums[i].add(seen.values); });   // i: of `values`
class InputWatch {
 public:
  // `values` may contain duplicates.
  InputWatch(const PreparedModel& prepared, const QuantizeOptions& options,
             const std::vector<passes::ObservedValue>& values, ThreadPool& pool);
  // For models of any format. `exposed`: a copy with the values as outputs. `by_output`: the numbers that
  // run() passes, by the input or output with the value. The preprocessing metadata of `source` applies.
  InputWatch(const std::filesystem::path& exposed, const std::filesystem::path& source,
             std::map<std::string, std::vector<std::size_t>> by_output, const QuantizeOptions& options);

  // Number of rows per batch, so that all batches together are sufficient for calibration/gram.h.
  std::size_t rows_per_batch() const;
  void run(const std::function<void(std::size_t value, const SeenInput&)>& see);

 private:
  void open(const std::filesystem::path& exposed, const std::filesystem::path& source,
            const QuantizeOptions& options);

  TemporaryFolder folder_{"inputs"};
  std::map<std::string, std::vector<std::size_t>> by_output_;
  std::unique_ptr<evaluate::StatefulExecutor> stepper_;
  evaluate::OpenFeed open_;
  std::vector<std::uint64_t> batches_;
};

// Writes a model after ONNX Runtime's offline optimization. Throws the errors of runtime::write_ort().
void write_ort(const std::filesystem::path& model, const std::filesystem::path& output,
               const EmitOptions& options);

// Returns nullopt if ONNX Runtime is missing or does not load the model.
std::optional<onnx::Model> optimized_model(const std::filesystem::path& model, const EmitOptions& options);

}  // namespace ounce::quantization
