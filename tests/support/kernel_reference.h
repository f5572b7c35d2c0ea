// Scalar references that define the results of the kernels. Kernels must give the same bits on every CPU;
// tests compare them with these. The functions are documented in kernels/. The references of kernels/half.h,
// which apps use, are in kernels/half_scalar.cpp.
#pragma once

#include "kernels/affine.h"
#include "kernels/half.h"
#include "kernels/pack.h"
#include "kernels/panel_search.h"
#include "kernels/range.h"

namespace ounce::kernels::ref {

void range_of_runs(const std::byte* x, std::size_t runs, std::size_t n, Range* ranges);
void range_of_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      Range* ranges);

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

void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms);

double rounding_residuals(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                          const std::uint8_t* codes, float* residual);
std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices);
void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums);

void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes);

}  // namespace ounce::kernels::ref
