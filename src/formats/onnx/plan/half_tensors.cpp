#include "formats/onnx/plan/half_tensors.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/half.h"
#include "quant/layout.h"

namespace ounce::plan {
namespace {

// A weight whose largest value is below this loses precision in all its values.
constexpr float kSmallestWeight = 0x1p-11F;

enum class Influence {
  kAdded,    // small values have no effect in sums
  kScales,   // small values matter if there are no larger ones
  kDivides,  // a divisor or its epsilon: small values matter
};

Influence influence_of(const graph::Index& index, const Decision& decision) {
  const bool is_single = decision.weight.values() == 1;
  Influence strongest = decision.weight.fits_nbits() ? Influence::kScales : Influence::kAdded;
  for (const graph::Use& use : decision.place.value->uses) {
    const onnx::Node& node = index.node(use);
    const auto is_one_of = [&](std::initializer_list<Op> ops) {
      return std::any_of(ops.begin(), ops.end(), [&](Op op) { return node.op() == op; });
    };
    const bool divides = is_one_of({Op::kLog, Op::kSqrt, Op::kReciprocal, Op::kPow}) ||
                         (node.op() == Op::kDiv && use.input == 1) ||
                         (node.op() == Op::kBatchNormalization && use.input == 4);
    const bool guards =
        is_single && is_one_of({Op::kAdd, Op::kSub, Op::kMax, Op::kMin, Op::kClip, Op::kWhere, Op::kGreater,
                                Op::kLess, Op::kGreaterOrEqual, Op::kLessOrEqual});
    if (divides || guards) return Influence::kDivides;
    if (is_one_of({Op::kMul, Op::kDiv})) strongest = Influence::kScales;
  }
  return strongest;
}

template <class Look>
void for_each_value(const quant::FloatSource& floats, const Look& look) {
  std::vector<float> scratch, tile;
  for (std::size_t first = 0; first < floats.size(); first += quant::kTile) {
    tile.resize(std::min(quant::kTile, floats.size() - first));
    std::memcpy(tile.data(), floats.values(first, tile.size(), scratch), tile.size() * sizeof(float));
    for (const float value : tile) look(value);
  }
}

float smallest_of(const quant::FloatSource& floats) {
  float smallest = std::numeric_limits<float>::infinity();
  for_each_value(floats, [&](float value) {
    if (value != 0) smallest = std::min(smallest, std::fabs(value));
  });
  return smallest;
}

float largest_finite_of(const quant::FloatSource& floats) {
  float largest = 0;
  for_each_value(floats, [&](float value) {
    if (std::isfinite(value) && std::fabs(value) > std::fabs(largest)) largest = value;
  });
  return largest;
}

}  // namespace

HalfTensor read_half_tensor(const onnx::Model& model, const graph::Index& index, ElementType half,
                            Decision& decision, const ForEach& for_each) {
  const TensorSource source(model, *decision.place.tensor);
  const quant::FloatSource& floats = source.floats();
  const std::size_t tiles = quant::tile_count(floats, quant::kTile);
  std::vector<Digest> digests(decision.weight.bytes() >= kDigestFrom ? tiles : 0);
  std::vector<kernels::HalfStats> stats(tiles);
  std::vector<kernels::Range> ranges(tiles);
  const bool is_fp16 = half == ElementType::kFloat16;
  quant::for_each_tile(floats, quant::kTile, for_each,
                       [&](std::size_t tile, std::size_t first, std::size_t count) {
                         std::vector<float> scratch;
                         const std::byte* values = floats.values(first, count, scratch);
                         kernels::range_of_run(values, count, ranges[tile]);
                         if (is_fp16) {
                           std::vector<std::uint16_t> halves(count);
                           kernels::f32_to_f16(values, count, halves.data(), stats[tile]);
                         }
                         if (!digests.empty()) digests[tile] = digest_of(floats.bytes_of(first, count));
                       });
  if (!digests.empty()) decision.digest = digest_of(digests);
  kernels::Range whole;
  std::uint64_t small = 0;
  for (std::size_t i = 0; i < tiles; ++i) {
    whole.merge(ranges[i]);
    small += stats[i].subnormal + stats[i].vanished;
  }
  const float largest = is_fp16 ? kLargestHalf : kLargestBfloat;
  if (!whole.finite()) {
    if (decision.weight.role == Role::kWeight) return {.is_broken = true};
    // float16 has infinities, too, but not the large finite values next to them.
    const float worst = largest_finite_of(floats);
    return std::fabs(worst) > largest ? HalfTensor{HalfFit::kOverflows, worst} : HalfTensor{};
  }
  if (whole.empty() || whole.absmax() == 0) return {};
  if (whole.absmax() > largest) return {HalfFit::kOverflows, whole.max > largest ? whole.max : whole.min};
  if (small == 0) return {};
  const Influence influence = influence_of(index, decision);
  const bool matters = influence == Influence::kDivides ||
                       (influence == Influence::kScales && whole.absmax() < kSmallestWeight);
  return matters ? HalfTensor{HalfFit::kVanishes, smallest_of(floats)} : HalfTensor{};
}

const ops::HalfRule& half_rule(const onnx::Node& node) {
  static constexpr ops::HalfRule kTrainingDropout{.why_fp32 = "its random numbers depend on the type"};
  return node.op() == Op::kDropout && node.inputs.size() > 2 ? kTrainingDropout : node.info().half;
}

bool is_scattered_sum(const onnx::Node& node) {
  if (node.op() != Op::kScatterElements && node.op() != Op::kScatterND) return false;
  return onnx::string_setting(node, "reduction", "none") != onnx::Bytes("none");
}

float epsilon_of(const onnx::Node& node) {
  const float otherwise = node.info().half.epsilon;
  if (otherwise == 0) return 0;
  return onnx::float_setting(node, "epsilon", otherwise).value_or(std::numeric_limits<float>::min());
}

using onnx::Bytes;
using onnx::OpSchema;

namespace {

constexpr std::int64_t kNewestOpset = 1000;

}  // namespace

bool has_sequence(const OpSchema& schema) {
  if (schema.inputs.find('*') != std::string_view::npos) return true;
  for (const std::string_view list : {schema.inputs, schema.outputs}) {
    for (const char letter : list) {
      if (OpSchema::is_variable(letter) && schema.types_of(letter) == "*") return true;
    }
  }
  return false;
}

bool shares_type(const OpSchema& schema, const onnx::Node& node, Bytes name, ElementType half) {
  const auto is_shared = [&](const std::vector<Bytes>& names, auto letter_of) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != name) continue;
      const std::optional<char> letter = letter_of(i);
      if (letter && OpSchema::is_variable(*letter) && schema.allows(*letter, half)) return true;
    }
    return false;
  };
  return is_shared(node.inputs, [&](std::size_t i) { return schema.input(i); }) ||
         is_shared(node.outputs, [&](std::size_t i) { return schema.output(i); });
}

std::string why_no_type(const OpSchema& schema, ElementType half) {
  const auto allows = [&](const OpSchema& each) {
    const std::optional<char> letter = each.input(0);
    return letter && OpSchema::is_variable(*letter) && each.allows(*letter, half);
  };
  const std::string what = fmt::format("ONNX has no {} of {}", schema.op_type, name_of(half));
  const OpSchema* newest = onnx::find_op_schema(schema.domain, schema.op_type, kNewestOpset);
  if (newest == nullptr || !allows(*newest)) return what;
  std::int64_t first = newest->since;
  for (std::int64_t version = first; version > schema.since; --version) {
    const OpSchema* older = onnx::find_op_schema(schema.domain, schema.op_type, version);
    if (allows(*older)) first = older->since;
  }
  return fmt::format("{} before opset {}", what, first);
}

}  // namespace ounce::plan
