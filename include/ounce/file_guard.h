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
#pragma once

namespace ounce {

// Enables or disables the guard (default: on). Call it before the first other call. Without the guard the
// library installs no handler, and a file that is truncated while it is read ends the process. Files that are
// already open are not affected.
void set_file_guard(bool is_on) noexcept;

}  // namespace ounce
