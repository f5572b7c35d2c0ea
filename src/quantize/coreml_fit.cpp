#include "quantize/coreml_fit.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>

#include "base/cancel.h"
#include "calibration/gram.h"
#include "formats/coreml/file/values.h"
#include "formats/coreml/file/writer.h"
#include "io/temporary_files.h"
#include "quant/reconstruct.h"
#include "quant/weighted_scale.h"
#include "quantize/trial.h"

namespace ounce::quantization {
namespace {

using coreml::CoremlFile;
using coreml::Decision;
using coreml::Operation;
using coreml::Value;
using kernels::Affine;

constexpr std::uint64_t kMostFitMemory = std::uint64_t{1} << 29;  // bytes for the statistics of one pass

// A weight to fit. Its rows are the weights of one channel.
struct FittedLayer {
  Decision* decision = nullptr;
  std::string input;  // the value that it is multiplied with
  calibration::Unfolding unfolding = calibration::Unfolding::of_matrix(1);
  std::optional<calibration::Gram> gram;

  // The weight is stored as [K, N]: by input, then by channel.
  bool is_transposed() const {
    return decision->weight.channels->first == 1 && (is_matrix || is_upsampling());
  }
  bool is_matrix = false;
  // The strides of a transposed convolution: a convolution of the input with zeros between its values and
  // with reversed kernels. Empty for others.
  std::vector<std::int64_t> upsampling;
  bool is_upsampling() const { return !upsampling.empty(); }
  std::size_t taps() const { return is_upsampling() ? decision->weight.kernel_taps : 1; }
};

// A constant parameter of an operation.
const Value* constant_of(const CoremlFile& file, model::NodeId node, std::string_view parameter) {
  const Operation& operation = file.operation(node);
  if (const Value* value = coreml::bound_value(operation, parameter); value != nullptr) return value;
  const auto name = coreml::bound_name(operation, parameter);
  return name ? file.constant_named(node, *name) : nullptr;
}

std::vector<std::int64_t> integers(const CoremlFile& file, model::NodeId node, std::string_view parameter) {
  const Value* const value = constant_of(file, node, parameter);
  return value == nullptr ? std::vector<std::int64_t>()
                          : coreml::integers_of(*value).value_or(std::vector<std::int64_t>());
}

bool flag(const CoremlFile& file, model::NodeId node, std::string_view parameter) {
  const Value* const value = constant_of(file, node, parameter);
  return value != nullptr && coreml::bool_of(*value).value_or(false);
}

// The padding of a convolution in the order of calibration::Convolution; empty if it depends on the size of
// the input.
std::optional<std::vector<std::int64_t>> padding(const CoremlFile& file, model::NodeId node,
                                                 const calibration::Convolution& convolution) {
  const Value* const value = constant_of(file, node, "pad_type");
  const std::string_view type = value == nullptr ? "valid" : coreml::string_of(*value).value_or("valid");
  const std::size_t axes = convolution.kernel.size();
  std::vector<std::int64_t> pads(2 * axes, 0);
  if (type == "custom") {
    const std::vector<std::int64_t> given = integers(file, node, "pad");
    if (given.empty()) return pads;
    if (given.size() != pads.size()) return std::nullopt;
    for (std::size_t i = 0; i < axes; ++i) {
      pads[i] = given[2 * i];
      pads[axes + i] = given[2 * i + 1];
    }
    return pads;
  }
  if (type == "valid") return pads;
  for (std::size_t i = 0; i < axes; ++i) {
    if (!convolution.strides.empty() && convolution.strides[i] != 1) return std::nullopt;
    const std::int64_t dilation = convolution.dilations.empty() ? 1 : convolution.dilations[i];
    const std::int64_t total = (convolution.kernel[i] - 1) * dilation;
    pads[i] = type == "same_lower" ? (total + 1) / 2 : total / 2;
    pads[axes + i] = total - pads[i];
  }
  return pads;
}

class Finder {
 public:
  Finder(const CoremlFile& file, CoremlFit& result) : file_(file), result_(result) {}

  std::vector<FittedLayer> find(coreml::Plan& plan) {
    std::vector<FittedLayer> layers;
    std::map<const Operation*, const coreml::Weight*> uses;
    const std::vector<coreml::Weight> weights = coreml::find_weights(file_);
    for (const coreml::Weight& weight : weights) uses[weight.constant] = &weight;
    for (Decision& decision : plan.decisions) {
      if (!decision.is_stored() || !decision.weight.fits_nbits() || decision.is_half()) continue;
      FittedLayer layer;
      layer.decision = &decision;
      const std::string why = describe(*uses.at(decision.constant), layer);
      if (why.empty()) {
        layers.push_back(std::move(layer));
      } else {
        result_.left_alone.push_back(fmt::format("{}: {}", decision.weight.name, why));
      }
    }
    return layers;
  }

