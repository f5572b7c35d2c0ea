// Estimates the amount of computation of a model from shapes: a measure of time that is the same on all
// machines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"
#include "ops/op_info.h"

namespace ounce::plan {

// The number of positions at which a node multiplies with each value of its input, for one sample. Empty if
// the shapes are unknown, or if the op is not a convolution or matrix product with that weight.
std::optional<std::uint64_t> positions_of(const graph::InferredShapes& shapes, const onnx::Node& node,
                                          std::size_t input);

// The number of multiplications with weights in one run of the main graph. `inputs` are the shapes of one
// batch. For a layer with unknown shapes, assumes the maximum number of uses of any layer or input position.
double multiplications(const onnx::Model& model, const graph::Index& index,
                       const std::map<std::string, graph::Dims>& inputs);

// Execution times of ONNX Runtime's CPU kernels in FP32 and INT8. bench/kernel_costs.py measured some 400
// small networks (ONNX Runtime 1.31, one thread) and fitted the constants. Half of the estimates are within
// 10 % of the measurement (within a third for some FP32 kernels); 90 % are within a factor of 1.1 to 2.1,
// depending on the kind of kernel.
//
// Planning uses this table instead of timings because the same model must give the same file on all machines.
// Only `tune` measures times.

struct Times {
  double floats = 0, integers = 0;  // nanoseconds
};

// The matrix product that a Conv, Gemm or MatMul computes, for one sample.
struct GemmShape {
  double positions = 0;            // number of output positions: pixels, rows
  double inputs = 0, outputs = 0;  // input channels per output, and output channels
  double kernel_size = 1;          // elements of the kernel
  double im2col_rows = 1;          // rows of memory that im2col copies for a position
  bool is_depthwise = false;
  bool is_grouped = false;  // grouped, not depthwise: not measured, assumed equally fast in FP32 and INT8
  bool is_conv2d = false;   // a Conv over two axes, which has FP32 kernels of its own
};

// An op without weights: elementwise or a pool, for one sample.
struct ElementwiseShape {
  double values = 0;          // of the output
  double kernel_size = 1;     // elements of a pool's window
  bool gates_itself = false;  // Mul: of x and its Sigmoid, or its HardSigmoid
};

// An Add or Mul with a scalar, for one sample.
struct ScalarShape {
  double values = 0;
  bool is_computed = true;       // in INT8; otherwise it only changes the scale or zero point
  bool is_hard_sigmoid = false;  // in FP32 it is part of a single HardSigmoid;
  int passes = 1;                // otherwise the number of FP32 ops
  int reorders = 0;              // layout changes between these ops and adjacent Convs
};

// The modeled CPUs: x86 with VNNI, without it, or a mean of both.
enum class CostedCpus { kVnni, kAvx2, kBoth };

class KernelCosts {
 public:
  explicit KernelCosts(CostedCpus cpus) : cpus_(cpus) {}

  Times conv(const GemmShape& shape) const;
  Times gemm(const GemmShape& shape) const;
  Times mat_mul(const GemmShape& shape) const;
  // Zero for ops that only rename a value.
  Times elementwise(Op op, const ElementwiseShape& shape) const;
  Times with_scalar(const ScalarShape& op) const;

  // Quantize and dequantize ops, including the layout change that comes with them.
  double to_codes(double values) const;
  double to_floats(double values) const;
  // Conversion to or from the blocked layout of FP32 convolution kernels.
  double reorder(double values) const;
  // The extra time of a Softmax over channels in front of FP32 kernels, compared with INT8 kernels, which use
  // channels-last: the runtime moves the layout change in front of the Softmax.
  static double softmax_over_channels(double values);
  // The extra time of a MaxPool on values quantized only for it: the runtime moves the QuantizeLinear in
  // front of the MaxPool, where it has no fast kernel.
  static double max_pool_of_floats(double values, double kernel_size);

 private:
  CostedCpus cpus_;
};

// Whether the costs were measured for a target (Recipe::target), and for which CPUs.
bool has_measured_costs(const std::string& target);
CostedCpus costed_cpus(const std::string& target);

}  // namespace ounce::plan
