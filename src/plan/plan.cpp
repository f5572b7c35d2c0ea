#include "plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <set>

#include "base/jobs.h"
#include "kernels/half.h"
#include "plan/selection.h"
#include "plan/sources.h"
#include "quant/tiles.h"

namespace ounce::plan {
namespace {

constexpr float kLargestHalf = 65504;
constexpr std::uint64_t kLargestFold = std::uint64_t{1} << 30;  // runtimes fold a constant up to this size
constexpr std::size_t kDefaultBlock = 32;
constexpr std::size_t kHalfScalesFrom = 32;     // groups
constexpr std::int64_t kBroadcastOpset = 7;     // Mul broadcasts
constexpr std::int64_t kShiftOpset = 11;        // BitShift
constexpr std::int64_t kDqOpset = 10;           // DequantizeLinear
constexpr std::int64_t kDqChannelOpset = 13;    // DequantizeLinear with an axis
constexpr std::int64_t kDqBlockOpset = 21;      // … with blocks, and with 4-bit types

std::uint64_t product(const std::vector<std::int64_t>& dims, std::size_t first, std::size_t last) {
  std::uint64_t result = 1;
  for (std::size_t i = first; i < last; ++i) result *= static_cast<std::uint64_t>(dims[i]);
  return result;
}

std::uint64_t stored_bytes(const Decision& decision) {
  const std::uint64_t count = decision.weight.tensor->element_count();
  const std::uint64_t groups = decision.layout.groups();
  const std::uint64_t per_group = (decision.format.half_scales ? 2U : 4U) + (decision.format.is_symmetric ? 0U : 1U);
  switch (decision.encoding) {
    case Encoding::kLinear8: return count + groups * per_group;
    case Encoding::kLinear4: return (count + 1) / 2 + groups * per_group;
    case Encoding::kCodebook8: return count + 256 * 4;
    case Encoding::kCodebook4: return (count + 1) / 2 + 16 * 4;
    case Encoding::kFloat16: return count * 2;
    case Encoding::kKeep: break;
  }
  return decision.weight.tensor->byte_count();
}

// Decides for one tensor all that can be decided without its values.
class Planner {
 public:
  Planner(const onnx::Model& model, const graph::Index& index, const Recipe& recipe)
      : model_(model), index_(index), recipe_(recipe), selection_(recipe) {}

  Decision decide(const Weight& weight) {
    Decision decision;
    decision.weight = weight;
    const std::string excluded = selection_.why_not(index_, weight);  // asked for every tensor: it notes matches
    decision.reason = why_keep(weight);
    if (decision.reason.empty()) decision.reason = excluded;
    if (!decision.reason.empty()) return decision;
    choose_encoding(decision);
    if (!decision.is_stored()) return decision;
    choose_groups(decision);
    choose_decoder(decision);
    decision.stored_bytes = stored_bytes(decision);
    if (decision.stored_bytes >= weight.tensor->byte_count()) {
      decision.reason = "codes and scales would not be smaller";
      decision.encoding = Encoding::kKeep;
    }
    return decision;
  }

  void check_expressions() const { selection_.check_all_matched(); }

 private:
  const onnx::Tensor& tensor(const Decision& decision) const { return *decision.weight.tensor; }

  std::int64_t opset(const Weight& weight) const {
    const auto* function = index_.bodies()[index_.root(weight.body)].function;
    return onnx::opset_version(function != nullptr ? function->opset_imports : model_.proto->opset_imports, "");
  }

  std::string why_keep(const Weight& weight) const {
    const std::uint64_t bytes = weight.tensor->byte_count();
    if (bytes < recipe_.min_bytes) return fmt::format("smaller than {} bytes", recipe_.min_bytes);
    if (weight.value->uses.empty()) return "nothing uses it";
    if (weight.feeds_quantized_op) return "belongs to an op that is quantized already";
    if (weight.value->is_output) return "is an output of the graph";
    if (weight.value->is_input && model_.proto->ir_version >= 4) return "is an input with a default value";
    if (weight.role == Role::kOther && (recipe_.format != StorageFormat::kW16 || weight.tensor->dims.size() < 2)) {
      return fmt::format("feeds {}, which may need all bits", weight.op_type);
    }
    if (opset(weight) < kBroadcastOpset) return fmt::format("opset {} is too old to decode in (7 is needed)", opset(weight));
    return {};
  }

