#include "target/ort/model_support.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"
#include "target/support_matrix.h"

namespace ounce::target {
namespace {

using graph::kNone;
using onnx::Bytes;

// True if the op still runs after a DequantizeLinear, that is, in FP32.
bool is_in_floats(std::string_view operators, std::string_view op_type) {
  bool is_decoded = false;
  while (!operators.empty()) {
    const std::size_t end = std::min(operators.find('+'), operators.size());
    std::string_view name = operators.substr(0, end);
    if (const std::size_t star = name.find('*'); star != std::string_view::npos) name.remove_prefix(star + 1);
    if (name.starts_with("ms.")) name.remove_prefix(3);
    if (name == "DQ") is_decoded = true;
    const bool is_float_op = name == op_type || name.starts_with("Fused") || name.starts_with("NhwcFused");
    if (is_float_op && is_decoded) return true;
    operators.remove_prefix(std::min(end + 1, operators.size()));
  }
  return false;
}

class Surroundings {
 public:
  Surroundings(const onnx::Model& model, const graph::Index& index, const graph::ElementTypes& types,
               const graph::Shapes& shapes, std::size_t body, const onnx::Node& node)
      : model_(model), index_(index), types_(types), shapes_(shapes), body_(body), node_(node) {}

  // The DequantizeLinear that computes an input; null if there is none.
  const onnx::Node* decoder(std::size_t input) const {
    const auto [value, home] = index_.find(body_, graph::input_of(node_, input));
    if (value == nullptr || value->producer == kNone) return nullptr;
    const onnx::Node& producer = *index_.bodies()[home].nodes()[value->producer];
    return producer.op() == Op::kDequantizeLinear ? &producer : nullptr;
  }

  ElementType codes(const onnx::Node& decoder) const {
    return types_.type(body_, graph::input_of(decoder, 0));
  }

  std::optional<std::string> granularity(const onnx::Node& decoder) const {
    const auto block = onnx::integer_setting(decoder, "block_size", 0);
    if (!block) return std::nullopt;
    if (*block != 0) return fmt::format("block{}", *block);
    const graph::Dims* dims = shapes_.of(body_, graph::input_of(decoder, 1));
    if (dims == nullptr) return std::nullopt;
    const bool is_single = std::all_of(dims->begin(), dims->end(), [](std::int64_t dim) { return dim == 1; });
    return is_single ? "tensor" : "channel";
  }

  // The ops after the node: "-Q", "-Relu-Q0" …
  std::string behind() const {
    const onnx::Node* next = only_user(node_);
    if (next == nullptr) return "";
    if (next->op() == Op::kQuantizeLinear) return "-Q";
    const onnx::Node* second = next->op() == Op::kRelu ? only_user(*next) : nullptr;
    if (second == nullptr || second->op() != Op::kQuantizeLinear) return "";
    return has_lowest_zero(*second) ? "-Relu-Q0" : "-Relu-Q";
  }

 private:
  const onnx::Node* only_user(const onnx::Node& node) const {
    const graph::Value* value =
        node.outputs.size() == 1 ? index_.find(body_, node.outputs[0]).value : nullptr;
    if (value == nullptr || value->is_output || value->uses.size() != 1 || value->uses[0].body != body_)
      return nullptr;
    return &index_.node(value->uses[0]);
  }

  bool has_lowest_zero(const onnx::Node& quantize) const {
    const Bytes zero = graph::input_of(quantize, 2);
    if (zero.empty()) return true;  // the default: uint8 with zero point 0
    const auto constant = graph::find_constant(model_, index_, body_, zero);
    if (!constant || constant->tensor->byte_count() != 1) return false;
    const std::string bytes(onnx::RawValues(*constant->tensor).bytes());
    return bytes[0] == (constant->tensor->type == ElementType::kInt8 ? '\x80' : '\0');
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  const graph::ElementTypes& types_;
  const graph::Shapes& shapes_;
  std::size_t body_;
  const onnx::Node& node_;
};

bool has_weight(const onnx::Node& node) {
  return node.op() == Op::kConv || node.op() == Op::kConvTranspose || node.op() == Op::kGemm ||
         node.op() == Op::kMatMul;
}

}  // namespace

const Fusions& Fusions::measured() {
  static const Fusions fusions(support_text());
  return fusions;
}

Fusions::Fusions(std::string_view text) {
  const std::size_t table = text.find("\nfusions\n");
  if (table == std::string_view::npos) return;
  text.remove_prefix(table + 9);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // Answers are lowercase letters and spaces; an op begins with a capital letter.
    const std::size_t key = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz ");
    const std::size_t opset = line.find(" opset=");
    if (key == std::string_view::npos || key == 0 || opset == std::string_view::npos) continue;
    const std::size_t legend = line.find(' ', opset + 1);
    if (legend == std::string_view::npos) continue;
    const std::string_view pattern = line.substr(key, opset - key);
    if (!lines_.emplace(pattern, line.substr(legend + 1)).second) continue;  // keep the oldest opset
    letters_.emplace(pattern, line.substr(0, key - 1));
  }
}

std::optional<Fusions::Fate> Fusions::find(const std::string& pattern, const Release& release) const {
  const auto letters = letters_.find(pattern);
  if (letters == letters_.end() || release.place >= letters->second.size()) return std::nullopt;
  const char letter = letters->second[release.place];
  const std::string_view legend = lines_.at(pattern);
  std::size_t at =
      legend.starts_with(fmt::format("{}:", letter)) ? 0 : legend.find(fmt::format(" {}:", letter));
  if (at == std::string_view::npos) return std::nullopt;
  at = legend.find(':', at) + 1;
  const std::string_view operators = legend.substr(at, legend.find(' ', at) - at);
  if (operators == "load") return Fate::kDoesNotLoad;
  if (operators == "run") return Fate::kFails;
  return is_in_floats(operators, pattern.substr(0, pattern.find(' '))) ? Fate::kInFloats : Fate::kFused;
}

std::optional<std::string> pattern_of(const onnx::Model& model, const graph::Index& index,
                                      const graph::ElementTypes& types, const graph::Shapes& shapes,
                                      std::size_t body, const onnx::Node& node) {
  if (!onnx::is_default_domain(node.domain()) || node.op() == Op::kQuantizeLinear) return std::nullopt;
  const Surroundings around(model, index, types, shapes, body, node);
  const onnx::Node* data = around.decoder(0);
  const onnx::Node* weight = has_weight(node) ? around.decoder(1) : nullptr;
  if (data == nullptr && weight == nullptr) return std::nullopt;
  if (has_weight(node) && weight == nullptr) return std::nullopt;
  std::string key = fmt::format("{} ", node.op_type());
  if (data != nullptr) key += fmt::format("x={}", name_of(around.codes(*data)));
  if (weight != nullptr)
    key += fmt::format("{}w={}", data == nullptr ? "" : ",", name_of(around.codes(*weight)));
  key += data == nullptr ? " form=w:DQ-op" : fmt::format(" form=DQ-op{}", around.behind());
  if (weight != nullptr) {
    const auto granularity = around.granularity(*weight);
    if (!granularity) return std::nullopt;
    key += "," + *granularity;
    if (node.op() == Op::kGemm && data != nullptr && !graph::input_of(node, 2).empty()) key += ",bias";
  }
  return key + " io=float";
}

}  // namespace ounce::target
