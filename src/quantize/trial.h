// The last step before a written model gets its name: it is loaded in the runtime, in a process of its own,
// and its outputs are compared with the original's.
#pragma once

#include <ounce/emit.h>
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

// Files that have no names yet.
struct WrittenFiles {
  std::filesystem::path model;                                       // opens in any process of this user
  std::map<std::string, std::filesystem::path> external_data_paths;  // external data, by location
  std::filesystem::path name;                                        // for people
  std::vector<model::QuantizedPort> ports = {};                      // inputs and outputs that are integers
};

// The written model gives NaN or infinite values where the original gives numbers: weights or values are
// beyond what the format holds.
class NotFinite : public Error {
 public:
  explicit NotFinite(const std::string& message, std::string where = {})
      : Error(ErrorCode::kUnsupported, message, std::move(where)) {}
};

// The model does not load, does not run, or gives outputs of other shapes.
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

// With TrialOptions::is_timed.
struct Timing {
  double shortest = 0;  // seconds that a run of the original must take, so that a difference can be seen
  double seconds = 0;   // for each of the two
};

// The multiplications of the original on inputs of these shapes: a measure of time that is the same on every
// machine, so that the result of a trial does not depend on how busy this one is.
using Work = std::function<double(const std::map<std::string, data::Dims>& inputs)>;

struct TrialCosts {
  Timing timing;
  Work work;
  bool is_integer = false;  // then its integer kernels are counted
};

// Checks what can be known before the work: the runtime is found, and the data exists and fits the original.
// Throws Error.
void require_trial(const model::ModelFile& original, const TrialOptions& options);

// Throws Error{kUnsupported} when the original does not load, or when the written model is another one on
// another CPU, FailsInRuntime (Error{kInternal}) when the written model does not load or run, and NotFinite.
// When nothing could be tried, the result says why.
TrialResult try_model(const model::ModelFile& original, const WrittenFiles& written,
                      const TrialOptions& options, const TrialCosts& costs);

// The same of a model that has its name already, whoever wrote it: it is neither timed nor run on other CPUs.
TrialResult try_file(const model::ModelFile& original, const std::filesystem::path& model,
                     const Recipe& recipe, const TrialOptions& options);

// Runs the float model over some of the data and shows what goes into chosen ops.
//
//   InputWatch inputs(prepared, options, values, pool);
//   inputs.run([&](std::size_t i, const SeenInput& seen) { sums[i].add(seen.values); });   // i: of `values`

struct SeenInput {
  std::span<const float> values;
  std::span<const std::int64_t> dims;
  std::size_t samples = 0;
};

class InputWatch {
 public:
  // A value may be named more than once.
  InputWatch(const PreparedModel& prepared, const QuantizeOptions& options,
             const std::vector<passes::ObservedValue>& values, ThreadPool& pool);

  // So many that all batches together give enough of them for sums like calibration/gram.h.
  std::size_t rows_per_batch() const;
  void run(const std::function<void(std::size_t value, const SeenInput&)>& see);

 private:
  TemporaryFolder folder_{"inputs"};
  std::map<std::string, std::vector<std::size_t>> by_output_;
  std::unique_ptr<evaluate::StatefulExecutor> stepper_;
  evaluate::OpenFeed open_;
  std::vector<std::uint64_t> batches_;
};

// A model as ONNX Runtime's offline optimisation leaves it.

// Throws what runtime::write_ort() throws.
void write_ort(const std::filesystem::path& model, const std::filesystem::path& output,
               const EmitOptions& options);

// Nothing where there is no ONNX Runtime, or none that loads the model.
std::optional<onnx::Model> optimized_model(const std::filesystem::path& model, const EmitOptions& options);

}  // namespace ounce::quantization