 private:
  // Returns why the weight is not fitted; empty if it is.
  std::string describe(const coreml::Weight& weight, FittedLayer& layer) const {
    if (!layer.decision->is_linear() && layer.decision->is_sparse)
      return "it is sparse and has a lookup table";
    if (weight.users.size() != 1) return "several operations use it";
    const model::NodeId node = weight.users[0];
    if (node.graph != 0) return "its operation is not in the default function";
    const Operation& operation = file_.operation(node);
    const auto input =
        coreml::bound_name(operation, operation.type == "matmul" ? other(operation, weight) : "x");
    if (!input) return "its input is a constant";
    layer.input = std::string(*input);
    std::string why = unfold(node, weight, layer);
    if (why.empty() && calibration::Gram::is_too_large(layer.unfolding)) why = "it has too many inputs";
    return why;
  }

  static std::string_view other(const Operation& operation, const coreml::Weight& weight) {
    return coreml::bound_name(operation, "y") == weight.name ? "x" : "y";
  }

  std::string unfold(model::NodeId node, const coreml::Weight& weight, FittedLayer& layer) const {
    const Operation& operation = file_.operation(node);
    if (operation.type == "conv") return unfold_convolution(node, weight, layer);
    if (operation.type == "conv_transpose") return unfold_upsampling(node, weight, layer);
    if (operation.type == "linear") {
      layer.unfolding = calibration::Unfolding::of_matrix(weight.dims[1]);
      return {};
    }
    const bool fits = operation.type == "matmul" && weight.dims.size() == 2 && weight.summed &&
                      other(operation, weight) == "x" && !flag(file_, node, "transpose_x");
    if (!fits) return fmt::format("{} is not supported", operation.type);
    layer.is_matrix = true;
    layer.unfolding = calibration::Unfolding::of_matrix(weight.dims[*weight.summed]);
    return {};
  }

  std::string unfold_convolution(model::NodeId node, const coreml::Weight& weight, FittedLayer& layer) const {
    const std::vector<std::int64_t> groups = integers(file_, node, "groups");
    calibration::Convolution convolution;
    convolution.groups = groups.empty() ? 1 : groups[0];
    convolution.channels = weight.dims[1] * convolution.groups;
    convolution.kernel.assign(weight.dims.begin() + 2, weight.dims.end());
    convolution.strides = integers(file_, node, "strides");
    convolution.dilations = integers(file_, node, "dilations");
    const auto pads = padding(file_, node, convolution);
    if (!pads) return "its padding depends on the size of the input";
    convolution.pads = *pads;
    layer.unfolding = calibration::Unfolding::of_convolution(convolution);
    return {};
  }

  std::string unfold_upsampling(model::NodeId node, const coreml::Weight& weight, FittedLayer& layer) const {
    const std::vector<std::int64_t> groups = integers(file_, node, "groups");
    const std::vector<std::int64_t> dilations = integers(file_, node, "dilations");
    const bool is_dilated = std::any_of(dilations.begin(), dilations.end(), [](auto d) { return d != 1; });
    if ((!groups.empty() && groups[0] != 1) || is_dilated || weight.dims.size() < 3)
      return "transposed convolutions with groups or dilations are not supported";
    calibration::Convolution convolution;
    convolution.channels = weight.dims[0];
    convolution.kernel.assign(weight.dims.begin() + 2, weight.dims.end());
    const std::size_t axes = convolution.kernel.size();
    // The whole output, before padding is removed.
    convolution.pads.resize(2 * axes);
    for (std::size_t i = 0; i < axes; ++i)
      convolution.pads[i] = convolution.pads[axes + i] = convolution.kernel[i] - 1;
    layer.upsampling = integers(file_, node, "strides");
    layer.upsampling.resize(axes, 1);
    layer.unfolding = calibration::Unfolding::of_convolution(convolution);
    return {};
  }

