// What the emitter of a file format makes, for stages of quantize() that know no format. ONNX's is in
// quantize/onnx_emitter.h.
//
//   std::unique_ptr<model::Emitted> emitted = …;            // a plan was carried out
//   emitted->write(destination, pool, &done);               // all bytes, in files without names
//   const model::ModelFilePtr written = emitted->reopen();  // parsed and validated
//   emitted->compare(*written, …);                          // every weight decodes to what it was made of
//   runtime::load(emitted->files().model, …);               // it runs
//   emitted->set_metadata(key, value);
//   emitted->commit();                                      // or let it go out of scope: nothing is left
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
  std::string data_tag;   // of a file of external data: same tag, same content
  std::string data_name;  // its whole name instead; empty: made of the path and the tag
  // An entry of metadata that is known only when the model has run, and its size.
  std::string key;
  std::uint64_t value_bytes = 0;
};

// What a written weight has lost.
struct WeightError {
  std::size_t tensor = 0;   // in the plan
  bool is_limited = false;  // meant to be another value
  kernels::ErrorNorms norms;
};

class Emitted {
 public:
  Emitted() = default;
  Emitted(const Emitted&) = delete;
  Emitted& operator=(const Emitted&) = delete;
  virtual ~Emitted() = default;

  // Bytes of all files that write() would make, with the entry of metadata. Throws what write() throws.
  virtual std::uint64_t size(const Destination& destination) const = 0;
  // `done`, if given, is advanced by the source bytes that have been worked on. Throws Error{kIo}, and
  // Error{kUsage} when the model is too large for one file and external data is forbidden.
  virtual void write(const Destination& destination, ThreadPool& pool, std::atomic<std::uint64_t>* done) = 0;

  // All below: after write().
  virtual ModelFilePtr reopen() const = 0;
  virtual io::UnfinishedFiles files() const = 0;
  // Of all stored weights. `seen` is told the tensor of each as it is done, from any thread. Throws
  // Error{kInternal} for one that is missing.
  virtual std::vector<WeightError> compare(const ModelFile& written, ThreadPool& pool,
                                           const std::function<void(std::size_t tensor)>& seen) const = 0;
  virtual void set_metadata(const std::string& key, const std::string& value) = 0;
  virtual void commit() = 0;
};

// A copy of a model that gives its inner values as outputs, for observation.
struct Exposed {
  struct Value {
    std::string name;              // for people and files of ranges
    std::optional<Layout> layout;  // of its channels; nothing: they are not told apart
  };
  std::filesystem::path model;
  std::map<std::string, Value> values;  // by the input or output that shows it
  std::shared_ptr<const void> files;    // that go away with the last copy of this
};

}  // namespace ounce::model
