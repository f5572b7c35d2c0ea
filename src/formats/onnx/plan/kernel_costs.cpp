#include "formats/onnx/plan/kernel_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/plan.h"
#include "target/target.h"

namespace ounce::plan {
namespace {

constexpr std::size_t kSpatial = 2;  // first axis after batch and channels

// Positions of an input: the product of all spatial axes for images and sequences, 1 for other inputs.
double positions_of_input(const graph::Dims& dims) {
  double positions = 1;
  for (std::size_t i = 1; i < dims.size(); ++i)
    positions *= static_cast<double>(std::max<std::int64_t>(1, dims[i]));
  return positions;
}

bool multiplies_matrices(const onnx::Node& node) {
  const ops::Class op = node.info().op_class;
  return op == ops::Class::kProduct || op == ops::Class::kRecurrent;
}

// The number of elements of a constant weight of the main graph; 0 for biases and computed values.
double weights_of(const graph::Index& index, onnx::Bytes name) {
  const auto found = index.find(0, name);
  if (found.value == nullptr) return 0;
  const graph::Body& body = index.bodies()[found.body];
  const onnx::Tensor* tensor = nullptr;
  if (found.value->initializer != graph::kNone)
    tensor = &*body.graph->initializers[found.value->initializer];
  else if (found.value->producer != graph::kNone)
    tensor = constant_tensor(*body.nodes()[found.value->producer]);
  return tensor == nullptr || tensor->dims.size() < 2 ? 0 : static_cast<double>(tensor->element_count());
}

}  // namespace

std::optional<std::uint64_t> positions_of(const graph::InferredShapes& shapes, const onnx::Node& node,
                                          std::size_t input) {
  const bool is_conv = node.op() == Op::kConv, is_transposed = node.op() == Op::kConvTranspose;
  const bool is_product = node.op() == Op::kMatMul || node.op() == Op::kGemm;
  if (input != 1 || node.outputs.empty() || !(is_conv || is_transposed || is_product)) return std::nullopt;
  const graph::Dims* dims = shapes.of(is_conv ? node.outputs[0] : node.inputs[0]);
  if (dims == nullptr || dims->empty()) return std::nullopt;
  if (is_product && onnx::integer_attribute(node, "transA").value_or(0) != 0) return std::nullopt;
  const std::size_t first = is_product ? 0 : kSpatial, last = dims->size() - (is_product ? 1 : 0);
  std::uint64_t positions = 1;
  for (std::size_t i = first; i < last; ++i) {
    if ((*dims)[i] < 0 && i == 0) continue;  // assume a batch of one
    if ((*dims)[i] <= 0) return std::nullopt;
    if (__builtin_mul_overflow(positions, static_cast<std::uint64_t>((*dims)[i]), &positions))
      return std::nullopt;
  }
  return positions;
}

double multiplications(const onnx::Model& model, const graph::Index& index,
                       const std::map<std::string, graph::Dims>& inputs) {
  std::unordered_map<onnx::Bytes, graph::Dims> known;
  double most = 1, batch = 1;
  for (const auto& [name, dims] : inputs) {
    known[name] = dims;
    most = std::max(most, positions_of_input(dims));
    if (!dims.empty()) batch = std::max(batch, static_cast<double>(dims[0]));
  }
  const graph::InferredShapes shapes(model, index, std::move(known));
  double sum = 0, unknown = 0;
  for (const auto& node : index.main().nodes()) {
    const bool is_conv = node->op() == Op::kConv || node->op() == Op::kConvTranspose;
    if (!is_conv && !multiplies_matrices(*node)) continue;
    for (std::size_t input = 0; input < node->inputs.size(); ++input) {
      const double count = weights_of(index, node->inputs[input]);
      if (const auto positions = positions_of(shapes, *node, input)) {
        sum += count * static_cast<double>(*positions) * (is_conv ? batch : 1);
        most = std::max(most, static_cast<double>(*positions));
      } else {
        unknown += count * batch;
      }
    }
  }
  return sum + unknown * most;
}

namespace {

double up(double value, double block) { return std::ceil(value / block) * block; }

// Nanoseconds. Each row is multiplied by the features that conv_features() of the script computes.
struct KernelTable {
  double block;  // channels that blocked FP32 kernels process at a time
  // FP32. Coefficients: a call, a product, an output value; then as noted.
  std::array<double, 3> few_inputs, pointwise, picture, depthwise;
  std::array<double, 4> unfolded;        // and a value copied by im2col
  std::array<double, 3> depthwise_line;  // a channel, a product, a value
  std::array<double, 3> matrix;          // a call, a product, a weight
  // INT8.
  std::array<double, 7> integer_conv;  // and im2col: a value, a piece; a weight; a value beyond 16 channels
  std::array<double, 5>
      integer_depthwise;  // and products of remaining channels, in groups of eight and single
  std::array<double, 5> integer_gemm, integer_matrix;  // a call, a product, a value, an input, a weight
  double to_codes, to_floats, transpose, reorder;      // a value
};

// AMD EPYC (Zen 4), AVX-512 VNNI.
constexpr KernelTable kVnni{
    .block = 16,
    .few_inputs = {3675, 0.01863, 0.0482},
    .pointwise = {2554, 0.01755, 0.03701},
    .picture = {320, 0.01639, 0.5189},
    .depthwise = {3356, 0.01992, 0.07098},
    .unfolded = {3497, 0.01251, 0.211, 0.08876},
    .depthwise_line = {104, 0.1836, 0.003785},
    .matrix = {2439, 0.01734, 0.02699},
    .integer_conv = {4006, 0.003556, 0.1427, 0.03721, 1.057, 0.02154, 0.6564},
    .integer_depthwise = {4948, 0.03143, 0.0911, 0.2359, 0.8629},
    .integer_gemm = {3933, 0.004062, 0.3835, 0.02737, 0.01199},
    .integer_matrix = {3133, 0.003905, 0.2745, 0.03105, 0.01119},
    .to_codes = 0.15,
    .to_floats = 0.14,
    .transpose = 0.07,
    .reorder = 0.14,
};

// The same CPU, with the runtime restricted to AVX2.
constexpr KernelTable kAvx2{
    .block = 8,
    .few_inputs = {3926, 0.01929, 0.0502},
    .pointwise = {2960, 0.02169, 0},
    .picture = {1353, 0.0178, 0.614},
    .depthwise = {3576, 0.03538, 0},
    .unfolded = {3439, 0.01305, 0.1779, 0.08258},
    .depthwise_line = {117, 0.1834, 0},
    .matrix = {2444, 0.01753, 0.03695},
    .integer_conv = {3627, 0.007682, 0.2368, 0.02722, 0.9788, 0.01216, 0.5273},
    .integer_depthwise = {4448, 0.04183, 0.1548, 0.2213, 0.8422},
    .integer_gemm = {3899, 0.008451, 0.4068, 0.03349, 0.009107},
    .integer_matrix = {3195, 0.008248, 0.3355, 0.03678, 0.008694},
    .to_codes = 0.27,
    .to_floats = 0.14,
    .transpose = 0.07,
    .reorder = 0.16,
};

constexpr double kCall = 2000;  // of a node without other costs

// In FP32 x · HardSigmoid(x) becomes a HardSwish, which is fused into the preceding Conv; x · Sigmoid(x) is
// one op, too.
constexpr ops::CostPerValue kGate{.fp32 = 0.02, .int8 = 0.28};
constexpr ops::CostPerValue kHardSigmoid{.fp32 = 0.14, .int8 = 0.10}, kNumber{.fp32 = 0.13, .int8 = 0.10};

template <std::size_t N>
double dot(const std::array<double, N>& constants, const std::array<double, N>& amounts) {
  double sum = 0;
  for (std::size_t i = 0; i < N; ++i) sum += constants[i] * amounts[i];
  return sum;
}

double conv_in_floats(const KernelTable& table, const GemmShape& s) {
  if (s.is_depthwise && !s.is_conv2d)
    return dot(table.depthwise_line,
               {s.outputs, s.positions * s.kernel_size * s.outputs, s.positions * s.outputs});
  const double given = s.positions * up(s.outputs, table.block);
  if (s.is_depthwise) return dot(table.depthwise, {1, given * s.kernel_size, given});
  if (s.is_conv2d && s.inputs < table.block)
    return dot(table.few_inputs, {1, given * s.inputs * s.kernel_size, given});
  constexpr double kAligned = 4;  // blocked FP32 kernels need a multiple of this number of inputs
  if (s.is_conv2d && std::fmod(s.inputs, kAligned) == 0) {
    const auto& row = s.kernel_size == 1 ? table.pointwise : table.picture;
    return dot(row, {1, given * up(s.inputs, table.block) * s.kernel_size, given});
  }
  const double depth = s.inputs * s.kernel_size;
  return dot(table.unfolded, {1, s.positions * depth * up(s.outputs, 16), s.positions * s.outputs,
                              s.kernel_size > 1 ? s.positions * depth : 0});
}

double conv_on_integers(const KernelTable& table, const GemmShape& s) {
  const double beyond = std::fmod(s.outputs, 16);
  if (s.is_depthwise) {
    const double ones = std::fmod(s.outputs, 8), eights = beyond - ones, sixteens = s.outputs - beyond;
    return dot(table.integer_depthwise,
               {1, s.positions * s.kernel_size * sixteens, s.positions * sixteens,
                s.positions * s.kernel_size * eights, s.positions * s.kernel_size * ones});
  }
  const double depth = up(s.inputs * s.kernel_size, 4), width = up(s.outputs, 16);
  const bool unfolds = s.kernel_size > 1;
  return dot(table.integer_conv,
             {1, s.positions * depth * width, s.positions * width,
              unfolds ? s.positions * s.inputs * s.kernel_size : 0, unfolds ? s.positions * s.im2col_rows : 0,
              depth * width, s.positions * beyond});
}

double matrix_in_floats(const KernelTable& table, const GemmShape& s) {
  return dot(table.matrix, {1, s.positions * s.inputs * up(s.outputs, 16), s.inputs * s.outputs});
}

double matrix_on_integers(const std::array<double, 5>& row, const GemmShape& s) {
  return dot(row, {1, s.positions * up(s.inputs, 4) * up(s.outputs, 16), s.positions * s.outputs,
                   s.positions * s.inputs, s.inputs * s.outputs});
}

// The mean over the modeled CPUs.
template <class Cost>
double over(CostedCpus cpus, Cost cost) {
  if (cpus == CostedCpus::kVnni) return cost(kVnni);
  if (cpus == CostedCpus::kAvx2) return cost(kAvx2);
  return (cost(kVnni) + cost(kAvx2)) / 2;
}

}  // namespace

Times KernelCosts::conv(const GemmShape& shape) const {
  const double integers =
      over(cpus_, [&](const KernelTable& table) { return conv_on_integers(table, shape); });
  if (shape.is_grouped) return {integers, integers};
  return {over(cpus_, [&](const KernelTable& table) { return conv_in_floats(table, shape); }), integers};
}

Times KernelCosts::gemm(const GemmShape& shape) const {
  return {
      over(cpus_, [&](const KernelTable& table) { return matrix_in_floats(table, shape); }),
      over(cpus_, [&](const KernelTable& table) { return matrix_on_integers(table.integer_gemm, shape); })};
}

Times KernelCosts::mat_mul(const GemmShape& shape) const {
  return {
      over(cpus_, [&](const KernelTable& table) { return matrix_in_floats(table, shape); }),
      over(cpus_, [&](const KernelTable& table) { return matrix_on_integers(table.integer_matrix, shape); })};
}

Times KernelCosts::elementwise(Op op, const ElementwiseShape& shape) const {
  const ops::CostPerValue& cost = shape.gates_itself && op == Op::kMul ? kGate : ops::info(op).cost;
  if (!cost.is_measured()) return {};
  const double amount = cost.by_window ? shape.values * shape.kernel_size : shape.values;
  return {kCall + cost.fp32 * amount, kCall + cost.int8 * amount};
}

Times KernelCosts::with_scalar(const ScalarShape& op) const {
  const ops::CostPerValue& cost = op.is_hard_sigmoid ? kHardSigmoid : kNumber;
  return {op.passes * (kCall + cost.fp32 * op.values) + op.reorders * reorder(op.values),
          op.is_computed ? kCall + cost.int8 * op.values : 0};
}

double KernelCosts::to_codes(double values) const {
  return over(cpus_, [&](const KernelTable& t) { return 2 * kCall + (t.to_codes + t.transpose) * values; });
}
double KernelCosts::to_floats(double values) const {
  return over(cpus_, [&](const KernelTable& t) { return 2 * kCall + (t.to_floats + t.transpose) * values; });
}
double KernelCosts::reorder(double values) const {
  return over(cpus_, [&](const KernelTable& t) { return kCall + t.reorder * values; });
}

double KernelCosts::softmax_over_channels(double values) {
  constexpr double kSpread = 6.4;  // [1, 16, 4, 2100]: 1072 µs instead of 216
  return kSpread * values;
}

double KernelCosts::max_pool_of_floats(double values, double kernel_size) {
  constexpr double kTap = 2.9;  // [1, 32, 450, 60], 2 × 2: 10 ms, in FP32 0.5
  return kTap * values * kernel_size;
}

bool has_measured_costs(const std::string& target) {
  if (target.empty()) return true;
  const target::Target where = target::parse_target(target);
  const bool is_on_cpu = where.provider.empty() || where.provider == "cpu";
  return is_on_cpu && (where.machine.empty() || where.machine == "x64");
}

CostedCpus costed_cpus(const std::string& target) {
  if (target.empty()) return CostedCpus::kBoth;
  const std::string cpu = target::parse_target(target).cpu;
  return cpu == "vnni" ? CostedCpus::kVnni : cpu.empty() ? CostedCpus::kBoth : CostedCpus::kAvx2;
}

}  // namespace ounce::plan
