// ONNX Runtime, opened while the program runs: any version from 1.14 on, several beside each other, or none.
//
//   std::shared_ptr<const Library> library = Library::open(Library::find());
//   Session session(library, "model.onnx", {});
//
// A library stays open until the process ends, and so does the one environment that it gets when its first
// session is made: the runtime's threads and static objects do not survive being unloaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct OrtApi;
struct OrtEnv;

namespace ounce::runtime {

class Library {
 public:
  // What places.h says of ONNX Runtime.
  static std::vector<std::filesystem::path> installed();
  static std::vector<std::filesystem::path> installed(const std::string& machine);  // "aarch64"
  static std::vector<std::string> installed_versions();  // a file's name where nothing says its version
  static std::filesystem::path find(const std::string& wanted = {});

  // Opens a library, or gives the one that is open already. Throws Error{kIo} when there is none at `path`,
  // Error{kUnsupported} when it is none of ONNX Runtime's or too old.
  static std::shared_ptr<const Library> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& version() const { return version_; }  // "1.30.0"
  // Functions that came after this version of the API must not be called: the older of the library's own and
  // of the headers that we were built with.
  std::uint32_t api_version() const { return api_version_; }
  const OrtApi& api() const { return *api_; }
  // Made at the first call. A process that forks must not call it before.
  const OrtEnv& environment() const;

  // So many threads for all sessions that want to share theirs (SessionOptions::shares_threads), 0: one for
  // each core. False when an environment has been made already, with another number or with none: it cannot
  // get them any more.
  static bool share_threads(unsigned threads);

 private:
  Library() = default;

  std::filesystem::path path_;
  std::string version_;
  std::uint32_t api_version_ = 0;
  const OrtApi* api_ = nullptr;
};

}  // namespace ounce::runtime
