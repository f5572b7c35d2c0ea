#include "formats/coreml/file/network.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/half.h"

namespace ounce::coreml {
namespace {

using protobuf::Cursor;
using protobuf::Origin;

constexpr std::size_t kMostLayers = std::size_t{1} << 22;

struct WeightRow {
  std::uint32_t field;
  const char* name;
};
struct LayerRow {
  std::uint32_t kind;
  const char* name;
  std::array<WeightRow, 4> weights = {};
};
// Layers with weights: numbers of the layer type and of the fields with weights.
constexpr auto kLayers = std::to_array<LayerRow>({
    {100, "convolution", {{{90, "weights"}, {91, "bias"}}}},
    {140, "innerProduct", {{{20, "weights"}, {21, "bias"}}}},
    {150, "embedding", {{{20, "weights"}, {21, "bias"}}}},
    {160, "batchnorm", {{{15, "gamma"}, {16, "beta"}, {17, "mean"}, {18, "variance"}}}},
    {245, "scale", {{{2, "scale"}, {5, "bias"}}}},
    {250, "bias", {{{2, "bias"}}}},
    {290, "loadConstant", {{{2, "data"}}}},
    {500, "custom", {{{20, "weights"}}}},
    {1040, "embeddingND", {{{20, "weights"}, {21, "bias"}}}},
    {1045, "batchedMatmul", {{{8, "weights"}, {9, "bias"}}}},
    {1070, "loadConstantND", {{{2, "data"}}}},
    {1350, "layerNormalization", {{{3, "gamma"}, {4, "beta"}}}},
    {1471, "convolution3d", {{{60, "weights"}, {61, "bias"}}}},
    {120, "pooling"},
    {130, "activation"},
    {175, "softmax"},
    {230, "add"},
    {231, "multiply"},
    {300, "reshape"},
    {301, "flatten"},
    {310, "permute"},
    {320, "concat"},
    {420, "uniDirectionalLSTM"},
    {430, "biDirectionalLSTM"},
    {410, "gru"},
});

const LayerRow* find_layer(std::uint32_t kind) {
  const auto* const found =
      std::find_if(kLayers.begin(), kLayers.end(), [&](const LayerRow& row) { return row.kind == kind; });
  return found == kLayers.end() ? nullptr : found;
}

class NetworkReader {
 public:
  explicit NetworkReader(const Model& model) : origin_{model.file.bytes(), model.path.string(), "Core ML"} {}

  std::vector<Layer> network(Bytes message) const {
    std::vector<Layer> layers;
    Cursor cursor(message, origin_, "NeuralNetwork");
    while (cursor.next()) {
      if (cursor.field<NetworkField>() != NetworkField::kLayer) {
        cursor.skip();
        continue;
      }
      if (layers.size() >= kMostLayers) cursor.fail("a network has too many layers");
      layers.push_back(layer(cursor.bytes()));
    }
    return layers;
  }

  // Returns the models of a pipeline as layers.
  std::vector<Layer> pipeline(Bytes message) const {
    std::vector<Layer> layers;
    std::vector<Bytes> names;
    Cursor cursor(message, origin_, "Pipeline");
    while (cursor.next()) {
      switch (cursor.field<PipelineField>()) {
        case PipelineField::kModel: layers.push_back(inner_model(cursor.bytes())); break;
        case PipelineField::kName: names.push_back(cursor.name()); break;
        default: cursor.skip();
      }
    }
    for (std::size_t i = 0; i < std::min(names.size(), layers.size()); ++i) layers[i].name = names[i];
    return layers;
  }
  Bytes wrapped(Bytes message) const {
    Bytes pipeline = "";
    Cursor cursor(message, origin_, "Pipeline");
    while (cursor.next()) {
      if (cursor.field<PipelineWrapperField>() == PipelineWrapperField::kPipeline) {
        pipeline = cursor.bytes();
      } else {
        cursor.skip();
      }
    }
    return pipeline;
  }

