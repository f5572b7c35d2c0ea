// A JSON text that is still one, and says something else: values go, come twice, take the places of others,
// or become what nobody expects. Random bytes seldom get beyond the parser.
//
//   const std::string other = mutate_json(bytes, seed);  // the same for the same seed
#pragma once

#include <cstdint>
#include <string>

namespace ounce::test {

// Bytes that are no JSON come back as they are.
std::string mutate_json(const std::string& bytes, std::uint64_t seed);

}  // namespace ounce::test
