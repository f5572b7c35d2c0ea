#include "target/provider_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "graph/constants.h"
#include "onnx/attributes.h"
#include "onnx/op_schemas.h"
#include "onnx/settings.h"
#include "onnx/types.h"
#include "onnx/values.h"

namespace ounce::target {

using graph::Bytes;
using onnx::ElementType;

// A node as conditions see it. Questions about what nobody says have no answer.
class NodeView {
 public:
  static constexpr std::size_t kMostInputs = 16;  // no op with a condition has more; a hostile node may

  NodeView(const ProviderDocs& docs, std::size_t body, const onnx::Node& node)
      : docs_(docs), body_(body), node_(node) {}

  const onnx::Node& node() const { return node_; }
  bool has(std::size_t input) const { return !graph::input_of(node_, input).empty(); }
  bool is_constant(std::size_t input) const {
    return !has(input) || docs_.is_constant(body_, graph::input_of(node_, input));
  }
  bool are_constant(std::size_t first) const {
    for (std::size_t i = first; i < kMostInputs; ++i)
      if (!is_constant(i)) return false;
    return true;
  }
  const std::optional<std::vector<std::int64_t>>& shape(std::size_t input) const {
    return docs_.fact(body_, graph::input_of(node_, input)).shape;
  }
  bool has_rank(std::size_t input, std::size_t least, std::size_t most) const {
    const auto& dims = shape(input);
    return !dims || (dims->size() >= least && dims->size() <= most);
  }
  bool is_varying(Bytes name) const { return docs_.fact(body_, name).is_varying; }
  // kUndefined when nobody says it.
  ElementType type(std::size_t input) const { return type_of(graph::input_of(node_, input)); }
  ElementType type_of(Bytes name) const {
    return name.empty() ? ElementType::kUndefined : docs_.types_.type(body_, name);
  }
  bool has_type(std::size_t input, std::string_view letters) const {
    const ElementType known = type(input);
    return known == ElementType::kUndefined || is_among(known, letters);
  }
  static bool is_among(ElementType type, std::string_view letters) {
    return std::any_of(letters.begin(), letters.end(),
                       [&](char letter) { return letter == '*' || onnx::type_of_letter(letter) == type; });
  }
  bool has_attribute(Bytes name) const { return onnx::find_attribute(node_, name) != nullptr; }
  bool is_set(Bytes name, std::int64_t value, std::int64_t otherwise) const {
    return onnx::integer_setting(node_, name, otherwise).value_or(value) == value;
  }
  bool is_set(Bytes name, Bytes value, Bytes otherwise) const {
    return onnx::string_setting(node_, name, otherwise).value_or(value) == value;
  }
  std::int64_t opset() const { return graph::opset_of(docs_.model_, docs_.index_, body_); }
  // The node that computes an input; null for inputs of the graph and initializers.
  const onnx::Node* producer(std::size_t input) const {
    const auto [value, home] = docs_.index_.find(body_, graph::input_of(node_, input));
    if (value == nullptr || value->producer == graph::kNone) return nullptr;
    return &*docs_.index_.bodies()[home].nodes()[value->producer];
  }
  // The type that an input has before a DequantizeLinear in front of the node; kUndefined without one.
  ElementType quantized_type(std::size_t input) const {
    const onnx::Node* const source = producer(input);
    if (source == nullptr || source->op_type != "DequantizeLinear") return ElementType::kUndefined;
    return type_of(graph::input_of(*source, 0));
  }
  const graph::Value* output() const {
    return node_.outputs.empty() ? nullptr : docs_.index_.find(body_, node_.outputs[0]).value;
  }
  const graph::Index& index() const { return docs_.index_; }
  // The values of a small constant of whole numbers.
  std::optional<std::vector<std::int64_t>> integers(std::size_t input) const;

