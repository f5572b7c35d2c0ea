#include "formats/onnx/plan/half_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/half_tensors.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::plan {
namespace {

using graph::kNone;
using onnx::Bytes;

constexpr std::size_t kLongestMask = 256;  // limit for the nodes between a mask's constant and its Softmax

bool moves(const onnx::Node& node) { return node.info().flow == ops::Flow::kMoves; }
bool selects(const onnx::Node& node) { return node.info().flow == ops::Flow::kSelects; }
bool adds(const onnx::Node& node) { return node.info().flow == ops::Flow::kAdds; }

// The value of a scalar float32 constant.
std::optional<float> single(const onnx::Model& model, const graph::Index& index, std::size_t body,
                            Bytes name) {
  const auto constant = graph::find_constant(model, index, body, name);
  if (!constant || constant->tensor->type != ElementType::kFloat || constant->tensor->element_count() != 1)
    return std::nullopt;
  const onnx::RawValues values(*constant->tensor);
  float value = 0;
  if (values.bytes().size() != sizeof value) return std::nullopt;
  std::memcpy(&value, values.bytes().data(), sizeof value);
  return value;
}

}  // namespace

HalfFlow::HalfFlow(const onnx::Model& model, const graph::Index& index, const graph::ElementTypes& types,
                   HalfRange range, const calibration::Ranges* ranges)
    : model_(model), index_(index), types_(types), range_(range) {
  for (const graph::Passage& passage : graph::passages(index)) {
    const auto* from = index.find(passage.from.body, passage.from.name).value;
    const auto* to = index.find(passage.to.body, passage.to.name).value;
    if (from != nullptr && to != nullptr) onward_.emplace(from, to);
  }
  for (std::size_t body = 0; ranges != nullptr && range == HalfRange::kNarrow && body < index.bodies().size();
       ++body) {
    for (const auto& [name, value] : index.bodies()[body].values) {
      const auto found = ranges->values.find(graph::value_path(index, body, name));
      if (found == ranges->values.end() || found->second.count() == 0) continue;
      observed_[&value] = {name, found->second.minimum(), found->second.maximum()};
    }
  }
  for (const graph::Body& body : index.bodies()) is_waiting_.emplace_back(body.nodes().size());
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node&) {
    wait_for({body, position});
  });
}

void HalfFlow::add_observed(const std::unordered_set<const graph::Value*>& masks) {
  for (const auto& [value, seen] : observed_) {
    const float largest =
        masks.contains(value) ? seen.high : std::max(std::fabs(seen.low), std::fabs(seen.high));
    const float smallest = seen.low > 0 ? seen.low : seen.high < 0 ? -seen.high : largest;
    const bool is_tiny = smallest > 0 && smallest < kSmallestHalf;
    if (largest > kLargestHalf) {
      note(value, kLarge, fmt::format("'{}' reaches {:g} in the data", seen.name, largest));
    } else if (is_tiny) {
      note(value, kTiny, fmt::format("'{}' comes down to {:g} in the data", seen.name, smallest));
    }
  }
}

void HalfFlow::add_constant(const graph::Value* value, Bytes name, const HalfTensor& tensor) {
  if (tensor.fit == HalfFit::kFits) return;
  const bool is_large = tensor.fit == HalfFit::kOverflows;
  add(value, is_large ? kLarge : kTiny,
      fmt::format("'{}' ({:g}) is too {} for 16-bit floats", name, tensor.worst,
                  is_large ? "large" : "small"));
}

// Queues a node once, even if several of its inputs changed.
void HalfFlow::wait_for(Use node) {
  std::vector<bool>& body = is_waiting_[node.body];
  if (body[node.node]) return;
  body[node.node] = true;
  waiting_.push_back(node);
}

