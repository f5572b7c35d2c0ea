// Networks of a few nodes that together cover the features of quantize(): every kind of op with an integer
// kernel, branches, loops, functions, fills, old and new opsets. Names have one or two letters, so that
// changing a byte often gives the name of another value.
#pragma once

#include <cstdint>
#include <string>

namespace ounce::test {

std::string integer_network(std::int64_t opset);
std::string network_with_branches();
std::string network_with_functions();
std::string network_with_fills(std::int64_t opset);

}  // namespace ounce::test
