// Writes a Model to disk: computes the exact layout, fills the files in parallel, lets the caller check the
// result, and commits it atomically.
//
//   ModelOutput output(model, "small.onnx", options);
//   output.write(pool);
//   Model written = output.reopen();   // not yet at its final path: compare it with the source
//   output.commit();                   // without this call, nothing remains on disk
//
// With external data there are two files. The name of the data file contains a tag that depends on its
// content, so a previous model at the same path keeps its own data until the new model file replaces it; then
// the old data file is removed.
#pragma once

#include <ounce/recipe.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/serializer.h"
#include "io/output_file.h"

namespace ounce::onnx {

struct WriteOptions {
  ExternalData external_data = ExternalData::kAuto;
  std::string data_tag = "0";  // identifies the content: a digest of the source and of the changes
  // If not empty, the exact name of the data file, for a folder without other models. The file must not
  // exist.
  std::string data_name = {};
  std::uint64_t room = 0;     // bytes to be appended later; they count toward the size limit of one file
  bool is_temporary = false;  // used by this process only: not flushed to disk
};

// The number of bytes that ModelOutput would write to all files.
std::uint64_t written_size(const Model& model, const std::filesystem::path& path,
                           const WriteOptions& options);

class ModelOutput {
 public:
  // Computes the layout and reserves the files. Throws Error{kIo}, and Error{kUsage} if the model is too
  // large for one file and external data is forbidden.
  ModelOutput(const Model& model, const std::filesystem::path& path, const WriteOptions& options);

  // Advances `done`, if given, by the number of source bytes processed.
  void write(ThreadPool& pool, std::atomic<std::uint64_t>* done);
  Model reopen() const;
  io::UnfinishedFiles unfinished_files() const;
  // Appends a field of the model, as made by metadata_field(), to the written file.
  void append(std::string_view field);
  void commit();

  std::uint64_t model_bytes() const { return file_->size(); }
  std::uint64_t data_bytes() const { return data_ ? data_->size() : 0; }
  std::uint64_t total_bytes() const;

 private:
  std::vector<std::filesystem::path> data_of_replaced_model() const;
  bool is_kept(const std::string& location) const;
  bool is_read_from(const std::filesystem::path& path) const;

  const Model& model_;
  std::filesystem::path path_;
  std::string data_location_;
  bool is_temporary_;
  Serialized serialized_;
  std::optional<io::OutputFile> file_, data_;
  std::vector<std::pair<std::string, io::OutputFile>> kept_;  // external files copied unchanged, by location
};

// Writes a model to a private temporary file for the runtime to load. It is removed with its folder.

// Returns the size of the file and of its external data, if any. Throws Error{kIo}.
std::uint64_t write_temporary(const Model& model, const std::filesystem::path& file, ThreadPool& pool);

}  // namespace ounce::onnx
