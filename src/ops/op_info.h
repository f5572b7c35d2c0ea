// One row per op that Ounce knows something about: ONNX ops, ONNX Runtime's own ("contrib") ops, and a few of
// its internal channels-last ops. Each node of a model carries its Op (formats/onnx/file/model.h), and every
// question about an op is a query of its row:
//
//   if (node.op() == Op::kConv) …
//   if (node.info().flow == ops::Flow::kMoves) …
//
// To teach Ounce a new op, add its name to `Op` and its row to op_info.cpp; op_info_test.cpp checks that the
// row is complete. A rewrite that concerns one op only compares node.op().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ounce {

// Sorted by name, then domain: the order of the rows. A contrib or channels-last op with the name of an ONNX
// op has a prefix.
enum class Op : std::uint16_t {
  kUnknown,
  kAbs,
  kAdd,
  kAffineGrid,
  kAnd,
  kArgMax,
  kAtan,
  kAttention,
  kContribAttention,
  kAveragePool,
  kBatchNormalization,
  kBernoulli,
  kBitShift,
  kBlackmanWindow,
  kCast,
  kCastLike,
  kCeil,
  kCelu,
  kClip,
  kConcat,
  kConstant,
  kConstantOfShape,
  kConv,
  kConvInteger,
  kConvTranspose,
  kCos,
  kCumSum,
  kDFT,
  kDecoderMaskedMultiHeadAttention,
  kDecoderMaskedSelfAttention,
  kDeformConv,
  kDepthToSpace,
  kDequantizeLinear,
  kContribDequantizeLinear,
  kDiv,
  kDropout,
  kDynamicQuantizeLSTM,
  kDynamicQuantizeLinear,
  kDynamicQuantizeMatMul,
  kEinsum,
  kElu,
  kEqual,
  kErf,
  kExp,
  kExpand,
  kEyeLike,
  kFlatten,
  kFloor,
  kFusedConv,
  kFusedGemm,
  kFusedMatMul,
  kGRU,
  kGather,
  kGatherBlockQuantized,
  kGatherElements,
  kGatherND,
  kGelu,
  kGemm,
  kGlobalAveragePool,
  kGlobalLpPool,
  kGlobalMaxPool,
  kGreater,
  kGreaterOrEqual,
  kGridSample,
  kContribGridSample,
  kGroupNormalization,
  kGroupQueryAttention,
  kHammingWindow,
  kHannWindow,
  kHardSigmoid,
  kHardSwish,
  kHardmax,
  kIdentity,
  kIf,
  kInstanceNormalization,
  kLRN,
  kLSTM,
  kLayerNormalization,
  kLeakyRelu,
  kLess,
  kLessOrEqual,
  kLog,
  kLogSoftmax,
  kLongformerAttention,
  kLoop,
  kLpNormalization,
  kLpPool,
  kMatMul,
  kMatMulBnb4,
  kMatMulInteger,
  kMatMulInteger16,
  kMatMulIntegerToFloat,
  kMatMulNBits,
  kMax,
  kMaxPool,
  kMaxRoiPool,
  kMean,
  kMeanVarianceNormalization,
  kMelWeightMatrix,
  kMin,
  kMish,
  kMul,
  kMultiHeadAttention,
  kMultinomial,
  kNeg,
  kNegativeLogLikelihoodLoss,
  kNonMaxSuppression,
  kNot,
  kOr,
  kPRelu,
  kPackedAttention,
  kPackedMultiHeadAttention,
  kPad,
  kPagedAttention,
  kPow,
  kQAttention,
  kQEmbedLayerNormalization,
  kQGemm,
  kQLinearAdd,
  kQLinearAveragePool,
  kNhwcQLinearAveragePool,
  kQLinearConcat,
  kQLinearConv,
  kContribQLinearConv,
  kNhwcQLinearConv,
  kNhwcQLinearConvTranspose,
  kQLinearGlobalAveragePool,
  kNhwcQLinearGlobalAveragePool,
  kQLinearLeakyRelu,
  kQLinearMatMul,
  kQLinearMul,
  kQLinearReduceMean,
  kQLinearSigmoid,
  kQLinearSoftmax,
  kQLinearWhere,
  kQMoE,
  kQOrderedAttention,
  kQOrderedGelu,
  kQOrderedLayerNormalization,
  kQOrderedLongformerAttention,
  kQOrderedMatMul,
  kQuantizeLinear,
  kContribQuantizeLinear,
  kRMSNormalization,
  kRNN,
  kRandomNormal,
  kRandomNormalLike,
  kRandomUniform,
  kRandomUniformLike,
  kRange,
  kReciprocal,
  kReduceL1,
  kReduceL2,
  kReduceLogSum,
  kReduceLogSumExp,
  kReduceMax,
  kReduceMean,
  kReduceMin,
  kReduceProd,
  kReduceSum,
  kReduceSumSquare,
  kRelu,
  kReshape,
  kResize,
  kRoiAlign,
  kRound,
  kSTFT,
  kScan,
  kScatter,
  kScatterElements,
  kScatterND,
  kSelu,
  kShape,
  kSigmoid,
  kSign,
  kSimplifiedLayerNormalization,
  kSin,
  kSize,
  kSkipLayerNormalization,
  kSkipSimplifiedLayerNormalization,
  kSlice,
  kSoftmax,
  kSoftmaxCrossEntropyLoss,
  kSoftplus,
  kSoftsign,
  kSpaceToDepth,
  kSparseAttention,
  kSplit,
  kSqrt,
  kSqueeze,
  kSub,
  kSum,
  kSwish,
  kTanh,
  kThresholdedRelu,
  kTile,
  kTopK,
  kTranspose,
  kTrilu,
  kUnsqueeze,
  kUpsample,
  kWhere,
};

}  // namespace ounce

