// Small on the way, large on the device, and in no heap: a model whose weights are stored in few bits is
// decoded and optimised by the runtime once, into a file of its own format whose pages are the weights.
//
//   Session session = Session::load("model.w8.onnx", {.cache = "/data/…/cache"});   // does all of it
//   Unpacked unpacked = unpack("model.w8.onnx", "/data/…/cache");                   // ahead of time
//
// A file in the cache is for one model, one version of the runtime and one kind of CPU, which its name and
// its last bytes say; any other of these makes another file. It appears whole or not at all, after it was
// loaded and gave the bits that the model gives; files may be removed at any time, also while they are in
// use. A file's digest is compared when the file is first loaded and whenever it was written to since;
// unpack() compares it always. A damaged file is made again. Whoever can write to the cache can change what
// the app computes: keep it as private as the app. It is made in a process of its own (ounce-runner) where
// there is one, so that the memory it takes is not the app's.
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
  std::string library = {};                         // of ONNX Runtime, as in LoadOptions
  std::map<std::string, std::string> config = {};   // entries of the runtime's session options
  bool uses_runner = true;                          // where there is one
  double seconds = 600;                             // that a runner may take; 0: no limit
  std::uint64_t max_bytes = 0;                      // of the folder: older files are removed; 0: any
  std::function<bool(double share)> progress = {};  // false ends it at the next chance
};

struct Unpacked {
  std::filesystem::path model;
  std::filesystem::path file;  // empty: it is to be loaded as it is, and `why_not` says why
  std::string why_not;
  Status status = Status::kOk;  // likewise: kIo, kUnsupported, kMemory, kTimeout
  bool is_new = false;          // made just now
  bool used_runner = false;
  std::uint64_t bytes = 0, model_bytes = 0;  // on the disk; of the packed model
  // Of the model, with its external data: 32 digits that name the file in the cache. Not for security.
  std::string digest;
  std::string runtime_version, cpu;
  double seconds = 0;
  std::string sha256;        // 64 digits for Checks::digest (session.h)
  bool was_damaged = false;  // a file was there that was damaged or cut off, and was not used
};

// Throws Failure for a model that does not load at all, and kCancelled. A full disk, no runner, a model that
// the runtime cannot write (2 GiB and more) are no failures: see `why_not`.
Unpacked unpack(const std::filesystem::path& model, const std::filesystem::path& cache,
                const UnpackOptions& options = {});

struct CachedFile {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::string digest, runtime_version;  // as its name says
};

// What is in a cache, the one that was used last first.
std::vector<CachedFile> cached_files(const std::filesystem::path& cache);
// Removes those that were used longest ago until the others take no more than this; gives how many went.
std::size_t evict(const std::filesystem::path& cache, std::uint64_t max_bytes);

}  // namespace ounce::app
