// A model whose encoding is sound and whose meaning is not: fields go, come twice, change places, take the
// names and numbers of others. Random bytes seldom get beyond the reader; these get into every pass.
//
//   const std::string other = mutate_model(bytes, seed);  // the same for the same seed
#pragma once

#include <cstdint>
#include <string>

namespace ounce::test {

// Bytes that are no model come back as they are.
std::string mutate_model(const std::string& bytes, std::uint64_t seed);

}  // namespace ounce::test
