// Opens ONNX Runtime at run time: any version since 1.14, several at once, or none.
//
//   std::shared_ptr<const Library> library = Library::open(Library::find());
//   Session session(library, "model.onnx", {});
//
// A library and its environment, which the first session creates, exist until the process ends, because the
// runtime's threads and static objects do not support unloading.
#pragma once

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

struct OrtApi;
struct OrtEnv;

namespace ounce::runtime {

// A version of ONNX Runtime.
struct Version {
  unsigned major = 0, minor = 0, patch = 0;
  bool operator<(const Version& other) const {
    return std::tie(major, minor, patch) < std::tie(other.major, other.minor, other.patch);
  }
};

// Parses "1.22.0". Returns nothing for "1.30.0-aarch64", which is for another machine.
inline std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (unsigned* part : {&version.major, &version.minor, &version.patch}) {
    if (part != &version.major) {
      if (at == end || *at != '.') return std::nullopt;
      ++at;
    }
    const auto [next, failure] = std::from_chars(at, end, *part);
    if (failure != std::errc()) return std::nullopt;
    at = next;
  }
  return at == end ? std::optional(version) : std::nullopt;
}

class Library {
 public:
  // The functions of places.h for ONNX Runtime.
  static std::vector<std::filesystem::path> installed();
  static std::vector<std::filesystem::path> installed(const std::string& machine);  // "aarch64"
  static std::vector<std::string> installed_versions();  // the file's name if the version is unknown
  static std::filesystem::path find(const std::string& wanted = {});

  // Opens a library, or returns the open one. Throws Error{kIo} for a missing file, Error{kUnsupported} for
  // another library or a version that is too old.
  static std::shared_ptr<const Library> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& version() const { return version_; }  // "1.30.0"
  // The supported API version: the older one of the library's and of this build's headers. Newer functions
  // must not be called.
  std::uint32_t api_version() const { return api_version_; }
  const OrtApi& api() const { return *api_; }
  // Creates the environment at the first call. Must not be called before fork().
  const OrtEnv& environment() const;

  // Sets the number of threads for all sessions with SessionOptions::shares_threads; 0: one per core. Returns
  // false if an environment exists already with another number of threads or without shared threads.
  static bool share_threads(unsigned threads);

 private:
  Library() = default;

  std::filesystem::path path_;
  std::string version_;
  std::uint32_t api_version_ = 0;
  const OrtApi* api_ = nullptr;
};

}  // namespace ounce::runtime