void HalfFlow::run() {
  while (!waiting_.empty() || !arriving_.empty()) {
    if (!arriving_.empty()) {
      const auto [value, from] = arriving_.front();
      arriving_.pop_front();
      const Numbers numbers = numbers_.at(from);
      add(value, numbers.kinds & kTrouble, numbers.origin);
      continue;
    }
    const Use next = waiting_.front();
    waiting_.pop_front();
    is_waiting_[next.body][next.node] = false;
    visit(next.body, next.node);
  }
}

unsigned HalfFlow::kinds(const graph::Value* value) const {
  const auto found = numbers_.find(value);
  return found == numbers_.end() ? 0 : found->second.kinds;
}

bool HalfFlow::is_float(std::size_t body, Bytes name) const {
  return !name.empty() && types_.type(body, name) == ElementType::kFloat;
}

bool HalfFlow::is_constant(const graph::Value& value, std::size_t body) const {
  if (value.initializer != kNone) return true;
  return value.producer != kNone && index_.bodies()[body].nodes()[value.producer]->op() == Op::kConstant;
}

std::vector<HalfFlow::Input> HalfFlow::float_inputs(std::size_t body, const onnx::Node& node) const {
  std::vector<Input> inputs;
  for (const Bytes name : node.inputs) {
    if (!is_float(body, name)) continue;
    const auto [value, home] = index_.find(body, name);
    inputs.push_back({value, is_constant(*value, home), kinds(value)});
  }
  return inputs;
}

// Facts are only added, never removed, so the propagation terminates.
void HalfFlow::add(const graph::Value* value, unsigned kinds, const std::string& origin) {
  if (observed_.contains(value)) kinds &= ~(kLarge | kPower | kSteep);
  note(value, kinds, origin);
}

void HalfFlow::note(const graph::Value* value, unsigned kinds, const std::string& origin) {
  Numbers& numbers = numbers_[value];
  if ((numbers.kinds | kinds) == numbers.kinds) return;
  if ((numbers.kinds & kTrouble) == 0) numbers.origin = origin;
  numbers.kinds |= kinds;
  for (const graph::Use& use : value->uses) wait_for({use.body, use.node});
  const auto [first, last] = onward_.equal_range(value);
  for (auto each = first; each != last; ++each) arriving_.emplace_back(each->second, value);
}

// Whether the node's values are computed only from integers. Layers with weights end the propagation.
unsigned HalfFlow::count_of(std::size_t body, const onnx::Node& node) const {
  if (node.op() == Op::kCast || node.op() == Op::kCastLike) {
    switch (types_.type(body, graph::input_of(node, 0))) {
      case ElementType::kInt16:
      case ElementType::kUint16:
      case ElementType::kInt32:
      case ElementType::kUint32:
      case ElementType::kInt64:
      case ElementType::kUint64: return kCount;
      case ElementType::kBool:
      case ElementType::kInt8:
      case ElementType::kUint8: return kSmallCount;
      default: break;
    }
  }
  if (node.op() == Op::kRange) return kCount;
  if (half_rule(node).reach == ops::Reach::kBounds) return 0;
  unsigned counts = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!is_float(body, node.inputs[i])) continue;
    const auto [value, home] = index_.find(body, node.inputs[i]);
    if (is_constant(*value, home)) {
      const auto constant = graph::find_constant(model_, index_, body, node.inputs[i]);
      const bool is_matrix =
          !constant || std::count_if(constant->tensor->dims.begin(), constant->tensor->dims.end(),
                                     [](std::int64_t dim) { return dim > 1; }) > 1;
      if (node.info().weight(i) && is_matrix && !node.info().moves_weight(i)) return 0;
      continue;
    }
    const unsigned count = kinds(value) & (kCount | kSmallCount);
    if (count == 0) return 0;
    counts |= count;
  }
  return (counts & kCount) != 0 ? unsigned{kCount} : counts;
}

bool HalfFlow::grows(const onnx::Node& node, const std::vector<Input>& inputs) const {
  return node.op() == Op::kMul && inputs.size() == 2 && inputs[0].value == inputs[1].value;
}

