// Questions about a node that its row in ops/op_info.h answers together with its attributes.
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

// How many nodes are looked at behind one value, so that no graph, however it fans out, takes long.
inline constexpr int kLongestSearch = 64;

// The size of one kernel in a weight of these dimensions: its spatial axes; 1 for ops without any.
std::size_t kernel_taps(ChannelRule rule, std::span<const std::int64_t> dims);

// The channel axes of a tensor of this rank.
std::optional<ChannelAxes> channel_axes(ChannelRule rule, const onnx::Node& node, std::size_t rank);
// The axes of a movement op's input that become `axes` of its output; nothing when they cannot be followed.
std::optional<ChannelAxes> axes_before(const onnx::Node& movement, ChannelAxes axes, std::size_t input_rank);

// The INT8 form of a node; null when it has no kernel.
const IntegerForm* find_static_form(const onnx::Node& node);
// Where all is dynamic, Gemm is split into MatMul and Add beforehand; among static nodes it is still whole.
enum class GemmForm { kSplit, kWhole };
const IntegerForm* find_dynamic_form(const onnx::Node& node, GemmForm gemm = GemmForm::kSplit);
// Which ops gain by dynamic quantization: products and LSTMs. Conv has a kernel too, which is slower than the
// one for FP32.
bool gains_by_dynamic(std::string_view op_type);

// An AveragePool with dilations: the runtime turns it into QLinearAveragePool between quantized values, and
// then refuses that for its dilations.
bool is_fused_wrongly(const onnx::Node& node);

// Users want to know why an op that multiplies with weights is kept in FP32.
bool is_worth_a_reason(const onnx::Node& node);

}  // namespace ounce::plan
