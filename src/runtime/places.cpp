// Which libraries of ONNX Runtime are here: the part of Library that a runner does without.
#include "runtime/places.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/folder.h"
#include "runtime/masked_cpu.h"
#include "runtime/ort/library.h"
#include "runtime/ort/version.h"

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

std::string version_of(const FoundLibrary& library) {
  if (!library.version) return library.path.filename().string();
  return fmt::format("{}.{}.{}", library.version->major, library.version->minor, library.version->patch);
}

// What set-up brought for a machine, newest first.
std::vector<FoundLibrary> brought_by_setup(const std::string& machine) {
  const std::string suffix = suffix_of(machine);
  std::vector<FoundLibrary> found;
  std::error_code error;
  const fs::path root = OUNCE_ONNXRUNTIME_ROOT;
  if (root.empty()) return found;  // built to be installed elsewhere
  const std::vector<std::string> folders = io::names_in(root, error);
  // No folder: nothing is installed. Anything else is no reason to write what was not tried.
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw Error(ErrorCode::kIo, fmt::format("cannot read the folder: {}", error.message()),
                OUNCE_ONNXRUNTIME_ROOT);
  for (const std::string& name : folders) {
    if (!name.ends_with(suffix)) continue;
    const auto version = parse_version(std::string_view(name).substr(0, name.size() - suffix.size()));
    if (version && fs::exists(library_in(name))) found.push_back({library_in(name), version});
  }
  std::sort(found.begin(), found.end(),
            [](const FoundLibrary& a, const FoundLibrary& b) { return *b.version < *a.version; });
  return found;
}

// Those of the first place that has any. What lies elsewhere on this machine is for this machine.
std::vector<FoundLibrary> found_for(const std::string& machine) {
  std::vector<FoundLibrary> found = brought_by_setup(machine);
  if (!found.empty() || machine != this_machine()) return found;
  for (const fs::path& place : library_places()) {
    found = libraries_in(place);
    if (!found.empty()) break;
  }
  return found;
}

// A library of this very version, in whatever place.
fs::path find_version(const Version& wanted, const std::string& machine) {
  const auto is_wanted = [&](const FoundLibrary& library) {
    return library.version && !(*library.version < wanted) && !(wanted < *library.version);
  };
  std::vector<FoundLibrary> found = brought_by_setup(machine);
  if (machine == this_machine()) {
    for (const fs::path& place : library_places()) {
      for (FoundLibrary& library : libraries_in(place)) found.push_back(std::move(library));
    }
  }
  const auto at = std::find_if(found.begin(), found.end(), is_wanted);
  return at == found.end() ? fs::path() : at->path;
}

fs::path find_wanted(const std::string& wanted, const std::string& where, const std::string& machine) {
  if (fs::is_regular_file(wanted)) return fs::absolute(wanted);
  if (const auto version = parse_version(wanted)) {
    fs::path path = find_version(*version, machine);
    if (!path.empty()) return path;
  }
  std::vector<std::string> versions;
  for (const FoundLibrary& library : found_for(machine)) versions.push_back(version_of(library));
  const std::string suffix = suffix_of(machine);
  throw Error(
      ErrorCode::kUsage,
      fmt::format("names neither a library of ONNX Runtime nor a version that is here ({}); {}",
                  versions.empty() ? "there are none" : fmt::format("{}", fmt::join(versions, ", ")),
                  suffix.empty() ? "'pip install onnxruntime==VERSION' brings one, or ./setup runtime "
                                   "VERSION in a source tree"
                                 : fmt::format("./setup runtime VERSION:{} fetches one", machine)),
      where);
}

}  // namespace

std::vector<fs::path> Library::installed() { return installed(this_machine()); }

std::vector<fs::path> Library::installed(const std::string& machine) {
  std::vector<fs::path> paths;
  for (FoundLibrary& library : found_for(machine)) paths.push_back(std::move(library.path));
  return paths;
}

std::vector<std::string> Library::installed_versions() {
  std::vector<std::string> versions;
  for (const FoundLibrary& library : found_for(this_machine())) versions.push_back(version_of(library));
  return versions;
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

namespace fs = std::filesystem;

std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& file) {
    std::error_code ignored;
    const fs::path folder = fs::canonical(file, ignored).parent_path();
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  add("/proc/self/exe");
  // In a program this is what it was called as, and a name without a folder is found anywhere but here.
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folders), &info) != 0 && info.dli_fname != nullptr &&
      fs::path(info.dli_fname).has_parent_path())
    add(info.dli_fname);
  return folders;
}

}  // namespace ounce::runtime
