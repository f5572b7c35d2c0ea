#include "support/example_tflite.h"

#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"
#include "support/tflite_builder.h"

namespace ounce::tflite {
namespace {

constexpr std::int64_t kSamePadding = 0, kValidPadding = 1;
constexpr std::int64_t kRelu6 = 3;

// A value of the ONNX model: [1, channels, length] in ONNX, [1, 1, length, channels] in TFLite.
struct Value {
  std::int32_t tensor = -1;
  std::int32_t length = 0, channels = 0;
};

class Converter {
 public:
  explicit Converter(const onnx::Model& source) : source_(*source.proto->graph) {
    builder_.model.description = "examples/commands/commands.onnx of Ounce, channels last";
  }

  Model run() {
    const onnx::ValueInfo& input = *source_.inputs[0];
    constexpr std::int32_t kSamples = 8000;
    const std::int32_t given = builder_.tensor(input.name, {1, 1, kSamples});
    const Value samples{builder_.tensor("samples", {1, 1, kSamples, 1}), kSamples, 1};
    const auto shape = builder_.integers("samples_shape", {4}, {1, 1, kSamples, 1});
    builder_.op(Builtin::kReshape, {given, shape}, {samples.tensor});
    values_[input.name] = samples;
    for (std::size_t i = 0; i < source_.nodes.size(); ++i) convert(i);
    builder_.inputs({given}).outputs({values_.at(source_.outputs[0]->name).tensor});
    builder_.signature("serving_default");
    return builder_.model;
  }

 private:
  void convert(std::size_t i) {
    const onnx::Node& node = *source_.nodes[i];
    switch (node.op()) {
      case Op::kConstant: break;  // the limits of Clip
      case Op::kConv: convert_conv(i); break;
      case Op::kClip:  // fused into the convolution if it is the only reader of its output
        if (!values_.contains(node.outputs[0])) {
          const Value from = values_.at(node.inputs[0]), to = like(node.outputs[0], from);
          builder_.op(Builtin::kRelu6, {from.tensor}, {to.tensor});
        }
        break;
      case Op::kAdd: {
        const Value a = values_.at(node.inputs[0]), to = like(node.outputs[0], a);
        builder_.op(Builtin::kAdd, {a.tensor, values_.at(node.inputs[1]).tensor}, {to.tensor}, "AddOptions");
        break;
      }
      case Op::kGlobalAveragePool: {
        const Value from = values_.at(node.inputs[0]);
        const Value to{builder_.tensor(node.outputs[0], {1, from.channels}), 1, from.channels};
        const auto axes = builder_.integers("axes", {2}, {1, 2});
        builder_.op(Builtin::kMean, {from.tensor, axes}, {to.tensor}, "ReducerOptions");
        values_[node.outputs[0]] = to;
        break;
      }
      case Op::kFlatten: values_[node.outputs[0]] = values_.at(node.inputs[0]); break;
      case Op::kGemm: convert_product(node); break;
      default:
        throw Error(ErrorCode::kUnsupported, "operator not supported by this conversion",
                    std::string(node.op_type()));
    }
  }

  Value like(Bytes name, const Value& other) {
    Value made{builder_.tensor(name, {1, 1, other.length, other.channels}), other.length, other.channels};
    values_[name] = made;
    return made;
  }

  const onnx::Tensor& initializer(Bytes name) const {
    for (const auto& tensor : source_.initializers) {
      if (tensor->name == name) return *tensor;
    }
    throw Error(ErrorCode::kInternal, "there is no such tensor", std::string(name));
  }

  static std::vector<float> values_of(const onnx::Tensor& tensor) {
    const onnx::RawValues raw(tensor);
    std::vector<float> values(raw.bytes().size() / sizeof(float));
    std::memcpy(values.data(), raw.bytes().data(), raw.bytes().size());
    return values;
  }

  // The Clip that is the only reader of the value of node `i`.
  const onnx::Node* clip_behind(std::size_t i) const {
    const onnx::Node* found = nullptr;
    for (const auto& other : source_.nodes) {
      for (const Bytes input : other->inputs) {
        if (input != source_.nodes[i]->outputs[0]) continue;
        if (found != nullptr || other->op() != Op::kClip) return nullptr;
        found = &*other;
      }
    }
    return found;
  }

