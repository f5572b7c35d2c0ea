// The interface of the emitters of all file formats, for the format-independent stages of quantize(). ONNX's
// emitter is in quantize/onnx_emitter.h.
//
//   std::unique_ptr<model::Emitted> emitted = …;            // from a plan
//   emitted->write(destination, pool, &done);               // writes all bytes to unnamed files
//   const model::ModelFilePtr written = emitted->reopen();  // parsed and validated
//   emitted->compare(*written, …);                          // every weight matches its source
//   runtime::load(emitted->files().model, …);               // the model runs
//   emitted->set_metadata(key, value);
//   emitted->commit();                                      // without this call, nothing remains on disk
#pragma once

#include <ounce/recipe.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "io/output_file.h"
#include "kernels/affine.h"
#include "model/model_file.h"

namespace ounce::model {

struct Destination {
  std::filesystem::path path;
  ExternalData external_data = ExternalData::kAuto;
  std::string data_tag;   // part of the external data file's name; identifies its content
  std::string data_name;  // if not empty, the exact name of that file
                          // A metadata entry whose value is known only after the model has run, and its size.
  std::string key;
  std::uint64_t value_bytes = 0;
};

// The error of a written weight.
struct WeightError {
  std::size_t tensor = 0;   // in the plan
  bool is_limited = false;  // deliberately changed to another value
  kernels::ErrorNorms norms;
};

class Emitted {
 public:
  Emitted() = default;
  Emitted(const Emitted&) = delete;
  Emitted& operator=(const Emitted&) = delete;
  virtual ~Emitted() = default;

  // Total size of all files that write() would create, with the metadata entry. Throws like write().
  virtual std::uint64_t size(const Destination& destination) const = 0;
  // Advances `done`, if given, by the source bytes processed. Throws Error{kIo}, and Error{kUsage} if the
  // model is too large for one file and external data is forbidden.
  virtual void write(const Destination& destination, ThreadPool& pool, std::atomic<std::uint64_t>* done) = 0;

  // Call the following functions only after write().
  virtual ModelFilePtr reopen() const = 0;
  virtual io::UnfinishedFiles files() const = 0;
  // Errors of all stored weights. Calls `seen` for each finished tensor, from any thread. Throws
  // Error{kInternal} for a missing weight.
  virtual std::vector<WeightError> compare(const ModelFile& written, ThreadPool& pool,
                                           const std::function<void(std::size_t tensor)>& seen) const = 0;
  virtual void set_metadata(const std::string& key, const std::string& value) = 0;
  virtual void commit() = 0;
};

// A copy of a model with intermediate values as additional outputs, for observation.
struct Exposed {
  struct Value {
    std::string name;              // in messages and calibration files
    std::optional<Layout> layout;  // of its channels; empty: channels are not distinguished
  };
  std::filesystem::path model;
  std::map<std::string, Value> values;  // by the input or output that exposes it
  std::shared_ptr<const void> files;    // deleted with the last copy of this struct
};

}  // namespace ounce::model
