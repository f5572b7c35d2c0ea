// The golden sample of a contract: what is recorded of what went into a model and of what came out, and how
// near another run comes to it. Whoever records and whoever compares (the command line, an app) asks here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// Of types, shapes and values, in their order.
std::string digest_of_tensors(std::span<const TensorView> tensors);

// Some of an output's values, spread evenly; nothing for strings.
std::vector<double> golden_values(const TensorView& output);

// How near values are to the recorded ones: infinite when they are equal, minus infinity when there are not
// as many, or when only one of two is finite.
double golden_sqnr_db(std::span<const double> recorded, std::span<const double> now);

}  // namespace ounce::data
