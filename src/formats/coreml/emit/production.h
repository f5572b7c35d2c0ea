// Compresses a weight while the package is written:
//
//   linear     quantized values, scales, optional zero points   (value - zero) * scale, in the scale's type
//   codebook   indices, lookup tables, optional scales          table[index] * scale of the channel
//   float16    FP16 values
//
// A sparse weight has these for its values that are not zero, and a mask with one bit for each value.
#pragma once

#include <memory>
#include <vector>

#include "formats/coreml/plan/plan.h"
#include "formats/coreml/view/coreml_file.h"
#include "io/rope.h"
#include "kernels/affine.h"

namespace ounce::coreml {

// The parts of a compressed weight, in the order of their blobs. kScales is also used for lookup tables.
// kRowScales are scales over a lookup table.
enum class StoredPart : std::uint32_t { kCodes = 0, kScales = 1, kZeros = 2, kRowScales = 3, kMask = 4 };

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

// The operations that a weight was written as. `first` is the operation before the last one, if there are
// two.
struct WrittenOperations {
  const Operation* first = nullptr;
  const Operation* last = nullptr;
};
// True if the weight is decompressed by two operations.
inline bool has_two_operations(const Decision& decision) {
  return !decision.row_scales.empty() || (decision.is_sparse && !decision.is_half());
}

// Returns the error of a written weight: decompresses it from the written file as Core ML does. Throws
// Error{kInternal} if its form differs from the decision.
kernels::ErrorNorms compare_weight(const CoremlFile& source, const Decision& decision,
                                   const CoremlFile& written, const WrittenOperations& operations,
                                   const ForEach& for_each);

}  // namespace ounce::coreml
