// Unpacks compressed models into a cache on the device: ONNX Runtime dequantizes the weights and optimizes
// the graph once, and saves the result in its own format. Later loads memory-map this file, so that the
// weights take no heap memory.
//
//   Session session = Session::load("model.w8.onnx", {.cache = "/data/…/cache"});   // unpacks on first use
//   Unpacked unpacked = unpack("model.w8.onnx", "/data/…/cache");                   // unpacks ahead of time
//
// Each file in the cache belongs to one model, runtime version, kind of CPU and set of session options; its
// name and its last bytes record them. A file is written atomically, after it was loaded and gave
// bit-identical outputs. Files may be deleted at any time, even while they are in use. A file's digest is
// checked when it is first loaded and whenever it was modified since; unpack() checks it always. A damaged
// file is replaced. The cache is as trusted as the app: users who can write to it can change the app's
// results. If ounce-runner is installed, it creates the files, so that the app's own memory does not grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <ounce/app/status.h>

namespace ounce::app {

struct UnpackOptions {
  std::string library = {};                         // ONNX Runtime, as in LoadOptions
  std::map<std::string, std::string> config = {};   // session config entries of ONNX Runtime
  bool uses_runner = true;                          // use ounce-runner if it is installed
  double seconds = 600;                             // time limit of the runner; 0: no limit
  std::uint64_t max_bytes = 0;                      // size limit of the cache (evict()); 0: no limit
  std::function<bool(double share)> progress = {};  // return false to cancel
};

struct Unpacked {
  std::filesystem::path model;
  std::filesystem::path file;  // empty: load the model directly; `why_not` has the reason
  std::string why_not;
  Status status = Status::kOk;  // kind of `why_not`: kIo, kUnsupported, kMemory, kTimeout
  bool is_new = false;          // the file was created by this call
  bool used_runner = false;
  std::uint64_t bytes = 0, model_bytes = 0;  // of the file on disk; of the compressed model
  // Digest of the model and its external data, 32 hex digits; part of the file's name. Not cryptographic.
  std::string digest;
  std::string runtime_version, cpu;
  double seconds = 0;
  std::string sha256;        // 64 hex digits, for Checks::digest (session.h)
  bool was_damaged = false;  // the cache had a damaged or truncated file, which was not used
};

// Unpacks a model into the cache, or finds its file there. Throws Failure if the model does not load or the
// call is canceled (kCancelled). A full disk, a missing runner or a model too large for the format (2 GiB) do
// not throw: see `why_not`.
Unpacked unpack(const std::filesystem::path& model, const std::filesystem::path& cache,
                const UnpackOptions& options = {});

struct CachedFile {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::string digest, runtime_version;  // from the file's name
};

// Lists the files in a cache, most recently used first.
std::vector<CachedFile> cached_files(const std::filesystem::path& cache);
// Deletes the least recently used files until the others take at most `max_bytes`. Returns the number of
// deleted files.
std::size_t evict(const std::filesystem::path& cache, std::uint64_t max_bytes);

}  // namespace ounce::app