 private:
  Layer inner_model(Bytes message) const {
    Layer layer;
    Cursor cursor(message, origin_, "Model");
    while (cursor.next()) {
      if (cursor.number() >= kFirstContent) layer.kind = name_of_content(cursor.number());
      if (cursor.field<ModelField>() == ModelField::kDescription) {
        ports(cursor.bytes(), layer);
      } else {
        cursor.skip();
      }
    }
    return layer;
  }

  void ports(Bytes message, Layer& layer) const {
    Cursor cursor(message, origin_, "ModelDescription");
    while (cursor.next()) {
      const auto field = cursor.field<DescriptionField>();
      if (field != DescriptionField::kInput && field != DescriptionField::kOutput) {
        cursor.skip();
        continue;
      }
      Cursor feature(cursor.bytes(), origin_, "FeatureDescription");
      while (feature.next()) {
        if (feature.field<FeatureField>() == FeatureField::kName) {
          (field == DescriptionField::kInput ? layer.inputs : layer.outputs).push_back(feature.name());
        } else {
          feature.skip();
        }
      }
    }
  }

  Layer layer(Bytes message) const {
    Layer layer;
    Cursor cursor(message, origin_, "NeuralNetworkLayer");
    while (cursor.next()) {
      switch (cursor.field<LayerField>()) {
        case LayerField::kName: layer.name = cursor.name(); break;
        case LayerField::kInput: layer.inputs.push_back(cursor.name()); break;
        case LayerField::kOutput: layer.outputs.push_back(cursor.name()); break;
        default:
          if (cursor.number() < static_cast<std::uint32_t>(LayerField::kFirstKind) ||
              !cursor.is_length_delimited()) {
            cursor.skip();
            break;
          }
          const LayerRow* const row = find_layer(cursor.number());
          layer.kind = row == nullptr ? fmt::format("layer type {}", cursor.number()) : row->name;
          const Bytes parameters = cursor.bytes();
          if (row != nullptr) weights(parameters, *row, layer);
      }
    }
    return layer;
  }

  void weights(Bytes message, const LayerRow& row, Layer& layer) const {
    Cursor cursor(message, origin_, "layer parameters");
    while (cursor.next()) {
      const auto* const found = std::find_if(
          row.weights.begin(), row.weights.end(),
          [&](const WeightRow& weight) { return weight.field == cursor.number() && weight.field != 0; });
      if (found == row.weights.end() || !cursor.is_length_delimited()) {
        cursor.skip();
        continue;
      }
      LayerWeight read = weight(cursor.bytes());
      read.name = found->name;
      if (!read.bytes.empty()) layer.weights.push_back(std::move(read));
    }
  }

  LayerWeight weight(Bytes message) const {
    LayerWeight weight;
    Cursor cursor(message, origin_, "WeightParams");
    const auto values = [&](ElementType type, std::size_t width) {
      const Bytes bytes = cursor.bytes();
      if (width != 0 && bytes.size() % width != 0) cursor.fail("a weight has an incomplete value");
      if (bytes.empty()) return;
      if (!weight.bytes.empty()) cursor.fail("a weight appears twice");
      weight.type = type;
      weight.bytes = bytes;
      weight.dims = {static_cast<std::int64_t>(bytes.size() / std::max<std::size_t>(width, 1))};
    };
    while (cursor.next()) {
      switch (cursor.field<WeightField>()) {
        case WeightField::kFloat: values(ElementType::kFloat, sizeof(float)); break;
        case WeightField::kFloat16: values(ElementType::kFloat16, sizeof(std::uint16_t)); break;
        case WeightField::kRaw: values(ElementType::kUint8, 0); break;
        case WeightField::kInt8Raw: values(ElementType::kInt8, 0); break;
        case WeightField::kQuantization: quantization(cursor.bytes(), weight); break;
        default: cursor.skip();
      }
    }
    return weight;
  }

