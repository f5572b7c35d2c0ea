#include "formats/tflite/file/model.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/ops.h"

namespace ounce::tflite {
namespace {

// By the number of the TensorType.
constexpr auto kElementTypes = std::to_array<ElementType>({
    ElementType::kFloat,     ElementType::kFloat16,      ElementType::kInt32,      ElementType::kUint8,
    ElementType::kInt64,     ElementType::kString,       ElementType::kBool,       ElementType::kInt16,
    ElementType::kComplex64, ElementType::kInt8,         ElementType::kDouble,     ElementType::kComplex128,
    ElementType::kUint64,    ElementType::kUndefined,    ElementType::kUndefined,  ElementType::kUint32,
    ElementType::kUint16,    ElementType::kInt4,         ElementType::kBfloat16,   ElementType::kInt2,
    ElementType::kUint4,     ElementType::kFloat8E4M3FN, ElementType::kFloat8E5M2,
});

const Data kNoData;

std::vector<std::string> port_names(const Model& model, const std::vector<std::int32_t>& tensors,
                                    std::vector<TensorMap> Signature::*maps, const char* unnamed) {
  const auto signature = std::find_if(model.signatures.begin(), model.signatures.end(),
                                      [](const Signature& each) { return each.subgraph == 0; });
  std::map<std::uint32_t, Bytes> names_there;
  if (signature != model.signatures.end()) {
    for (const TensorMap& map : (*signature).*maps) {
      if (!map.name.empty()) names_there[map.tensor] = map.name;
    }
  }
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Bytes name = model.subgraphs[0].tensors[static_cast<std::size_t>(tensors[i])].name;
    const auto there = names_there.find(static_cast<std::uint32_t>(tensors[i]));
    if (there != names_there.end()) name = there->second;
    std::string own = name.empty() ? fmt::format("{}_{}", unnamed, i) : std::string(name);
    while (!taken.insert(own).second) own += fmt::format("_{}", i);
    names.push_back(std::move(own));
  }
  return names;
}

std::string describe(std::size_t subgraph, const char* kind, std::size_t i, Bytes name) {
  const std::string place = fmt::format("subgraph {}, {} {}", subgraph, kind, i);
  return name.empty() ? place : fmt::format("{} '{}'", place, plain(name));
}

}  // namespace

ElementType element_type_of(TensorType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < kElementTypes.size() ? kElementTypes[number] : ElementType::kUndefined;
}

std::optional<TensorType> tensor_type_of(ElementType type) {
  for (std::size_t i = 0; i < kElementTypes.size(); ++i) {
    if (kElementTypes[i] == type && type != ElementType::kUndefined) return static_cast<TensorType>(i);
  }
  return std::nullopt;
}

std::uint64_t Data::size() const {
  if (const auto* owned = std::get_if<Owned>(&value_)) return (*owned)->size();
  if (const auto* made = computed()) return made->size;
  return std::get<Bytes>(value_).size();
}

Bytes Data::bytes() const {
  if (const auto* owned = std::get_if<Owned>(&value_)) return **owned;
  if (computed() != nullptr) throw Error(ErrorCode::kInternal, "the values of a tensor are not computed yet");
  return std::get<Bytes>(value_);
}

bool Data::operator==(const Data& other) const {
  if (computed() != nullptr || other.computed() != nullptr) {
    const io::Computed *a = computed(), *b = other.computed();
    return a != nullptr && b != nullptr && a->by == b->by && a->part == b->part;
  }
  return bytes() == other.bytes();
}

bool Quantization::operator==(const Quantization& other) const {
  const auto has_same_bits = [](const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
  };
  return has_same_bits(min, other.min) && has_same_bits(max, other.max) &&
         has_same_bits(scale, other.scale) && zero_point == other.zero_point && details == other.details &&
         dimension == other.dimension && carried == other.carried;
}

Bytes Model::intern(std::string text) {
  return *texts.emplace_back(std::make_shared<const std::string>(std::move(text)));
}

void Model::release(Bytes bytes) const {
  if (file.contains(bytes)) file.release(bytes);
}

std::string describe_tensor(const Model& model, std::size_t subgraph, std::size_t tensor) {
  return describe(subgraph, "tensor", tensor, model.subgraphs[subgraph].tensors[tensor].name);
}

std::string describe_operator(const Model& model, std::size_t subgraph, std::size_t op) {
  const Operator& found = model.subgraphs[subgraph].operators[op];
  if (found.opcode_index >= model.operator_codes.size()) return describe(subgraph, "operator", op, {});
  return describe(subgraph, "operator", op, op_name(model.operator_codes[found.opcode_index]));
}

std::int32_t code_of(const Model& model, const Operator& op) {
  return model.operator_codes[op.opcode_index].code;
}

const Data& data_of(const Model& model, const Tensor& tensor) {
  return tensor.buffer == 0 ? kNoData : model.buffers[tensor.buffer].data;
}

bool is_constant(const Model& model, const Tensor& tensor) {
  return tensor.external_buffer != 0 || !data_of(model, tensor).empty() ||
         (!tensor.is_variable && element_count(tensor) == 0U);
}

bool is_dynamic(const Tensor& tensor, std::size_t dimension) {
  const auto& sizes = tensor.shape_signature.empty() ? tensor.shape : tensor.shape_signature;
  return sizes[dimension] == -1;
}

std::optional<std::uint64_t> element_count(const Tensor& tensor) {
  std::optional<std::uint64_t> count = 1;
  for (const std::int32_t dim : tensor.shape) {
    if (dim < 0) return std::nullopt;
    if (count) count = checked_multiply(*count, static_cast<std::uint64_t>(dim));
  }
  return count;
}

std::optional<std::uint64_t> byte_count(const Tensor& tensor) {
  const ElementType type = element_type_of(tensor.type);
  const auto count = element_count(tensor);
  if (!count || type == ElementType::kUndefined || type == ElementType::kString) return std::nullopt;
  const auto bits = checked_multiply(*count, static_cast<std::uint64_t>(info_of(type).bits));
  const auto rounded = bits ? checked_add(*bits, 7) : std::nullopt;
  return rounded ? std::optional(*rounded / 8) : std::nullopt;
}

std::vector<std::string> input_names(const Model& model) {
  return port_names(model, model.subgraphs[0].inputs, &Signature::inputs, "input");
}

std::vector<std::string> output_names(const Model& model) {
  return port_names(model, model.subgraphs[0].outputs, &Signature::outputs, "output");
}

bool same_content(const Model& a, const Model& b) {
  return a.version == b.version && a.operator_codes == b.operator_codes && a.subgraphs == b.subgraphs &&
         a.description == b.description && a.buffers == b.buffers && a.metadata_buffer == b.metadata_buffer &&
         a.metadata == b.metadata && a.signatures == b.signatures &&
         a.external_buffer_groups == b.external_buffer_groups && a.external_buffers == b.external_buffers &&
         a.carried == b.carried && same_archive(a, b);
}

}  // namespace ounce::tflite
