#include "plan/half_ops.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "onnx/settings.h"

namespace ounce::plan {
namespace {

constexpr std::string_view kRandom = "other types draw other random numbers";
constexpr std::string_view kCoordinates = "its inputs are coordinates, which need more than 11 bits";
constexpr std::string_view kSignal = "it sums over a whole signal";
constexpr std::string_view kSquares = "it sums squares, which overflow beyond 256";
constexpr std::string_view kLoss = "losses are sums of logarithms";

constexpr auto kHalfOps = std::to_array<HalfOp>({
    {"AffineGrid", Reach::kCarries, kCoordinates},
    {"Atan", Reach::kBounds},
    {"Bernoulli", Reach::kBounds, kRandom},
    {"Cos", Reach::kBounds},
    {"CumSum", Reach::kGrows, "its sums grow along the axis"},
    {"DFT", Reach::kGrows, kSignal},
    {"Erf", Reach::kBounds},
    {"Exp", Reach::kGrows},
    {"EyeLike", Reach::kBounds, "what it gives follows its input"},
    {"GRU", Reach::kBounds, "ONNX Runtime crashes on it in 16-bit floats"},
    {"GlobalLpPool", Reach::kCarries, kSquares},
    {"GroupNormalization", Reach::kBounds},
    {"HardSigmoid", Reach::kBounds},
    {"Hardmax", Reach::kBounds},
    {"InstanceNormalization", Reach::kBounds},
    {"LRN", Reach::kCarries, kSquares},
    {"LayerNormalization", Reach::kBounds},
    {"Log", Reach::kLowers},
    {"LpNormalization", Reach::kBounds, kSquares},
    {"LpPool", Reach::kCarries, kSquares},
    {"MaxRoiPool", Reach::kCarries, kCoordinates},
    {"MeanVarianceNormalization", Reach::kBounds, kSquares},
    {"Multinomial", Reach::kCarries, kRandom},
    {"NegativeLogLikelihoodLoss", Reach::kCarries, kLoss},
    {"Pow", Reach::kGrows},
    {"RMSNormalization", Reach::kBounds},
    {"RandomNormal", Reach::kBounds, kRandom},
    {"RandomNormalLike", Reach::kBounds, kRandom},
    {"RandomUniform", Reach::kBounds, kRandom},
    {"RandomUniformLike", Reach::kBounds, kRandom},
    {"ReduceL1", Reach::kGrows},
    {"ReduceL2", Reach::kGrows},
    {"ReduceLogSum", Reach::kLowers},
    {"ReduceLogSumExp", Reach::kLowers},
    {"ReduceProd", Reach::kGrows},
    {"ReduceSum", Reach::kGrows},
    {"ReduceSumSquare", Reach::kGrows},
    {"RoiAlign", Reach::kCarries, kCoordinates},
    {"STFT", Reach::kGrows, kSignal},
    {"Sigmoid", Reach::kBounds},
    {"Sign", Reach::kBounds},
    {"SimplifiedLayerNormalization", Reach::kBounds},
    {"Sin", Reach::kBounds},
    {"SkipLayerNormalization", Reach::kBounds},
    {"SkipSimplifiedLayerNormalization", Reach::kBounds},
    {"Softmax", Reach::kBounds},
    {"SoftmaxCrossEntropyLoss", Reach::kCarries, kLoss},
    {"Softsign", Reach::kBounds},
    {"Sqrt", Reach::kLowers},
    {"Tanh", Reach::kBounds},
});
static_assert(std::is_sorted(kHalfOps.begin(), kHalfOps.end(),
                             [](const HalfOp& a, const HalfOp& b) { return a.op_type < b.op_type; }));

constexpr auto kSettings = std::to_array<std::pair<std::string_view, std::size_t>>({
    {"Dropout", 1},  // the ratio
    {"GridSample", 1},
    {"Resize", 1},  // the region
});

constexpr auto kEpsilons = std::to_array<std::pair<std::string_view, float>>({
    {"BatchNormalization", 1e-5F},
    {"GroupNormalization", 1e-5F},
    {"InstanceNormalization", 1e-5F},
    {"LayerNormalization", 1e-5F},
    {"RMSNormalization", 1e-5F},
    {"SimplifiedLayerNormalization", 1e-5F},
    {"SkipLayerNormalization", 1e-12F},
    {"SkipSimplifiedLayerNormalization", 1e-12F},
});

}  // namespace

const HalfOp& half_op(const onnx::Node& node) {
  static constexpr HalfOp kOrdinary{""}, kTrainingDropout{"Dropout", Reach::kCarries, kRandom};
  if (is_op(node, "Dropout") && node.inputs.size() > 2) return kTrainingDropout;
  const auto* found =
      std::lower_bound(kHalfOps.begin(), kHalfOps.end(), node.op_type,
                       [](const HalfOp& op, std::string_view name) { return op.op_type < name; });
  return found != kHalfOps.end() && found->op_type == node.op_type ? *found : kOrdinary;
}

bool is_setting(const onnx::Node& node, std::size_t input) {
  return std::find(kSettings.begin(), kSettings.end(), std::pair(node.op_type, input)) != kSettings.end();
}

bool is_scattered_sum(const onnx::Node& node) {
  if (!is_op(node, "ScatterElements") && !is_op(node, "ScatterND")) return false;
  return onnx::string_setting(node, "reduction", "none") != onnx::Bytes("none");
}

float epsilon_of(const onnx::Node& node) {
  for (const auto& [op_type, otherwise] : kEpsilons) {
    if (op_type == node.op_type)
      return onnx::float_setting(node, "epsilon", otherwise).value_or(std::numeric_limits<float>::min());
  }
  return 0;
}

}  // namespace ounce::plan
