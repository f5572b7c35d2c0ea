// Changes the content of a JSON text but keeps it valid: values are removed, repeated, moved or replaced by
// unexpected ones. Random bytes rarely pass the parser.
//
//   const std::string other = mutate_json(bytes, seed);  // the same for the same seed
#pragma once

#include <cstdint>
#include <string>

namespace ounce::test {

// Returns bytes that are not JSON unchanged.
std::string mutate_json(const std::string& bytes, std::uint64_t seed);

}  // namespace ounce::test
