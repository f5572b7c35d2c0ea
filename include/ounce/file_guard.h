// Files that become shorter while they are read.
//
// The library reads models and data through memory mappings. When another process truncates such a file, or a
// disk cannot be read, the system sends SIGBUS to the thread that reads, which ends the process. So the
// library installs a handler for SIGBUS with the first file that it reads. For an address in a mapping of the
// library, the handler puts zeros in the place of the missing pages; the call that read them throws
// Error{kIo} and writes nothing. Every other SIGBUS goes to the handler that was installed before, or has its
// usual effect.
//
// Install a handler of your own before the first call, or pass on what it does not know. One that is
// installed later and does not pass on turns the guard off.
#pragma once

namespace ounce {

// On by default. Before the first call: with `false` the library installs no handler, and a file that is
// truncated while it is read ends the process. Files that are open already keep what they have.
void set_file_guard(bool is_on) noexcept;

}  // namespace ounce