  void choose_encoding(Decision& decision) const {
    const Weight& weight = decision.weight;
    if (recipe_.format == StorageFormat::kW16 || !weight.fits_few_bits()) {
      const bool is_half = weight.tensor->type == onnx::ElementType::kFloat16 || weight.tensor->type == onnx::ElementType::kBfloat16;
      decision.encoding = is_half ? Encoding::kKeep : Encoding::kFloat16;
      const char* what = weight.role == Role::kParameter ? "parameter" : weight.fits_few_bits() ? "weight" : "constant";
      decision.reason = is_half ? "has 16 bits already" : fmt::format("{} of {}, as 16-bit floats", what, weight.op_type);
      return;
    }
    switch (recipe_.format) {
      case StorageFormat::kW16:
      case StorageFormat::kW8:
        decision.encoding = recipe_.codebook ? Encoding::kCodebook8 : Encoding::kLinear8;
        decision.reason = fmt::format("weight of {}", decision.weight.op_type);
        return;
      case StorageFormat::kW4:
        if (opset(decision.weight) < kShiftOpset) {
          decision.encoding = recipe_.codebook ? Encoding::kCodebook8 : Encoding::kLinear8;
          decision.reason = fmt::format("weight of {}; opset {} cannot unpack 4 bits (11 is needed), so 8", decision.weight.op_type, opset(decision.weight));
          return;
        }
        decision.encoding = recipe_.codebook ? Encoding::kCodebook4 : Encoding::kLinear4;
        decision.reason = fmt::format("weight of {}", decision.weight.op_type);
        return;
    }
  }

  void per_tensor(Decision& decision) const {
    const auto size = static_cast<std::size_t>(tensor(decision).element_count());
    decision.granularity = GranularityKind::kTensor;
    decision.layout = {1, 1, 1, size};
    decision.view = tensor(decision).dims;
    decision.scale_dims = {};
  }

  void per_channel(Decision& decision, ChannelAxes axes) const {
    const auto& dims = tensor(decision).dims;
    decision.granularity = GranularityKind::kChannel;
    decision.layout = {1, product(dims, 0, axes.first), product(dims, axes.first, axes.last), product(dims, axes.last, dims.size())};
    decision.view = dims;
    decision.scale_dims.assign(dims.size(), 1);
    for (std::size_t i = axes.first; i < axes.last; ++i) decision.scale_dims[i] = dims[i];
  }

  // Blocks run along the axis that is summed over: inside a row, or down a column.
  bool per_block(Decision& decision, ChannelAxes axes, std::size_t block) const {
    const auto& dims = tensor(decision).dims;
    const std::uint64_t before = product(dims, 0, axes.first), channels = product(dims, axes.first, axes.last),
                        after = product(dims, axes.last, dims.size());
    const auto signed_block = static_cast<std::int64_t>(block);
    if (before == 1 && after % block == 0) {
      const std::uint64_t blocks = channels * after / block;
      decision.layout = {1, 1, blocks, block};
      decision.view = {static_cast<std::int64_t>(blocks), signed_block};
      decision.scale_dims = {static_cast<std::int64_t>(blocks), 1};
    } else if (after == 1 && before % block == 0) {
      decision.layout = {before / block, block, channels, 1};
      decision.view = {static_cast<std::int64_t>(before / block), signed_block, static_cast<std::int64_t>(channels)};
      decision.scale_dims = {static_cast<std::int64_t>(before / block), 1, static_cast<std::int64_t>(channels)};
    } else {
      return false;
    }
    decision.granularity = GranularityKind::kBlock;
    decision.block = block;
    return true;
  }