  const CoremlFile& file_;
  CoremlFit& result_;
};

// Inserts zeros between the values of [N, C, spatial …].
std::vector<float> with_zeros(std::span<const float> values, std::span<const std::int64_t> dims,
                              const std::vector<std::int64_t>& upsampling,
                              std::vector<std::int64_t>& out_dims) {
  out_dims.assign(dims.begin(), dims.end());
  std::size_t planes = 1;
  for (std::size_t i = 0; i < 2 && i < dims.size(); ++i) planes *= static_cast<std::size_t>(dims[i]);
  for (std::size_t i = 0; i < upsampling.size(); ++i) out_dims[i + 2] = (dims[i + 2] - 1) * upsampling[i] + 1;
  std::size_t plane = 1, out_plane = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) {
    plane *= static_cast<std::size_t>(dims[i]);
    out_plane *= static_cast<std::size_t>(out_dims[i]);
  }
  std::vector<float> spread(planes * out_plane, 0.0F);
  for (std::size_t at = 0; at < planes * plane; ++at) {
    std::size_t left = at % plane, place = 0, stride = 1;
    for (std::size_t i = dims.size(); i-- > 2;) {
      const auto size = static_cast<std::size_t>(dims[i]);
      place += left % size * static_cast<std::size_t>(upsampling[i - 2]) * stride;
      stride *= static_cast<std::size_t>(out_dims[i]);
      left /= size;
    }
    spread[at / plane * out_plane + place] = values[at];
  }
  return spread;
}

// Writes a copy of the package whose outputs also are these values.
void write_exposed(const CoremlFile& file, std::span<const FittedLayer> layers,
                   const std::filesystem::path& path, ThreadPool& pool) {
  coreml::Model model = file.model();
  const coreml::NamedFunction* const main = coreml::main_function(model);
  auto& functions = model.proto.edit().program[0].edit().functions;
  for (auto& named : functions) {
    if (named->name != main->name) continue;
    coreml::Function& function = named.edit().function.edit();
    for (auto& specialization : function.specializations) {
      if (specialization->opset != function.opset) continue;
      coreml::Block& block = specialization.edit().block.edit();
      for (const FittedLayer& layer : layers) {
        const bool is_there =
            std::find(block.outputs.begin(), block.outputs.end(), layer.input) != block.outputs.end() ||
            std::any_of(file.inputs().begin(), file.inputs().end(),
                        [&](const model::Port& port) { return port.name == layer.input; });
        if (!is_there) block.outputs.push_back(model.intern(layer.input));
      }
    }
    break;
  }
  coreml::ModelOutput output(model, {}, path);
  output.write(pool, nullptr);
  output.commit();
}

void watch(const CoremlFile& file, const QuantizeOptions& options, std::span<FittedLayer> layers,
           const ForEach& for_each, ThreadPool& pool) {
  const TemporaryFolder folder("inputs");
  const std::filesystem::path path = folder.path() / "model.mlpackage";
  write_exposed(file, layers, path, pool);
  std::map<std::string, std::vector<std::size_t>> by_output;
  for (std::size_t i = 0; i < layers.size(); ++i) by_output[layers[i].input].push_back(i);
  InputWatch inputs(path, file.path(), std::move(by_output), options);
  for (FittedLayer& layer : layers) layer.gram.emplace(layer.unfolding, inputs.rows_per_batch());
  inputs.run([&](std::size_t i, const SeenInput& seen) {
    if (!layers[i].is_upsampling())
      return layers[i].gram->add(seen.values, seen.dims, seen.samples, for_each);
    if (seen.dims.size() != layers[i].upsampling.size() + 2) return;
    std::vector<std::int64_t> dims;
    const std::vector<float> spread = with_zeros(seen.values, seen.dims, layers[i].upsampling, dims);
    layers[i].gram->add(spread, dims, seen.samples, for_each);
  });
}

// Transposes a matrix of kernels. Kernels of more than one tap are reversed.
template <class T>
std::vector<T> transposed(std::span<const T> matrix, std::size_t rows, std::size_t columns,
                          std::size_t taps) {
  std::vector<T> result(matrix.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t t = 0; t < taps; ++t)
        result[(c * rows + r) * taps + t] = matrix[(r * columns + c) * taps + taps - 1 - t];
    }
  }
  return result;
}

// Chooses the indices of a lookup table; the table remains.
double fit_indices(FittedLayer& layer, const std::vector<float>& weights,
                   std::span<const std::vector<float>> matrices, const ForEach& for_each) {
  Decision& decision = *layer.decision;
  const std::size_t k = layer.gram->k(), channels = weights.size() / k;
  std::vector<Affine> affine(channels, quant::make_affine(1, 0));
  for (std::size_t i = 0; i < decision.row_scales.size() && i < channels; ++i)
    affine[i].scale = decision.row_scales[i];
  const kernels::CodeRange codes_range{0, static_cast<int>(decision.tables[0].size()) - 1};
  std::vector<std::uint8_t> codes(weights.size());
  const quant::LayerToRound round{
      weights,        k, affine, 0, codes_range, matrices, quant::damping_for(k, layer.gram->rows()),
      decision.tables};
  const quant::OutputError error = quant::round_for_output(round, for_each, codes.data());
  if (layer.is_transposed())
    codes = transposed<std::uint8_t>(codes, channels, k / layer.taps(), layer.taps());
  decision.codes = std::make_shared<const std::vector<std::uint8_t>>(std::move(codes));
  return error.nearest > 0 ? error.achieved / error.nearest : 1;
}

