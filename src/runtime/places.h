// Finds the libraries of the runtimes. Every runtime is a row of the table in places.cpp.
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

// What a runtime is called in a message, and the name that its library's file begins with.
const char* runtime_of(model::ModelKind kind);    // "ONNX Runtime"
const char* library_stem(model::ModelKind kind);  // "libonnxruntime"; empty for the evaluator
// Ounce's own evaluator stands in for the runtime of devices: outputs are comparable, times are not.
bool is_evaluated(model::ModelKind kind);

// The file to open. `wanted` is a library's path or a version that is in any of these places ("1.22.0");
// empty: what the runtime's environment variable (OUNCE_ONNXRUNTIME) says in the same way, otherwise the
// newest of installed_libraries(), otherwise what the system's loader finds. Of another machine's libraries
// only those that set-up brought are known. Throws Error{kUsage} when there is no such thing.
std::filesystem::path find_library(model::ModelKind kind, const std::string& wanted = {},
                                   const std::string& machine = this_machine());
// The libraries that set-up brought, newest first; if there are none, those of the first of
// library_places() that has any.
std::vector<std::filesystem::path> installed_libraries(model::ModelKind kind,
                                                       const std::string& machine = this_machine());
// What load_here() is to load, or a runner on this machine. Throws Error{kUnsupported} for a kind that has no
// runtime here, and what find_library() throws.
LoadRequest request_for(const std::filesystem::path& model, const ExecutorOptions& options);

// Folders in which a library may lie when no set-up brought it, in the order in which they are asked:
//
//   bin/, lib/                            beside the program, or beside the library that this code is in
//   site-packages/onnxruntime/capi/       the runtime's Python package, where ounce is a Python package too
//   venv/lib/python3.*/site-packages/…    likewise, where the program lies in venv/bin/, or venv is active
//   LD_LIBRARY_PATH, /usr/local/lib, …    the system

struct FoundLibrary {
  std::filesystem::path path;
  std::optional<Version> version;  // from its name or its folder
};

// Folders that may not exist.
std::vector<std::filesystem::path> library_places(model::ModelKind kind);
// The same for code in the folders `own`, with the virtual environment `active` (empty: none).
std::vector<std::filesystem::path> places_beside(model::ModelKind kind,
                                                 const std::vector<std::filesystem::path>& own,
                                                 const std::filesystem::path& active);

// libonnxruntime.so, libonnxruntime.so.1.22.0 … in a folder, newest first.
std::vector<FoundLibrary> libraries_in(model::ModelKind kind, const std::filesystem::path& folder);

// The folders of this code, to find files that belong to it: the folder of the running program, and that of
// the library if it is loaded by another program (a Python interpreter).
std::vector<std::filesystem::path> own_folders();

}  // namespace ounce::runtime