  void convert_conv(std::size_t i) {
    const onnx::Node& node = *source_.nodes[i];
    Value from = values_.at(node.inputs[0]);
    const onnx::Tensor& weight = initializer(node.inputs[1]);
    const auto outputs = static_cast<std::int32_t>(weight.dims[0]),
               inputs = static_cast<std::int32_t>(weight.dims[1]),
               width = static_cast<std::int32_t>(weight.dims[2]);
    const auto setting = [&](const char* name, std::size_t place, std::int64_t fallback) {
      const auto list = onnx::integers_attribute(node, name);
      return static_cast<std::int32_t>(list && place < list->size() ? (*list)[place] : fallback);
    };
    const std::int32_t stride = setting("strides", 0, 1), before = setting("pads", 0, 0),
                       after = setting("pads", 1, 0);
    const bool is_depthwise = inputs == 1 && from.channels == outputs && from.channels != 1;
    const std::int32_t length = (from.length + before + after - width) / stride + 1;
    const std::int32_t total = std::max((length - 1) * stride + width - from.length, 0);
    const bool is_same = before + after != 0 && length == (from.length + stride - 1) / stride &&
                         before == total / 2 && after == total - total / 2;
    if (before + after != 0 && !is_same) {
      const Value padded{builder_.tensor(std::string(node.outputs[0]) + "_padded",
                                         {1, 1, from.length + before + after, from.channels}),
                         from.length + before + after, from.channels};
      const auto pads = builder_.integers(std::string(node.outputs[0]) + "_pads", {4, 2},
                                          {0, 0, 0, 0, before, after, 0, 0});
      builder_.op(Builtin::kPad, {from.tensor, pads}, {padded.tensor}, "PadOptions");
      from = padded;
    }
    // [outputs, inputs, width] becomes [outputs, 1, width, inputs]; for depthwise convolutions [1, 1, width,
    // outputs].
    const std::vector<float> given = values_of(weight);
    std::vector<float> moved(given.size());
    const auto at = [](std::int32_t index) { return static_cast<std::size_t>(index); };
    for (std::int32_t o = 0; o < outputs; ++o) {
      for (std::int32_t c = 0; c < inputs; ++c) {
        for (std::int32_t k = 0; k < width; ++k) {
          const float value = given[at((o * inputs + c) * width + k)];
          moved[at(is_depthwise ? k * outputs + o : (o * width + k) * inputs + c)] = value;
        }
      }
    }
    const auto w = builder_.weights(weight.name,
                                    is_depthwise ? TfliteBuilder::Shape{1, 1, width, outputs}
                                                 : TfliteBuilder::Shape{outputs, 1, width, inputs},
                                    moved);
    const auto b = builder_.weights(node.inputs[2], {outputs}, values_of(initializer(node.inputs[2])));
    const onnx::Node* clip = clip_behind(i);
    const Value to = like(clip != nullptr ? clip->outputs[0] : node.outputs[0], {-1, length, outputs});
    builder_.op(is_depthwise ? Builtin::kDepthwiseConv2D : Builtin::kConv2D, {from.tensor, w, b}, {to.tensor},
                is_depthwise ? "DepthwiseConv2DOptions" : "Conv2DOptions");
    Record& options = builder_.options();
    options.set("padding", is_same ? kSamePadding : kValidPadding);
    options.set("stride_w", std::int64_t{stride});
    options.set("stride_h", std::int64_t{stride});
    if (is_depthwise) options.set("depth_multiplier", std::int64_t{1});
    if (clip != nullptr) options.set("fused_activation_function", kRelu6);
  }

  void convert_product(const onnx::Node& node) {
    const Value from = values_.at(node.inputs[0]);
    const onnx::Tensor& weight = initializer(node.inputs[1]);
    const auto outputs = static_cast<std::int32_t>(weight.dims[0]);
    const auto w = builder_.weights(weight.name, {outputs, from.channels}, values_of(weight));
    const auto b = builder_.weights(node.inputs[2], {outputs}, values_of(initializer(node.inputs[2])));
    const Value to{builder_.tensor(node.outputs[0], {1, outputs}), 1, outputs};
    builder_.op(Builtin::kFullyConnected, {from.tensor, w, b}, {to.tensor}, "FullyConnectedOptions");
    values_[node.outputs[0]] = to;
  }

  const onnx::Graph& source_;
  TfliteBuilder builder_;
  std::map<Bytes, Value> values_;
};

}  // namespace

Model example_tflite(const std::filesystem::path& onnx_model) {
  const onnx::Model source = onnx::read_model(onnx_model);
  return Converter(source).run();
}

}  // namespace ounce::tflite
