#include "formats/tflite/plan/integer_scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>

namespace ounce::tflite {
namespace {

// A value with other users keeps its own scale if the group's range is wider by this factor: one bit.
constexpr double kLosesABit = 2;

// The ratios of scales that XNNPACK takes, as its delegate checks them before it takes an operator.
constexpr double kLeastSum = 0x1p-10, kLeastProduct = 0x1p-16, kLeastRescale = 0x1p-8, kMostRatio = 0x1p8,
                 kMostRescale = 0x1p7;

class Groups {
 public:
  explicit Groups(std::size_t tensors) : nearer_(tensors), ranges_(tensors), fixed_(tensors, nullptr) {
    std::iota(nearer_.begin(), nearer_.end(), std::size_t{0});
  }

  std::size_t of(std::size_t tensor) {
    while (nearer_[tensor] != tensor) tensor = nearer_[tensor] = nearer_[nearer_[tensor]];
    return tensor;
  }
  void join(std::size_t a, std::size_t b) {
    a = of(a);
    b = of(b);
    if (a == b) return;
    nearer_[b] = a;
    ranges_[a] = wider(ranges_[a], ranges_[b]);
    if (fixed_[a] == nullptr) fixed_[a] = fixed_[b];
  }
  void set(std::size_t tensor, const ValueRange& range) { ranges_[of(tensor)] = range; }
  void fix(std::size_t tensor, const FixedRange* range) { fixed_[of(tensor)] = range; }
  const ValueRange& range(std::size_t tensor) { return ranges_[of(tensor)]; }
  const FixedRange* fixed(std::size_t tensor) { return fixed_[of(tensor)]; }

  static ValueRange wider(const ValueRange& a, const ValueRange& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
  static double width(const ValueRange& range) { return range.high - range.low; }

 private:
  std::vector<std::size_t> nearer_;
  std::vector<ValueRange> ranges_;
  std::vector<const FixedRange*> fixed_;
};

ActivationType type_of(const IntegerRecipe& recipe) {
  return is_16_bit(recipe.activations) ? ActivationType::kS16 : ActivationType::kS8;
}

// 16-bit codes have their zero in the middle, whatever the signs of the values.
ActivationQuantization quantization_of(const ValueRange& range, const IntegerRecipe& recipe) {
  if (type_of(recipe) == ActivationType::kS8)
    return plan::make_quantization(range, ActivationType::kS8, recipe.symmetric_activations);
  const double most = std::max(std::abs(range.low), std::abs(range.high));
  return plan::make_quantization({-most, most}, ActivationType::kS16, true);
}

// Kernels multiply with a constant whose zero point is 0.
ActivationQuantization centred(const ValueRange& range) {
  const double most = std::max(std::abs(range.low), std::abs(range.high));
  return plan::make_quantization({-most, most}, ActivationType::kS8, true);
}

ActivationQuantization quantization_of(const FixedRange& fixed, const IntegerRecipe& recipe) {
  ActivationQuantization codes;
  const bool is_wide = type_of(recipe) == ActivationType::kS16;
  codes.type = is_wide ? ElementType::kInt16 : ElementType::kInt8;
  codes.scale = is_wide ? fixed.int16_scale : fixed.int8_scale;
  codes.zero = is_wide ? 0 : fixed.int8_zero_point;
  const plan::CodeLimits limits = plan::limits_of(codes.type);
  codes.range = {(limits.low - codes.zero) * static_cast<double>(codes.scale),
                 (limits.high - codes.zero) * static_cast<double>(codes.scale)};
  codes.method = CalibrationMethod::kMinMax;
  codes.sqnr_db = std::numeric_limits<double>::infinity();
  return codes;
}

ValueRange range_of_constant(const Model& model, const Tensor& tensor) {
  ValueRange range;
  const Bytes bytes = data_of(model, tensor).bytes();
  for (std::size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (!std::isfinite(value)) continue;
    range.low = std::min<double>(range.low, value);
    range.high = std::max<double>(range.high, value);
  }
  return range;
}

class Chooser {
 public:
  Chooser(const Model& model, const Flow& flow, const std::vector<IntegerCandidate>& candidates,
          const std::vector<bool>& is_integer, const calibration::Ranges& ranges, const IntegerRecipe& recipe)
      : model_(model),
        graph_(model.subgraphs[0]),
        flow_(flow),
        candidates_(candidates),
        is_integer_(is_integer),
        ranges_(ranges),
        recipe_(recipe),
        groups_(graph_.tensors.size()) {
    recipe_.activations = type_of(recipe);
    chosen_.codes.resize(graph_.tensors.size());
  }