unsigned HalfFlow::result_of(std::size_t body, const onnx::Node& node,
                             const std::vector<Input>& inputs) const {
  unsigned in = 0;
  for (const Input& input : inputs) in |= input.kinds;
  ops::Reach reach = half_rule(node).reach;
  bool turns_steep = node.op() == Op::kReciprocal;
  if (node.op() == Op::kPow) {
    const auto exponent = single(model_, index_, body, graph::input_of(node, 1));
    if (exponent && std::fabs(*exponent) <= 1) reach = ops::Reach::kLowers;
    turns_steep = exponent && *exponent < 0;
  }
  unsigned out = count_of(body, node);
  if (reach == ops::Reach::kBounds || range_ == HalfRange::kWide) return out;
  if (reach == ops::Reach::kGrows || grows(node, inputs)) out |= kPower;

  const bool is_division = node.op() == Op::kDiv && inputs.size() == 2;
  const auto is_limit = [&](std::size_t i) {
    return single(model_, index_, body, graph::input_of(node, i)).value_or(INFINITY);
  };
  const bool is_clipped = node.op() == Op::kClip && node.inputs.size() == 3 &&
                          std::fabs(is_limit(1)) <= kLargestHalf && std::fabs(is_limit(2)) <= kLargestHalf;
  if (is_clipped) return out;

  // Large and growing values continue until they are divided by similar values.
  const unsigned divisor = is_division ? inputs[1].kinds : 0;
  // Means and variances only decrease values.
  const bool is_batch_norm = node.op() == Op::kBatchNormalization && inputs.size() == 5;
  const unsigned above = is_division     ? inputs[0].kinds
                         : is_batch_norm ? inputs[0].kinds | inputs[1].kinds | inputs[2].kinds
                                         : in;
  if ((above & kLarge) != 0 && (divisor & (kLarge | kPower)) == 0 && node.op() != Op::kReciprocal)
    out |= kLarge;
  const bool ends_powers = reach == ops::Reach::kLowers || (divisor & (kLarge | kPower)) != 0 || turns_steep;
  if ((above & kPower) != 0 && !ends_powers) out |= kPower;

  // An epsilon continues up to the division that it protects.
  for (const Input& input : inputs) {
    if ((input.kinds & kTiny) == 0) continue;
    const bool others_are_constant = std::all_of(inputs.begin(), inputs.end(), [&](const Input& other) {
      return &other == &input || other.is_constant;
    });
    const bool is_divisor = is_division && &input == &inputs[1];
    if (turns_steep || (is_divisor && inputs[0].is_constant)) {
      out |= kSteep;
    } else if (is_divisor && input.is_constant) {
      out |= kLarge;
    } else if (input.is_constant) {
      if (adds(node) || selects(node)) out |= kTiny;
    } else if (!is_divisor &&
               (moves(node) || selects(node) || node.op() == Op::kSqrt || node.op() == Op::kPow ||
                node.op() == Op::kAbs || node.op() == Op::kNeg ||
                ((adds(node) || node.op() == Op::kMul || node.op() == Op::kDiv) && others_are_constant))) {
      out |= kTiny;
    }
  }
  if ((in & kSteep) != 0) {
    const bool meets_data =
        node.op() == Op::kMul && std::any_of(inputs.begin(), inputs.end(), [](const Input& input) {
          return (input.kinds & kSteep) == 0 && !input.is_constant;
        });
    if (!meets_data) out |= moves(node) || node.op() == Op::kMul ? kSteep : kPower;
  }
  return out;
}

