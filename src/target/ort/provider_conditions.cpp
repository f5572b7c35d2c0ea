#include "target/ort/provider_ops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "formats/onnx/file/attributes.h"
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

using graph::Bytes;

namespace {

// True if the number of spatial dimensions is in the range.
bool has_windows(const NodeView& view, std::size_t least, std::size_t most) {
  if (view.shape(0)) return view.has_rank(0, least + 2, most + 2);
  const auto kernel = onnx::integers_attribute(view.node(), "kernel_shape");
  return !kernel || (kernel->size() >= least && kernel->size() <= most);
}

// QLinear ops have a scale and a zero point after every operand.
bool is_quantized_op(const NodeView& view) { return view.node().op_type().starts_with("QLinear"); }

bool has_two_operands(const NodeView& view) {
  const Bytes op = view.node().op_type();
  return op == "QLinearConv" || op == "QLinearConvTranspose" || op == "QLinearMatMul" || op == "QLinearAdd";
}

bool has_constant_scales(const NodeView& view) {
  for (std::size_t i = 1; i < NodeView::kMostInputs; ++i) {
    const bool is_data = has_two_operands(view) && (i == 3 || i == 8);
    if (!is_data && !view.is_constant(i)) return false;
  }
  return true;
}

bool has_last_axis(const NodeView& view) {
  if (view.opset() < 13) return true;
  const std::int64_t axis = onnx::integer_setting(view.node(), "axis", -1).value_or(-1);
  const auto& dims = view.shape(0);
  return axis == -1 || !dims || axis == static_cast<std::int64_t>(dims->size()) - 1;
}

bool has_equal_parts(const NodeView& view) {
  auto parts = onnx::integers_attribute(view.node(), "split");
  if (!parts) parts = view.integers(1);
  return !parts || std::adjacent_find(parts->begin(), parts->end(), std::not_equal_to<>()) == parts->end();
}

bool pads_last_two(const NodeView& view) {
  const auto pads = view.integers(1);
  if (!pads || view.has(3)) return true;
  const std::size_t rank = pads->size() / 2;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if ((*pads)[i] != 0 || (*pads)[rank + i] != 0) return false;
  return true;
}

bool is_non_negative(const NodeView& view, std::size_t input) {
  const auto values = view.integers(input);
  return !values || std::all_of(values->begin(), values->end(), [](std::int64_t v) { return v >= 0; });
}

bool has_one_element(const NodeView& view, std::size_t input) {
  const auto& dims = view.shape(input);
  return !dims || std::all_of(dims->begin(), dims->end(), [](std::int64_t dim) { return dim == 1; });
}

bool has_channel_slope(const NodeView& view) {
  const auto& dims = view.shape(1);
  if (!dims || std::all_of(dims->begin(), dims->end(), [](std::int64_t dim) { return dim == 1; }))
    return true;
  return dims->size() == 3 && (*dims)[1] == 1 && (*dims)[2] == 1;
}

bool is_all(const NodeView& view, Bytes attribute, std::int64_t value) {
  const auto values = onnx::integers_attribute(view.node(), attribute);
  return !values || std::all_of(values->begin(), values->end(), [&](std::int64_t v) { return v == value; });
}

bool has_plain_gemm(const NodeView& view) {
  return view.is_set("transA", 0, 0) && onnx::float_setting(view.node(), "alpha", 1).value_or(1) == 1 &&
         onnx::float_setting(view.node(), "beta", 1).value_or(1) == 1;
}

// True if quantized matrices have documented types.
bool has_documented_pair(const NodeView& view) {
  const ElementType a = view.quantized_type(0), b = view.quantized_type(1);
  if (a == ElementType::kUndefined || b == ElementType::kUndefined) return true;
  return NodeView::is_among(a, "ov") && NodeView::is_among(b, "ov") &&
         !(a == ElementType::kUint16 && b == ElementType::kUint16);
}

bool is_behind_dynamic_quantization(const NodeView& view) {
  const onnx::Node* const source = view.producer(0);
  return source != nullptr && source->op() == Op::kDynamicQuantizeLinear && view.is_constant(1);
}

bool feeds_integer_op(const NodeView& view) {
  const graph::Value* const output = view.output();
  if (output == nullptr || output->uses.empty()) return false;
  return std::all_of(output->uses.begin(), output->uses.end(), [&](const graph::Use& use) {
    const Bytes op = view.index().node(use).op_type();
    return op == "ConvInteger" || op == "MatMulInteger";
  });
}

bool is_odd_resize(const NodeView& view) {
  return view.is_set("coordinate_transformation_mode", Bytes("tf_half_pixel_for_nn"), Bytes("half_pixel"));
}

bool is_nearest_floor(const NodeView& view) {
  return view.is_set("mode", Bytes("nearest"), Bytes("nearest")) &&
         view.is_set("nearest_mode", Bytes("floor"), Bytes("round_prefer_floor"));
}

bool is_linear(const NodeView& view) { return view.is_set("mode", Bytes("linear"), Bytes("nearest")); }

bool has_reflection(const NodeView& view) {
  return view.is_set("padding_mode", Bytes("reflection"), Bytes("zeros")) &&
         view.is_set("align_corners", 0, 0) && !view.is_set("mode", Bytes("nearest"), Bytes("linear"));
}

bool has_rank_two_or_four(const NodeView& view) { return view.has_rank(0, 2, 2) || view.has_rank(0, 4, 4); }

bool has_single_scales(const NodeView& view) {
  return has_one_element(view, 1) && has_one_element(view, 4) && has_one_element(view, 6);
}

bool has_htp_coordinates(const NodeView& view) {
  return !is_odd_resize(view) || (is_nearest_floor(view) && view.has_rank(0, 4, 4));
}

bool is_linear_or_floor(const NodeView& view) { return is_linear(view) || is_nearest_floor(view); }

bool has_mode_constant(const NodeView& view) {
  return view.is_set("mode", Bytes("constant"), Bytes("constant"));
}

bool has_plain_indices(const NodeView& view) { return view.has_type(1, "i") || view.is_constant(1); }

bool has_plain_input(const NodeView& view) { return view.quantized_type(0) == ElementType::kUndefined; }

bool has_mode_dcr(const NodeView& view) { return view.is_set("mode", Bytes("DCR"), Bytes("DCR")); }

bool has_fixed_input(const NodeView& view) { return !view.is_varying(graph::input_of(view.node(), 0)); }

bool is_same_padded(const NodeView& view) {
  return onnx::string_setting(view.node(), "auto_pad", "NOTSET").value_or("").starts_with("SAME");
}

bool has_asymmetric_coordinates(const NodeView& view) {
  return view.is_set("coordinate_transformation_mode", Bytes("asymmetric"), Bytes("half_pixel"));
}

using View = const NodeView&;

struct Word {
  std::string_view word;
  bool (*is_met)(View);
};

constexpr auto kWords = std::to_array<Word>({
    {"2-D windows", [](View v) { return has_windows(v, 2, 2); }},
    {"1-D or 2-D windows", [](View v) { return has_windows(v, 1, 2); }},
    {"rank 2", [](View v) { return v.has_rank(0, 2, 2) && v.has_rank(1, 2, 2); }},
    {"rank 4", [](View v) { return v.has_rank(0, 4, 4); }},
    {"rank 2 or 4", has_rank_two_or_four},
    {"rank 3 to 5", [](View v) { return v.has_rank(0, 3, 5); }},
    {"rank up to 4", [](View v) { return v.has_rank(0, 0, 4); }},
    {"rank up to 5", [](View v) { return v.has_rank(0, 0, 5); }},
    {"constant weights", [](View v) { return v.is_constant(is_quantized_op(v) ? 3 : 1); }},
    {"constant bias", [](View v) { return v.is_constant(is_quantized_op(v) ? 8 : 2); }},
    {"constant scales and zero points", has_constant_scales},
    {"constant parameters", [](View v) { return v.are_constant(1); }},
    {"constant limits", [](View v) { return v.are_constant(2); }},
    {"constant inputs", [](View v) { return v.are_constant(0); }},
    {"one scale for a tensor", has_single_scales},
    {"the last axis", has_last_axis},
    {"equal parts", has_equal_parts},
    {"mode DCR", has_mode_dcr},
    {"mode DCR or a fixed shape", [](View v) { return has_mode_dcr(v) || has_fixed_input(v); }},
    {"mode constant", has_mode_constant},
    {"mode linear", is_linear},
    {"mode linear or nearest with floor", is_linear_or_floor},
    {"no tf_half_pixel_for_nn but for nearest with floor and rank 4", has_htp_coordinates},
    {"asymmetric coordinates", has_asymmetric_coordinates},
    {"exclude_outside 0", [](View v) { return v.is_set("exclude_outside", 0, 0); }},
    {"antialias 0", [](View v) { return v.is_set("antialias", 0, 0); }},
    {"no reflection unless align_corners", [](View v) { return !has_reflection(v); }},
    {"padding of the last two dimensions", pads_last_two},
    {"padding that is not negative", [](View v) { return is_non_negative(v, 1); }},
    {"indices that are not negative", [](View v) { return is_non_negative(v, 1); }},
    {"indices that are int32 or constant", has_plain_indices},
    {"indices that are no scalar", [](View v) { return v.has_rank(1, 1, 64); }},
    {"indices of 32 or 64 bits", [](View v) { return v.has_type(0, "ilu"); }},
    {"float32 inputs", [](View v) { return v.has_type(0, "f") && v.has_type(1, "f"); }},
    {"float branches", [](View v) { return v.has_type(1, "fh") && v.has_type(2, "fh"); }},
    {"uint8 or uint16 quantized inputs that are not both uint16", has_documented_pair},
    {"an input that is not quantized", has_plain_input},
    {"a slope for a channel", has_channel_slope},
    {"constant B or transB", [](View v) { return v.is_constant(1) || v.is_set("transB", 1, 0); }},
    {"transA 0, alpha 1 and beta 1", has_plain_gemm},
    {"no start and end", [](View v) { return v.is_set("start", 0, 0) && !v.has_attribute("end"); }},
    {"no auto_pad of the kind SAME", [](View v) { return !is_same_padded(v); }},
    {"no output_shape", [](View v) { return !v.has_attribute("output_shape"); }},
    {"output_padding 0", [](View v) { return is_all(v, "output_padding", 0); }},
    {"batch_dims 0", [](View v) { return v.is_set("batch_dims", 0, 0); }},
    {"center_point_box 0", [](View v) { return v.is_set("center_point_box", 0, 0); }},
    {"p 2", [](View v) { return v.is_set("p", 2, 2); }},
    {"p 1 or 2", [](View v) { return v.is_set("p", 1, 2) || v.is_set("p", 2, 2); }},
    {"layout 0", [](View v) { return v.is_set("layout", 0, 0); }},
    {"no clip", [](View v) { return !v.has_attribute("clip"); }},
    {"default activations", [](View v) { return !v.has_attribute("activations"); }},
    {"neither lengths nor a first state", [](View v) { return !v.has(4) && !v.has(5); }},
    {"one output", [](View v) { return v.node().outputs.size() == 1; }},
    {"DynamicQuantizeLinear in front and constant weights", is_behind_dynamic_quantization},
    {"ConvInteger or MatMulInteger behind it", feeds_integer_op},
});

// Finds the next part of a condition: the longest one that matches, because some parts contain ", ".
const Word* next_word(std::string_view condition) {
  const Word* longest = nullptr;
  for (const Word& word : kWords) {
    const bool fits = condition.starts_with(word.word);
    if (fits && (longest == nullptr || word.word.size() > longest->word.size())) longest = &word;
  }
  return longest;
}

std::string_view rest_after(const Word& word, std::string_view condition) {
  return condition.substr(std::min(condition.size(), word.word.size() + std::string_view(", ").size()));
}

}  // namespace

std::string_view unmet_word(std::string_view condition, const NodeView& view) {
  while (!condition.empty()) {
    const Word* const word = next_word(condition);
    if (!word->is_met(view)) return word->word;
    condition = rest_after(*word, condition);
  }
  return {};
}

bool has_known_words(std::string_view condition) {
  while (!condition.empty()) {
    const Word* const word = next_word(condition);
    if (word == nullptr) return false;
    condition = rest_after(*word, condition);
  }
  return true;
}

}  // namespace ounce::target
