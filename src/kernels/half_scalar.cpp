// half.h by its references, for libraries that take no Highway: apps convert a picture now and then, and no
// weights. In the place of half.cpp, never beside it.
#include "kernels/half.h"
#include "kernels/reference.h"

namespace ounce::kernels {

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  ref::f32_to_f16(x, n, out, stats);
}
void f16_to_f32(const std::byte* x, std::size_t n, float* out) { ref::f16_to_f32(x, n, out); }
void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  ref::f32_to_bf16(x, n, out, stats);
}
void bf16_to_f32(const std::byte* x, std::size_t n, float* out) { ref::bf16_to_f32(x, n, out); }
void f64_to_f32(const std::byte* x, std::size_t n, float* out) { ref::f64_to_f32(x, n, out); }

}  // namespace ounce::kernels
