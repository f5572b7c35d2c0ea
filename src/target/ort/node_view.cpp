#include "target/ort/node_view.h"

#include <cstring>

#include "formats/onnx/file/tensor_reader.h"

namespace ounce::target {

std::optional<std::vector<std::int64_t>> NodeView::integers(std::size_t input) const {
  constexpr std::uint64_t kMost = 4096;
  const auto constant =
      graph::find_constant(docs_.model_, docs_.index_, body_, graph::input_of(node_, input));
  if (!constant || std::holds_alternative<onnx::Computed>(constant->tensor->data)) return std::nullopt;
  const onnx::Tensor& tensor = *constant->tensor;
  if (tensor.type != ElementType::kInt64 || tensor.element_count() > kMost) return std::nullopt;
  const onnx::RawValues raw(tensor);
  std::vector<std::int64_t> values(tensor.element_count());
  if (raw.bytes().size() != values.size() * sizeof(std::int64_t)) return std::nullopt;
  if (!values.empty()) std::memcpy(values.data(), raw.bytes().data(), raw.bytes().size());
  return values;
}

}  // namespace ounce::target
