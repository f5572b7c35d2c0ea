#include "target/ort/kernel_pairs.h"

#include <string_view>

#include "formats/onnx/file/attributes.h"

namespace ounce::target {
namespace {

using quant::WeightPairs;
using Order = WeightPairs::Order;

std::size_t size_at(std::span<const std::int64_t> dims, std::size_t axis) {
  return static_cast<std::size_t>(dims[axis]);
}

WeightPairs of_conv(const onnx::Node& node, std::span<const std::int64_t> dims) {
  if (dims.size() < 3) return {};
  const auto group = onnx::integer_setting(node, "group", 1);
  if (dims[1] == 1 && group && *group == dims[0]) return {};  // depthwise
  std::size_t taps = 1;
  for (std::size_t axis = 2; axis < dims.size(); ++axis) taps *= size_at(dims, axis);
  return {Order::kRows, size_at(dims, 1), taps, 0};
}

WeightPairs of_matrix(std::span<const std::int64_t> dims) {
  if (dims.empty()) return {};
  if (dims.size() == 1) return {Order::kColumns, size_at(dims, 0), 1, 1};
  return {Order::kColumns, size_at(dims, dims.size() - 2), 1, size_at(dims, dims.size() - 1)};
}

WeightPairs of_rows(std::span<const std::int64_t> dims) {
  return dims.size() < 2 ? WeightPairs{} : WeightPairs{Order::kRows, size_at(dims, dims.size() - 1), 1, 0};
}

}  // namespace

WeightPairs pairs_of(const onnx::Node& node, std::span<const std::int64_t> dims) {
  switch (node.info().pairs) {
    case ops::ProductPairs::kNone: return {};
    case ops::ProductPairs::kConv: return of_conv(node, dims);
    case ops::ProductPairs::kMatrix: return of_matrix(dims);
    case ops::ProductPairs::kGemm:
      return onnx::integer_setting(node, "transB", 0) != 0 ? of_rows(dims) : of_matrix(dims);
    case ops::ProductPairs::kRecurrentRows: return of_rows(dims);
  }
  return {};
}

namespace {

bool is_any_cpu(const Target& target) { return target.name.empty() || target.name == "cpu"; }

}  // namespace

bool is_known_to_saturate(const Target& target) { return !is_any_cpu(target) && !has_exact_products(target); }

bool has_exact_products(const Target& target) {
  if (is_any_cpu(target)) return false;
  if (target.machine == "x64" || target.machine.empty()) {
    // Computes on the CPU's own instructions, too.
    const bool is_on_cpu = target.provider == "cpu" || target.provider == "openvino";
    return !is_on_cpu || target.cpu == "vnni";
  }
  return true;
}

bool is_without_exact_products(std::string_view cpu) { return cpu == "avx2" || cpu == "avx512"; }

}  // namespace ounce::target
