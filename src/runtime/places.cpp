#include "runtime/places.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/mapped_file.h"
#include "runtime/litert/library.h"
#include "runtime/masked_cpu.h"
#include "runtime/ort/library.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;
using model::ModelKind;

// Names for finding the library of a runtime. All but `runtime` are empty for a runtime that is part of
// Ounce.
struct LibraryNames {
  ModelKind kind;
  const char* runtime;   // in messages
  const char* stem;      // the library's file, before ".so"
  const char* root;      // ./setup installs <root>/<version>/lib/<stem>.so; empty in relocatable builds
  const char* setup;     // ./setup <this> VERSION
  const char* variable;  // environment variable
  const char* package;   // Python package
  const char* inside;    // folder of the library in site-packages
};

constexpr LibraryNames kLibraries[] = {
    {ModelKind::kOnnx, "ONNX Runtime", "libonnxruntime", OUNCE_ONNXRUNTIME_ROOT, "runtime",
     "OUNCE_ONNXRUNTIME", "onnxruntime", "onnxruntime/capi"},
    {ModelKind::kTflite, "LiteRT", "libLiteRt", OUNCE_LITERT_ROOT, "litert", "OUNCE_LITERT", "ai-edge-litert",
     "ai_edge_litert"},
    {ModelKind::kCoreml, "Ounce's evaluator of ML Programs", "", "", "", "", "", ""},
};

const LibraryNames& names_for(ModelKind kind) {
  const auto* const found = std::find_if(std::begin(kLibraries), std::end(kLibraries),
                                         [&](const LibraryNames& row) { return row.kind == kind; });
  if (found != std::end(kLibraries)) return *found;
  throw Error(ErrorCode::kUnsupported, fmt::format("Ounce has no runtime for {} models", name_of(kind)));
}

// The suffix of folder names: "1.22.0" is for this machine, "1.22.0-aarch64" for another.
std::string suffix_of(const std::string& machine) {
  return machine == this_machine() ? std::string() : "-" + machine;
}

std::string file_of(const LibraryNames& names) { return std::string(names.stem) + ".so"; }

std::string version_of(const FoundLibrary& library) {
  if (!library.version) return library.path.filename().string();
  return fmt::format("{}.{}.{}", library.version->major, library.version->minor, library.version->patch);
}

// Libraries installed by ./setup for a machine, newest first.
std::vector<FoundLibrary> brought_by_setup(const LibraryNames& names, const std::string& machine) {
  const std::string suffix = suffix_of(machine);
  std::vector<FoundLibrary> found;
  std::error_code error;
  const fs::path root = names.root;
  if (root.empty()) return found;  // a relocatable build
  const std::vector<std::string> folders = io::names_in(root, error);
  // A missing folder means that nothing is installed. Other errors are reported.
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw Error(ErrorCode::kIo, fmt::format("cannot read the folder: {}", error.message()), names.root);
  for (const std::string& name : folders) {
    if (!name.ends_with(suffix)) continue;
    const auto version = parse_version(std::string_view(name).substr(0, name.size() - suffix.size()));
    fs::path library = root / name / "lib" / file_of(names);
    if (version && fs::exists(library)) found.push_back({std::move(library), version});
  }
  std::sort(found.begin(), found.end(),
            [](const FoundLibrary& a, const FoundLibrary& b) { return *b.version < *a.version; });
  return found;
}

// The libraries of the first place that has any. Places other than the root of ./setup have only libraries
// for this machine.
std::vector<FoundLibrary> found_for(const LibraryNames& names, const std::string& machine) {
  std::vector<FoundLibrary> found = brought_by_setup(names, machine);
  if (!found.empty() || machine != this_machine()) return found;
  for (const fs::path& place : library_places(names.kind)) {
    found = libraries_in(names.kind, place);
    if (!found.empty()) break;
  }
  return found;
}

// Finds a library of exactly this version in any place.
fs::path find_version(const LibraryNames& names, const Version& wanted, const std::string& machine) {
  const auto is_wanted = [&](const FoundLibrary& library) {
    return library.version && !(*library.version < wanted) && !(wanted < *library.version);
  };
  std::vector<FoundLibrary> found = brought_by_setup(names, machine);
  if (machine == this_machine()) {
    for (const fs::path& place : library_places(names.kind)) {
      for (FoundLibrary& library : libraries_in(names.kind, place)) found.push_back(std::move(library));
    }
  }
  const auto at = std::find_if(found.begin(), found.end(), is_wanted);
  return at == found.end() ? fs::path() : at->path;
}

fs::path find_wanted(const LibraryNames& names, const std::string& wanted, const std::string& where,
                     const std::string& machine) {
  if (fs::is_regular_file(wanted)) return fs::absolute(wanted);
  if (const auto version = parse_version(wanted)) {
    fs::path path = find_version(names, *version, machine);
    if (!path.empty()) return path;
  }
  std::vector<std::string> versions;
  for (const FoundLibrary& library : found_for(names, machine)) versions.push_back(version_of(library));
  const std::string how =
      suffix_of(machine).empty()
          ? fmt::format(
                "install one with 'pip install {}==VERSION', or with ./setup {} VERSION in a source tree",
                names.package, names.setup)
          : fmt::format("install one with ./setup {} VERSION:{}", names.setup, machine);
  throw Error(
      ErrorCode::kUsage,
      fmt::format("neither a library of {} nor an installed version ({}); {}", names.runtime,
                  versions.empty() ? "none is installed" : fmt::format("{}", fmt::join(versions, ", ")), how),
      where);
}

}  // namespace

