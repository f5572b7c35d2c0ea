// Which LSTM and Attention nodes com.microsoft's DynamicQuantizeLSTM and QAttention can stand in for. What is
// known of those kernels, and how, is said in formats/onnx/emit/dynamic_ops.h and
// formats/onnx/emit/dynamic_ops.h.
#pragma once

#include <ounce/recipe.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::plan {

// Attributes that the kernels have too.
inline constexpr std::array<std::string_view, 7> kLstmAttributes = {
    "activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget"};
inline constexpr std::array<std::string_view, 4> kAttentionAttributes = {"mask_filter_value", "num_heads",
                                                                         "scale", "unidirectional"};

// Is it com.microsoft's Attention? (ONNX has an op of that name, too, which has no weights.)
bool is_fused_attention(const onnx::Node& node);

// Why such a node stays in floats; empty when it can be replaced.
std::string why_not_dynamic_lstm(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                 const onnx::Node& node);
std::string why_not_dynamic_attention(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      const onnx::Node& node);

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

// Changes the decoders of what is folded so far. Where shapes are not known, nothing changes.
void trade_memory(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                  const StructurePlanner& planner, std::vector<Decision>& decisions);

}  // namespace ounce::plan
