// Inputs that real data seldom holds and real devices meet: all zero, all maximum, noise, far out of range,
// one sample, many samples, the shortest and a long sequence.
#pragma once

#include <ounce/verify.h>

#include <vector>

#include "evaluate/compare/comparison.h"

namespace ounce::evaluate {

// `inputs`: what both models take. A case fails when the candidate does not run where the reference does,
// gives NaN or infinite values where the reference gives none, or explodes: differs by more than ten times
// the largest value seen in the reference.
std::vector<EdgeCase> run_edge_cases(const std::filesystem::path& reference_path, StatefulExecutor& reference,
                                     StatefulExecutor& candidate,
                                     const std::vector<data::ValueDescription>& inputs,
                                     const Comparison& seen, const DataOptions& options);

}  // namespace ounce::evaluate