namespace ounce::ops {

// Domains of operator sets. kNhwc: ops with the channels last, which ONNX Runtime writes into optimized
// models.
enum class Domain : std::uint8_t { kOnnx, kContrib, kNhwc };

enum class Class : std::uint8_t {
  kOther,
  kConv,
  kProduct,  // of matrices
  kRecurrent,
  kAttention,
  kControlFlow,     // has bodies of nodes
  kQuantize,        // QuantizeLinear, DequantizeLinear
  kQuantized,       // takes or gives quantized values, and is not a product
  kIntegerProduct,  // multiplies quantized values with quantized weights
};

// How the shape of the outputs follows from the inputs (formats/onnx/graph/shapes.cpp).
enum class Shape : std::uint8_t {
  kUnknown,
  kSame,       // as the first input
  kBroadcast,  // of all inputs
  kConcat,
  kMatMul,
  kConv,
  kConvTranspose,
  kPool,
  kGlobalPool,
  kFlatten,
  kReshape,
  kResize,
  kSplit,
  kTranspose,
};

// What the op does to single values.
enum class Flow : std::uint8_t {
  kComputes,
  kMoves,    // puts them elsewhere, unchanged
  kSelects,  // gives one of several, or a limit
  kAdds,     // adds or subtracts
};

// Whether output channel c depends on input channel c alone. Where it does, a channel of zeros gives finite
// values.
enum class Channels : std::uint8_t { kMixed, kKept, kKeptInWindow };

// Where the channels of a weight lie: the values that one output channel is made of share a scale.
enum class ChannelRule : std::uint8_t {
  kFirst,       // axis 0: Conv [M, C/group, k…]
  kSecond,      // axis 1: ConvTranspose [C, M/group, k…]
  kLast,        // the right side of MatMul [K, N], of any rank
  kSecondLast,  // the left side of MatMul [M, K]
  kGemmA,       // axis 0, or 1 with transA
  kGemmB,       // axis 1, or 0 with transB
  kRecurrent,   // axes 0 and 1 together: LSTM, GRU, RNN [directions, gates·hidden, …]
  kTableRow,    // axis 0: a row of a table is looked up
};

enum class Role : std::uint8_t {
  kNone,
  kWeight,     // or a table
  kParameter,  // a bias, or the scale or bias of a normalization: FP16 is enough
  kSetting,    // a number that controls the op, such as the ratio of Dropout
};

// An input that is a constant in most models.
struct ConstantInput {
  std::uint8_t input = 0;
  Role role = Role::kNone;
  ChannelRule channels = {};  // of a weight
};

// An input that takes quantized values, and the input that takes their zero point.
struct QuantizedInput {
  static constexpr std::uint8_t kNone = 255;
  std::uint8_t input = kNone, zero_point = kNone;
  // Kernels without VNNI add products of two neighbors of this signed weight in 16 bits, which saturates.
  bool saturates = false;
};

// What becomes of the op where its inputs are quantized.
enum class IntegerKind : std::uint8_t {
  kConv,    // quantized values and a constant weight in, quantized values out
  kGemm,    // the same; gives floats too, when no reader wants quantized values
  kMatMul,  // quantized values and a constant weight in, floats out: in transformers the next ops need floats
  kJoin,    // all inputs are quantized, each with its own scale; quantized values out
  kMap,     // quantized values in, quantized values of another scale out
  kMovement,  // quantized values in, the same values out
  // Only dynamic:
  kLstm,       // floats in and out, two weights
  kAttention,  // quantized values and a constant weight in, floats out
  // Without a kernel of its own:
  kClamp,      // the limits of the quantized type replace it behind an integer op
  kComposite,  // prepare/integer_rewrites.cpp makes ops of it that have integer kernels
  kNone,
};

struct IntegerForm {
  IntegerKind kind = IntegerKind::kNone;
  Op op = Op::kUnknown;  // its name in the QOperator format

