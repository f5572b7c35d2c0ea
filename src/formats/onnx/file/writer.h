// Writes a Model to disk: laid out exactly, filled in parallel, checked by the caller, then put in
// place in one step.
//
//   ModelOutput output(model, "small.onnx", options);
//   output.write(pool);
//   Model written = output.reopen();   // still without a name: compare it with the source
//   output.commit();                   // or let it go out of scope: nothing is left
//
// With external data there are two files. The data file's name carries a tag that depends on its
// content, so that the model standing there before keeps its own data until the new model file
// replaces it; then the old data file is removed.
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
  std::string data_tag = "0";  // same tag, same content: a digest of the source and of what was done to it
  // The whole name of the data file instead, for a place where no other model stands: nothing may have it.
  std::string data_name = {};
  std::uint64_t room = 0;  // bytes that will be appended: they count where a model is too large for one file
  bool is_temporary = false;  // for this process alone: not flushed to the disk
};

// How many bytes ModelOutput would write, all files together.
std::uint64_t written_size(const Model& model, const std::filesystem::path& path,
                           const WriteOptions& options);

class ModelOutput {
 public:
  // Lays out and reserves the files. Throws Error{kIo}, and Error{kUsage} when the model is too large for
  // one file and external data is forbidden.
  ModelOutput(const Model& model, const std::filesystem::path& path, const WriteOptions& options);

  // `done`, if given, is advanced by the source bytes that have been worked on.
  void write(ThreadPool& pool, std::atomic<std::uint64_t>* done);
  Model reopen() const;
  io::UnfinishedFiles unfinished_files() const;
  // Behind what was written: a field of the model, as metadata_field() makes it.
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
  std::vector<std::pair<std::string, io::OutputFile>>
      kept_;  // external files copied as they are, by location
};

// A model in a file of ours, for the runtime to load: nobody else knows it, and it goes away with its folder.

// Gives the bytes of the file and of its external data, if that became necessary. Throws Error{kIo}.
std::uint64_t write_temporary(const Model& model, const std::filesystem::path& file, ThreadPool& pool);

}  // namespace ounce::onnx