  void choose_groups(Decision& decision) const {
    decision.format = format_of(decision);
    decision.scale = recipe_.scale;
    decision.kernel = recipe_.rounding == Rounding::kBalanced ? decision.weight.kernel_taps : 0;
    if (!decision.is_linear()) return per_tensor(decision);
    const auto& wanted = recipe_.granularity;
    const auto axes = decision.weight.channels;
    if (wanted.kind == GranularityKind::kTensor) return per_tensor(decision);
    if (!axes) {
      per_tensor(decision);
      decision.reason += ", no channel axis known";
      return;
    }
    // Four bits are too few for a whole channel: blocks, where they fit.
    const bool auto_block = wanted.kind == GranularityKind::kAuto && decision.encoding == Encoding::kLinear4;
    if (auto_block && per_block(decision, *axes, kDefaultBlock)) return;
    if (wanted.kind == GranularityKind::kBlock) {
      if (per_block(decision, *axes, wanted.block)) return;
      decision.reason += fmt::format(", blocks of {} do not fit its shape", wanted.block);
    }
    per_channel(decision, *axes);
  }

  quant::LinearFormat format_of(const Decision& decision) const {
    if (decision.encoding == Encoding::kLinear4) return recipe_.asymmetric ? quant::kAsymmetricNibble : quant::kSymmetricNibble;
    return recipe_.asymmetric ? quant::kAsymmetricInt8 : quant::kSymmetricInt8;
  }

  // Empty when DequantizeLinear can decode this tensor.
  std::string why_no_dq(const Decision& decision) const {
    const std::int64_t version = opset(decision.weight);
    if (!decision.is_linear()) return "DequantizeLinear decodes linear codes only";
    if (tensor(decision).type != onnx::ElementType::kFloat) return "DequantizeLinear gives float32 only";
    const bool is_block = decision.granularity == GranularityKind::kBlock;
    std::int64_t needed = decision.granularity == GranularityKind::kTensor ? kDqOpset : kDqChannelOpset;
    if (is_block || decision.encoding == Encoding::kLinear4) needed = kDqBlockOpset;
    if (version < needed) return fmt::format("DequantizeLinear needs opset {}, the model has {}", needed, version);
    if (decision.granularity == GranularityKind::kChannel && decision.weight.channels->last - decision.weight.channels->first > 1) {
      return "DequantizeLinear has one channel axis";
    }
    if (is_block && tensor(decision).dims.size() != 2) return "DequantizeLinear's blocks need two axes here";
    return {};
  }

