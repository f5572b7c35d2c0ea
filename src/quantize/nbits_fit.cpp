#include "quantize/weight_fit.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/cancel.h"
#include "base/digest.h"
#include "calibration/statistics.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/plan.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "quant/blocks.h"
#include "quant/reconstruct.h"
#include "quantize/trial.h"

namespace ounce::quantization {
namespace {

constexpr std::uint64_t kMostGramMemory = std::uint64_t{1} << 29;  // bytes for the Gram matrices of one pass

std::string weight_key(const plan::Decision& decision) {
  return fmt::format("{} {}", decision.weight.graph, decision.weight.name);
}

calibration::Unfolding inputs_of(std::size_t columns) {
  return calibration::Unfolding::of_matrix(static_cast<std::int64_t>(columns));
}

// Copies a range of columns of the inputs: those that are multiplied by the same columns of a weight.
std::vector<float> columns_of(std::span<const float> values, std::size_t width, std::size_t first,
                              std::size_t columns) {
  std::vector<float> taken;
  taken.reserve(values.size() / width * columns);
  for (std::size_t at = first; at + columns <= values.size(); at += width)
    taken.insert(taken.end(), values.begin() + static_cast<std::ptrdiff_t>(at),
                 values.begin() + static_cast<std::ptrdiff_t>(at + columns));
  return taken;
}

// The key of KeptFits: a digest of everything that determines a layer's quantized values. The energies of its
// inputs represent the data.
std::string kept_key(const onnx::Model& model, const plan::Decision& decision) {
  const plan::TensorSource tensor(model, *decision.place.tensor);
  const std::string_view weights = tensor.floats().bytes();
  std::string_view energy;
  if (decision.energy != nullptr)
    energy = {reinterpret_cast<const char*>(decision.energy->data()),
              decision.energy->size() * sizeof(float)};
  const quant::BlockRows& rows = decision.rows;
  const std::string how =
      fmt::format("{} {} {} {} {} {} {} {} {}", version(), rows.rows, rows.columns, rows.block,
                  rows.is_transposed, decision.bits(), decision.format.is_symmetric,
                  decision.format.half_scales, static_cast<int>(decision.scale));
  const std::string key = hex(digest_of({digest_of(weights), digest_of(energy), digest_of(how)}));
  tensor.floats().release();
  return key;
}

}  // namespace

std::vector<NbitsFitter::Layer> NbitsFitter::find_layers(plan::Plan& plan) {
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
    for (const plan::NodePlace& place : plan::find_nbits_uses(index, *decision.place.value, opset).products) {
      const onnx::Node& node = *index.bodies()[place.body].nodes()[place.node];
      const passes::ObservedValue input{index.find(place.body, node.inputs[0]).body,
                                        std::string(node.inputs[0])};
      if (std::binary_search(seen.begin(), seen.end(), input)) layer.inputs.push_back(input);
    }
    if (layer.inputs.empty()) {
      ++left_alone_["their inputs cannot be observed"];
    } else {
      layers.push_back(std::move(layer));
    }
  }
  return layers;
}

void NbitsFitter::find_energies(const std::vector<Layer>& layers, ThreadPool& pool) {
  std::vector<const Layer*> of_value;
  std::vector<passes::ObservedValue> values;
  std::map<std::string, calibration::Energy> sums;
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

// Cuts a layer into slices of whole blocks, each as large as possible.
std::vector<NbitsFitter::Slice> NbitsFitter::slices_of(const Layer& layer) {
  const quant::BlockRows& rows = layer.decision->rows;
  const std::size_t most = calibration::Gram::kLargestK / rows.block * rows.block;
  std::vector<Slice> slices;
  for (std::size_t first = 0; first < rows.columns; first += most)
    slices.push_back({&layer, first, std::min(most, rows.columns - first)});
  return slices;
}

// Computes the Gram matrices of these slices' inputs in one pass over the data.
std::vector<calibration::Gram> NbitsFitter::watch(std::span<const Slice> slices, const ForEach& for_each,
                                                  ThreadPool& pool) {
  std::vector<passes::ObservedValue> values;
  std::vector<std::size_t> of_value;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    values.insert(values.end(), slices[i].layer->inputs.begin(), slices[i].layer->inputs.end());
    of_value.resize(values.size(), i);
  }
  InputWatch inputs(prepared_, options_, values, pool);
  std::vector<calibration::Gram> grams;
  for (const Slice& slice : slices) grams.emplace_back(inputs_of(slice.columns), inputs.rows_per_batch());
  inputs.run([&](std::size_t i, const SeenInput& input) {
    const Slice& slice = slices[of_value[i]];
    const std::size_t width = slice.layer->decision->rows.columns;
    if (slice.columns == width)
      return grams[of_value[i]].add(input.values, input.dims, input.samples, for_each);
    std::vector<std::int64_t> dims(input.dims.begin(), input.dims.end());
    dims.back() = static_cast<std::int64_t>(slice.columns);
    grams[of_value[i]].add(columns_of(input.values, width, slice.first, slice.columns), dims, input.samples,
                           for_each);
  });
  return grams;
}

