// Weights in a file of the runtime's own format begin anywhere, and kernels that read them where they are pay
// for it: a register of 64 bytes then lies on two lines of the cache (a convolution of 512 channels ran at
// 0.79 of its speed).
//
//   before   │ tables … │ weight │ … │ weight │ …              each at a multiple of 4
//   after    │ tables … │  hole  │ … │  hole  │ … │ weight │ weight      each at a multiple of 64
//
// Large ones are moved to the end, one by one, and what they leave is given back to the disk. The format is a
// FlatBuffer: a tensor names its bytes by their distance, which is all that has to change.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ounce::app {

// Gives how many were moved: none where the file is not as we know it, or would become larger than the format
// can be. Throws Error{kIo}.
std::size_t align_weights(const std::filesystem::path& file);

}  // namespace ounce::app