double fit_layer(const CoremlFile& file, FittedLayer& layer, const ForEach& for_each) {
  Decision& decision = *layer.decision;
  const auto values = file.read(decision.value);
  const quant::FloatSource& floats = values->floats();
  std::vector<float> scratch, weights(floats.size());
  std::memcpy(weights.data(), floats.values(0, floats.size(), scratch), weights.size() * sizeof(float));
  const std::size_t k = layer.gram->k(), channels = weights.size() / k;
  const std::size_t blocks = decision.layout.groups() / channels;  // 0: one scale for the tensor
  if (layer.is_transposed()) weights = transposed<float>(weights, k / layer.taps(), channels, layer.taps());
  const std::size_t block = blocks == 0 ? k : k / blocks;
  const auto matrices = layer.gram->matrices(for_each);
  if (!decision.is_linear()) return fit_indices(layer, weights, matrices, for_each);

  // The scales with the least error for the energies of the inputs.
  std::vector<Affine> affine(channels * std::max<std::size_t>(blocks, 1));
  const auto ranges = quant::find_ranges(floats, decision.layout, for_each);
  const std::vector<Affine> plain =
      quant::find_affine(floats, decision.layout, decision.format, ranges, decision.scale, for_each);
  // In the order of rows: the groups of a transposed matrix are ordered by block first.
  const auto group_of = [&](std::size_t channel, std::size_t b) {
    if (blocks == 0) return std::size_t{0};
    return layer.is_transposed() ? b * channels + channel : channel * blocks + b;
  };
  const std::size_t per_gram = channels / matrices.size();
  for (std::size_t channel = 0; channel < channels; ++channel) {
    std::vector<float> energy(block);
    const std::vector<float>& gram = matrices[channel / per_gram];
    for (std::size_t b = 0; b < std::max<std::size_t>(blocks, 1); ++b) {
      Affine& chosen = affine[channel * std::max<std::size_t>(blocks, 1) + b] = plain[group_of(channel, b)];
      if (blocks == 0) continue;
      for (std::size_t i = 0; i < block; ++i) energy[i] = gram[(b * block + i) * (k + 1)];
      chosen = quant::refined_scale(weights.data() + channel * k + b * block, energy.data(), block,
                                    decision.format, chosen);
    }
  }
  std::vector<std::uint8_t> codes(weights.size());
  const quant::OutputError error =
      quant::round_for_output({weights, k, affine, blocks == 0 ? 0 : block, decision.format.codes, matrices,
                               quant::damping_for(k, layer.gram->rows())},
                              for_each, codes.data());
  if (layer.is_transposed())
    codes = transposed<std::uint8_t>(codes, channels, k / layer.taps(), layer.taps());
  decision.affine.resize(decision.layout.groups());
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t b = 0; b < std::max<std::size_t>(blocks, 1); ++b)
      decision.affine[group_of(channel, b)] = affine[channel * std::max<std::size_t>(blocks, 1) + b];
  }
  decision.codes = std::make_shared<const std::vector<std::uint8_t>>(std::move(codes));
  return error.nearest > 0 ? error.achieved / error.nearest : 1;
}

}  // namespace

CoremlFit fit_coreml(const CoremlFile& source, const QuantizeOptions& options, coreml::Plan& plan,
                     ThreadPool& pool) {
  CoremlFit result;
  std::vector<FittedLayer> layers = Finder(source, result).find(plan);
  const ForEach for_each = [&](std::size_t count, const std::function<void(std::size_t)>& body) {
    pool.for_each(count, body);
  };
  double after = 0;
  for (std::size_t first = 0; first < layers.size();) {
    std::size_t last = first;
    for (std::uint64_t bytes = 0; last < layers.size(); ++last) {
      bytes += calibration::Gram::bytes(layers[last].unfolding);
      if (bytes > kMostFitMemory && last > first) break;
    }
    const std::span<FittedLayer> part(layers.data() + first, last - first);
    watch(source, options, part, for_each, pool);
    for (FittedLayer& layer : part) {
      throw_if_cancelled();
      after += fit_layer(source, layer, for_each);
      layer.gram.reset();
      ++result.layers;
    }
    first = last;
  }
  if (after > 0) result.gain_db = 10 * std::log10(static_cast<double>(result.layers) / after);
  return result;
}

}  // namespace ounce::quantization
