// Writes a Model: a package as a folder that appears whole or not at all, a .mlmodel as a file.
//
//   ModelOutput output(model, place_blobs(model), "net.w8.mlpackage");
//   output.write(pool, nullptr);
//   Model written = output.reopen();           // still under a hidden name: compare it with the source
//   output.commit();                           // or let it go out of scope: nothing is left
//
// Messages that nobody edited are copied as they are, and so are the files of a package that nothing changed.
// A weight file that changes has the blobs that the program uses, each once, in the order that they had.
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

// The model file. With `rewrite_everything` no message is copied: for files in protobuf's usual order that
// gives the same bytes, which is how the encoder is tested.
io::Rope serialize(const Model& model, bool rewrite_everything = false);

// What the model computes, in one piece: the model file without metadata and the weight files that it uses.
// For digests.
io::Rope content_of(const Model& model);

// Gives every blob its place in the new weight files, and the values that name them their new offsets.
// Returns the weight files that change, by the name that the program uses. Throws Error{kUnsupported} for a
// model whose weights cannot be moved (Model::unwritable).
using WeightRopes = std::map<std::string, io::Rope>;
WeightRopes place_blobs(Model& model);

// How many bytes ModelOutput would write.
std::uint64_t written_size(const Model& model, const WeightRopes& weights);

class ModelOutput {
 public:
  // A package becomes a package, a file a file. `model` must outlive this. Throws Error{kUsage} for a place
  // that is a folder and no package, and Error{kIo}.
  ModelOutput(const Model& model, WeightRopes weights, const std::filesystem::path& path);

  // `done`, if given, is advanced by the source bytes that have been worked on.
  void write(ThreadPool& pool, std::atomic<std::uint64_t>* done);
  // After a change of the metadata.
  void rewrite_model_file(ThreadPool& pool);
  Model reopen() const;
  // Where the unfinished model is.
  std::filesystem::path unfinished_path() const;
  void commit();

  std::uint64_t total_bytes() const { return written_size(model_, weights_); }

 private:
  void write_model_file(ThreadPool& pool);

  const Model& model_;
  std::filesystem::path path_;
  WeightRopes weights_;                     // those that change
  std::optional<io::OutputFolder> folder_;  // of a package …
  std::optional<io::OutputFile> file_;      // … or the file
};

}  // namespace ounce::coreml
