#include "ops/op_info.h"

#include <algorithm>
#include <tuple>

namespace ounce::ops {
namespace {

using enum ChannelRule;

constexpr ConstantInput weight(std::uint8_t input, ChannelRule channels) {
  return {input, Role::kWeight, channels};
}
constexpr ConstantInput table(std::uint8_t input) { return {input, Role::kWeight, kTableRow}; }
constexpr ConstantInput parameter(std::uint8_t input) { return {input, Role::kParameter}; }
constexpr ConstantInput setting(std::uint8_t input) { return {input, Role::kSetting}; }
constexpr QuantizedInput quantized(std::uint8_t input, std::uint8_t zero_point = QuantizedInput::kNone) {
  return {input, zero_point};
}
// A weight whose products are summed in pairs.
constexpr QuantizedInput pair_summed(std::uint8_t input, std::uint8_t zero_point) {
  return {input, zero_point, true};
}

constexpr std::string_view kRandom = "its random numbers depend on the type";
constexpr std::string_view kCoordinates = "its inputs are coordinates, which need more than 11 bits";
constexpr std::string_view kSignal = "it sums over a whole signal";
constexpr std::string_view kSquares = "it sums squares, which overflow beyond 256";
constexpr std::string_view kLoss = "losses are sums of logarithms";

// The static INT8 forms were determined by loading models in the runtime and reading its optimized graphs
// (bench/static_fusions.py). ConvTranspose, normalizations and the parts of GELU have none, because Q/DQ
// around them only costs time; neither has Softmax, whose inputs may be masked with huge values.
//
// An FP32 Add is fused into the preceding Conv, so its FP32 cost is small. The cost of GlobalAveragePool is
// per input value.
// clang-format off
constexpr OpInfo kRows[] = {
    {},
    {.op = Op::kAbs, .name = "Abs", .shape = Shape::kSame},
    {.op = Op::kAdd, .name = "Add", .shape = Shape::kBroadcast, .flow = Flow::kAdds,
     .static8 = {IntegerKind::kJoin, Op::kQLinearAdd}, .cost = {.fp32 = 0.03, .int8 = 0.16}},
    {.op = Op::kAffineGrid, .name = "AffineGrid", .half = {.why_fp32 = kCoordinates}},
    {.op = Op::kAnd, .name = "And"},
    {.op = Op::kArgMax, .name = "ArgMax"},
    {.op = Op::kAtan, .name = "Atan", .half = {.reach = Reach::kBounds}},
    {.op = Op::kAttention, .name = "Attention", .op_class = Class::kAttention},
    {.op = Op::kContribAttention, .name = "Attention", .domain = Domain::kContrib, .op_class = Class::kAttention,
     .constants = {weight(1, kLast)}, .dynamic8 = {IntegerKind::kAttention, Op::kQAttention},
     .pairs = ProductPairs::kMatrix},
    {.op = Op::kAveragePool, .name = "AveragePool", .shape = Shape::kPool, .channels = Channels::kKeptInWindow,
     .is_homogeneous = true, .channels_second = true, .static8 = {IntegerKind::kMap, Op::kQLinearAveragePool},
     .cost = {.fp32 = 0.034, .int8 = 0.63, .by_window = true}},
    {.op = Op::kBatchNormalization, .name = "BatchNormalization", .shape = Shape::kSame, .channels_second = true,
     .constants = {parameter(1), parameter(2)}, .half = {.epsilon = 1e-5F}},
    {.op = Op::kBernoulli, .name = "Bernoulli", .half = {.reach = Reach::kBounds, .why_fp32 = kRandom}},
    {.op = Op::kBitShift, .name = "BitShift"},
    {.op = Op::kBlackmanWindow, .name = "BlackmanWindow"},
    {.op = Op::kCast, .name = "Cast", .shape = Shape::kSame},
    {.op = Op::kCastLike, .name = "CastLike"},
    {.op = Op::kCeil, .name = "Ceil", .shape = Shape::kSame},
    {.op = Op::kCelu, .name = "Celu", .shape = Shape::kSame},
    {.op = Op::kClip, .name = "Clip", .shape = Shape::kSame, .flow = Flow::kSelects, .channels = Channels::kKept,
     .static8 = {IntegerKind::kClamp}},
    {.op = Op::kConcat, .name = "Concat", .shape = Shape::kConcat, .flow = Flow::kMoves, .moves_weights = true,
     .moves_all_inputs = true, .static8 = {IntegerKind::kJoin, Op::kQLinearConcat},
     .cost = {.fp32 = 0.11, .int8 = 0.045}},
    {.op = Op::kConstant, .name = "Constant"},
    {.op = Op::kConstantOfShape, .name = "ConstantOfShape"},
    {.op = Op::kConv, .name = "Conv", .op_class = Class::kConv, .shape = Shape::kConv, .channels_second = true,
     .constants = {weight(1, kFirst), parameter(2)}, .static8 = {IntegerKind::kConv, Op::kQLinearConv},
     .dynamic8 = {IntegerKind::kConv, Op::kConvInteger}, .pairs = ProductPairs::kConv},
    {.op = Op::kConvInteger, .name = "ConvInteger", .op_class = Class::kIntegerProduct,
     .quantized = {quantized(0, 2), quantized(1, 3)}},
    {.op = Op::kConvTranspose, .name = "ConvTranspose", .op_class = Class::kConv, .shape = Shape::kConvTranspose,
     .channels_second = true, .constants = {weight(1, kSecond), parameter(2)}},
    {.op = Op::kCos, .name = "Cos", .half = {.reach = Reach::kBounds}},
    {.op = Op::kCumSum, .name = "CumSum",
     .half = {.reach = Reach::kGrows, .why_fp32 = "its sums grow along the axis"}},
    {.op = Op::kDFT, .name = "DFT", .half = {.reach = Reach::kGrows, .why_fp32 = kSignal}},
    {.op = Op::kDecoderMaskedMultiHeadAttention, .name = "DecoderMaskedMultiHeadAttention", .domain = Domain::kContrib,
     .op_class = Class::kAttention, .is_causal = true},
    {.op = Op::kDecoderMaskedSelfAttention, .name = "DecoderMaskedSelfAttention", .domain = Domain::kContrib,
     .op_class = Class::kAttention, .is_causal = true},
    {.op = Op::kDeformConv, .name = "DeformConv", .op_class = Class::kConv, .constants = {weight(1, kFirst)}},
    {.op = Op::kDepthToSpace, .name = "DepthToSpace", .flow = Flow::kMoves},
    {.op = Op::kDequantizeLinear, .name = "DequantizeLinear", .op_class = Class::kQuantize},
    {.op = Op::kContribDequantizeLinear, .name = "DequantizeLinear", .domain = Domain::kContrib,
     .op_class = Class::kQuantize},
    {.op = Op::kDiv, .name = "Div", .shape = Shape::kBroadcast, .static8 = {IntegerKind::kComposite}},
    {.op = Op::kDropout, .name = "Dropout", .shape = Shape::kSame, .constants = {setting(1)}},
    {.op = Op::kDynamicQuantizeLSTM, .name = "DynamicQuantizeLSTM", .domain = Domain::kContrib,
     .op_class = Class::kIntegerProduct, .quantized = {pair_summed(1, 9), pair_summed(2, 11)},
     .pairs = ProductPairs::kMatrix},
    {.op = Op::kDynamicQuantizeLinear, .name = "DynamicQuantizeLinear", .op_class = Class::kQuantized},
    {.op = Op::kDynamicQuantizeMatMul, .name = "DynamicQuantizeMatMul", .domain = Domain::kContrib,
     .op_class = Class::kIntegerProduct, .quantized = {pair_summed(1, 3)}, .pairs = ProductPairs::kMatrix},
    {.op = Op::kEinsum, .name = "Einsum", .op_class = Class::kProduct},
    {.op = Op::kElu, .name = "Elu", .shape = Shape::kSame},
    {.op = Op::kEqual, .name = "Equal"},
    {.op = Op::kErf, .name = "Erf", .shape = Shape::kSame, .half = {.reach = Reach::kBounds}},
    {.op = Op::kExp, .name = "Exp", .shape = Shape::kSame, .half = {.reach = Reach::kGrows}},
    {.op = Op::kExpand, .name = "Expand", .flow = Flow::kMoves},
    {.op = Op::kEyeLike, .name = "EyeLike",
     .half = {.reach = Reach::kBounds, .why_fp32 = "its output type follows its input"}},
    {.op = Op::kFlatten, .name = "Flatten", .shape = Shape::kFlatten, .flow = Flow::kMoves, .moves_weights = true,
     .static8 = {IntegerKind::kMovement, Op::kFlatten}},
    {.op = Op::kFloor, .name = "Floor", .shape = Shape::kSame},
    {.op = Op::kFusedConv, .name = "FusedConv", .domain = Domain::kContrib, .op_class = Class::kConv,
     .constants = {weight(1, kFirst)}},
    {.op = Op::kFusedGemm, .name = "FusedGemm", .domain = Domain::kContrib, .op_class = Class::kProduct,
     .constants = {weight(1, kGemmB)}},
    {.op = Op::kFusedMatMul, .name = "FusedMatMul", .domain = Domain::kContrib, .op_class = Class::kProduct,
     .constants = {weight(1, kGemmB)}},
    {.op = Op::kGRU, .name = "GRU", .op_class = Class::kRecurrent,
     .constants = {weight(1, kRecurrent), weight(2, kRecurrent), parameter(3)},
     .half = {.reach = Reach::kBounds, .why_fp32 = "ONNX Runtime crashes on it in FP16"}},
    {.op = Op::kGather, .name = "Gather", .flow = Flow::kMoves, .constants = {table(0)}},
    {.op = Op::kGatherBlockQuantized, .name = "GatherBlockQuantized", .domain = Domain::kContrib,
     .op_class = Class::kQuantized, .quantized = {quantized(0, 3)}},
    {.op = Op::kGatherElements, .name = "GatherElements", .flow = Flow::kMoves},
    {.op = Op::kGatherND, .name = "GatherND", .flow = Flow::kMoves},
    {.op = Op::kGelu, .name = "Gelu", .shape = Shape::kSame},
    {.op = Op::kGemm, .name = "Gemm", .op_class = Class::kProduct, .shape = Shape::kMatMul,
     .constants = {weight(0, kGemmA), weight(1, kGemmB), parameter(2)}, .static8 = {IntegerKind::kGemm, Op::kQGemm},
     .dynamic8 = {IntegerKind::kGemm, Op::kMatMulInteger}, .pairs = ProductPairs::kGemm},
    {.op = Op::kGlobalAveragePool, .name = "GlobalAveragePool", .shape = Shape::kGlobalPool,
     .channels = Channels::kKeptInWindow, .is_homogeneous = true, .channels_second = true,
     .static8 = {IntegerKind::kMap, Op::kQLinearGlobalAveragePool}, .cost = {.fp32 = 0.05, .int8 = 0.02}},
    {.op = Op::kGlobalLpPool, .name = "GlobalLpPool", .half = {.why_fp32 = kSquares}},
    {.op = Op::kGlobalMaxPool, .name = "GlobalMaxPool", .shape = Shape::kGlobalPool,
     .channels = Channels::kKeptInWindow, .is_homogeneous = true},
    {.op = Op::kGreater, .name = "Greater"},
    {.op = Op::kGreaterOrEqual, .name = "GreaterOrEqual"},
    {.op = Op::kGridSample, .name = "GridSample", .constants = {setting(1)}},
    {.op = Op::kContribGridSample, .name = "GridSample", .domain = Domain::kContrib, .constants = {setting(1)}},
    {.op = Op::kGroupNormalization, .name = "GroupNormalization", .shape = Shape::kSame,
     .constants = {parameter(1), parameter(2)}, .half = {.reach = Reach::kBounds, .epsilon = 1e-5F}},
    {.op = Op::kGroupQueryAttention, .name = "GroupQueryAttention", .domain = Domain::kContrib,
     .op_class = Class::kAttention, .is_causal = true},
    {.op = Op::kHammingWindow, .name = "HammingWindow"},
    {.op = Op::kHannWindow, .name = "HannWindow"},
    {.op = Op::kHardSigmoid, .name = "HardSigmoid", .shape = Shape::kSame, .channels = Channels::kKept,
     .static8 = {IntegerKind::kComposite}, .half = {.reach = Reach::kBounds}},
    {.op = Op::kHardSwish, .name = "HardSwish", .shape = Shape::kSame, .channels = Channels::kKept,
     .static8 = {IntegerKind::kComposite}},
    {.op = Op::kHardmax, .name = "Hardmax", .half = {.reach = Reach::kBounds}},
    {.op = Op::kIdentity, .name = "Identity", .shape = Shape::kSame, .flow = Flow::kMoves, .moves_weights = true,
     .channels = Channels::kKept, .is_homogeneous = true},
    {.op = Op::kIf, .name = "If", .op_class = Class::kControlFlow},
    {.op = Op::kInstanceNormalization, .name = "InstanceNormalization", .shape = Shape::kSame, .channels_second = true,
     .constants = {parameter(1), parameter(2)}, .half = {.reach = Reach::kBounds, .epsilon = 1e-5F}},
    {.op = Op::kLRN, .name = "LRN", .shape = Shape::kSame, .half = {.why_fp32 = kSquares}},
    {.op = Op::kLSTM, .name = "LSTM", .op_class = Class::kRecurrent,
     .constants = {weight(1, kRecurrent), weight(2, kRecurrent), parameter(3)},
     .dynamic8 = {IntegerKind::kLstm, Op::kDynamicQuantizeLSTM}, .pairs = ProductPairs::kRecurrentRows},
    {.op = Op::kLayerNormalization, .name = "LayerNormalization", .shape = Shape::kSame,
     .constants = {parameter(1), parameter(2)}, .half = {.reach = Reach::kBounds, .epsilon = 1e-5F}},
    {.op = Op::kLeakyRelu, .name = "LeakyRelu", .shape = Shape::kSame, .channels = Channels::kKept,
     .is_homogeneous = true, .static8 = {IntegerKind::kMap, Op::kQLinearLeakyRelu},
     .cost = {.fp32 = 0.14, .int8 = 0.27}},
    {.op = Op::kLess, .name = "Less"},
    {.op = Op::kLessOrEqual, .name = "LessOrEqual"},
    {.op = Op::kLog, .name = "Log", .shape = Shape::kSame, .half = {.reach = Reach::kLowers}},
    {.op = Op::kLogSoftmax, .name = "LogSoftmax", .shape = Shape::kSame},
    {.op = Op::kLongformerAttention, .name = "LongformerAttention", .domain = Domain::kContrib,
     .op_class = Class::kAttention},
    {.op = Op::kLoop, .name = "Loop", .op_class = Class::kControlFlow},
    {.op = Op::kLpNormalization, .name = "LpNormalization", .half = {.reach = Reach::kBounds, .why_fp32 = kSquares}},
    {.op = Op::kLpPool, .name = "LpPool", .shape = Shape::kPool, .half = {.why_fp32 = kSquares}},
    {.op = Op::kMatMul, .name = "MatMul", .op_class = Class::kProduct, .shape = Shape::kMatMul,
     .constants = {weight(0, kSecondLast), weight(1, kLast)},
     .static8 = {IntegerKind::kMatMul, Op::kMatMulIntegerToFloat},
     .dynamic8 = {IntegerKind::kMatMul, Op::kMatMulInteger}, .pairs = ProductPairs::kMatrix},
    {.op = Op::kMatMulBnb4, .name = "MatMulBnb4", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(1)}},
    {.op = Op::kMatMulInteger, .name = "MatMulInteger", .op_class = Class::kIntegerProduct,
     .quantized = {quantized(0, 2), pair_summed(1, 3)}, .pairs = ProductPairs::kMatrix},
    {.op = Op::kMatMulInteger16, .name = "MatMulInteger16", .domain = Domain::kContrib,
     .op_class = Class::kIntegerProduct, .quantized = {quantized(0), quantized(1)}},
    {.op = Op::kMatMulIntegerToFloat, .name = "MatMulIntegerToFloat", .domain = Domain::kContrib,
     .op_class = Class::kIntegerProduct, .quantized = {quantized(0, 4), pair_summed(1, 5)},
     .pairs = ProductPairs::kMatrix},
    {.op = Op::kMatMulNBits, .name = "MatMulNBits", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(1, 3)}},
    {.op = Op::kMax, .name = "Max", .shape = Shape::kBroadcast, .flow = Flow::kSelects},
    {.op = Op::kMaxPool, .name = "MaxPool", .shape = Shape::kPool, .channels = Channels::kKeptInWindow,
     .is_homogeneous = true, .channels_second = true, .static8 = {IntegerKind::kMovement, Op::kMaxPool},
     .cost = {.fp32 = 0.29, .int8 = 0.31}},
    {.op = Op::kMaxRoiPool, .name = "MaxRoiPool", .half = {.why_fp32 = kCoordinates}},
    {.op = Op::kMean, .name = "Mean", .shape = Shape::kBroadcast},
    {.op = Op::kMeanVarianceNormalization, .name = "MeanVarianceNormalization",
     .half = {.reach = Reach::kBounds, .why_fp32 = kSquares}},
    {.op = Op::kMelWeightMatrix, .name = "MelWeightMatrix"},
    {.op = Op::kMin, .name = "Min", .shape = Shape::kBroadcast, .flow = Flow::kSelects},
    {.op = Op::kMish, .name = "Mish", .shape = Shape::kSame},
    {.op = Op::kMul, .name = "Mul", .shape = Shape::kBroadcast, .static8 = {IntegerKind::kJoin, Op::kQLinearMul},
     .cost = {.fp32 = 0.16, .int8 = 0.22}},
    {.op = Op::kMultiHeadAttention, .name = "MultiHeadAttention", .domain = Domain::kContrib,
     .op_class = Class::kAttention},
    {.op = Op::kMultinomial, .name = "Multinomial", .half = {.why_fp32 = kRandom}},
    {.op = Op::kNeg, .name = "Neg", .shape = Shape::kSame},
    {.op = Op::kNegativeLogLikelihoodLoss, .name = "NegativeLogLikelihoodLoss", .half = {.why_fp32 = kLoss}},
    {.op = Op::kNonMaxSuppression, .name = "NonMaxSuppression"},
    {.op = Op::kNot, .name = "Not"},
    {.op = Op::kOr, .name = "Or"},
    {.op = Op::kPRelu, .name = "PRelu", .shape = Shape::kSame, .channels = Channels::kKept, .is_homogeneous = true,
     .constants = {parameter(1)}},
    {.op = Op::kPackedAttention, .name = "PackedAttention", .domain = Domain::kContrib,
     .op_class = Class::kAttention},
    {.op = Op::kPackedMultiHeadAttention, .name = "PackedMultiHeadAttention", .domain = Domain::kContrib,
     .op_class = Class::kAttention},
    {.op = Op::kPad, .name = "Pad", .flow = Flow::kMoves},
    {.op = Op::kPagedAttention, .name = "PagedAttention", .domain = Domain::kContrib, .op_class = Class::kAttention,
     .is_causal = true},
    {.op = Op::kPow, .name = "Pow", .shape = Shape::kBroadcast, .half = {.reach = Reach::kGrows}},
    {.op = Op::kQAttention, .name = "QAttention", .domain = Domain::kContrib, .op_class = Class::kIntegerProduct,
     .quantized = {quantized(0, 6), pair_summed(1, 7)}, .pairs = ProductPairs::kMatrix},
    {.op = Op::kQEmbedLayerNormalization, .name = "QEmbedLayerNormalization", .domain = Domain::kContrib,
     .op_class = Class::kQuantized,
     .quantized = {quantized(2, 13), quantized(3, 14), quantized(4, 15), quantized(5, 16), quantized(6, 17)}},
    {.op = Op::kQGemm, .name = "QGemm", .domain = Domain::kContrib, .op_class = Class::kIntegerProduct,
     .quantized = {quantized(0, 2), pair_summed(3, 5)}, .pairs = ProductPairs::kGemm},
    {.op = Op::kQLinearAdd, .name = "QLinearAdd", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(0, 2), quantized(3, 5)}},
    {.op = Op::kQLinearAveragePool, .name = "QLinearAveragePool", .domain = Domain::kContrib,
     .op_class = Class::kQuantized, .quantized = {quantized(0, 2)}},
    {.op = Op::kNhwcQLinearAveragePool, .name = "QLinearAveragePool", .domain = Domain::kNhwc,
     .op_class = Class::kQuantized, .quantized = {quantized(0, 2)}},
    {.op = Op::kQLinearConcat, .name = "QLinearConcat", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(2, 4)}},
    {.op = Op::kQLinearConv, .name = "QLinearConv", .op_class = Class::kIntegerProduct,
     .quantized = {quantized(0, 2), pair_summed(3, 5)}, .pairs = ProductPairs::kConv},
    {.op = Op::kContribQLinearConv, .name = "QLinearConv", .domain = Domain::kContrib,
     .op_class = Class::kIntegerProduct, .quantized = {quantized(0, 2), pair_summed(3, 5)},
     .pairs = ProductPairs::kConv},
    {.op = Op::kNhwcQLinearConv, .name = "QLinearConv", .domain = Domain::kNhwc, .op_class = Class::kIntegerProduct,
     .quantized = {quantized(0, 2), pair_summed(3, 5)}, .pairs = ProductPairs::kConv},
    {.op = Op::kNhwcQLinearConvTranspose, .name = "QLinearConvTranspose", .domain = Domain::kNhwc,
     .op_class = Class::kQuantized, .quantized = {quantized(0, 2), quantized(3, 5)}},
    {.op = Op::kQLinearGlobalAveragePool, .name = "QLinearGlobalAveragePool", .domain = Domain::kContrib,
     .op_class = Class::kQuantized, .quantized = {quantized(0, 2)}},
    {.op = Op::kNhwcQLinearGlobalAveragePool, .name = "QLinearGlobalAveragePool", .domain = Domain::kNhwc,
     .op_class = Class::kQuantized, .quantized = {quantized(0, 2)}},
    {.op = Op::kQLinearLeakyRelu, .name = "QLinearLeakyRelu", .domain = Domain::kContrib,
     .op_class = Class::kQuantized, .quantized = {quantized(0, 2)}},
    {.op = Op::kQLinearMatMul, .name = "QLinearMatMul", .op_class = Class::kIntegerProduct,
     .quantized = {quantized(0, 2), pair_summed(3, 5)}, .pairs = ProductPairs::kMatrix},
    {.op = Op::kQLinearMul, .name = "QLinearMul", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(0, 2), quantized(3, 5)}},
    {.op = Op::kQLinearReduceMean, .name = "QLinearReduceMean", .domain = Domain::kContrib,
     .op_class = Class::kQuantized, .quantized = {quantized(0, 2)}},
    {.op = Op::kQLinearSigmoid, .name = "QLinearSigmoid", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(0, 2)}},
    {.op = Op::kQLinearSoftmax, .name = "QLinearSoftmax", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(0, 2)}},
    {.op = Op::kQLinearWhere, .name = "QLinearWhere", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(1, 3), quantized(4, 6)}},
    {.op = Op::kQMoE, .name = "QMoE", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(2), quantized(5), quantized(8)}},
    {.op = Op::kQOrderedAttention, .name = "QOrderedAttention", .domain = Domain::kContrib,
     .op_class = Class::kIntegerProduct, .quantized = {quantized(0), quantized(5), quantized(6), quantized(7)}},
    {.op = Op::kQOrderedGelu, .name = "QOrderedGelu", .domain = Domain::kContrib, .op_class = Class::kQuantized,
     .quantized = {quantized(0)}},
    {.op = Op::kQOrderedLayerNormalization, .name = "QOrderedLayerNormalization", .domain = Domain::kContrib,
     .op_class = Class::kQuantized, .quantized = {quantized(0)}},
    {.op = Op::kQOrderedLongformerAttention, .name = "QOrderedLongformerAttention", .domain = Domain::kContrib,
     .op_class = Class::kIntegerProduct, .quantized = {quantized(0), quantized(2)}},
    {.op = Op::kQOrderedMatMul, .name = "QOrderedMatMul", .domain = Domain::kContrib,
     .op_class = Class::kIntegerProduct, .quantized = {quantized(0), quantized(2)}},
    {.op = Op::kQuantizeLinear, .name = "QuantizeLinear", .op_class = Class::kQuantize},
    {.op = Op::kContribQuantizeLinear, .name = "QuantizeLinear", .domain = Domain::kContrib,
     .op_class = Class::kQuantize},
    {.op = Op::kRMSNormalization, .name = "RMSNormalization", .half = {.reach = Reach::kBounds, .epsilon = 1e-5F}},
    {.op = Op::kRNN, .name = "RNN", .op_class = Class::kRecurrent,
     .constants = {weight(1, kRecurrent), weight(2, kRecurrent), parameter(3)}},
    {.op = Op::kRandomNormal, .name = "RandomNormal", .half = {.reach = Reach::kBounds, .why_fp32 = kRandom}},
    {.op = Op::kRandomNormalLike, .name = "RandomNormalLike", .half = {.reach = Reach::kBounds, .why_fp32 = kRandom}},
    {.op = Op::kRandomUniform, .name = "RandomUniform", .half = {.reach = Reach::kBounds, .why_fp32 = kRandom}},
    {.op = Op::kRandomUniformLike, .name = "RandomUniformLike",
     .half = {.reach = Reach::kBounds, .why_fp32 = kRandom}},
    {.op = Op::kRange, .name = "Range"},
    {.op = Op::kReciprocal, .name = "Reciprocal", .shape = Shape::kSame},
    {.op = Op::kReduceL1, .name = "ReduceL1", .half = {.reach = Reach::kGrows}},
    {.op = Op::kReduceL2, .name = "ReduceL2", .half = {.reach = Reach::kGrows}},
    {.op = Op::kReduceLogSum, .name = "ReduceLogSum", .half = {.reach = Reach::kLowers}},
    {.op = Op::kReduceLogSumExp, .name = "ReduceLogSumExp", .half = {.reach = Reach::kLowers}},
    {.op = Op::kReduceMax, .name = "ReduceMax"},
    {.op = Op::kReduceMean, .name = "ReduceMean", .static8 = {IntegerKind::kComposite}},
    {.op = Op::kReduceMin, .name = "ReduceMin"},
    {.op = Op::kReduceProd, .name = "ReduceProd", .half = {.reach = Reach::kGrows}},
    {.op = Op::kReduceSum, .name = "ReduceSum", .half = {.reach = Reach::kGrows}},
    {.op = Op::kReduceSumSquare, .name = "ReduceSumSquare", .half = {.reach = Reach::kGrows}},
    {.op = Op::kRelu, .name = "Relu", .shape = Shape::kSame, .channels = Channels::kKept, .is_homogeneous = true,
     .static8 = {IntegerKind::kClamp}},
    {.op = Op::kReshape, .name = "Reshape", .shape = Shape::kReshape, .flow = Flow::kMoves, .moves_weights = true,
     .static8 = {IntegerKind::kMovement, Op::kReshape}},
    {.op = Op::kResize, .name = "Resize", .shape = Shape::kResize, .constants = {setting(1)},
     .static8 = {IntegerKind::kMovement, Op::kResize}, .cost = {.fp32 = 0.16, .int8 = 0.9}},
    {.op = Op::kRoiAlign, .name = "RoiAlign", .half = {.why_fp32 = kCoordinates}},
    {.op = Op::kRound, .name = "Round", .shape = Shape::kSame},
    {.op = Op::kSTFT, .name = "STFT", .half = {.reach = Reach::kGrows, .why_fp32 = kSignal}},
    {.op = Op::kScan, .name = "Scan", .op_class = Class::kControlFlow},
    {.op = Op::kScatter, .name = "Scatter"},
    {.op = Op::kScatterElements, .name = "ScatterElements"},
    {.op = Op::kScatterND, .name = "ScatterND"},
    {.op = Op::kSelu, .name = "Selu", .shape = Shape::kSame},
    {.op = Op::kShape, .name = "Shape"},
    {.op = Op::kSigmoid, .name = "Sigmoid", .shape = Shape::kSame, .channels = Channels::kKept,
     .static8 = {IntegerKind::kMap, Op::kQLinearSigmoid}, .cost = {.fp32 = 0.28, .int8 = 0.28},
     .half = {.reach = Reach::kBounds}},
    {.op = Op::kSign, .name = "Sign", .half = {.reach = Reach::kBounds}},
    {.op = Op::kSimplifiedLayerNormalization, .name = "SimplifiedLayerNormalization",
     .half = {.reach = Reach::kBounds, .epsilon = 1e-5F}},
    {.op = Op::kSin, .name = "Sin", .half = {.reach = Reach::kBounds}},
    {.op = Op::kSize, .name = "Size"},
    {.op = Op::kSkipLayerNormalization, .name = "SkipLayerNormalization", .domain = Domain::kContrib,
     .half = {.reach = Reach::kBounds, .epsilon = 1e-12F}},
    {.op = Op::kSkipSimplifiedLayerNormalization, .name = "SkipSimplifiedLayerNormalization",
     .domain = Domain::kContrib, .half = {.reach = Reach::kBounds, .epsilon = 1e-12F}},
    {.op = Op::kSlice, .name = "Slice", .flow = Flow::kMoves, .moves_weights = true, .constants = {table(0)},
     .static8 = {IntegerKind::kMovement, Op::kSlice}, .cost = {.fp32 = 0.35, .int8 = 0.04}},
    {.op = Op::kSoftmax, .name = "Softmax", .shape = Shape::kSame, .half = {.reach = Reach::kBounds}},
    {.op = Op::kSoftmaxCrossEntropyLoss, .name = "SoftmaxCrossEntropyLoss", .half = {.why_fp32 = kLoss}},
    {.op = Op::kSoftplus, .name = "Softplus", .shape = Shape::kSame},
    {.op = Op::kSoftsign, .name = "Softsign", .shape = Shape::kSame, .half = {.reach = Reach::kBounds}},
    {.op = Op::kSpaceToDepth, .name = "SpaceToDepth", .flow = Flow::kMoves},
    {.op = Op::kSparseAttention, .name = "SparseAttention", .domain = Domain::kContrib, .op_class = Class::kAttention,
     .is_causal = true},
    {.op = Op::kSplit, .name = "Split", .shape = Shape::kSplit, .flow = Flow::kMoves, .moves_weights = true},
    {.op = Op::kSqrt, .name = "Sqrt", .shape = Shape::kSame, .half = {.reach = Reach::kLowers}},
    {.op = Op::kSqueeze, .name = "Squeeze", .flow = Flow::kMoves, .moves_weights = true,
     .static8 = {IntegerKind::kMovement, Op::kSqueeze}},
    {.op = Op::kSub, .name = "Sub", .shape = Shape::kBroadcast, .flow = Flow::kAdds},
    {.op = Op::kSum, .name = "Sum", .shape = Shape::kBroadcast},
    {.op = Op::kSwish, .name = "Swish", .shape = Shape::kSame},
    {.op = Op::kTanh, .name = "Tanh", .shape = Shape::kSame, .channels = Channels::kKept,
     .static8 = {IntegerKind::kComposite}, .half = {.reach = Reach::kBounds}},
    {.op = Op::kThresholdedRelu, .name = "ThresholdedRelu", .shape = Shape::kSame},
    {.op = Op::kTile, .name = "Tile", .flow = Flow::kMoves},
    {.op = Op::kTopK, .name = "TopK"},
    {.op = Op::kTranspose, .name = "Transpose", .shape = Shape::kTranspose, .flow = Flow::kMoves,
     .moves_weights = true, .static8 = {IntegerKind::kMovement, Op::kTranspose},
     .cost = {.fp32 = 0.28, .int8 = 0.07}},
    {.op = Op::kTrilu, .name = "Trilu", .flow = Flow::kMoves},
    {.op = Op::kUnsqueeze, .name = "Unsqueeze", .flow = Flow::kMoves, .moves_weights = true,
     .static8 = {IntegerKind::kMovement, Op::kUnsqueeze}},
    {.op = Op::kUpsample, .name = "Upsample", .shape = Shape::kResize},
    {.op = Op::kWhere, .name = "Where", .flow = Flow::kSelects},
};
// clang-format on