  void quantization(Bytes message, LayerWeight& weight) const {
    Cursor cursor(message, origin_, "QuantizationParams");
    std::int64_t bits = 0;
    while (cursor.next()) {
      switch (cursor.field<QuantizationField>()) {
        case QuantizationField::kBits: bits = cursor.integer(); break;
        case QuantizationField::kLinear: linear(cursor.bytes(), weight); break;
        case QuantizationField::kLookup: floats(cursor.bytes(), 1, weight.table); break;
        default: cursor.skip();
      }
    }
    if (bits < 0 || bits > 8) cursor.fail(fmt::format("a weight has {} bits", bits));
    weight.bits = static_cast<unsigned>(bits);
  }

  void linear(Bytes message, LayerWeight& weight) const {
    floats(message, static_cast<std::uint32_t>(LinearField::kScale), weight.scales);
    floats(message, static_cast<std::uint32_t>(LinearField::kBias), weight.biases);
  }

  // Reads the packed floats of a field.
  void floats(Bytes message, std::uint32_t field, std::vector<float>& values) const {
    Cursor cursor(message, origin_, "QuantizationParams");
    while (cursor.next()) {
      if (cursor.number() != field) {
        cursor.skip();
        continue;
      }
      if (!cursor.is_length_delimited()) cursor.fail("numbers are not packed");
      const Bytes packed = cursor.entries(sizeof(float)).packed;
      const std::size_t before = values.size();
      values.resize(before + packed.size() / sizeof(float));
      std::memcpy(values.data() + before, packed.data(), packed.size());
    }
  }

  Origin origin_;
};

}  // namespace

std::vector<Layer> read_layers(const Model& model) {
  const NetworkReader reader(model);
  switch (static_cast<ModelField>(model.proto->content)) {
    case ModelField::kNeuralNetwork:
    case ModelField::kNeuralNetworkClassifier:
    case ModelField::kNeuralNetworkRegressor: return reader.network(model.proto->body);
    case ModelField::kPipeline: return reader.pipeline(model.proto->body);
    case ModelField::kPipelineClassifier:
    case ModelField::kPipelineRegressor: return reader.pipeline(reader.wrapped(model.proto->body));
    default: return {};
  }
}

namespace {

// The value at an index; the first one is in the highest bits.
unsigned code_at(Bytes bytes, std::size_t index, unsigned bits) {
  unsigned code = 0;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const std::size_t at = index * bits + bit;
    code = code << 1U | ((unsigned{static_cast<unsigned char>(bytes[at / 8])} >> (7 - at % 8)) & 1U);
  }
  return code;
}

}  // namespace

std::vector<float> decode(const LayerWeight& weight) {
  const auto refuse = [&](const char* what) {
    throw Error(ErrorCode::kBadInput, what, fmt::format("weight '{}'", weight.name));
  };
  std::vector<float> values;
  if (weight.type == ElementType::kFloat) {
    values.resize(weight.bytes.size() / sizeof(float));
    std::memcpy(values.data(), weight.bytes.data(), weight.bytes.size());
    return values;
  }
  if (weight.type == ElementType::kFloat16) {
    values.resize(weight.bytes.size() / 2);
    kernels::f16_to_f32(reinterpret_cast<const std::byte*>(weight.bytes.data()), values.size(),
                        values.data());
    return values;
  }
  if (weight.bits == 0) refuse("quantized values without a number of bits");
  values.resize(weight.bytes.size() * 8 / weight.bits);
  if (!weight.table.empty()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const unsigned code = code_at(weight.bytes, i, weight.bits);
      if (code >= weight.table.size()) refuse("an index is beyond its lookup table");
      values[i] = weight.table[code];
    }
    return values;
  }
  const std::size_t channels = weight.scales.size();
  const bool fits = channels != 0 && (weight.biases.size() == channels || weight.biases.empty()) &&
                    values.size() >= channels;
  if (!fits) refuse("quantized values without matching scales");
  const std::size_t row = values.size() / channels;  // ignores padding of the last byte
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = std::min(i / row, channels - 1);
    const float bias = weight.biases.empty() ? 0.0F : weight.biases[channel];
    values[i] = static_cast<float>(code_at(weight.bytes, i, weight.bits)) * weight.scales[channel] + bias;
  }
  return values;
}

}  // namespace ounce::coreml
