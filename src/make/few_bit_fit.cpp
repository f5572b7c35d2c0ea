#include "make/few_bit_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cancel.h"
#include "make/input_watch.h"
#include "observe/energy.h"
#include "plan/few_bit_uses.h"
#include "plan/sources.h"
#include "quant/block_scales.h"
#include "quant/reconstruct.h"

namespace ounce::make {
namespace {

constexpr std::uint64_t kMostGramMemory = std::uint64_t{1} << 29;  // for the sums of one pass over the data

std::string weight_key(const plan::Decision& decision) {
  return fmt::format("{} {}", decision.weight.body, decision.weight.name);
}

observe::Unfolding inputs_of_rows(const plan::Decision& decision) {
  return observe::Unfolding::of_matrix(static_cast<std::int64_t>(decision.rows.columns));
}

struct RowWeights {
  std::vector<float> padded, plain;  // rows with and without what fills them up
};

RowWeights read_weights(const onnx::Model& source, const plan::Decision& decision) {
  const quant::BlockRows& rows = decision.rows;
  const plan::TensorSource tensor(source, *decision.weight.tensor);
  RowWeights weights;
  weights.padded.resize(rows.rows * rows.width());
  quant::read_rows(tensor.floats(), rows, 0, rows.rows, weights.padded.data());
  tensor.floats().release();
  weights.plain.reserve(rows.rows * rows.columns);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    const auto row = weights.padded.begin() + static_cast<std::ptrdiff_t>(r * rows.width());
    weights.plain.insert(weights.plain.end(), row, row + static_cast<std::ptrdiff_t>(rows.columns));
  }
  return weights;
}

// Rows of codes as the file holds them; what fills them up decodes to zero.
std::vector<std::uint8_t> packed_rows(const std::vector<std::uint8_t>& codes, const plan::Decision& decision,
                                      const std::vector<kernels::Affine>& affine) {
  const quant::BlockRows& rows = decision.rows;
  const std::size_t row_bytes = rows.row_bytes(decision.bits());
  std::vector<std::uint8_t> packed(rows.rows * row_bytes), row(rows.width());
  for (std::size_t r = 0; r < rows.rows; ++r) {
    const float last_zero = affine[(r + 1) * rows.blocks() - 1].zero;
    std::fill(row.begin(), row.end(), static_cast<std::uint8_t>(last_zero));
    std::copy_n(codes.begin() + static_cast<std::ptrdiff_t>(r * rows.columns), rows.columns, row.begin());
    quant::pack_codes(row.data(), row.size(), decision.bits(), packed.data() + r * row_bytes);
  }
  return packed;
}

}  // namespace

std::vector<FewBitFitter::Layer> FewBitFitter::find_layers(plan::Plan& plan) {
  const onnx::Model& model = prepared_.model();
  const graph::Index& index = prepared_.index();
  const std::vector<passes::ObservedValue> seen = passes::float_values(model, index);
  left_alone_.clear();
  std::vector<Layer> layers;
  for (plan::Decision& decision : plan.decisions) {
    if (!decision.is_nbits() || !decision.rows.is_padded) continue;
    Layer layer;
    layer.decision = &decision;
    layer.key = fmt::format("{} {} {} {}", weight_key(decision), decision.bits(), decision.block,
                            decision.format.is_symmetric);
    const auto opset = onnx::opset_version(model.proto->opset_imports, "");
    for (const plan::NodePlace& place : plan::find_few_bit_uses(index, decision.weight, opset).products) {
      const onnx::Node& node = *index.bodies()[place.body].nodes()[place.node];
      const passes::ObservedValue input{index.find(place.body, node.inputs[0]).body,
                                        std::string(node.inputs[0])};
      if (std::binary_search(seen.begin(), seen.end(), input)) layer.inputs.push_back(input);
    }
    if (layer.inputs.empty()) {
      ++left_alone_["their inputs cannot be seen"];
    } else {
      layers.push_back(std::move(layer));
    }
  }
  return layers;
}

void FewBitFitter::find_energies(const std::vector<Layer>& layers, ThreadPool& pool) {
  std::vector<const Layer*> of_value;
  std::vector<passes::ObservedValue> values;
  std::map<std::string, observe::Energy> sums;
  for (const Layer& layer : layers) {
    if (energies_.contains(weight_key(*layer.decision))) continue;
    sums.emplace(weight_key(*layer.decision), layer.decision->rows.columns);
    for (const passes::ObservedValue& input : layer.inputs) {
      values.push_back(input);
      of_value.push_back(&layer);
    }
  }
  if (values.empty()) return;
  InputWatch(prepared_, options_, values, pool).run([&](std::size_t i, const SeenInput& input) {
    sums.at(weight_key(*of_value[i]->decision)).add(input.values);
  });
  for (const auto& [key, sum] : sums) {
    std::vector<float> means = sum.means();
    energies_[key] = means.empty() ? nullptr : std::make_shared<const std::vector<float>>(std::move(means));
  }
}

