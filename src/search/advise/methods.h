// The methods that are tried on a model: which, in which order, at what cost, and what became of its nodes.
#pragma once

#include <ounce/advise.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

// In the order of expected use for the family: when the time is up, the least likely ones have not been
// tried.
std::vector<Format> methods_for(const AdviseOptions& options, const FamilyFinding& family);

// What a method costs to make, as a multiple of w8; without looking at data.
double effort(Format format);

// Why a method is not even tried; empty when it is.
std::string obstacle(Format format, const AdviseOptions& options, const FamilyFinding& family);

// Fills in what became of the bytes and the nodes. Integer arithmetic that reached no node is not worth
// measuring: then `why_not` says so.
void describe(const QuantizeResult& made, MethodFinding& finding);

// How wide the values of weights are: what decides how much eight bits lose.

struct WeightSpread {
  std::string name, op_type;
  double peak = 0;      // largest value, in root mean squares of the tensor
  double channels = 1;  // largest channel's range over the smallest one's
};

struct WeightSurvey {
  std::vector<WeightSpread> widest;  // by peak, the worst first, and only those over the limit …
  std::vector<WeightSpread> uneven;  // … likewise by channels
  std::size_t weights = 0, tiny = 0;
  bool is_whole = true;  // otherwise the model was too large to look at everything
};

WeightSurvey survey_weights(const onnx::Model& model, const graph::Index& index);

}  // namespace ounce::search