const char* runtime_of(ModelKind kind) { return names_for(kind).runtime; }
const char* library_stem(ModelKind kind) { return names_for(kind).stem; }
bool is_evaluated(ModelKind kind) { return *names_for(kind).stem == '\0'; }

std::vector<fs::path> installed_libraries(ModelKind kind, const std::string& machine) {
  std::vector<fs::path> paths;
  for (FoundLibrary& library : found_for(names_for(kind), machine)) paths.push_back(std::move(library.path));
  return paths;
}

fs::path find_library(ModelKind kind, const std::string& wanted, const std::string& machine) {
  const LibraryNames& names = names_for(kind);
  if (is_evaluated(kind)) return {};
  if (!wanted.empty()) return find_wanted(names, wanted, wanted, machine);
  const bool is_here = machine == this_machine();
  const char* const variable = std::getenv(names.variable);
  if (is_here && variable != nullptr && *variable != '\0')
    return find_wanted(names, variable, fmt::format("{}={}", names.variable, variable), machine);
  const std::vector<fs::path> paths = installed_libraries(kind, machine);
  if (!paths.empty()) return paths.front();
  if (is_here) return file_of(names);
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} for {} is not installed; install it with ./setup {} VERSION:{}", names.runtime,
                          machine, names.setup, machine));
}

LoadRequest request_for(const std::filesystem::path& model, const ExecutorOptions& options) {
  const model::ModelKind kind = kind_to_run(model);
  return {kind, find_library(kind, options.library_of(kind)).string(), model.string(), options.settings};
}

std::vector<fs::path> Library::installed() { return installed(this_machine()); }
std::vector<fs::path> Library::installed(const std::string& machine) {
  return installed_libraries(ModelKind::kOnnx, machine);
}
std::vector<std::string> Library::installed_versions() {
  std::vector<std::string> versions;
  for (const FoundLibrary& library : found_for(names_for(ModelKind::kOnnx), this_machine()))
    versions.push_back(version_of(library));
  return versions;
}
fs::path Library::find(const std::string& wanted) { return find_library(ModelKind::kOnnx, wanted); }

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Adds folders such as lib/python3.11/site-packages/onnxruntime/capi below a prefix. Debian uses
// dist-packages.
void add_python_packages(const LibraryNames& names, const fs::path& prefix, std::vector<fs::path>& places) {
  for (const char* const lib : {"lib", "lib64"}) {
    std::error_code none;
    std::vector<std::string> folders = io::names_in(prefix / lib, none);
    std::erase_if(folders, [](const std::string& name) { return !name.starts_with("python3"); });
    std::sort(folders.begin(), folders.end());
    for (const std::string& python : folders) {
      for (const char* const packages : {"site-packages", "dist-packages"})
        places.push_back(prefix / lib / python / packages / names.inside);
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

std::vector<fs::path> places_beside(ModelKind kind, const std::vector<fs::path>& own,
                                    const fs::path& active) {
  const LibraryNames& names = names_for(kind);
  std::vector<fs::path> places;
  for (const fs::path& folder : own) {
    places.push_back(folder);
    places.push_back(folder.parent_path() / "lib");
  }
  for (const fs::path& folder : own) {  // site-packages/ounce/bin
    places.push_back(folder.parent_path().parent_path() / names.inside);
    add_python_packages(names, folder.parent_path(), places);
  }
  if (!active.empty()) add_python_packages(names, active, places);
  return places;
}

std::vector<fs::path> library_places(ModelKind kind) {
  std::vector<fs::path> places = places_beside(kind, own_folders(), variable("VIRTUAL_ENV"));
  add_system(places);
  return places;
}

std::vector<FoundLibrary> libraries_in(ModelKind kind, const fs::path& folder) {
  const std::string file = file_of(names_for(kind));
  const std::string package = litert::package_version(folder);  // for files without a version in their names
  std::vector<FoundLibrary> found;
  std::error_code none;
  for (const std::string& name : io::names_in(folder, none)) {
    if (!name.starts_with(file)) continue;
    const std::string_view behind = std::string_view(name).substr(file.size());
    if (!behind.empty() && behind[0] != '.') continue;
    if (!fs::is_regular_file(folder / name, none)) continue;
    found.push_back({folder / name, parse_version(behind.empty() ? package : behind.substr(1))});
  }
  std::sort(found.begin(), found.end(), [](const FoundLibrary& a, const FoundLibrary& b) {
    if (a.version.has_value() != b.version.has_value()) return a.version.has_value();
    if (a.version && (*b.version < *a.version || *a.version < *b.version)) return *b.version < *a.version;
    return a.path < b.path;
  });
  return found;
}

std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& file) {
    std::error_code ignored;
    const fs::path folder = fs::canonical(file, ignored).parent_path();
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  add("/proc/self/exe");
  // In a program, dli_fname is argv[0]; a name without a folder does not tell where the program is.
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folders), &info) != 0 && info.dli_fname != nullptr &&
      fs::path(info.dli_fname).has_parent_path())
    add(info.dli_fname);
  return folders;
}

}  // namespace ounce::runtime
