#include "formats/onnx/plan/work.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::plan {
namespace {

constexpr std::size_t kSpatial = 2;  // the first axis behind batch and channels

// Positions of an input: of images and sequences everything behind the channels, of other inputs one.
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

// How many weights a value of the main graph holds; 0 for a bias and for what is computed.
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
    if ((*dims)[i] < 0 && i == 0) continue;  // a batch of one
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

}  // namespace ounce::plan
