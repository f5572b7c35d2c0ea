// Opens models and their feeds as the public options of the runtime and the data say.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/source/data_feed.h"
#include "model/model_file.h"
#include "runtime/executor.h"

namespace ounce::evaluate {

runtime::ExecutorOptions executor_options(const RuntimeOptions& options);

// Reads a model before the runtime does, so that errors are explained and external data cannot lead out of
// the model's folder. Throws what open_model() throws. Returns the bytes of the model and of its external
// data, and their files.
struct ModelFiles {
  std::uint64_t bytes = 0;
  std::vector<std::filesystem::path> paths;  // the model's first
};
ModelFiles check_model(const std::filesystem::path& model);

// What runs models, for people: "ONNX Runtime 1.30.0 and LiteRT 2.3.0". `versions`: of each model's runtime.
std::string runtimes_of(const std::vector<std::pair<std::filesystem::path, std::string>>& versions);

// Loads a model in another process before it is loaded in this one, as some models make the runtime abort.
// Throws Error{kBadInput} for these.
void require_loadable(const std::filesystem::path& model, const RuntimeOptions& options);

// The feed for a model with these inputs: the data, or random inputs. The contract is the one of the options,
// else the model's own.
struct OpenFeed {
  std::unique_ptr<data::Feed> feed;
  data::DataFeed* data = nullptr;  // the same, when it is data
  DataOptions options;             // with the contract
};
OpenFeed open_feed(const model::ModelFile& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options);
OpenFeed open_feed(const std::filesystem::path& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options);

// Runs a model over batches and carries its states from one run to the next.
class StatefulExecutor {
 public:
  // `carry` maps an input to the output whose value of the last run it gets. Throws Error{kUsage} for names
  // that the model does not have, or types that differ.
  StatefulExecutor(std::unique_ptr<runtime::Executor> model, const std::map<std::string, std::string>& carry);

  // The outputs, valid until the next run. At the start of a sequence states are those of the batch.
  std::span<const data::TensorView> run(const data::Batch& batch);

  runtime::Executor& model() { return *model_; }
  double seconds() const { return seconds_; }  // inside the runtime, so far

 private:
  struct Carried {
    std::size_t input, output;
    data::Tensor state;
  };
  std::unique_ptr<runtime::Executor> model_;
  std::vector<Carried> carried_;
  std::vector<data::TensorView> inputs_;
  double seconds_ = 0;
};

// Runs a model with integer or 16-bit inputs or outputs as if they were FP32: inputs are quantized and
// outputs dequantized as the model file says, so that it can be compared with its original. Returns `model`
// itself when there are no such ports.
std::unique_ptr<runtime::Executor> with_dequantized_io(std::unique_ptr<runtime::Executor> model,
                                                       const std::vector<model::QuantizedPort>& ports);

// Loads a model with float ports. `path` is read twice: by Ounce and by the runtime.
std::unique_ptr<runtime::Executor> load_as_floats(const std::filesystem::path& path,
                                                  const runtime::ExecutorOptions& options);

}  // namespace ounce::evaluate