// The sums of these layers' inputs, from one pass over the data.
std::vector<observe::Gram> FewBitFitter::watch(std::span<const Layer* const> layers, const ForEach& for_each,
                                               ThreadPool& pool) {
  std::vector<passes::ObservedValue> values;
  std::vector<std::size_t> of_value;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    values.insert(values.end(), layers[i]->inputs.begin(), layers[i]->inputs.end());
    of_value.resize(values.size(), i);
  }
  InputWatch inputs(prepared_, options_, values, pool);
  std::vector<observe::Gram> grams;
  for (const Layer* layer : layers)
    grams.emplace_back(inputs_of_rows(*layer->decision), inputs.rows_per_batch());
  inputs.run([&](std::size_t i, const SeenInput& input) {
    grams[of_value[i]].add(input.values, input.dims, input.samples, for_each);
  });
  return grams;
}

FewBitFitter::Fitted FewBitFitter::fit_layer(const plan::Decision& decision, observe::Gram& gram,
                                             const ForEach& for_each) const {
  const quant::BlockRows& rows = decision.rows;
  const RowWeights weights = read_weights(prepared_.model(), decision);
  const float* energy = decision.energy == nullptr ? nullptr : decision.energy->data();
  Fitted fitted;
  fitted.affine.resize(rows.groups());
  for_each(rows.rows, [&](std::size_t r) {
    quant::find_block_scales(weights.padded.data() + r * rows.width(), 1, rows.blocks(), rows.block,
                             decision.format, {decision.scale, energy},
                             fitted.affine.data() + r * rows.blocks());
  });
  const auto matrices = gram.matrices(for_each);
  std::vector<std::uint8_t> codes(weights.plain.size());
  quant::round_for_output({weights.plain, rows.columns, fitted.affine, rows.block, decision.format.codes,
                           matrices, quant::damping_for(rows.columns, gram.rows())},
                          for_each, codes.data());
  fitted.codes =
      std::make_shared<const std::vector<std::uint8_t>>(packed_rows(codes, decision, fitted.affine));
  return fitted;
}

void FewBitFitter::find_codes(const std::vector<Layer>& layers, ThreadPool& pool) {
  const ForEach for_each = [&](std::size_t count, const std::function<void(std::size_t)>& body) {
    pool.for_each(count, body);
  };
  std::vector<const Layer*> open;
  for (const Layer& layer : layers) {
    if (codes_.contains(layer.key)) continue;
    if (observe::Gram::is_too_large(inputs_of_rows(*layer.decision))) {
      ++left_alone_["they have too many inputs"];
    } else {
      open.push_back(&layer);
    }
  }
  for (std::size_t first = 0, last = 0; first < open.size(); first = last) {
    std::uint64_t bytes = 0;
    for (; last < open.size(); ++last) {
      bytes += observe::Gram::bytes(inputs_of_rows(*open[last]->decision));
      if (bytes > kMostGramMemory && last > first) break;
    }
    const std::span<const Layer* const> group(open.data() + first, last - first);
    std::vector<observe::Gram> grams = watch(group, for_each, pool);
    for (std::size_t i = 0; i < group.size(); ++i) {
      throw_if_cancelled();
      codes_[group[i]->key] = fit_layer(*group[i]->decision, grams[i], for_each);
    }
  }
}

void FewBitFitter::fit(plan::Plan& plan, ThreadPool& pool) {
  const WeightMethod method = plan.recipe.few_bits.method;
  if (method != WeightMethod::kScale && method != WeightMethod::kGptq) return;
  const std::vector<Layer> layers = find_layers(plan);
  find_energies(layers, pool);
  for (const Layer& layer : layers) {
    const auto& found = energies_.at(weight_key(*layer.decision));
    if (found == nullptr) continue;
    // Blocks end beyond the last column, where weights are zero.
    std::vector<float> energy = *found;
    energy.resize(layer.decision->rows.width(), 1.0F);
    layer.decision->energy = std::make_shared<const std::vector<float>>(std::move(energy));
  }
  if (method != WeightMethod::kGptq) return;
  find_codes(layers, pool);
  for (const Layer& layer : layers) {
    const auto found = codes_.find(layer.key);
    if (found == codes_.end()) continue;
    layer.decision->affine = found->second.affine;
    layer.decision->codes = found->second.codes;
  }
}

}  // namespace ounce::make
