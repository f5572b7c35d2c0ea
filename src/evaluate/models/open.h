// Opens models and their feeds from the public options of runtime and data.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <filesystem>
#include <functional>
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

// Reads a model before the runtime loads it, to give clear errors and to refuse external data outside the
// model's folder. Throws the errors of open_model(). Returns the total size and the files of the model and
// its external data.
struct ModelFiles {
  std::uint64_t bytes = 0;
  std::vector<std::filesystem::path> paths;  // the model's first
};
ModelFiles check_model(const std::filesystem::path& model);
// The bits that most weights of a valid model are stored in: 32, 16, or 8 for 8 bits and fewer.
unsigned weight_bits(const std::filesystem::path& model);

// The runtimes as text: "ONNX Runtime 1.30.0 and LiteRT 2.3.0". `versions`: each model with the version of
// its runtime.
std::string runtimes_of(const std::vector<std::pair<std::filesystem::path, std::string>>& versions);

// Loads a model in another process first, because some models make the runtime abort. Throws Error{kBadInput}
// for these.
void require_loadable(const std::filesystem::path& model, const RuntimeOptions& options);

// Opens the feed for a model with these inputs: data, or random inputs. Uses the contract of the options, or
// else the model's own.
struct OpenFeed {
  std::unique_ptr<data::Feed> feed;
  data::DataFeed* data = nullptr;  // the same feed if it reads data; else null
  DataOptions options;             // with the contract
};
OpenFeed open_feed(const model::ModelFile& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options);
OpenFeed open_feed(const std::filesystem::path& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options);

// Calls `attempt` with the options. If that fails and the inputs are random, calls it again with other
// lengths of the dynamic axes, because many models run only with some of them: text recognizers need a
// certain height, spectrogram models a shortest length. Returns the options that succeeded. Throws the error
// of the first attempt if all fail; errors of the machine and of the request are thrown at once.
DataOptions find_lengths(const std::vector<data::ValueDescription>& inputs, const DataOptions& options,
                         const std::function<void(const DataOptions&)>& attempt);

// Runs a model over batches and carries its states from one run to the next.
class StatefulExecutor {
 public:
  // `carry` maps the name of a state's input to the name of its output. Throws Error{kUsage} if the model
  // does not have these names, or if their types differ.
  StatefulExecutor(std::unique_ptr<runtime::Executor> model, const std::map<std::string, std::string>& carry);

  // Runs the model. The outputs are valid until the next run. At the start of a sequence, states come from
  // the batch.
  std::span<const data::TensorView> run(const data::Batch& batch);

  runtime::Executor& model() { return *model_; }
  double seconds() const { return seconds_; }  // total time inside the runtime

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

// Wraps a model with integer or 16-bit inputs or outputs so that they become FP32: inputs are quantized and
// outputs dequantized with the parameters in the model file. So the model can be compared with its original.
// Returns `model` itself if it has no such inputs or outputs.
std::unique_ptr<runtime::Executor> with_dequantized_io(std::unique_ptr<runtime::Executor> model,
                                                       const std::vector<model::QuantizedPort>& ports);

// Loads a model with float inputs and outputs. `path` is read twice: by Ounce and by the runtime.
std::unique_ptr<runtime::Executor> load_as_floats(const std::filesystem::path& path,
                                                  const runtime::ExecutorOptions& options);

}  // namespace ounce::evaluate