  void choose_decoder(Decision& decision) const {
    const bool fits_lookup = !decision.is_packed() && decision.granularity != GranularityKind::kBlock;
    if (decision.weight.is_looked_up && fits_lookup && recipe_.decoder != DecoderChoice::kDq) {
      decision.decoder = Decoder::kLookup;
      decision.reason += "; rows are decoded after the lookup";
      return;
    }
    const std::string no_dq = why_no_dq(decision);
    const std::uint64_t decoded = tensor(decision).element_count() * 4;
    const bool too_large = decoded > kLargestFold;
    if (recipe_.decoder == DecoderChoice::kFold || (recipe_.decoder == DecoderChoice::kAuto && !too_large) || !no_dq.empty()) {
      decision.decoder = Decoder::kFold;
      decision.reason += recipe_.decoder == DecoderChoice::kDq ? "; folded, as " + no_dq : "; folded at load, FP32 speed";
      if (too_large) decision.reason += "; over 1 GiB, newer runtimes decode it at every inference";
      return;
    }
    decision.decoder = Decoder::kDq;
    decision.reason += too_large ? "; over 1 GiB, which runtimes do not fold" : "; DequantizeLinear, as asked";
    if (decision.encoding == Encoding::kLinear4 && decision.format.is_symmetric) decision.format = quant::kSymmetricInt4;
    if (decision.granularity == GranularityKind::kBlock) {  // it scales in the tensor's own shape
      decision.view = tensor(decision).dims;
      decision.scale_dims = decision.view;
      decision.scale_dims[decision.block_axis()] /= static_cast<std::int64_t>(decision.block);
    } else if (decision.granularity == GranularityKind::kChannel) {
      decision.scale_dims = {static_cast<std::int64_t>(decision.layout.channels)};
    }
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  const Recipe& recipe_;
  Selection selection_;
};

bool has_subnormal_halves(const quant::FloatSource& floats) {
  std::vector<float> scratch;
  std::vector<std::uint16_t> halves(quant::kTile);
  kernels::HalfStats stats;
  for (std::size_t first = 0; first < floats.size(); first += quant::kTile) {
    const std::size_t count = std::min(quant::kTile, floats.size() - first);
    kernels::f32_to_f16(floats.values(first, count, scratch), count, halves.data(), stats);
  }
  return stats.subnormal + stats.vanished != 0;
}

// Spends a share of the size on 16-bit floats for the smallest weights.
void promote_smallest(Plan& plan) {
  std::vector<Decision*> stored;
  std::uint64_t total = 0;
  for (Decision& decision : plan.decisions) {
    total += decision.weight.tensor->byte_count();
    const bool is_float = decision.weight.tensor->type == onnx::ElementType::kFloat;
    if (decision.is_linear() && is_float && decision.granularity == GranularityKind::kChannel && decision.decoder == Decoder::kFold) stored.push_back(&decision);
  }
  std::stable_sort(stored.begin(), stored.end(), [](const Decision* a, const Decision* b) {
    return a->weight.tensor->byte_count() < b->weight.tensor->byte_count();
  });
  auto budget = plan.recipe.half_share * static_cast<double>(total);
  for (Decision* decision : stored) {
    kernels::Range whole;
    for (const kernels::Range& range : decision->ranges) whole.merge(range);
    const std::uint64_t half_bytes = decision->weight.tensor->byte_count() / 2;
    const double cost = static_cast<double>(half_bytes) - static_cast<double>(decision->stored_bytes);
    if (cost > budget) return;
    if (whole.absmax() > kLargestHalf) continue;
    budget -= std::max(cost, 0.0);
    decision->encoding = Encoding::kFloat16;
    decision->stored_bytes = half_bytes;
    decision->granularity = GranularityKind::kTensor;
    decision->reason = fmt::format("weight of {}, so small that 16-bit floats cost next to nothing", decision->weight.op_type);
  }
}

// What only the values can tell.
void decide_by_values(const onnx::Model& model, Decision& decision, const ForEach& for_each) {
  const TensorSource source(model, *decision.weight.tensor);
  decision.ranges = quant::find_ranges(source.floats(), decision.layout, for_each);
  kernels::Range whole;
  for (const kernels::Range& range : decision.ranges) whole.merge(range);
  const auto keep = [&](std::string reason) {
    decision.encoding = Encoding::kKeep;
    decision.reason = std::move(reason);
    decision.ranges.clear();
  };
  if (!whole.finite()) {
    if (!decision.weight.fits_few_bits()) return keep("has NaN or infinite values");
    throw Error(ErrorCode::kBadInput, "a weight has NaN or infinite values; repair the model, or leave the tensor out with --exclude",
                fmt::format("tensor '{}'", decision.weight.name));
  }
  if (whole.absmax() == 0) return keep("all values are zero");
  // A second Cast costs some 30 bytes, a 16-bit scale saves two.
  const bool saves = decision.layout.groups() >= kHalfScalesFrom && decision.decoder != Decoder::kDq;
  if (decision.is_linear() && saves && quant::fits_half_scales(decision.ranges, decision.format)) {
    decision.format.half_scales = true;
    decision.stored_bytes = stored_bytes(decision);
  }
  if (decision.encoding == Encoding::kFloat16) {
    if (whole.absmax() > kLargestHalf) return keep(fmt::format("its largest magnitude {:g} overflows 16-bit floats (65504)", whole.absmax()));
    // A weight may lose its smallest values, they drown in its sums; anything else may be divided by.
    if (!decision.weight.fits_few_bits() && has_subnormal_halves(source.floats())) return keep("has values too small for 16-bit floats (6e-5)");
  }
}

std::vector<std::string> notes_on(const onnx::Model& model, const graph::Index& index) {
  std::size_t quantized = 0, sparse = 0;
  for (const graph::Body& body : index.bodies()) {
    for (const auto& node : body.nodes()) quantized += is_quantized_op(*node) ? 1U : 0U;
    if (body.graph != nullptr) sparse += body.graph->sparse_initializers.size();
  }
  std::vector<std::string> notes;
  if (quantized != 0) notes.push_back(fmt::format("already quantized in part ({} nodes): only what is still float is stored smaller", quantized));
  if (sparse != 0) notes.push_back(fmt::format("{} sparse tensors are left as they are", sparse));
  if (!model.proto->training.empty()) notes.emplace_back("training information is carried along unchanged");
  return notes;
}

}  // namespace

Plan make_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe, ThreadPool& pool) {
  Plan plan;
  plan.recipe = recipe;
  plan.notes = notes_on(model, index);
  Planner planner(model, index, recipe);
  std::vector<std::size_t> stored;
  for (const Weight& weight : find_weights(index)) {
    plan.decisions.push_back(planner.decide(weight));
    if (plan.decisions.back().is_stored()) stored.push_back(plan.decisions.size() - 1);
  }
  planner.check_expressions();
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return plan.decisions[stored[i]].weight.tensor->byte_count(); },
      [&](std::size_t i, const ForEach& for_each) { decide_by_values(model, plan.decisions[stored[i]], for_each); });
  promote_smallest(plan);
  return plan;
}

