// A model loaded into ONNX Runtime.
//
//   Session session(Library::open(Library::find()), "model.onnx", {});
//   std::vector<Tensor> outputs = session.run({{"x", {ElementType::kFloat, {1, 4}, bytes}}});
//
// Thread-safe. All errors are ounce::Error with the runtime's message and the node. For many consecutive runs
// use BoundRun, which does not allocate.
#pragma once

#include <ounce/runtime.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"
#include "io/mapped_file.h"
#include "runtime/ort/library.h"

struct OrtMemoryInfo;
struct OrtSession;

namespace ounce::runtime {

using Optimization = OptimizationLevel;

struct SessionOptions {
  unsigned threads = 1;          // intra-op; 0: the runtime's default
  unsigned threads_between = 1;  // inter-op; 1: ops run sequentially
  bool shares_threads = false;   // use the threads of Library::share_threads()
  Optimization optimization = Optimization::kAll;
  std::map<std::string, std::string> config;  // config entries, such as session.disable_quant_qdq
  std::filesystem::path save_optimized;       // path to write the optimized model to; empty: none
  std::filesystem::path profile;              // prefix of the names of profile files; empty: none
  // Maps the locations in the model to the actual files of external data, for a model whose files do not have
  // their final names yet. Requires ONNX Runtime 1.18.
  std::map<std::string, std::filesystem::path> external_data_paths;

  bool is_single_threaded() const { return threads == 1 && threads_between == 1; }
};

// Entries of SessionOptions::config to use a model in the runtime's own format in place, without a copy. Only
// weights that kernels reorder (prepack) are copied.
std::map<std::string, std::string> mapped_bytes();

using data::NamedTensor;
using data::Tensor;
using data::TensorView;
using data::ValueDescription;

class Session {
 public:
  Session(std::shared_ptr<const Library> library, const std::filesystem::path& model,
          const SessionOptions& options);
  // Loads a model from memory; `name` is its name in errors. With the options of mapped_bytes() the bytes are
  // used in place and must outlive the session.
  Session(std::shared_ptr<const Library> library, std::string name, std::string_view bytes,
          const SessionOptions& options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  const std::vector<ValueDescription>& inputs() const { return inputs_; }
  const std::vector<ValueDescription>& outputs() const { return outputs_; }

  // Runs once and returns the outputs with these names in this order; empty: all outputs.
  std::vector<Tensor> run(const std::vector<NamedTensor>& inputs,
                          const std::vector<std::string>& outputs = {}) const;

  // The value of a metadata key.
  std::optional<std::string> metadata(const std::string& key) const;
  // Ends the profile of SessionOptions::profile and returns its file.
  std::filesystem::path end_profile();

  const Library& library() const { return *library_; }
  const std::shared_ptr<const Library>& shared_library() const { return library_; }
  const std::string& model() const { return model_; }
  // True if external data was truncated while the runtime read it: then the outputs are invalid.
  bool was_cut() const noexcept;

 private:
  friend class BoundRun;
  struct Handles;
  void take(OrtSession* session);

  std::shared_ptr<const Library> library_;
  std::string model_;
  std::vector<io::FileGuard> guards_;  // for files that the runtime maps
  std::unique_ptr<Handles> handles_;
  std::vector<ValueDescription> inputs_, outputs_;
};

}  // namespace ounce::runtime
