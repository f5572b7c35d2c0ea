// A weight in its stored form, made while the package is written: codes, and what decodes them.
//
//   linear     codes, scales, perhaps zero points     code - zero, times scale, rounded to the scale's type
//   codebook   indices, tables                        table[index]
//   float16    16-bit floats
#pragma once

#include <memory>
#include <vector>

#include "formats/coreml/plan/plan.h"
#include "formats/coreml/view/coreml_file.h"
#include "io/rope.h"
#include "kernels/affine.h"

namespace ounce::coreml {

// The parts of a stored weight, in the order of their blobs.
enum class StoredPart : std::uint32_t { kCodes = 0, kScales = 1, kZeros = 2 };  // kScales: or tables

// One part as a tensor: `bytes` of them are computed by the production.
struct StoredTensor {
  StoredPart part;
  DataType type;
  std::vector<std::int64_t> dims;
  io::Computed values;
};

// Without the shapes that iOS16 wants: indices there are bytes in one row.
std::vector<StoredTensor> stored_tensors(const std::shared_ptr<const CoremlFile>& source,
                                         const Decision& decision);
// The scales and zero points of a decision that kept them; for values that are so few that they go into the
// program itself.
std::string part_bytes(const Decision& decision, StoredPart part);

// What a written weight has lost: decodes what the written file has, as Core ML does. Throws Error{kInternal}
// if it has not the form that was decided on.
kernels::ErrorNorms compare_weight(const CoremlFile& source, const Decision& decision,
                                   const CoremlFile& written, const Operation& operation,
                                   const ForEach& for_each);

}  // namespace ounce::coreml
