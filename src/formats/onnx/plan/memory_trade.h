// Which weights are decoded at every run instead of once at load: the trade between memory and time.
//
// A weight that is folded is held as FP32, and while a session is created several times over (decoded, and
// again in the order that the kernels want). Decoded at every run it is held as its codes, and costs
//
//   weights × kDecoding                     the decoding itself, however often a weight is used then
//   weights × positions × kLostLayout       for 2-D convolutions, whose fastest kernels want constant weights
//
// in units of one multiplication. `positions`, at how many places of its output a layer uses each weight, is
// the arithmetic intensity. So decoding takes a small part of the time of a model that uses its weights
// often, and of its tensors those are the cheapest for their bytes that are used the least often. They are
// taken first, until Recipe::decode_share of all multiplications is spent.
#pragma once

#include <ounce/recipe.h>

#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/decision.h"

namespace ounce::plan {

// Changes the decoders of what is folded so far. Where shapes are not known, nothing changes.
void trade_memory(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                  const StructurePlanner& planner, std::vector<Decision>& decisions);

}  // namespace ounce::plan
