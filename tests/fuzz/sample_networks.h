// Networks of a few nodes that together have what quantize() handles: every kind of op with an integer form,
// branches, loops, functions, fills, old and new opsets. Names are of one letter or two, so that a changed
// byte often is another value of the model.
#pragma once

#include <cstdint>
#include <string>

namespace ounce::test {

std::string integer_network(std::int64_t opset);
std::string network_with_branches();
std::string network_with_functions();
std::string network_with_fills(std::int64_t opset);

}  // namespace ounce::test
