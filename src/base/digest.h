// A fast 128-bit digest that tells versions of a file apart. Not for security.
//
// Bytes are cut into pieces of 4 MiB so that several threads can share the work; the digest is XXH3-128 of the
// XXH3-128 digests of the pieces, in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"

namespace ounce {

std::string digest(std::string_view bytes);  // 32 hexadecimal digits

// Of several ranges together; `release` is told which bytes have been read.
std::string digest(const std::vector<std::string_view>& ranges, ThreadPool& pool,
                   const std::function<void(std::string_view)>& release);

}  // namespace ounce