constexpr auto key_of(const OpInfo& row) { return std::tuple(row.name, row.domain); }
constexpr bool is_before(const OpInfo& a, const OpInfo& b) { return key_of(a) < key_of(b); }
static_assert(std::is_sorted(std::begin(kRows), std::end(kRows), is_before));
static_assert(std::adjacent_find(std::begin(kRows), std::end(kRows), [](const OpInfo& a, const OpInfo& b) {
                return key_of(a) == key_of(b);
              }) == std::end(kRows));
static_assert(
    [] {
      for (std::size_t i = 0; i < std::size(kRows); ++i)
        if (kRows[i].op != static_cast<Op>(i)) return false;
      return true;
    }(),
    "the rows are in the order of Op, one for each");

constexpr std::string_view kDomains[] = {"", "com.microsoft", "com.ms.internal.nhwc"};

std::optional<Domain> domain_of(std::string_view text) {
  if (text.empty() || text == "ai.onnx") return Domain::kOnnx;
  const auto* const found = std::find(std::begin(kDomains), std::end(kDomains), text);
  if (found == std::end(kDomains)) return std::nullopt;
  return static_cast<Domain>(found - std::begin(kDomains));
}

}  // namespace

std::span<const OpInfo> rows() { return kRows; }
const OpInfo& info(Op op) { return kRows[static_cast<std::size_t>(op)]; }

Op find_op(std::string_view domain, std::string_view name) {
  const std::optional<Domain> wanted = domain_of(domain);
  if (!wanted) return Op::kUnknown;
  const auto key = std::tuple(name, *wanted);
  const auto* const found =
      std::lower_bound(std::begin(kRows), std::end(kRows), key,
                       [](const OpInfo& row, const auto& at) { return key_of(row) < at; });
  return found != std::end(kRows) && key_of(*found) == key ? found->op : Op::kUnknown;
}

Op find_op(std::string_view name) {
  const auto* const found =
      std::lower_bound(std::begin(kRows), std::end(kRows), name,
                       [](const OpInfo& row, std::string_view at) { return row.name < at; });
  return found != std::end(kRows) && found->name == name ? found->op : Op::kUnknown;
}

std::string_view name_of(Domain domain) { return kDomains[static_cast<std::size_t>(domain)]; }

}  // namespace ounce::ops