void NbitsFitter::fit_slice(const Slice& slice, calibration::Gram& gram, const ForEach& for_each,
                            FittedWeight& fitted) const {
  const plan::Decision& decision = *slice.layer->decision;
  const quant::BlockRows& rows = decision.rows;
  const std::size_t first_block = slice.first / rows.block;
  const std::size_t blocks = (slice.columns + rows.block - 1) / rows.block, width = blocks * rows.block;
  if (fitted.codes == nullptr) {
    fitted.affine.resize(rows.groups());
    fitted.codes = std::make_shared<std::vector<std::uint8_t>>(rows.code_bytes(decision.bits()));
  }
  // The slice's weights, with and without the padding of the last block.
  const plan::TensorSource tensor(prepared_.model(), *decision.place.tensor);
  std::vector<float> padded(rows.rows * width), plain(rows.rows * slice.columns);
  std::vector<kernels::Affine> affine(rows.rows * blocks);
  const float* energy = decision.energy == nullptr ? nullptr : decision.energy->data() + slice.first;
  quant::for_each_stripe(
      tensor.floats(), rows, for_each, [&](std::size_t, std::size_t first, std::size_t count) {
        quant::for_each_panel(
            tensor.floats(), rows, first, count, [&](const quant::PanelPlace& place, const float* x) {
              if (place.block < first_block || place.block >= first_block + blocks) return;
              const std::size_t at = (place.block - first_block) * rows.block;
              for (std::size_t r = 0; r < place.rows; ++r) {
                for (std::size_t i = 0; i < rows.block; ++i)
                  padded[(place.row + r) * width + at + i] = x[i * kernels::kPanelBlocks + r];
              }
            });
        quant::find_block_scales(padded.data() + first * width, count, blocks, rows.block, decision.format,
                                 {decision.scale, energy}, affine.data() + first * blocks);
      });
  for (std::size_t r = 0; r < rows.rows; ++r) {
    std::copy_n(padded.data() + r * width, slice.columns, plain.data() + r * slice.columns);
    std::copy_n(affine.data() + r * blocks, blocks, fitted.affine.data() + r * rows.blocks() + first_block);
  }
  padded = {};
  const auto matrices = gram.matrices(for_each);
  std::vector<std::uint8_t> codes(plain.size());
  quant::round_for_output({plain, slice.columns, affine, rows.block, decision.format.codes, matrices,
                           quant::damping_for(slice.columns, gram.rows())},
                          for_each, codes.data());
  // Pack as in the file. Padding dequantizes to zero.
  std::vector<std::uint8_t> row(width);
  const std::size_t row_bytes = rows.row_bytes(decision.bits()), at = slice.first * decision.bits() / 8;
  for (std::size_t r = 0; r < rows.rows; ++r) {
    const float last_zero = affine[(r + 1) * blocks - 1].zero;
    std::fill(row.begin(), row.end(), static_cast<std::uint8_t>(last_zero));
    std::copy_n(codes.data() + r * slice.columns, slice.columns, row.data());
    quant::pack_codes(row.data(), row.size(), decision.bits(), fitted.codes->data() + r * row_bytes + at);
  }
}