 private:
  const ProviderDocs& docs_;
  std::size_t body_;
  const onnx::Node& node_;
};

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

namespace {

// The words of conditions, and what they ask of a node.

// The dimensions that a window moves over.
bool has_windows(const NodeView& view, std::size_t least, std::size_t most) {
  if (view.shape(0)) return view.has_rank(0, least + 2, most + 2);
  const auto kernel = onnx::integers_attribute(view.node(), "kernel_shape");
  return !kernel || (kernel->size() >= least && kernel->size() <= most);
}

// Ops of integers have a scale and a zero point behind every operand.
bool is_quantized_op(const NodeView& view) { return view.node().op_type.starts_with("QLinear"); }

bool has_two_operands(const NodeView& view) {
  const Bytes op = view.node().op_type;
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

// What matrices may be quantized to, if they are.
bool has_documented_pair(const NodeView& view) {
  const ElementType a = view.quantized_type(0), b = view.quantized_type(1);
  if (a == ElementType::kUndefined || b == ElementType::kUndefined) return true;
  return NodeView::is_among(a, "ov") && NodeView::is_among(b, "ov") &&
         !(a == ElementType::kUint16 && b == ElementType::kUint16);
}

bool is_behind_dynamic_quantization(const NodeView& view) {
  const onnx::Node* const source = view.producer(0);
  return source != nullptr && source->op_type == "DynamicQuantizeLinear" && view.is_constant(1);
}

bool feeds_integer_op(const NodeView& view) {
  const graph::Value* const output = view.output();
  if (output == nullptr || output->uses.empty()) return false;
  return std::all_of(output->uses.begin(), output->uses.end(), [&](const graph::Use& use) {
    const Bytes op = view.index().node(use).op_type;
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

// A condition has several of these, with ", " between them, which some have inside as well: the longest that
// fits comes next.
constexpr const Word* next_word(std::string_view condition) {
  const Word* longest = nullptr;
  for (const Word& word : kWords) {
    const bool fits = condition.starts_with(word.word);
    if (fits && (longest == nullptr || word.word.size() > longest->word.size())) longest = &word;
  }
  return longest;
}

constexpr std::string_view rest_after(const Word& word, std::string_view condition) {
  return condition.substr(std::min(condition.size(), word.word.size() + std::string_view(", ").size()));
}

constexpr bool has_known_words(std::span<const ProviderOp> ops) {
  for (const ProviderOp& op : ops) {
    for (std::string_view rest = op.condition; !rest.empty();) {
      const Word* const word = next_word(rest);
      if (word == nullptr) return false;
      rest = rest_after(*word, rest);
    }
  }
  return true;
}

// The pages.

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr auto kXnnpack = std::to_array<ProviderOp>({
    {"AveragePool", "2-D windows"},
    {"Conv ConvTranspose", "2-D windows, constant weights, constant bias"},
    {"Gemm MatMul", "rank 2"},
    {"MaxPool", "2-D windows", "fhoc"},
    {"QLinearAveragePool", "2-D windows, constant scales and zero points", "oc", kMicrosoft},
    {"QLinearConv", "2-D windows, constant weights, constant bias, constant scales and zero points", "oc"},
    {"QLinearConvTranspose QLinearSoftmax", "constant scales and zero points", "oc", kMicrosoft},
    {"Resize", "rank 2 or 4, mode linear", "fhoc"},
    {"Softmax", "the last axis"},
});

constexpr auto kNnapi = std::to_array<ProviderOp>({
    {"Abs BatchNormalization Clip Elu Exp Flatten Floor LRN LeakyRelu Log MatMul Max Min PRelu Pow "
     "ReduceMean Relu Reshape Sigmoid Sin Softmax Sqrt Tanh"},
    {"Add Cast Div Mul Neg Slice Sub", "", "fi"},
    {"AveragePool GlobalAveragePool GlobalMaxPool", "2-D windows"},
    {"Concat Transpose", "", "foc"},
    {"Conv", "2-D windows, constant weights, constant bias"},
    {"DepthToSpace", "mode DCR"},
    {"DequantizeLinear", "constant scales and zero points", "oci"},
    {"Gather", "indices that are int32 or constant", "fio"},
    {"Gemm", "constant B or transB"},
    {"Identity", "", "fio"},
    {"MaxPool", "2-D windows", "foc"},
    {"Pad", "mode constant, constant parameters, padding that is not negative"},
    {"QLinearAdd QLinearSigmoid", "constant scales and zero points", "oc", kMicrosoft},
    {"QLinearAveragePool", "2-D windows, constant scales and zero points", "oc", kMicrosoft},
    {"QLinearConv", "2-D windows, constant weights, constant bias, constant scales and zero points", "oc"},
    {"QLinearMatMul", "constant scales and zero points", "oc"},
    {"QuantizeLinear", "constant scales and zero points"},
    {"Resize", "rank 4"},
    {"Split", "constant parameters, equal parts"},
    {"Squeeze Unsqueeze", "constant parameters"},
});

constexpr auto kNeuralNetwork = std::to_array<ProviderOp>({
    {"Add ArgMax BatchNormalization Clip Concat Div Flatten LRN LeakyRelu Mul Reciprocal ReduceSum "
     "Relu Reshape Sigmoid Softmax Sqrt Squeeze Sub Tanh Transpose"},
    {"AveragePool GlobalAveragePool GlobalMaxPool MaxPool", "2-D windows"},
    {"Cast", "", "*"},
    {"Conv", "1-D or 2-D windows, constant weights, constant bias"},
    {"DepthToSpace", "mode DCR"},
    {"Gather", "indices that are no scalar", "fl"},
    {"Gemm", "constant weights, transA 0, alpha 1 and beta 1"},
    {"MatMul", "constant weights"},
    {"PRelu", "constant weights, a slope for a channel"},
    {"Pad", "mode constant, constant parameters, padding of the last two dimensions"},
    {"Pow", "float32 inputs"},
    {"Resize",
     "rank 4, asymmetric coordinates, mode linear or nearest with floor, exclude_outside 0, constant "
     "parameters"},
    {"Shape", "no start and end", "*"},
    {"Slice", "constant parameters", "fl"},
    {"Split", "constant parameters"},
});

constexpr auto kMlProgram = std::to_array<ProviderOp>({
    {"Add ArgMax Ceil Clip Concat Cos Div Elu Erf Exp Gelu GroupNormalization HardSigmoid Identity "
     "InstanceNormalization LayerNormalization LeakyRelu MatMul Max Mul PRelu Reciprocal ReduceMax "
     "ReduceMean ReduceSum Relu Reshape Round Sigmoid Sin Softmax Softplus Sqrt Squeeze Sub Tanh "
     "Transpose Unsqueeze"},
    {"And", "", "b"},
    {"AveragePool GlobalAveragePool GlobalMaxPool MaxPool", "2-D windows"},
    {"Cast Shape", "", "*"},
    {"Conv", "1-D or 2-D windows, constant bias"},
    {"ConvTranspose",
     "constant weights, constant bias, no auto_pad of the kind SAME, no output_shape, output_padding 0"},
    {"DepthToSpace", "mode DCR or a fixed shape"},
    {"FusedConv", "1-D or 2-D windows, constant bias", "", kMicrosoft},
    {"GatherND", "batch_dims 0", "fhil"},
    {"Gemm", "constant weights, transA 0, alpha 1 and beta 1"},
    {"GridSample", "rank 4, no reflection unless align_corners"},
    {"Pow", "float32 inputs"},
    {"QuickGelu", "", "", kMicrosoft},
    {"Resize", "rank 3 to 5, mode linear or nearest with floor, antialias 0, exclude_outside 0"},
    {"Slice", "constant parameters", "fhil"},
    {"Split", "constant parameters"},
    {"Tile", "rank up to 5", "fhil"},
    {"Where", "float branches", "b"},
});

constexpr auto kQnn = std::to_array<ProviderOp>({
    {"Abs Add And ArgMax ArgMin Asin Atan AveragePool BatchNormalization Cast CastLike Ceil Clip "
     "Concat Conv ConvTranspose Cos CumSum DepthToSpace Div Einsum Elu Equal Exp Expand Flatten Floor "
     "GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual "
     "GridSample GroupNormalization HardSigmoid HardSwish Identity InstanceNormalization IsNaN LRN "
     "LSTM LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Max MaxPool Mean Min Mod Mul "
     "Neg NonZero Not Or PRelu Pad Pow QuantizeLinear RMSNormalization RandomNormalLike "
     "RandomUniformLike Reciprocal ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu "
     "Reshape RoiAlign RotaryEmbedding Round STFT ScatterElements ScatterND Selu Shape Sigmoid Sign "
     "Sin Slice Softmax Softplus SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu "
     "Tile TopK Transpose Unsqueeze Upsample Where Xor"},
    {"ConvInteger MatMulInteger", "DynamicQuantizeLinear in front and constant weights"},
    {"DequantizeLinear", "", "*"},
    {"DequantizeLinear", "", "*", kMicrosoft},
    {"DynamicQuantizeLinear", "ConvInteger or MatMulInteger behind it"},
    {"FusedMatMul Gelu Inverse MatMulNBits QuantizeLinear QuickGelu RMSNormalization RotaryEmbedding "
     "SimplifiedLayerNormalization",
     "", "", kMicrosoft},
    {"GRU", "layout 0, no clip, default activations, neither lengths nor a first state"},
    {"Gather", "indices that are not negative"},
    {"If", "one output"},
    {"LpNormalization", "p 2"},
    {"LpPool", "p 1 or 2, rank up to 4"},
    {"MatMul", "uint8 or uint16 quantized inputs that are not both uint16"},
    {"NonMaxSuppression", "constant limits, center_point_box 0"},
    {"OneHot", "constant parameters, indices of 32 or 64 bits"},
    {"QLinearMatMul", "one scale for a tensor", "oc"},
    {"Range", "constant inputs"},
    {"ReduceLogSumExp", "an input that is not quantized"},
    {"Resize", "no tf_half_pixel_for_nn but for nearest with floor and rank 4"},
});

static_assert(has_known_words(kXnnpack) && has_known_words(kNnapi) && has_known_words(kNeuralNetwork) &&
              has_known_words(kMlProgram) && has_known_words(kQnn));

constexpr auto kPages = std::to_array<ProviderPage>({
    {.provider = "coreml",
     .source = "coreml_supported_neuralnetwork_ops.md of ONNX Runtime 1.31.1, 2026",
     .note = "float32 only; models of the kind MLProgram take more",
     .types = "f",
     .ops = kNeuralNetwork},
    {.provider = "coreml-mlprogram",
     .source = "coreml_supported_mlprogram_ops.md of ONNX Runtime 1.31.1, 2026",
     .note = "needs iOS 15 or macOS 12",
     .types = "fhl",
     .ops = kMlProgram},
    {.provider = "nnapi",
     .source = "nnapi_supported_ops.md of ONNX Runtime 1.31.1, 2026",
     .note = "what the phone's driver lacks runs on NNAPI's own, slow CPU code",
     .types = "f",
     .needs_fixed_shapes = true,
     .ops = kNnapi},
    {.provider = "qnn",
     .source =
         "QNN-ExecutionProvider.md of the QNN provider 2.5.0 for ONNX Runtime 1.24.1 and newer, August 2026",
     .note = "HTP: float32 is computed as float16; 8-bit and 16-bit integers are faster",
     .types = "fhocvwiulmb",
     .needs_fixed_shapes = true,
     .ops = kQnn},
    {.provider = "xnnpack",
     .source = "Xnnpack-ExecutionProvider.md for ONNX Runtime 1.14 and newer, September 2024",
     .note = "every node is computed on its own; there are no islands to compile",
     .types = "fh",
     .enters_bodies = true,
     .takes_quantized_ops = true,
     .ops = kXnnpack},
});

std::string key_of(Bytes domain, Bytes op_type) {
  return fmt::format("{}:{}", onnx::is_default_domain(domain) ? Bytes() : domain, op_type);
}

std::optional<std::vector<std::int64_t>> shape_of(const onnx::ValueType& type) {
  if (!type.has_shape) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const onnx::Dimension& dimension : type.shape) dims.push_back(dimension.value);
  return dims;
}

bool is_quantize_or_dequantize(const onnx::Node& node) {
  return node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear";
}

bool is_random(const onnx::Node& node) {
  return node.op_type.starts_with("Random") || node.op_type == "Bernoulli" || node.op_type == "Multinomial";
}

// Ops whose output has as many dimensions as their first input, and those that have as many as the largest.
constexpr std::string_view kLikeTheFirst =
    " AveragePool BatchNormalization Cast Clip Conv ConvTranspose DequantizeLinear Elu GlobalAveragePool "
    "GlobalMaxPool HardSigmoid HardSwish Identity InstanceNormalization LeakyRelu MaxPool PRelu Pad "
    "QuantizeLinear Relu Resize Sigmoid Softmax Tanh ";
constexpr std::string_view kLikeTheLargest = " Add Div Max Min Mul Sub ";

constexpr std::size_t kMostDimensions = 64;  // a copy for every node behind a hostile shape would be too much

bool is_listed(const onnx::Node& node, std::string_view ops) {
  return onnx::is_default_domain(node.domain) &&
         ops.find(fmt::format(" {} ", node.op_type)) != std::string_view::npos;
}

bool holds_graphs(const onnx::Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const auto& attribute) { return !attribute->graphs.empty(); });
}

}  // namespace

std::span<const ProviderPage> provider_pages() { return kPages; }

const ProviderPage* find_provider_page(std::string_view provider) {
  const auto* const found = std::find_if(kPages.begin(), kPages.end(),
                                         [&](const ProviderPage& page) { return page.provider == provider; });
  return found == kPages.end() ? nullptr : found;
}

ProviderDocs::ProviderDocs(const ProviderPage& page, const onnx::Model& model, const graph::Index& index,
                           const graph::ElementTypes& types)
    : page_(page), model_(model), index_(index), types_(types) {
  for (const ProviderOp& op : page.ops) {
    for (std::string_view rest = op.op_types; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      ops_.emplace(key_of(op.domain, rest.substr(0, end)), &op);
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  }
  for (std::size_t body = 0; body < index.bodies().size(); ++body) {  // parents before children
    read_declarations(body);
    follow_nodes(body);
  }
}

void ProviderDocs::read_declarations(std::size_t body) {
  const onnx::Graph* const graph = index_.bodies()[body].graph;
  if (graph == nullptr) return;
  const auto declare = [&](const onnx::ValueInfo& info) {
    const auto [value, home] = index_.find(body, info.name);
    if (value == nullptr || home != body) return;
    Fact& known = facts_[value];
    known.shape = shape_of(onnx::read_type(info.type));
    known.is_declared = known.shape.has_value();
    known.is_varying = known.shape && std::any_of(known.shape->begin(), known.shape->end(),
                                                  [](auto dim) { return dim < 0; });
  };
  for (const auto& info : graph->inputs) declare(*info);
  for (const auto& info : graph->outputs) declare(*info);
  for (const auto& info : graph->value_infos) declare(*info);
  for (const auto& tensor : graph->initializers) {
    const auto constant = graph::find_constant(model_, index_, body, tensor->name);
    if (constant) facts_[constant->value] = {true, false, true, tensor->dims};
  }
}

// As far as it can be told without the arithmetic of shapes: often only the number of dimensions.
std::optional<std::vector<std::int64_t>> ProviderDocs::shape_after(std::size_t body,
                                                                   const onnx::Node& node) const {
  if (const onnx::Tensor* const tensor = graph::constant_tensor(node)) return tensor->dims;
  const bool is_like_all = is_listed(node, kLikeTheLargest);
  if (!is_like_all && !is_listed(node, kLikeTheFirst)) return std::nullopt;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < (is_like_all ? node.inputs.size() : 1); ++i) {
    const auto& shape = fact(body, graph::input_of(node, i)).shape;
    if (!shape) return std::nullopt;
    rank = std::max(rank, shape->size());
  }
  if (rank > kMostDimensions) return std::nullopt;
  return std::vector<std::int64_t>(rank, -1);
}

// In the order of the file, which is the order of computing: what a shape or a constant means for those that
// come after it.
void ProviderDocs::follow_nodes(std::size_t body) {
  for (const auto& kept : index_.bodies()[body].nodes()) {
    const onnx::Node& node = *kept;
    const bool is_literal = onnx::is_op(node, "Constant");
    bool is_constant = is_literal || (!node.inputs.empty() && !is_random(node) && !holds_graphs(node));
    bool is_varying = false;
    for (const Bytes input : node.inputs) {
      if (input.empty()) continue;
      const Fact& known = fact(body, input);
      is_constant = is_constant && known.is_constant;
      is_varying = is_varying || known.is_varying;
    }
    const auto shape = shape_after(body, node);
    for (const Bytes output : node.outputs) {
      const auto [value, home] = index_.find(body, output);
      if (output.empty() || value == nullptr) continue;
      Fact& known = facts_[value];
      known.is_constant = is_constant;
      if (!known.is_declared) known.is_varying = is_varying && !onnx::is_op(node, "Shape");
      if (!known.shape) known.shape = shape;
    }
  }
}

const ProviderDocs::Fact& ProviderDocs::fact(std::size_t body, Bytes name) const {
  static const Fact nothing;
  if (name.empty()) return nothing;
  const auto found = facts_.find(index_.find(body, name).value);
  return found == facts_.end() ? nothing : found->second;
}

bool ProviderDocs::is_constant(std::size_t body, Bytes name) const { return fact(body, name).is_constant; }

bool ProviderDocs::is_folded(std::size_t body, std::size_t position) const {
  const onnx::Node& node = *index_.bodies()[body].nodes()[position];
  return node.op_type != "DequantizeLinear" && !node.outputs.empty() &&
         std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](Bytes name) { return name.empty() || is_constant(body, name); });
}

