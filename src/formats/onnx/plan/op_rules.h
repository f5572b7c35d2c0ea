// Properties of a node that depend on its row in ops/op_info.h and on its attributes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "formats/onnx/file/model.h"
#include "model/model_file.h"
#include "ops/op_info.h"

namespace ounce::plan {

using model::ChannelAxes;
using ops::ChannelRule;
using ops::IntegerForm;
using ops::IntegerKind;

// Limit for the nodes visited after one value, so that graphs with large fan-out do not take long.
inline constexpr int kLongestSearch = 64;

// The size of one kernel in a weight of these dimensions: its spatial axes; 1 for ops without any.
std::size_t kernel_taps(ChannelRule rule, std::span<const std::int64_t> dims);

// The channel axes of a tensor of this rank.
std::optional<ChannelAxes> channel_axes(ChannelRule rule, const onnx::Node& node, std::size_t rank);
// The axes of a movement op's input that become `axes` of its output; empty if they cannot be tracked.
std::optional<ChannelAxes> axes_before(const onnx::Node& movement, ChannelAxes axes, std::size_t input_rank);

// The INT8 form of a node; null if it has no kernel.
const IntegerForm* find_static_form(const onnx::Node& node);
// Dynamic recipes split Gemm into MatMul and Add beforehand; in static plans it is still whole.
enum class GemmForm { kSplit, kWhole };
const IntegerForm* find_dynamic_form(const onnx::Node& node, GemmForm gemm = GemmForm::kSplit);
// Whether dynamic quantization speeds up an op: matrix products and LSTMs. There is a Conv kernel, too, but
// it is slower than FP32.
bool gains_by_dynamic(std::string_view op_type);

// An AveragePool with dilations: the runtime fuses it into QLinearAveragePool between quantized values, and
// then rejects its dilations.
bool is_fused_wrongly(const onnx::Node& node);

// Whether to tell the user why this op is kept in FP32: ops with weights.
bool is_worth_a_reason(const onnx::Node& node);

}  // namespace ounce::plan
