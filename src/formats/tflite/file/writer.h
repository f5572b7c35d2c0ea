// Writes a Model to disk: laid out exactly, filled on all threads, checked by the caller, then put in place
// in one step. The same model gives the same bytes.
//
//   ModelOutput output(model, "small.tflite");
//   output.write(pool, nullptr);
//   Model written = output.reopen();   // still without a name: compare it with the source
//   output.commit();                   // or let it go out of scope: nothing is left
//
// The tables come first, then the buffers at multiples of 16 bytes, then the archive of associated files.
// Buffers with equal bytes share their place. References inside a flatbuffer end at 2 GiB; where the model is
// larger, its buffers are behind the flatbuffer, and each says its offset from the start of the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "formats/tflite/file/model.h"
#include "io/output_file.h"
#include "io/rope.h"

namespace ounce::tflite {

inline constexpr std::uint64_t kLargestFlatbuffer = 0x7fffffff;

// Throws Error{kBadInput} for a model that check() refuses, and Error{kUnsupported} for one that would lose
// something (Model::unwritable). Above `largest` bytes the buffers are placed behind the flatbuffer.
io::Rope serialize(const Model& model, std::uint64_t largest = kLargestFlatbuffer);

// All of the file, in memory: for small models.
std::string to_bytes(const Model& model, std::uint64_t largest = kLargestFlatbuffer);

class ModelOutput {
 public:
  // Lays out and reserves the file. Throws what serialize() throws, and Error{kIo}.
  ModelOutput(const Model& model, const std::filesystem::path& path, bool is_temporary = false);

  // `done`, if given, is advanced by the source bytes that have been worked on.
  void write(ThreadPool& pool, std::atomic<std::uint64_t>* done);
  Model reopen() const;
  // Replaces the value of an entry of the metadata in the written file. The value may be shorter than what is
  // there, and ends with spaces then.
  void fill_metadata(const std::string& name, std::string value) const;
  std::filesystem::path unfinished_path() const { return file_.unfinished_path(); }
  void commit();

  std::uint64_t total_bytes() const { return file_.size(); }

 private:
  const Model& model_;
  bool is_temporary_;  // for this process alone: not flushed to the disk
  io::Rope rope_;
  io::OutputFile file_;
};

// A model in a temporary file, for a runtime to load. Returns its size. Throws Error{kIo}.
std::uint64_t write_temporary(const Model& model, const std::filesystem::path& file, ThreadPool& pool);

}  // namespace ounce::tflite
