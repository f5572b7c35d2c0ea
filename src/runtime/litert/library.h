// LiteRT, which runs .tflite models, opened while the program runs: 2.1.6 or newer, or none.
//
//   std::shared_ptr<const litert::Library> library = litert::Library::open(path);
//   litert::Session session(library, "model.tflite", {});
//
// A library stays open until the process ends, and so does the one environment that it gets when its first
// session is made. runtime/places.h finds the file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/litert/api.h"

namespace ounce::runtime::litert {

class Library {
 public:
  // Opens a library, or gives the one that is open already. Throws Error{kIo} when there is none at `path`,
  // and Error{kUnsupported} when it is another one or too old.
  static std::shared_ptr<const Library> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  // "2.3.0". The library itself does not tell: its folder does, or the Python package that it is part of.
  // Otherwise "of an unknown version".
  const std::string& version() const { return version_; }
  const Api& api() const { return api_; }
  // Made at the first call. Throws Error{kUnsupported}.
  Environment* environment() const;

 private:
  Library() = default;

  std::filesystem::path path_;
  std::string version_;
  Api api_;
};

// The version of the Python package in a folder such as ai_edge_litert, from the name of the folder next to
// it; empty: no package.
std::string package_version(const std::filesystem::path& folder);

}  // namespace ounce::runtime::litert