void NbitsFitter::find_codes(const std::vector<Layer>& layers, ThreadPool& pool) {
  const ForEach for_each = [&](std::size_t count, const std::function<void(std::size_t)>& body) {
    pool.for_each(count, body);
  };
  std::vector<Slice> open;
  for (const Layer& layer : layers) {
    if (codes_.contains(layer.key)) continue;
    const plan::Decision& decision = *layer.decision;
    if (FittedWeight found;
        kept_.is_kept() && kept_.find(kept_key(prepared_.model(), decision), decision.rows.groups(),
                                      decision.rows.code_bytes(decision.bits()), found)) {
      codes_[layer.key] = std::move(found);
      continue;
    }
    const std::vector<Slice> slices = slices_of(layer);
    open.insert(open.end(), slices.begin(), slices.end());
  }
  if (Progress* progress = options_.progress; progress != nullptr && !open.empty()) {
    progress->done = 0;
    progress->total = open.size();
    progress->stage = "fitting layers";
  }
  for (std::size_t first = 0, last = 0; first < open.size(); first = last) {
    std::uint64_t bytes = 0;
    for (; last < open.size(); ++last) {
      bytes += calibration::Gram::bytes(inputs_of(open[last].columns));
      if (bytes > kMostGramMemory && last > first) break;
    }
    const std::span<const Slice> group(open.data() + first, last - first);
    std::vector<calibration::Gram> grams = watch(group, for_each, pool);
    for (std::size_t i = 0; i < group.size(); ++i) {
      throw_if_cancelled();
      FittedWeight& fitted = codes_[group[i].layer->key];
      fit_slice(group[i], grams[i], for_each, fitted);
      const plan::Decision& decision = *group[i].layer->decision;
      if (kept_.is_kept() && group[i].first + group[i].columns == decision.rows.columns)
        kept_.add(kept_key(prepared_.model(), decision), fitted);
      if (options_.progress != nullptr) ++options_.progress->done;
    }
  }
}

void NbitsFitter::fit(plan::Plan& plan, ThreadPool& pool) {
  const WeightMethod method = plan.recipe.nbits.method;
  if (method != WeightMethod::kScale && method != WeightMethod::kGptq) return;
  const std::vector<Layer> layers = find_layers(plan);
  find_energies(layers, pool);
  for (const Layer& layer : layers) {
    const auto& found = energies_.at(weight_key(*layer.decision));
    if (found == nullptr) continue;
    // The last block may extend beyond the last column, where weights are zero.
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

namespace {

constexpr const char* kFitEnding = ".fit";

template <class T>
std::string_view raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string_view raw(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

// File layout: affine, codes, digest of both.
bool KeptFits::find(const std::string& key, std::size_t blocks, std::size_t code_bytes,
                    FittedWeight& fitted) const {
  const std::filesystem::path path = folder_ / (key + kFitEnding);
  std::error_code ignored;
  if (folder_.empty() || !std::filesystem::is_regular_file(path, ignored)) return false;
  const io::MappedFile file = io::MappedFile::open(path);
  const std::size_t affine_bytes = blocks * sizeof(kernels::Affine), size = affine_bytes + code_bytes;
  const std::string_view bytes = file.bytes();
  if (bytes.size() != size + sizeof(Digest) || raw(digest_of(bytes.substr(0, size))) != bytes.substr(size))
    return false;
  fitted.affine.resize(blocks);
  std::memcpy(fitted.affine.data(), bytes.data(), affine_bytes);
  fitted.codes = std::make_shared<std::vector<std::uint8_t>>(code_bytes);
  std::memcpy(fitted.codes->data(), bytes.data() + affine_bytes, code_bytes);
  return true;
}

void KeptFits::add(const std::string& key, const FittedWeight& fitted) const {
  if (folder_.empty()) return;
  // Mode 0700: other users must not read weights of the model.
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(ErrorCode::kIo, fmt::format("cannot be created: {}", std::strerror(errno)), folder_.string());
  std::string bytes(raw(fitted.affine));
  bytes += raw(*fitted.codes);
  bytes += std::string(raw(digest_of(bytes)));
  io::OutputFile file(folder_ / (key + kFitEnding), bytes.size());
  file.write(0, bytes);
  file.commit();
}

// Removes only files that add() wrote.
void KeptFits::clear() const {
  std::error_code ignored;
  if (folder_.empty() || !std::filesystem::is_directory(folder_, ignored)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    if (entry.path().extension() == kFitEnding) std::filesystem::remove(entry.path(), ignored);
  }
  std::filesystem::remove(folder_, ignored);
}

}  // namespace ounce::quantization
