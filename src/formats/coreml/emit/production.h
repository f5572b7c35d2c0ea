// Compresses a weight while the package is written:
//
//   linear     quantized values, scales, optional zero points   (value - zero) * scale, in the scale's type
//   codebook   indices, lookup tables                           table[index]
//   float16    FP16 values
#pragma once

#include <memory>
#include <vector>

#include "formats/coreml/plan/plan.h"
#include "formats/coreml/view/coreml_file.h"
#include "io/rope.h"
#include "kernels/affine.h"

namespace ounce::coreml {

// The parts of a compressed weight, in the order of their blobs. kScales is also used for lookup tables.
enum class StoredPart : std::uint32_t { kCodes = 0, kScales = 1, kZeros = 2 };

// A part as a tensor. Its values are computed while it is written.
struct StoredTensor {
  StoredPart part;
  DataType type;
  std::vector<std::int64_t> dims;
  io::Computed values;
};

// Returns the parts of a weight with the shapes of iOS18 (iOS16 differs: for example, indices are bytes in
// one row).
std::vector<StoredTensor> stored_tensors(const std::shared_ptr<const CoremlFile>& source,
                                         const Decision& decision);
// The bytes of the scales or zero points that a decision contains, for tensors so small that they are written
// into the program itself.
std::string part_bytes(const Decision& decision, StoredPart part);

// Returns the error of a written weight: decompresses it from the written file as Core ML does. Throws
// Error{kInternal} if its form differs from the decision.
kernels::ErrorNorms compare_weight(const CoremlFile& source, const Decision& decision,
                                   const CoremlFile& written, const Operation& operation,
                                   const ForEach& for_each);

}  // namespace ounce::coreml
