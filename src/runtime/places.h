#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "runtime/ort/version.h"

namespace ounce::runtime {

// Folders in which a library of ONNX Runtime may lie when no set-up brought it, in the order in which they
// are asked:
//
//   bin/, lib/                            beside the program, or beside the library that this code is in
//   site-packages/onnxruntime/capi/       the Python package, where ounce is a Python package too
//   venv/lib/python3.*/site-packages/…    likewise, where the program lies in venv/bin/, or venv is active
//   LD_LIBRARY_PATH, /usr/local/lib, …    the system

struct FoundLibrary {
  std::filesystem::path path;
  std::optional<Version> version;  // that its name or its folder says; nothing where they do not
};

// Folders that may not be there.
std::vector<std::filesystem::path> library_places();
// The same for code that lies in the folders `own`, with the virtual environment `active` (empty: none).
std::vector<std::filesystem::path> places_beside(const std::vector<std::filesystem::path>& own,
                                                 const std::filesystem::path& active);

// libonnxruntime.so, libonnxruntime.so.1.22.0 … in a folder, newest first.
std::vector<FoundLibrary> libraries_in(const std::filesystem::path& folder);

// Where this code lies, so that what belongs to it is found wherever somebody has put it: the folder of the
// running program, and that of the library when the program is somebody else's (a Python interpreter).

std::vector<std::filesystem::path> own_folders();

}  // namespace ounce::runtime
