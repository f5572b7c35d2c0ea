// Files that the command line reads by itself, and the library never hears of: --config and --contract. No
// output may take their place either.
//
//   const OwnFiles own = OwnFiles::of(*app, arguments.contract.file);
//   own.require_apart(output);
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace ounce::verbs {

class OwnFiles {
 public:
  static OwnFiles of(const CLI::App& verb, const std::string& contract = {});
  void add(const std::string& option, const std::string& path);  // an empty path is none

  // Throws Error{kUsage} when `output` is one of them, by whatever name.
  void require_apart(const std::filesystem::path& output) const;

 private:
  struct File {
    std::string option, path;
  };
  std::vector<File> files_;
};

}  // namespace ounce::verbs
