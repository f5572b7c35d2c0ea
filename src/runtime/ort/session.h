// A model that the runtime has loaded, and tensors to run it with.
//
//   Session session(Library::open(Library::find()), "model.onnx", {});
//   std::vector<Tensor> outputs = session.run({{"x", {ElementType::kFloat, {1, 4}, bytes}}});
//
// A Session may be used by several threads at once. All errors are ounce::Error with the runtime's message
// and the node it was about. For many runs in a row there is BoundRun, which allocates nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"
#include "io/file_guard.h"
#include "runtime/ort/library.h"

struct OrtMemoryInfo;
struct OrtSession;

namespace ounce::runtime {

enum class Optimization {
  kNone,
  kBasic,     // constants are folded from here on
  kExtended,  // nodes are fused
  kAll,       // layouts are changed to those of this machine
};

struct SessionOptions {
  unsigned threads = 1;          // inside an op; 0: as many as the runtime likes
  unsigned threads_between = 1;  // for ops side by side; 1: one after the other
  bool shares_threads = false;   // takes those of Library::share_threads() instead of any of its own
  Optimization optimization = Optimization::kAll;
  std::map<std::string, std::string> config;  // such as session.disable_quant_qdq
  std::filesystem::path
      save_optimized;  // where to write the model as the runtime has changed it; empty: nowhere
  std::filesystem::path
      profile;  // how the names of files begin that tell how long each node took; empty: none
  // The real paths of external data, by the location that the model names: for a model whose files have no
  // names yet. Needs ONNX Runtime 1.18.
  std::map<std::string, std::filesystem::path> external_data_paths;

  bool is_single_threaded() const { return threads == 1 && threads_between == 1; }
};

// The entries of SessionOptions::config for bytes of the runtime's own format that stay where they are:
// weights are read there, and nothing is copied but what a kernel orders anew.
std::map<std::string, std::string> mapped_bytes();

using data::NamedTensor;
using data::Tensor;
using data::TensorView;
using data::ValueDescription;

class Session {
 public:
  Session(std::shared_ptr<const Library> library, const std::filesystem::path& model,
          const SessionOptions& options);
  // A model in memory; errors call it `name`. With the options of mapped_bytes() the bytes are used where
  // they are and have to stay there; otherwise they may go afterwards.
  Session(std::shared_ptr<const Library> library, std::string name, std::string_view bytes,
          const SessionOptions& options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  const std::vector<ValueDescription>& inputs() const { return inputs_; }
  const std::vector<ValueDescription>& outputs() const { return outputs_; }

  // Runs once and gives the outputs of these names in their order; without names all outputs.
  std::vector<Tensor> run(const std::vector<NamedTensor>& inputs,
                          const std::vector<std::string>& outputs = {}) const;

  // What the model's metadata says under a key; nothing where it has no such key.
  std::optional<std::string> metadata(const std::string& key) const;
  // Ends what SessionOptions::profile began, and says which file holds it.
  std::filesystem::path end_profile();

  const Library& library() const { return *library_; }
  const std::shared_ptr<const Library>& shared_library() const { return library_; }
  const std::string& model() const { return model_; }
  // Did external data become shorter while the runtime read it? Then its outputs mean nothing.
  bool was_cut() const noexcept;

 private:
  friend class BoundRun;
  struct Handles;
  void take(OrtSession* session);

  std::shared_ptr<const Library> library_;
  std::string model_;
  std::vector<io::FileGuard> guards_;  // of files that the runtime maps
  std::unique_ptr<Handles> handles_;
  std::vector<ValueDescription> inputs_, outputs_;
};

}  // namespace ounce::runtime