// Shares and probabilities may become zero, which matters only to logarithms and divisions.
bool HalfFlow::may_vanish(std::size_t body, const onnx::Node& node) const {
  static constexpr auto kShares =
      std::to_array<Op>({Op::kExp, Op::kHardmax, Op::kHardSigmoid, Op::kSigmoid, Op::kSoftmax});
  const graph::Value* value =
      std::find(kShares.begin(), kShares.end(), node.op()) != kShares.end() && node.outputs.size() == 1
          ? index_.find(body, node.outputs[0]).value
          : nullptr;
  if (value == nullptr || range_ == HalfRange::kWide || observed_.contains(value)) return false;
  return std::any_of(value->uses.begin(), value->uses.end(), [&](const graph::Use& use) {
    const onnx::Node& user = index_.node(use);
    return user.op() == Op::kLog || user.op() == Op::kReciprocal || (user.op() == Op::kDiv && use.input == 1);
  });
}

void HalfFlow::visit(std::size_t body, std::size_t position) {
  const onnx::Node& node = *index_.bodies()[body].nodes()[position];
  if (may_vanish(body, node)) {
    add(index_.find(body, node.outputs[0]).value, kTiny,
        fmt::format("{} '{}' may be too small for 16-bit floats", node.op_type(), node.outputs[0]));
  }
  const std::vector<Input> inputs = float_inputs(body, node);
  const unsigned out = result_of(body, node, inputs);
  if (out == 0) return;
  std::string origin;
  for (const Input& input : inputs) {
    if ((input.kinds & kTrouble) != 0 && origin.empty()) origin = numbers_.at(input.value).origin;
  }
  if (origin.empty() && (out & kTrouble) != 0) {
    origin = fmt::format("{} '{}' may be too large for 16-bit floats", node.op_type(),
                         node.outputs.empty() ? Bytes() : node.outputs[0]);
  }
  for (const Bytes name : node.outputs) {
    if (is_float(body, name)) add(index_.find(body, name).value, out, origin);
  }
}

std::string HalfFlow::why_float(std::size_t body, const onnx::Node& node) const {
  for (const auto* names : {&node.inputs, &node.outputs}) {
    for (const Bytes name : *names) {
      if (!is_float(body, name)) continue;
      const auto found = numbers_.find(index_.find(body, name).value);
      if (found != numbers_.end() && (found->second.kinds & kTrouble) != 0) return found->second.origin;
    }
  }
  const bool only_joins =
      adds(node) || moves(node) || selects(node) || node.op() == Op::kCast || node.op() == Op::kCastLike;
  for (const Bytes name : node.inputs) {
    if (!only_joins && is_float(body, name) && (kinds(index_.find(body, name).value) & kCount) != 0)
      return "its integer values may need more than 11 bits";
  }
  for (const Bytes name : node.outputs) {
    if (is_float(body, name) && (kinds(index_.find(body, name).value) & kCount) != 0)
      return "its integer values may need more than 11 bits";
  }
  return {};
}

std::optional<std::unordered_set<const graph::Value*>> HalfFlow::mask_of(const graph::Value* value) const {
  std::vector<const graph::Value*> ways = {value};
  std::unordered_set<const graph::Value*> seen = {value};
  while (!ways.empty()) {
    const graph::Value* at = ways.back();
    ways.pop_back();
    if (at->is_output || at->uses.empty()) return std::nullopt;
    for (const graph::Use& use : at->uses) {
      const onnx::Node& node = index_.node(use);
      if (node.op() == Op::kSoftmax) continue;
      // A product of the mask with zeros and ones derived from it is a mask, too.
      bool is_mask_op = adds(node) || moves(node) || node.op() == Op::kWhere;
      if (node.op() == Op::kMul && node.inputs.size() == 2) {
        const auto* other = index_.find(use.body, node.inputs[1 - use.input]).value;
        is_mask_op = other != nullptr && (kinds(other) & (kCount | kSmallCount)) != 0;
      }
      if (!is_mask_op || node.outputs.size() != 1 || seen.size() > kLongestMask) return std::nullopt;
      const graph::Value* next = index_.find(use.body, node.outputs[0]).value;
      if (next == nullptr) return std::nullopt;
      if (seen.insert(next).second) ways.push_back(next);
    }
  }
  return seen;
}

}  // namespace ounce::plan