std::size_t Plan::stored_count() const {
  return static_cast<std::size_t>(std::count_if(decisions.begin(), decisions.end(), [](const Decision& d) { return d.is_stored(); }));
}

std::size_t Decision::block_axis() const { return layout.has_contiguous_groups() ? 1 : 0; }

std::string Decision::granularity_text() const {
  if (granularity == GranularityKind::kTensor) return "tensor";
  if (granularity == GranularityKind::kBlock) return fmt::format("block {}", block);
  const ChannelAxes axes = weight.channels.value_or(ChannelAxes{0, 1});
  if (axes.last - axes.first == 1) return fmt::format("channel {}", axes.first);
  return fmt::format("channel {}-{}", axes.first, axes.last - 1);
}

std::string Plan::text() const {
  std::string text;
  for (const Decision& decision : decisions) {
    const onnx::Tensor& tensor = *decision.weight.tensor;
    text += fmt::format("{} {}[{}]", decision.weight.name, onnx::name_of(tensor.type), fmt::join(tensor.dims, ","));
    if (decision.is_stored()) {
      text += fmt::format(" -> {} {} {}{}", name_of(decision.encoding), decision.granularity_text(), name_of(decision.decoder),
                          decision.format.is_symmetric ? "" : " asymmetric");
    } else {
      text += " -> keep";
    }
    text += fmt::format(": {}\n", decision.reason);
  }
  return text;
}

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::kLinear8: return "int8";
    case Encoding::kLinear4: return "int4";
    case Encoding::kCodebook8: return "codebook256";
    case Encoding::kCodebook4: return "codebook16";
    case Encoding::kFloat16: return "float16";
    case Encoding::kKeep: break;
  }
  return "keep";
}

std::string_view name_of(Decoder decoder) {
  switch (decoder) {
    case Decoder::kFold: return "fold";
    case Decoder::kDq: return "dq";
    case Decoder::kLookup: break;
  }
  return "lookup";
}

}  // namespace ounce::plan
