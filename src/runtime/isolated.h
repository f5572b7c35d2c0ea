// A model in a process of its own on this machine, with limits: for untrusted ones.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/hosted.h"

namespace ounce::runtime {

class Isolated : public Hosted {
 public:
  Isolated(const std::filesystem::path& model, const ExecutorOptions& options);

  // The runner program: what the environment variable OUNCE_RUNNER names, else the one beside this program or
  // in bin/ beside the library's folder, else the one this library was built or installed with. Throws
  // Error{kIo} when there is none.
  static std::filesystem::path find_runner();
};

// A runner of this name beside this program or where this library was built or installed; empty: none.
std::filesystem::path find_runner_named(const std::string& name);

}  // namespace ounce::runtime
