// Errors, names of enum values, the version, and the guard of mapped files. All other headers include this one.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ounce {

// == Errors ==
//
// The only exception that the library throws, and its exit code.
//
//   try { ounce::quantize(...); }
//   catch (const ounce::Error& error) { log(error.what()); return ounce::exit_code(error.code()); }
//
// what() is one line: the location, the problem, and a remedy.

enum class ErrorCode {
  kUsage,        // invalid request: an unknown option, an output that is the input
  kBadInput,     // invalid file: truncated, hostile, inconsistent
  kUnsupported,  // request and model are valid, but the operation is not supported for this model
  kIo,           // I/O error: missing file, full disk
  kCancelled,    // stopped by the caller
  kInternal,     // a bug in Ounce
  kTimeout,      // a model exceeded its time limit for loading or running
  kMemory,       // a model ran out of memory or threads while loading or running
};

// Returns 2, 2, 3, 4, 130, 70, 2, 2 in the order of the enum. These are the exit codes of the program.
int exit_code(ErrorCode code) noexcept;

class Error : public std::runtime_error {
 public:
  // `where` names the tensor, node or byte offset; it is part of what(), and kept for programs.
  Error(ErrorCode code, const std::string& message, std::string where = {});

  ErrorCode code() const noexcept { return code_; }
  const std::string& where() const noexcept { return where_; }

 private:
  ErrorCode code_;
  std::string where_;
};

// == Names of enum values ==
//
// Names are the same on the command line, in files and in JSON.
//
//   ounce::name_of(ounce::Format::kInt8);        // "int8"
//   ounce::from_name<ounce::Format>("int8");     // Format::kInt8; nullopt for an unknown name
//   ounce::from_name<ounce::Format>("static");   // Format::kInt8, by an alias
//   ounce::names_of<ounce::Format>();            // all names, without aliases
//
// NamesOf<Enum> is defined next to the enum.

template <class Enum>
struct Named {
  Enum value;
  const char* name;
};

// Specialize it with `static constexpr Named<Enum> kAll[]`: every value in the order of the enum. An optional
// `kAliases` lists other names that are accepted, but never written.
template <class Enum>
struct NamesOf;

template <class Enum>
concept HasNames = requires {
  NamesOf<Enum>::kAll;
};

template <class Enum>
concept HasAliases = requires {
  NamesOf<Enum>::kAliases;
};

template <HasNames Enum>
constexpr const char* name_of(Enum value) {
  for (const Named<Enum>& entry : NamesOf<Enum>::kAll) {
    if (entry.value == value) return entry.name;
  }
  return "";
}

template <HasNames Enum>
constexpr std::optional<Enum> from_name(std::string_view name) {
  for (const Named<Enum>& entry : NamesOf<Enum>::kAll) {
    if (entry.name == name) return entry.value;
  }
  if constexpr (HasAliases<Enum>) {
    for (const Named<Enum>& entry : NamesOf<Enum>::kAliases) {
      if (entry.name == name) return entry.value;
    }
  }
  return std::nullopt;
}

template <HasNames Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const Named<Enum>& entry : NamesOf<Enum>::kAll) names.emplace_back(entry.name);
  return names;
}

template <HasNames Enum>
std::vector<std::string> aliases_of() {
  std::vector<std::string> names;
  if constexpr (HasAliases<Enum>) {
    for (const Named<Enum>& entry : NamesOf<Enum>::kAliases) names.emplace_back(entry.name);
  }
  return names;
}

// == Version ==

const char* version() noexcept;

// How this library was built, for bug reports.
struct BuildInfo {
  std::string version;               // "0.1.0"
  std::string commit;                // of the sources; empty if the build did not record it
  std::string compiler;              // "GCC 12.2.0"
  std::string c_library;             // oldest supported version: "glibc 2.28"
  std::vector<std::string> kernels;  // instruction sets with their own kernels, best first
};
BuildInfo build_info();

// == Guard of mapped files ==
//
// Protection against files that are truncated while they are read.
//
// The library reads models and data through memory mappings. When another process truncates such a file, or a
// disk cannot be read, the system sends SIGBUS to the thread that reads, which ends the process. So the
// library installs a handler for SIGBUS with the first file that it reads. For an address in a mapping of the
// library, the handler replaces the missing pages by zeros; the call that read them throws Error{kIo} and
// writes nothing. Every other SIGBUS goes to the previously installed handler, or has its default effect.
//
// Install your own SIGBUS handler before the first call, or forward signals that it does not handle. A
// handler that is installed later and does not forward them disables the guard.

// Enables or disables the guard (default: on). Call it before the first other call. Without the guard the
// library installs no handler, and a file that is truncated while it is read ends the process. Files that are
// already open are not affected.
void set_file_guard(bool is_on) noexcept;

}  // namespace ounce
