// The ops we know, each described once: which inputs are weights, and which axis of a weight is the channel.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "formats/onnx/file/model.h"

namespace ounce::plan {

// Where the channels of a weight lie: the values that one output channel is made of share a scale.
enum class ChannelRule {
  kFirst,       // axis 0: Conv [M, C/group, k…]
  kSecond,      // axis 1: ConvTranspose [C, M/group, k…]
  kLast,        // the right side of MatMul [K, N], of any rank
  kSecondLast,  // the left side of MatMul [M, K]
  kGemmA,       // axis 0, or 1 with transA
  kGemmB,       // axis 1, or 0 with transB
  kRecurrent,   // axes 0 and 1 together: LSTM, GRU, RNN [directions, gates·hidden, …]
  kTableRow,    // axis 0: a row of a table is looked up
};

struct WeightSlot {
  std::string_view domain, op_type;
  std::size_t input;
  ChannelRule rule;
};

std::span<const WeightSlot> weight_slots();
const WeightSlot* find_weight_slot(const onnx::Node& node, std::size_t input);

// The taps of one kernel in a weight of these dimensions: its spatial axes; 1 for ops without any.
std::size_t kernel_taps(ChannelRule rule, std::span<const std::int64_t> dims);

// Inputs for which 16-bit floats are enough: biases, and the scales and biases of normalisations.
bool is_parameter(const onnx::Node& node, std::size_t input);

// Ops that only move values: a weight may reach its op through them.
bool is_movement(const onnx::Node& node, std::size_t input);
// How many of them are looked at behind one value: in all, so that no graph, however it fans out, takes long.
inline constexpr int kLongestSearch = 64;
// Ops that take or give codes and are more than QuantizeLinear and DequantizeLinear: the one list of them.
bool is_integer_op(const onnx::Node& node);
// Those of them that multiply integers with weights, by their type alone: a profile tells no domain.
bool is_integer_product(std::string_view op_type);
// Ops that make a model "already quantized": integer ops, QuantizeLinear and DequantizeLinear.
bool is_quantized_op(const onnx::Node& node);

// The axes [first, last) of a tensor of this rank that count the channels.
struct ChannelAxes {
  std::size_t first = 0, last = 0;
};
std::optional<ChannelAxes> channel_axes(ChannelRule rule, const onnx::Node& node, std::size_t rank);
// The axes of a movement op's input that become `axes` of its output; nothing when they cannot be followed.
std::optional<ChannelAxes> axes_before(const onnx::Node& movement, ChannelAxes axes, std::size_t input_rank);

}  // namespace ounce::plan
