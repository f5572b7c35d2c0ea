// What each kernel computes, in plain C++ that can be read in one go. The kernels must give these very bits
// on every CPU; the tests compare the two. Contracts are in range.h, affine.h, pack.h, half.h,
// rounding_residual.h, norms.h, lookup.h and panel_search.h.
#pragma once

#include "kernels/affine.h"
#include "kernels/half.h"
#include "kernels/lookup.h"
#include "kernels/norms.h"
#include "kernels/pack.h"
#include "kernels/panel_search.h"
#include "kernels/range.h"
#include "kernels/rounding_residual.h"

namespace ounce::kernels::ref {

// The i-th of little-endian values at any alignment.
float f32_at(const std::byte* x, std::size_t i);

void range_of_runs(const std::byte* x, std::size_t runs, std::size_t n, Range* ranges);
void range_of_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      Range* ranges);

std::uint8_t quantize(float x, const Affine& affine, CodeRange range);
float decode(std::uint8_t code, const Affine& affine, CodeSign sign);
float squared_error(float x, const Affine& affine, CodeRange range);

void quantize_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* affine, CodeRange range,
                   std::uint8_t* codes);
void quantize_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      const Affine* affine, CodeRange range, std::uint8_t* codes);
void decode_runs(const std::uint8_t* codes, std::size_t runs, std::size_t n, const Affine* affine,
                 CodeSign sign, float* out);
void decode_columns(const std::uint8_t* codes, std::size_t rows, std::size_t cols, const Affine* affine,
                    CodeSign sign, float* out);
void squared_error_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* candidates,
                        std::size_t count, CodeRange range, double* error);
void squared_error_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                           const Affine* candidates, std::size_t count, CodeRange range, double* error);

void improve_panel(const float* x, const float* h, std::size_t n, const PanelCandidate* candidates,
                   std::size_t count, PanelBest& best);

void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed);
void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes);
void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes);
void pack_halves(const std::uint8_t* low, std::size_t n_low, const std::uint8_t* high, std::size_t n_high,
                 std::uint8_t* packed);
void unpack_halves(const std::uint8_t* packed, std::size_t bytes, std::uint8_t* low, std::uint8_t* high);

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void f16_to_f32(const std::byte* x, std::size_t n, float* out);
void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats);
void bf16_to_f32(const std::byte* x, std::size_t n, float* out);
void f64_to_f32(const std::byte* x, std::size_t n, float* out);

void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms);

double rounding_residuals(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                          const std::uint8_t* codes, float* residual);
std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices);
void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums);

void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes);

}  // namespace ounce::kernels::ref
