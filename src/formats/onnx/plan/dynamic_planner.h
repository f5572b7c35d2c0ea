// Which LSTM and Attention nodes com.microsoft's DynamicQuantizeLSTM and QAttention can stand in for. What is
// known of those kernels, and how, is said in formats/onnx/emit/dynamic_ops.h and
// formats/onnx/emit/dynamic_ops.h.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

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

}  // namespace ounce::plan