  // The runtime has a kernel for it.
  constexpr bool has_kernel() const { return kind < IntegerKind::kClamp; }
  constexpr bool has_weight() const { return kind <= IntegerKind::kMatMul; }
  // Whether it may give quantized values, and whether it gives nothing else.
  constexpr bool may_give_codes() const { return kind != IntegerKind::kMatMul; }
  constexpr bool must_give_codes() const { return may_give_codes() && kind != IntegerKind::kGemm; }
  // How many of a node's inputs are activations.
  constexpr std::size_t activations(std::size_t inputs) const {
    return kind == IntegerKind::kJoin ? inputs : 1;
  }
};

// How neighbors of a weight meet in the products of integer kernels (target/ort/saturation.h).
enum class ProductPairs : std::uint8_t {
  kNone,
  kConv,
  kMatrix,
  kGemm,
  kRecurrentRows,  // [directions, gates, inputs]
};

// Nanoseconds for each value that the op gives, or for each that it looks at. Measured by
// bench/kernel_costs.py on x86 CPUs with and without VNNI, which differ by less than the noise. Ops with
// weights: formats/onnx/plan/kernel_costs.cpp.
struct CostPerValue {
  double fp32 = 0, int8 = 0;
  bool by_window = false;  // times the values of a pool's window

  constexpr bool is_measured() const { return fp32 > 0; }
};

// What numbers an op may give, compared with those that it takes, in FP16.
enum class Reach : std::uint8_t {
  kCarries,  // large in, large out
  kBounds,   // the result is small whatever goes in
  kLowers,   // squares and powers are brought back: roots and logarithms
  kGrows,    // powers and sums: the result may be large though no input was
};

struct HalfRule {
  Reach reach = Reach::kCarries;
  std::string_view why_fp32 = {};  // why the op is kept in FP32; empty if it is not
  float epsilon = 0;               // the default of the attribute
};

struct OpInfo {
  Op op = Op::kUnknown;
  std::string_view name;
  Domain domain = Domain::kOnnx;
  Class op_class = Class::kOther;
  Shape shape = Shape::kUnknown;
  Flow flow = Flow::kComputes;
  bool moves_weights = false;     // a weight may reach its op through this one …
  bool moves_all_inputs = false;  // … by each of its inputs, not only the first
  Channels channels = Channels::kMixed;
  bool is_homogeneous = false;   // f(s·x) = s·f(x) for s > 0
  bool channels_second = false;  // of activations: [batch, channels, …]
  bool is_causal = false;        // attention to earlier positions only
  std::array<ConstantInput, 3> constants = {};
  std::array<QuantizedInput, 5> quantized = {};
  IntegerForm static8 = {}, dynamic8 = {};
  ProductPairs pairs = ProductPairs::kNone;
  CostPerValue cost = {};
  HalfRule half = {};

  // The role of an input; kNone for those that are activations.
  constexpr Role role(std::size_t input) const {
    for (const ConstantInput& constant : constants)
      if (constant.input == input && constant.role != Role::kNone) return constant.role;
    return Role::kNone;
  }
  // The channels of a weight; nothing for inputs that take no weight.
  constexpr std::optional<ChannelRule> weight(std::size_t input) const {
    for (const ConstantInput& constant : constants)
      if (constant.input == input && constant.role == Role::kWeight) return constant.channels;
    return std::nullopt;
  }
  // Whether a weight may come in by this input and go out unchanged.
  constexpr bool moves_weight(std::size_t input) const {
    return moves_weights && (moves_all_inputs || input == 0);
  }
  constexpr bool is_clamp() const { return static8.kind == IntegerKind::kClamp; }
  // Takes or gives quantized values, and is more than QuantizeLinear or DequantizeLinear.
  constexpr bool is_quantized() const {
    return op_class == Class::kQuantized || op_class == Class::kIntegerProduct;
  }
  // A model with such an op is quantized already.
  constexpr bool is_quantized_or_converts() const { return is_quantized() || op_class == Class::kQuantize; }
};

// All rows, sorted by name and domain; the first one is kUnknown's, whose defaults are cautious.
std::span<const OpInfo> rows();
const OpInfo& info(Op op);

// kUnknown for an op without a row. "" and "ai.onnx" are the same domain.
Op find_op(std::string_view domain, std::string_view name);
// By the name alone, as in a profile: the first of them if several domains have it.
Op find_op(std::string_view name);
// Of either domain.
constexpr bool is_quantize_linear(Op op) {
  return op == Op::kQuantizeLinear || op == Op::kContribQuantizeLinear;
}
constexpr bool is_dequantize_linear(Op op) {
  return op == Op::kDequantizeLinear || op == Op::kContribDequantizeLinear;
}
// As a file names it; "" for ONNX.
std::string_view name_of(Domain domain);

}  // namespace ounce::ops
