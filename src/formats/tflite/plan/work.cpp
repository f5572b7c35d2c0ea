#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "formats/tflite/plan/kernel_costs.h"

namespace ounce::tflite {
namespace {

constexpr double kWidestDepthwise = 25;  // taps

class OperatorShapes {
 public:
  OperatorShapes(const Model& model, const SubGraph& graph, const Operator& op)
      : model_(model), graph_(graph), op_(op) {}

  const Tensor* input(std::size_t i) const { return at(op_.inputs, i); }
  const Tensor* output(std::size_t i) const { return at(op_.outputs, i); }
  bool has_constant(std::size_t i) const { return input(i) != nullptr && is_constant(model_, *input(i)); }

  // A file may have options of another operator.
  double option(std::string_view name, double fallback) const {
    if (!op_.options.table) return fallback;
    const auto fields = op_.options.table->info().fields;
    const bool has_it =
        std::any_of(fields.begin(), fields.end(), [&](const FieldInfo& field) { return field.name == name; });
    return has_it ? static_cast<double>(op_.options.table->integer(name)) : fallback;
  }

  // Of all tensors that are computed.
  std::optional<double> values(const std::vector<std::int32_t>& tensors) const {
    double sum = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor* tensor = at(tensors, i);
      if (tensor == nullptr || is_constant(model_, *tensor)) continue;
      const auto count = element_count(*tensor);
      if (!count) return std::nullopt;
      sum += static_cast<double>(*count);
    }
    return sum;
  }

  // The numbers of a constant INT32 input; empty if there are none.
  std::vector<std::int32_t> numbers(std::size_t i) const {
    std::vector<std::int32_t> found;
    const Tensor* tensor = input(i);
    if (tensor == nullptr || tensor->type != TensorType::kInt32 || !is_constant(model_, *tensor))
      return found;
    const Bytes bytes = data_of(model_, *tensor).bytes();
    found.resize(bytes.size() / sizeof(std::int32_t));
    if (!found.empty()) std::memcpy(found.data(), bytes.data(), found.size() * sizeof(std::int32_t));
    return found;
  }

 private:
  const Tensor* at(const std::vector<std::int32_t>& tensors, std::size_t i) const {
    if (i >= tensors.size() || tensors[i] < 0) return nullptr;
    return &graph_.tensors[static_cast<std::size_t>(tensors[i])];
  }

  const Model& model_;
  const SubGraph& graph_;
  const Operator& op_;
};

double dimension_of(const Tensor& tensor, std::size_t axis) {
  return static_cast<double>(tensor.shape[axis]);
}

double last_dimension(const Tensor& tensor) {
  return tensor.shape.empty() ? 1 : dimension_of(tensor, tensor.shape.size() - 1);
}

// [outputs, height, width, inputs], and [1, height, width, channels] of a depthwise convolution.
bool fill_convolution(const OperatorShapes& shapes, Builtin code, const Tensor& weight, Work& work) {
  if (weight.shape.size() != 4 || shapes.output(0)->shape.size() != 4) return false;
  const bool is_depthwise = code == Builtin::kDepthwiseConv2D;
  work.inputs = is_depthwise ? 1 : dimension_of(weight, 3);
  work.outputs = dimension_of(weight, is_depthwise ? 3 : 0);
  work.kernel_size = dimension_of(weight, 1) * dimension_of(weight, 2);
  if (work.outputs <= 0) return false;
  work.positions = work.values_out / work.outputs;
  const double strides = shapes.option("stride_h", 1) * shapes.option("stride_w", 1);
  if (strides < 1) return false;
  if (code == Builtin::kTransposeConv) work.kernel_size /= strides;
  if (code == Builtin::kConv2D && work.kernel_size == 1 && strides == 1) work.form = KernelForm::kPointwise;
  if (is_depthwise && work.kernel_size > kWidestDepthwise) work.form = KernelForm::kWide;
  return true;
}

bool fill_product(const OperatorShapes& shapes, Builtin code, const Tensor& weight, Work& work) {
  if (weight.shape.size() < 2) return false;
  const bool is_batched = code == Builtin::kBatchMatmul;
  const std::size_t rank = weight.shape.size();
  const bool gives_rows = !is_batched || shapes.option("adj_y", 0) != 0;
  work.outputs = dimension_of(weight, gives_rows ? rank - 2 : rank - 1);
  work.inputs = dimension_of(weight, gives_rows ? rank - 1 : rank - 2);
  if (work.outputs <= 0) return false;
  work.positions = work.values_out / work.outputs;
  if (is_batched && !shapes.has_constant(1)) {
    work.form = KernelForm::kComputed;
    work.values_in -= work.weights;  // the right side is its weight
  }
  return true;
}

void fill_without_weights(const OperatorShapes& shapes, Builtin code, Work& work) {
  if (code == Builtin::kAveragePool2D || code == Builtin::kMaxPool2D) {
    work.positions = work.values_out;
    work.kernel_size = shapes.option("filter_height", 1) * shapes.option("filter_width", 1);
  } else if (code == Builtin::kSoftmax || code == Builtin::kLogSoftmax || code == Builtin::kL2Normalization) {
    work.positions = work.values_out / std::max(1.0, last_dimension(*shapes.output(0)));
  } else if (code == Builtin::kMean || code == Builtin::kSum || code == Builtin::kReduceMax) {
    const auto rank = static_cast<std::int32_t>(shapes.input(0)->shape.size());
    for (const std::int32_t axis : shapes.numbers(1)) {
      if (axis == -1 || axis == rank - 1) work.form = KernelForm::kRows;
    }
  } else if (code == Builtin::kTranspose) {
    const std::vector<std::int32_t> order = shapes.numbers(1);
    const bool keeps_last = !order.empty() && order.back() == static_cast<std::int32_t>(order.size()) - 1;
    if (keeps_last) work.form = KernelForm::kRows;
  }
}

}  // namespace

std::optional<Work> work_of(const Model& model, const SubGraph& graph, const Operator& op) {
  const OpInfo& row = info(code_of(model, op));
  const OperatorShapes shapes(model, graph, op);
  if (shapes.input(0) == nullptr || shapes.output(0) == nullptr) return std::nullopt;
  const auto values_in = shapes.values(op.inputs), values_out = shapes.values(op.outputs);
  if (!values_in || !values_out) return std::nullopt;
  Work work{.values_in = *values_in, .values_out = *values_out};
  const bool is_batched = row.code == Builtin::kBatchMatmul;
  if (!is_batched && row.int8 != IntegerRule::kWeights) {
    fill_without_weights(shapes, row.code, work);
    return work;
  }
  const Tensor* weight = shapes.input(is_batched ? 1 : row.weight);
  if (weight == nullptr || !element_count(*weight)) return std::nullopt;
  work.weights = static_cast<double>(*element_count(*weight));
  const bool is_product = is_batched || row.code == Builtin::kFullyConnected;
  const bool is_filled = is_product ? fill_product(shapes, row.code, *weight, work)
                                    : fill_convolution(shapes, row.code, *weight, work);
  return is_filled ? std::optional(work) : std::nullopt;
}

}  // namespace ounce::tflite
