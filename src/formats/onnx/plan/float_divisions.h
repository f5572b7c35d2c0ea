// What a static plan can leave to floats so that it makes less noise, and what time that takes: the choices
// that a search has (integer_costs.h says how they come about).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "ounce/recipe.h"

namespace ounce::plan {

struct FloatDivision {
  std::set<std::string> floats;  // nodes with weights, by the path of what they give
  double time = 0;               // nanoseconds for a sample, of all that could compute on integers
};

// From the fastest to all in floats, each with more in floats than those before it. `noise` is what nodes
// bring to the outputs when they compute on integers, by the path of what they give; an infinite one keeps
// its node in floats, and so does a wish of the recipe. Times are those of x86, which stand for processors
// that nobody has measured.
std::vector<FloatDivision> float_divisions(const onnx::Model& model, const graph::Index& index,
                                           const Recipe& recipe, const calibration::Ranges& ranges,
                                           const std::map<std::string, double>& noise);

}  // namespace ounce::plan
