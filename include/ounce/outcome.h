// How a tensor is stored and how a node computes, for plans and results.
#pragma once

#include <ounce/names.h>

#include <cstddef>
#include <string>

namespace ounce {

enum class Arithmetic {
  kFloat,
  kStatic,   // INT8, with activation scales from calibration
  kDynamic,  // INT8, with activation scales computed at run time
  kFloat16,
  kBfloat16,
};
template <>
struct NamesOf<Arithmetic> {
  static constexpr Named<Arithmetic> kAll[] = {{Arithmetic::kFloat, "float"},
                                               {Arithmetic::kStatic, "static"},
                                               {Arithmetic::kDynamic, "dynamic"},
                                               {Arithmetic::kFloat16, "float16"},
                                               {Arithmetic::kBfloat16, "bfloat16"}};
};
constexpr bool is_integer(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kStatic || arithmetic == Arithmetic::kDynamic;
}

// The stored type of a tensor.
enum class StoredAs {
  kInt8,
  kUint8,
  kInt4,
  kUint4,
  kInt2,
  kUint2,
  kCodebook256,
  kCodebook16,
  kFloat16,
  kBfloat16,
  kInt32,  // a bias of INT8 ops
};
template <>
struct NamesOf<StoredAs> {
  static constexpr Named<StoredAs> kAll[] = {{StoredAs::kInt8, "int8"},
                                             {StoredAs::kUint8, "uint8"},
                                             {StoredAs::kInt4, "int4"},
                                             {StoredAs::kUint4, "uint4"},
                                             {StoredAs::kInt2, "int2"},
                                             {StoredAs::kUint2, "uint2"},
                                             {StoredAs::kCodebook256, "codebook256"},
                                             {StoredAs::kCodebook16, "codebook16"},
                                             {StoredAs::kFloat16, "float16"},
                                             {StoredAs::kBfloat16, "bfloat16"},
                                             {StoredAs::kInt32, "int32"}};
};

// How the runtime dequantizes a stored tensor.
enum class Decoder {
  kFold,    // by Cast, Mul and other ops on constants, folded when a session is created
  kDq,      // by DequantizeLinear, which a runtime may fuse into its op
  kLookup,  // after a lookup: only the selected rows of a table are dequantized
  kNbits,   // inside of MatMulNBits and GatherBlockQuantized kernels
  kKernel,  // not at all: an INT8 op uses the quantized values
};
template <>
struct NamesOf<Decoder> {
  static constexpr Named<Decoder> kAll[] = {{Decoder::kFold, "fold"},
                                            {Decoder::kDq, "dq"},
                                            {Decoder::kLookup, "lookup"},
                                            {Decoder::kNbits, "nbits"},
                                            {Decoder::kKernel, "kernel"}};
};

// Scales of a weight from quantization-aware training that were increased, because sums of its int8 products
// saturate on the target CPU of the recipe.
struct ScaleChange {
  std::string weight;         // name of the weight
  std::string node, op_type;  // the node that uses the weight
  std::size_t scales = 0;     // number of scales: one, or one per channel
  std::size_t changed = 0;    // number of increased scales
  double largest_factor = 1;  // largest new scale divided by the trained one
};

}  // namespace ounce
