// Writes a Model atomically: a package as a folder, a .mlmodel as a file.
//
//   ModelOutput output(model, place_blobs(model), "net.w8.mlpackage");
//   output.write(pool, nullptr);
//   Model written = output.reopen();           // has a temporary name: compare it with the source
//   output.commit();                           // without commit(), the destructor removes all files
//
// Unchanged messages and unchanged files of a package are copied verbatim. A changed weight file contains the
// blobs that the program uses, each once, in their previous order.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "formats/coreml/file/model.h"
#include "io/output_file.h"
#include "io/rope.h"

namespace ounce::coreml {

// Serializes the model file. With `rewrite_everything` no message is copied, which tests the encoder: files
// in protobuf's usual order must give the same bytes.
io::Rope serialize(const Model& model, bool rewrite_everything = false);

// The model file without metadata and the weight files that it uses, in one piece, for digests.
io::Rope content_of(const Model& model);

// Lays out the new weight files and updates the offsets of all values. Returns the weight files that change,
// by their names in the program. Throws Error{kUnsupported} if weights cannot be moved (Model::unwritable).
using WeightRopes = std::map<std::string, io::Rope>;
WeightRopes place_blobs(Model& model);

// Number of bytes that ModelOutput would write.
std::uint64_t written_size(const Model& model, const WeightRopes& weights);

class ModelOutput {
 public:
  // Writes a package for a package and a file for a file. `model` must outlive this. Throws Error{kUsage} if
  // the path is a folder that is not a package, and Error{kIo}.
  ModelOutput(const Model& model, WeightRopes weights, const std::filesystem::path& path);

  // Adds the processed source bytes to `done` unless it is null.
  void write(ThreadPool& pool, std::atomic<std::uint64_t>* done);
  // Call after a change of the metadata.
  void rewrite_model_file(ThreadPool& pool);
  Model reopen() const;
  // The temporary path of the model.
  std::filesystem::path unfinished_path() const;
  void commit();

  std::uint64_t total_bytes() const { return written_size(model_, weights_); }

 private:
  void write_model_file(ThreadPool& pool);

  const Model& model_;
  std::filesystem::path path_;
  WeightRopes weights_;                     // weight files that change
  std::optional<io::OutputFolder> folder_;  // for a package
  std::optional<io::OutputFile> file_;      // for a .mlmodel
};

}  // namespace ounce::coreml