  Scales choose() {
    for_each_op([this](std::size_t op) { find_ranges(op); });
    for_each_op([this](std::size_t op) { join(op); });
    for (std::size_t tensor = 0; tensor < graph_.tensors.size(); ++tensor) {
      std::optional<ActivationQuantization>& codes = chosen_.codes[tensor];
      if (codes) codes = final_of(tensor, *codes);
    }
    for (const auto& [input, group] : apart_)
      chosen_.requantized.emplace(input, final_of(group, *chosen_.codes[group]));
    for_each_op([this](std::size_t op) { code_numbers(op); });
    return std::move(chosen_);
  }

 private:
  template <class Action>
  void for_each_op(const Action& action) {
    for (std::size_t op = 0; op < candidates_.size(); ++op) {
      if (is_integer_[op]) action(op);
    }
  }
  std::size_t input(std::size_t op, std::size_t i) const {
    return static_cast<std::size_t>(graph_.operators[op].inputs[i]);
  }

  void find_ranges(std::size_t op) {
    const IntegerCandidate& candidate = candidates_[op];
    for (const std::size_t i : candidate.data) find_range(input(op, i));
    for (const std::size_t output : candidate.outputs) {
      find_range(output);
      if (candidate.row->int8 == IntegerRule::kFixedRange) groups_.fix(output, &candidate.row->fixed);
    }
  }
  void find_range(std::size_t tensor) {
    if (chosen_.codes[tensor]) return;
    const ActivationQuantization codes = plan::choose_quantization(ranges_, flow_.names[tensor], recipe_);
    chosen_.codes[tensor] = codes;
    groups_.set(tensor, codes.range);
  }

  // All that an operator takes and gives has one scale, or else it is requantized.
  void join(std::size_t op) {
    const IntegerCandidate& candidate = candidates_[op];
    if (candidate.row->int8 != IntegerRule::kSameScale) return;
    const std::size_t group = candidate.outputs[0];
    for (const std::size_t output : candidate.outputs) groups_.join(group, output);
    ValueRange all = groups_.range(group);
    const FixedRange* fixed = groups_.fixed(input(op, candidate.data[0]));
    for (const std::size_t i : candidate.data) {
      all = Groups::wider(all, groups_.range(input(op, i)));
      if (groups_.fixed(input(op, i)) != fixed) fixed = nullptr;
    }
    for (const std::size_t i : candidate.numbers)
      all = Groups::wider(all, range_of_constant(model_, graph_.tensors[input(op, i)]));
    // A single value gains nothing from another scale. If one of several is fixed, all share it or none does.
    const bool is_alone = candidate.data.size() == 1;
    if (!is_alone || groups_.fixed(input(op, candidate.data[0])) == nullptr) groups_.set(group, all);
    for (const std::size_t i : candidate.data) {
      if (is_alone || fixed != nullptr || may_join(input(op, i), all))
        groups_.join(group, input(op, i));
      else
        apart_.emplace(OpInput{op, i}, group);
    }
  }
  bool may_join(std::size_t tensor, const ValueRange& all) {
    if (groups_.fixed(tensor) != nullptr) return false;
    return flow_.uses[tensor].size() == 1 ||
           Groups::width(all) <= kLosesABit * Groups::width(groups_.range(tensor));
  }

  ActivationQuantization final_of(std::size_t tensor, const ActivationQuantization& chosen) {
    const FixedRange* fixed = groups_.fixed(tensor);
    if (fixed != nullptr) return quantization_of(*fixed, recipe_);
    ActivationQuantization codes = quantization_of(groups_.range(tensor), recipe_);
    codes.method = chosen.method;
    codes.sqnr_db = chosen.sqnr_db;
    return codes;
  }

