#include "runtime/places.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/folder.h"
#include "runtime/machine.h"
#include "runtime/own_folders.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "libonnxruntime.so";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// lib/python3.11/site-packages/onnxruntime/capi and the like below a prefix; Debian calls it dist-packages.
void add_python_packages(const fs::path& prefix, std::vector<fs::path>& places) {
  for (const char* const lib : {"lib", "lib64"}) {
    std::error_code none;
    std::vector<std::string> names = io::names_in(prefix / lib, none);
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("python3"); });
    std::sort(names.begin(), names.end());
    for (const std::string& python : names) {
      for (const char* const packages : {"site-packages", "dist-packages"})
        places.push_back(prefix / lib / python / packages / "onnxruntime" / "capi");
    }
  }
}

void add_system(std::vector<fs::path>& places) {
  const std::string listed = variable("LD_LIBRARY_PATH");
  for (std::size_t begin = 0; begin < listed.size();) {
    const std::size_t end = std::min(listed.find(':', begin), listed.size());
    if (end != begin) places.emplace_back(listed.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string debian = this_machine() + "-linux-gnu";
  for (const fs::path lib : {"/usr/local/lib", "/usr/lib"}) {
    places.push_back(lib / debian);
    places.push_back(lib.string() + "64");
    places.push_back(lib);
  }
}

}  // namespace

std::vector<fs::path> places_beside(const std::vector<fs::path>& own, const fs::path& active) {
  std::vector<fs::path> places;
  for (const fs::path& folder : own) {
    places.push_back(folder);
    places.push_back(folder.parent_path() / "lib");
  }
  for (const fs::path& folder : own) {  // site-packages/ounce/bin
    places.push_back(folder.parent_path().parent_path() / "onnxruntime" / "capi");
    add_python_packages(folder.parent_path(), places);
  }
  if (!active.empty()) add_python_packages(active, places);
  return places;
}

std::vector<fs::path> library_places() {
  std::vector<fs::path> places = places_beside(own_folders(), variable("VIRTUAL_ENV"));
  add_system(places);
  return places;
}

std::vector<FoundLibrary> libraries_in(const fs::path& folder) {
  std::vector<FoundLibrary> found;
  std::error_code none;
  for (const std::string& name : io::names_in(folder, none)) {
    if (!name.starts_with(kLibrary)) continue;
    const std::string_view behind = std::string_view(name).substr(kLibrary.size());
    if (!behind.empty() && behind[0] != '.') continue;
    if (!fs::is_regular_file(folder / name, none)) continue;
    found.push_back({folder / name, behind.empty() ? std::nullopt : parse_version(behind.substr(1))});
  }
  std::sort(found.begin(), found.end(), [](const FoundLibrary& a, const FoundLibrary& b) {
    if (a.version.has_value() != b.version.has_value()) return a.version.has_value();
    if (a.version && (*b.version < *a.version || *a.version < *b.version)) return *b.version < *a.version;
    return a.path < b.path;
  });
  return found;
}

}  // namespace ounce::runtime
