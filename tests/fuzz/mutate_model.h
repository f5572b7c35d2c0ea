// Changes the content of a model but keeps its encoding valid: fields are removed, repeated, moved, or get
// the names and numbers of others. Random bytes rarely pass the reader; these models reach every pass.
//
//   const std::string other = mutate_model(bytes, seed);  // the same for the same seed
#pragma once

#include <cstdint>
#include <string>

namespace ounce::test {

// Returns bytes that are not a model unchanged.
std::string mutate_model(const std::string& bytes, std::uint64_t seed);

}  // namespace ounce::test