const ProviderOp* ProviderDocs::find(const onnx::Node& node) const {
  const auto found = ops_.find(key_of(node.domain, node.op_type));
  return found == ops_.end() ? nullptr : found->second;
}

// x ─ DequantizeLinear ─ Conv ─ QuantizeLinear ─ y: all three, if the provider takes the one in the middle.
bool ProviderDocs::belongs_to_quantized_op(std::size_t body, std::size_t position) const {
  const onnx::Node& node = *index_.bodies()[body].nodes()[position];
  const auto is_taken = [&](std::size_t home, std::size_t other) {
    std::string ignored;
    return !is_quantize_or_dequantize(*index_.bodies()[home].nodes()[other]) &&
           documents(home, other, ignored);
  };
  if (node.op_type == "QuantizeLinear") {
    const auto [value, home] = index_.find(body, graph::input_of(node, 0));
    return value != nullptr && value->producer != graph::kNone && is_taken(home, value->producer);
  }
  const graph::Value* const output =
      node.outputs.empty() ? nullptr : index_.find(body, node.outputs[0]).value;
  return output != nullptr && !output->uses.empty() &&
         std::all_of(output->uses.begin(), output->uses.end(),
                     [&](const graph::Use& use) { return is_taken(use.body, use.node); });
}

bool ProviderDocs::documents(std::size_t body, std::size_t position, std::string& why_not) const {
  const onnx::Node& node = *index_.bodies()[body].nodes()[position];
  if (!page_.enters_bodies && index_.bodies()[body].parent != graph::kNone) {
    why_not = "inside of another node";
    return false;
  }
  if (page_.takes_quantized_ops && is_quantize_or_dequantize(node)) {
    why_not = "the op that it belongs to is not taken";
    return belongs_to_quantized_op(body, position);
  }
  const ProviderOp* const op = find(node);
  if (op == nullptr) {
    why_not = "not in the list";
    return false;
  }
  const NodeView view(*this, body, node);
  if (!view.has_type(0, op->types.empty() ? page_.types : op->types)) {
    why_not = fmt::format("not for {}", onnx::name_of(view.type(0)));
    return false;
  }
  for (std::string_view rest = op->condition; !rest.empty();) {
    const Word* const word = next_word(rest);  // there is one: see above
    if (!word->is_met(view)) {
      why_not = fmt::format("only with {}", word->word);
      return false;
    }
    rest = rest_after(*word, rest);
  }
  if (!page_.needs_fixed_shapes) return true;
  for (const auto* names : {&node.inputs, &node.outputs}) {
    for (const Bytes name : *names) {
      if (!view.is_varying(name)) continue;
      why_not = fmt::format("only with fixed shapes: '{}' has none", name);
      return false;
    }
  }
  return true;
}

}  // namespace ounce::target
