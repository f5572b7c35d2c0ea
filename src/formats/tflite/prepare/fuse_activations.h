// Puts RELU, RELU6 and RELU_N1_TO_1 into the operator in front of them.
//
//   x ─ CONV_2D ─ c ─ RELU ─ y                   →   x ─ CONV_2D(fused RELU) ─ y
//   x ─ CONV_2D ─ c ─ TRANSPOSE ─ t ─ RELU ─ y   →   x ─ CONV_2D(fused RELU) ─ c ─ TRANSPOSE ─ y
//
// An activation of its own has no INT8 kernel in XNNPACK, so the delegate ends in front of it; a fused one
// costs nothing. In FP32 it saves a pass over the values. Values do not change: kernels clamp what they
// have summed up.
//
//   in front   CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, TRANSPOSE_CONV (from its version 4 on), ADD, SUB,
//              MUL, DIV, AVERAGE_POOL_2D, MAX_POOL_2D
//   between    RESHAPE, TRANSPOSE, SQUEEZE, EXPAND_DIMS: they move values and leave them as they are
//
// TANH is left alone: the options of an operator have a number for it, but XNNPACK refuses it, and kernels
// without XNNPACK ignore it (measured in LiteRT 2.1.6).
//
// Conditions: all is FLOAT32; each value in between has one use and is no output; the producer has
// no activation yet, or RELU or RELU6 where both together are one of them.
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// ActivationFunctionType of the schema.
enum class Activation : std::uint8_t {
  kNone = 0,
  kRelu = 1,
  kReluN1To1 = 2,
  kRelu6 = 3,
  kTanh = 4,
  kSignBit = 5
};

// Changes every subgraph. Counts the fused activations.
Changes fuse_activations(Model& model);

}  // namespace ounce::tflite
