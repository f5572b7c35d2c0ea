// Which libraries of ONNX Runtime are here: the part of Library that a runner does without.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>

#include "io/folder.h"
#include "runtime/library.h"
#include "runtime/machine.h"
#include "runtime/version.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

// Folders are named by version: "1.22.0" for this machine, "1.22.0-aarch64" for another.
std::string suffix_of(const std::string& machine) {
  return machine == this_machine() ? std::string() : "-" + machine;
}

fs::path library_in(const std::string& folder) {
  return fs::path(OUNCE_ONNXRUNTIME_ROOT) / folder / "lib" / "libonnxruntime.so";
}

fs::path find_wanted(const std::string& wanted, const std::string& where, const std::string& machine) {
  if (fs::is_regular_file(wanted)) return fs::absolute(wanted);
  const std::string suffix = suffix_of(machine);
  fs::path by_version = library_in(wanted + suffix);
  if (parse_version(wanted) && fs::exists(by_version)) return by_version;
  std::vector<std::string> versions;
  for (const fs::path& path : Library::installed(machine))
    versions.push_back(path.parent_path().parent_path().filename().string());
  throw Error(ErrorCode::kUsage,
              fmt::format("names neither a library of ONNX Runtime nor a version that is here ({}); ./setup "
                          "runtime VERSION{} fetches one",
                          versions.empty() ? "there are none" : fmt::format("{}", fmt::join(versions, ", ")),
                          suffix.empty() ? "" : ":" + machine),
              where);
}

}  // namespace

std::vector<fs::path> Library::installed() { return installed(this_machine()); }

std::vector<fs::path> Library::installed(const std::string& machine) {
  const std::string suffix = suffix_of(machine);
  std::vector<std::pair<Version, fs::path>> found;
  std::error_code error;
  const std::vector<std::string> folders = io::names_in(OUNCE_ONNXRUNTIME_ROOT, error);
  // No folder: nothing is installed. Anything else is no reason to write what was not tried.
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw Error(ErrorCode::kIo, fmt::format("cannot read the folder: {}", error.message()),
                OUNCE_ONNXRUNTIME_ROOT);
  for (const std::string& name : folders) {
    if (!name.ends_with(suffix)) continue;
    const auto version = parse_version(std::string_view(name).substr(0, name.size() - suffix.size()));
    if (version && fs::exists(library_in(name))) found.emplace_back(*version, library_in(name));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return b.first < a.first; });
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (auto& [version, path] : found) paths.push_back(std::move(path));
  return paths;
}

fs::path Library::find(const std::string& wanted) {
  if (!wanted.empty()) return find_wanted(wanted, wanted, this_machine());
  const char* const variable = std::getenv("OUNCE_ONNXRUNTIME");
  if (variable != nullptr && *variable != '\0')
    return find_wanted(variable, fmt::format("OUNCE_ONNXRUNTIME={}", variable), this_machine());
  const std::vector<fs::path> paths = installed();
  return paths.empty() ? fs::path("libonnxruntime.so") : paths.front();
}

fs::path Library::find_for(const std::string& machine, const std::string& wanted) {
  if (!wanted.empty()) return find_wanted(wanted, wanted, machine);
  const std::vector<fs::path> paths = installed(machine);
  if (!paths.empty()) return paths.front();
  throw Error(ErrorCode::kUsage,
              fmt::format("there is no ONNX Runtime for {} here; ./setup runtime VERSION:{} fetches one",
                          machine, machine));
}

}  // namespace ounce::runtime
