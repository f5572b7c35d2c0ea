// Finds the libraries of the runtimes. The table in places.cpp has a row for each runtime.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/model_file.h"
#include "runtime/executor.h"
#include "runtime/masked_cpu.h"
#include "runtime/ort/library.h"

namespace ounce::runtime {

// The name of a runtime in messages, and the start of the file name of its library.
const char* runtime_of(model::ModelKind kind);    // "ONNX Runtime"
const char* library_stem(model::ModelKind kind);  // "libonnxruntime"; empty for the evaluator
// True if Ounce's own evaluator replaces the runtime of devices: outputs are comparable, times are not.
bool is_evaluated(model::ModelKind kind);

// Finds the library file to open. `wanted` is a path or an installed version ("1.22.0"). If it is empty, the
// runtime's environment variable (OUNCE_ONNXRUNTIME) is used in the same way, else the newest of
// installed_libraries(), else the library that the system's loader finds. For other machines only libraries
// installed by ./setup are found. Throws Error{kUsage} if `wanted` is not found.
std::filesystem::path find_library(model::ModelKind kind, const std::string& wanted = {},
                                   const std::string& machine = this_machine());
// The libraries installed by ./setup, newest first; if there are none, those in the first of library_places()
// that has any.
std::vector<std::filesystem::path> installed_libraries(model::ModelKind kind,
                                                       const std::string& machine = this_machine());
// Creates the request for load_here() or for a runner on this machine. Throws Error{kUnsupported} for a kind
// without a runtime in this build, and the errors of find_library().
LoadRequest request_for(const std::filesystem::path& model, const ExecutorOptions& options);

// Folders that are searched if no library was installed by ./setup, in this order:
//
//   bin/, lib/                            next to the program, or next to the library with this code
//   site-packages/onnxruntime/capi/       the runtime's Python package, if ounce is a Python package, too
//   venv/lib/python3.*/site-packages/     the same if the program is in venv/bin/, or venv is active
//   LD_LIBRARY_PATH, /usr/local/lib etc.  the system

struct FoundLibrary {
  std::filesystem::path path;
  std::optional<Version> version;  // from the name of the file or its folder
};

// These folders; they may not exist.
std::vector<std::filesystem::path> library_places(model::ModelKind kind);
// The same for a program in the folders `own`, with the virtual environment `active` (empty: none).
std::vector<std::filesystem::path> places_beside(model::ModelKind kind,
                                                 const std::vector<std::filesystem::path>& own,
                                                 const std::filesystem::path& active);

// Lists libonnxruntime.so, libonnxruntime.so.1.22.0 and so on in a folder, newest first.
std::vector<FoundLibrary> libraries_in(model::ModelKind kind, const std::filesystem::path& folder);

// The folders that may contain files of Ounce: that of the running program, and that of the library if
// another program has loaded it (such as a Python interpreter).
std::vector<std::filesystem::path> own_folders();

}  // namespace ounce::runtime
