// The time of LiteRT's kernels on one thread, from constants that bench/litert_costs.py measured and fitted.
//
//   if (const auto work = work_of(model, graph, op))
//     double saved = cost_ns(info, KernelKind::kFp32, *work) - cost_ns(info, KernelKind::kInt8, *work);
//
// LiteRT 2.3.0 with XNNPACK on an AMD EPYC with AVX512-VNNI, November 2026. kernel_costs.inc has the error of
// the estimates on cases that the fit has not seen. Conversions between FP32 and INT8 are not part of the
// cost of an operator: they cost to_codes_ns() and to_floats_ns().
//
// The same model must give the same file on every machine, so the planner times nothing and uses this table.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/tflite/file/model.h"
#include "formats/tflite/file/ops.h"

namespace ounce::tflite {

enum class KernelKind : std::uint8_t {
  kFp32,
  kInt8,    // INT8 weights and activations
  kHybrid,  // INT8 weights; FP32 activations, which the kernel quantizes while it runs
};

// The form of operators for which the runtime has several kernels.
enum class KernelForm : std::uint8_t {
  kPlain,
  kPointwise,  // CONV_2D: a kernel of one pixel and a stride of 1, which is a matrix product
  kWide,       // DEPTHWISE_CONV_2D: more than 25 taps
  kComputed,   // BATCH_MATMUL of two computed values
  kRows,       // the last axis is reduced, or a TRANSPOSE does not move it
};

// The work of one run of an operator.
struct Work {
  KernelForm form = KernelForm::kPlain;
  // Convolutions and matrix products: pixels or rows of the output, input channels of each output, output
  // channels, elements of the kernel (of a transposed one those that reach an output).
  // Pools: values of the output, and elements of the window. SOFTMAX and similar operators: rows.
  double positions = 0, inputs = 0, outputs = 0, kernel_size = 1;
  double values_in = 0, values_out = 0;  // elements of activations
  double weights = 0;
};

// Returns nullopt for an operator with unknown shapes.
std::optional<Work> work_of(const Model& model, const SubGraph& graph, const Operator& op);

// Nanoseconds. Infinity for a kind of kernel that an operator does not have, or that was not measured; FP32
// operators that were not measured cost as much as a call.
double cost_ns(const OpInfo& op, KernelKind kind, const Work& work);

// Whether XNNPACK ran the operator in the measurement. False for operators that were not measured.
bool was_in_xnnpack(const OpInfo& op, KernelKind kind, KernelForm form);

// The cost of QUANTIZE and DEQUANTIZE for `values` elements.
double to_codes_ns(double values);
double to_floats_ns(double values);
// The cost of another part of a graph that XNNPACK runs, in addition to its operators.
double partition_ns();

}  // namespace ounce::tflite