  void code_numbers(std::size_t op) {
    const IntegerCandidate& candidate = candidates_[op];
    for (const std::size_t i : candidate.numbers) {
      const ValueRange range = range_of_constant(model_, graph_.tensors[input(op, i)]);
      ActivationQuantization codes;
      if (candidate.row->int8 == IntegerRule::kSameScale)
        codes = *chosen_.codes[candidate.outputs[0]];
      else if (candidate.row->code == Builtin::kBatchMatmul)
        codes = centred(range);
      else
        codes = quantization_of(range, recipe_);
      chosen_.numbers.emplace(OpInput{op, i}, codes);
    }
  }

  const Model& model_;
  const SubGraph& graph_;
  const Flow& flow_;
  const std::vector<IntegerCandidate>& candidates_;
  const std::vector<bool>& is_integer_;
  const calibration::Ranges& ranges_;
  IntegerRecipe recipe_;
  Groups groups_;
  Scales chosen_;
  std::map<OpInput, std::size_t> apart_;  // and a tensor of the group whose scale it gets
};

std::string ratio_outside(const char* what, double ratio, double low, double high) {
  if (ratio >= low && ratio < high) return {};
  return fmt::format("{} is {:.3g}, outside of the {:.2g} to {:.0f} that XNNPACK takes", what, ratio, low,
                     high);
}

}  // namespace

const ActivationQuantization& Scales::of_input(const SubGraph& graph, std::size_t op,
                                               std::size_t input) const {
  if (const auto other = requantized.find({op, input}); other != requantized.end()) return other->second;
  if (const auto number = numbers.find({op, input}); number != numbers.end()) return number->second;
  return *codes[static_cast<std::size_t>(graph.operators[op].inputs[input])];
}

Scales choose_scales(const Model& model, const Flow& flow, const std::vector<IntegerCandidate>& candidates,
                     const std::vector<bool>& is_integer, const calibration::Ranges& ranges,
                     const IntegerRecipe& recipe) {
  return Chooser(model, flow, candidates, is_integer, ranges, recipe).choose();
}

std::string why_not_scales(const Model& model, const IntegerCandidate& candidate, std::size_t op,
                           const Scales& scales, double weight_scale) {
  const SubGraph& graph = model.subgraphs[0];
  const double out = scales.codes[candidate.outputs[0]]->scale;
  const auto in = [&](std::size_t i) -> double { return scales.of_input(graph, op, i).scale; };
  const auto each_input = [&](double low, double high) {
    std::string why;
    for (std::size_t i = 0; i < graph.operators[op].inputs.size() && why.empty(); ++i) {
      const bool is_coded = std::ranges::find(candidate.data, i) != candidate.data.end() ||
                            std::ranges::find(candidate.numbers, i) != candidate.numbers.end();
      if (is_coded) why = ratio_outside("the ratio of its scales", in(i) / out, low, high);
    }
    return why;
  };
  switch (candidate.row->code) {
    case Builtin::kAdd:
    case Builtin::kSub: return each_input(kLeastSum, kMostRatio);
    case Builtin::kMul:
    case Builtin::kBatchMatmul:
      return ratio_outside("the ratio of its scales", in(0) * in(1) / out, kLeastProduct, kMostRatio);
    case Builtin::kMean:
    case Builtin::kSum: return each_input(kLeastRescale, kMostRescale);
    case Builtin::kLeakyRelu: {
      const std::string why = each_input(kLeastRescale, kMostRescale);
      if (!why.empty()) return why;
      const double alpha = graph.operators[op].options.table
                               ? std::abs(graph.operators[op].options.table->number("alpha"))
                               : 0;
      return ratio_outside("the ratio of its scales times alpha", in(0) / out * alpha, kLeastRescale,
                           kMostRescale);
    }
    default: break;
  }
  if (candidate.has_weight())
    return ratio_outside("the ratio of its scales", in(candidate.row->data) * weight_scale / out, 0,
                         kMostRatio);
  for (const std::size_t i : candidate.data) {
    if (!scales.requantized.contains({op, i})) continue;
    const double from = scales.codes[static_cast<std::size_t>(graph.operators[op].inputs[i])]->scale;
    std::string why = ratio_outside("the ratio of its scales", from / in(i), kLeastRescale, kMostRescale);
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace ounce::tflite
