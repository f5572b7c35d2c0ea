// How much a model computes, estimated from shapes: a measure of time that is the same on every machine.
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

// At how many places a node multiplies with each value of its input, for one sample. Nothing if the shapes
// are unknown, or if the op is not a convolution or matrix product with that weight.
std::optional<std::uint64_t> positions_of(const graph::InferredShapes& shapes, const onnx::Node& node,
                                          std::size_t input);

// Multiplications with weights in one run of the main graph. `inputs` are the shapes of one batch. A layer
// whose shapes are unknown counts as if it used its weights as often as any layer or input position could.
double multiplications(const onnx::Model& model, const graph::Index& index,
                       const std::map<std::string, graph::Dims>& inputs);

// How long ONNX Runtime's CPU kernels take, in floats and on integers: constants that bench/kernel_costs.py
// measured and fitted on some 400 small networks (ONNX Runtime 1.31, one thread). Half of the estimates are
// within a tenth of what was measured, or a third for some float kernels; nine of ten within a factor of 1.1
// to 2.1, by kind of kernel.
//
// The same model must give the same file everywhere, so nothing is timed while a plan is made: this table is
// what a plan knows. `ounce tune` times.

struct Times {
  double floats = 0, integers = 0;  // nanoseconds
};

// The matrix product that a Conv, Gemm or MatMul computes, for one sample.
struct GemmShape {
  double positions = 0;            // that it gives values for: pixels, rows
  double inputs = 0, outputs = 0;  // channels that each output takes, and that it gives
  double kernel_size = 1;          // elements of the kernel …
  double im2col_rows = 1;          // … and the rows of memory that im2col copies for a position
  bool is_depthwise = false;
  bool is_grouped = false;  // in groups, but not depthwise: not measured, and taken to be no faster in either
  bool is_conv2d = false;   // a Conv over two axes, which has FP32 kernels of its own
};

// An op without weights: elementwise or a pool, for one sample.
struct ElementwiseShape {
  double values = 0;          // that it gives
  double kernel_size = 1;     // elements of a pool's window
  bool gates_itself = false;  // Mul: of x and its Sigmoid, or its HardSigmoid
};

// An Add or Mul with a scalar, for one sample.
struct ScalarShape {
  double values = 0;
  bool is_computed = true;       // on integers; otherwise it is another scale or zero for the same codes
  bool is_hard_sigmoid = false;  // in floats it is one again …
  int passes = 1;                // … or so many ops …
  int reorders = 0;              // … in another layout than the Convs beside them
};

// Of which CPUs: x86 with instructions for sums of 8-bit products, without them, or of both alike.
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

  // Ways between floats and codes, with the change of layout that comes with them.
  double to_codes(double values) const;
  double to_floats(double values) const;
  // What float kernels for pictures take to bring values into their own layout, or out of it.
  double reorder(double values) const;
  // What a Softmax over channels takes longer in front of float kernels than of integer ones, which have the
  // channels last: the runtime then moves the change of layout before it.
  static double softmax_over_channels(double values);
  // What a MaxPool takes longer on codes that no integer kernel gave: the runtime makes floats in front of it
  // codes before it, and has no fast kernel then.
  static double max_pool_of_floats(double values, double kernel_size);

 private:
  CostedCpus cpus_;
};

// Whether these costs hold for a target (Recipe::target), and those of which CPUs.
bool has_measured_costs(const std::string& target);
CostedCpus costed_cpus(const std::string& target);

}  // namespace ounce::plan
