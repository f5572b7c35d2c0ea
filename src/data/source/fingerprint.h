// Which data it is, without reading all of it: copies on several machines have the same fingerprint, whatever
// they are called.
#pragma once

#include <ounce/data.h>

#include <string>

namespace ounce::data {

// Of sizes and some stretches of each file, of the names and sizes of the files of a folder, of values in
// memory, and of which field feeds which input. 32 hexadecimal digits. Not for security. Throws Error{kIo}.
std::string fingerprint_of(const DataOptions& options);

}  // namespace ounce::data
