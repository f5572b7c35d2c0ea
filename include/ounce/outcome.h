// How a tensor is stored and how a node computes: the words of plans and of results.
#pragma once

#include <ounce/names.h>

#include <cstddef>
#include <string>

namespace ounce {

enum class Arithmetic {
  kFloat,
  kStatic,   // on integers, with scales from calibration data
  kDynamic,  // on integers, with scales found while the model runs
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

// What a stored tensor is made of.
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
  kInt32,  // a bias of integer ops
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

// How the runtime gets the values back.
enum class Decoder {
  kFold,    // Cast, Mul …: ordinary ops on constants, folded when a session is created
  kDq,      // DequantizeLinear, which a runtime may fuse into its op
  kLookup,  // a table's rows are looked up in codes and decoded after that
  kNbits,   // MatMulNBits and GatherBlockQuantized kernels take codes and scales as they are
  kKernel,  // not at all: an integer op takes codes and scales as they are
};
template <>
struct NamesOf<Decoder> {
  static constexpr Named<Decoder> kAll[] = {{Decoder::kFold, "fold"},
                                            {Decoder::kDq, "dq"},
                                            {Decoder::kLookup, "lookup"},
                                            {Decoder::kNbits, "nbits"},
                                            {Decoder::kKernel, "kernel"}};
};

// A weight of a model that came with trained scales: some of them were increased, because sums of its int8
// products saturate on the CPU that the recipe names as its target.
struct ScaleChange {
  std::string weight;         // the value that the node multiplies with
  std::string node, op_type;  // the node
  std::size_t scales = 0;     // of the weight: one, or one for each channel
  std::size_t changed = 0;    // of them
  double largest_factor = 1;  // a new scale divided by the trained one
};

}  // namespace ounce
