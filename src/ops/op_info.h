// One row per op that Ounce knows: ONNX ops, ONNX Runtime's own ("contrib") ops, and some of its internal
// channels-last ops. Each node of a model has an Op (formats/onnx/file/model.h), and properties of ops are
// queried from their rows:
//
//   if (node.op() == Op::kConv) …
//   if (node.info().flow == ops::Flow::kMoves) …
//
// To add an op, add its name to `Op` and its row to op_info.cpp; op_info_test.cpp checks that the row is
// complete. A rewrite that concerns only one op compares node.op().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ounce {

// Sorted by name, then domain, like the rows. A contrib or channels-last op with the name of an ONNX op has a
// prefix.
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

// Operator sets. kNhwc: channels-last ops that ONNX Runtime writes into optimized models.
enum class Domain : std::uint8_t { kOnnx, kContrib, kNhwc };

enum class Class : std::uint8_t {
  kOther,
  kConv,
  kProduct,  // matrix product
  kRecurrent,
  kAttention,
  kControlFlow,     // has subgraphs
  kQuantize,        // QuantizeLinear, DequantizeLinear
  kQuantized,       // has quantized inputs or outputs, and is not a product
  kIntegerProduct,  // multiplies quantized values by quantized weights
};

// How the shape of the outputs follows from the inputs (formats/onnx/graph/shapes.cpp).
enum class Shape : std::uint8_t {
  kUnknown,
  kSame,       // like the first input
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

// The effect of the op on single values.
enum class Flow : std::uint8_t {
  kComputes,
  kMoves,    // moves them unchanged
  kSelects,  // selects one of several, or clips
  kAdds,     // adds or subtracts
};

// Whether output channel c depends only on input channel c. If so, a channel of zeros gives finite values.
enum class Channels : std::uint8_t { kMixed, kKept, kKeptInWindow };

// The channel axis of a weight. The values that contribute to one output channel share a scale.
enum class ChannelRule : std::uint8_t {
  kFirst,       // axis 0: Conv [M, C/group, k…]
  kSecond,      // axis 1: ConvTranspose [C, M/group, k…]
  kLast,        // the right side of MatMul [K, N], of any rank
  kSecondLast,  // the left side of MatMul [M, K]
  kGemmA,       // axis 0, or 1 with transA
  kGemmB,       // axis 1, or 0 with transB
  kRecurrent,   // axes 0 and 1 together: LSTM, GRU, RNN [directions, gates·hidden, …]
  kTableRow,    // axis 0: rows of a table are looked up
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

// The form of the op if its inputs are quantized.
enum class IntegerKind : std::uint8_t {
  kConv,      // quantized input, constant weight; quantized output
  kGemm,      // the same; outputs floats if no user needs quantized values
  kMatMul,    // quantized input, constant weight; float output, because the next ops in transformers need
              // floats
  kJoin,      // all inputs quantized, each with its own scale; quantized output
  kMap,       // quantized input; quantized output with another scale
  kMovement,  // quantized input; the same values as output
  // Only dynamic:
  kLstm,       // float input and output, two weights
  kAttention,  // quantized input, constant weight; float output
  // Without a kernel:
  kClamp,      // after an integer op, the limits of the quantized type replace it
  kComposite,  // prepare/integer_rewrites.cpp rewrites it as ops with integer kernels
  kNone,
};

struct IntegerForm {
  IntegerKind kind = IntegerKind::kNone;
  Op op = Op::kUnknown;  // its name in the QOperator format

  // True if the runtime has a kernel for it.
  constexpr bool has_kernel() const { return kind < IntegerKind::kClamp; }
  constexpr bool has_weight() const { return kind <= IntegerKind::kMatMul; }
  // Whether its output may be, or must be, quantized.
  constexpr bool may_give_codes() const { return kind != IntegerKind::kMatMul; }
  constexpr bool must_give_codes() const { return may_give_codes() && kind != IntegerKind::kGemm; }
  // The number of a node's inputs that are activations.
  constexpr std::size_t activations(std::size_t inputs) const {
    return kind == IntegerKind::kJoin ? inputs : 1;
  }
};

// How neighboring weights are paired in the products of integer kernels (target/ort/saturation.h).
enum class ProductPairs : std::uint8_t {
  kNone,
  kConv,
  kMatrix,
  kGemm,
  kRecurrentRows,  // [directions, gates, inputs]
};

// Nanoseconds per output value (or per input value, as noted in the table). Measured by bench/kernel_costs.py
// on x86 CPUs with and without VNNI, whose difference is below the noise. For ops with weights see
// formats/onnx/plan/kernel_costs.cpp.
struct CostPerValue {
  double fp32 = 0, int8 = 0;
  bool by_window = false;  // multiplied by the size of a pool's window

  constexpr bool is_measured() const { return fp32 > 0; }
};

// The magnitude of an op's outputs relative to its inputs, for FP16.
enum class Reach : std::uint8_t {
  kCarries,  // large inputs give large outputs
  kBounds,   // outputs are always small
  kLowers,   // reduces squares and powers: roots and logarithms
  kGrows,    // powers and sums: outputs may be large although the inputs are not
};

struct HalfRule {
  Reach reach = Reach::kCarries;
  std::string_view why_fp32 = {};  // why the op is kept in FP32; empty if it need not be
  float epsilon = 0;               // default of its epsilon attribute
};

struct OpInfo {
  Op op = Op::kUnknown;
  std::string_view name;
  Domain domain = Domain::kOnnx;
  Class op_class = Class::kOther;
  Shape shape = Shape::kUnknown;
  Flow flow = Flow::kComputes;
  bool moves_weights = false;     // a weight may reach its op through this one
  bool moves_all_inputs = false;  // through all of its inputs, not only the first
  Channels channels = Channels::kMixed;
  bool is_homogeneous = false;   // f(s·x) = s·f(x) for s > 0
  bool channels_second = false;  // activations are [batch, channels, …]
  bool is_causal = false;        // attends only to earlier positions
  std::array<ConstantInput, 3> constants = {};
  std::array<QuantizedInput, 5> quantized = {};
  IntegerForm static8 = {}, dynamic8 = {};
  ProductPairs pairs = ProductPairs::kNone;
  CostPerValue cost = {};
  HalfRule half = {};

  // The role of an input; kNone for activations.
  constexpr Role role(std::size_t input) const {
    for (const ConstantInput& constant : constants)
      if (constant.input == input && constant.role != Role::kNone) return constant.role;
    return Role::kNone;
  }
  // The channels of a weight; empty for inputs that are not weights.
  constexpr std::optional<ChannelRule> weight(std::size_t input) const {
    for (const ConstantInput& constant : constants)
      if (constant.input == input && constant.role == Role::kWeight) return constant.channels;
    return std::nullopt;
  }
  // Whether a weight may pass through this input unchanged.
  constexpr bool moves_weight(std::size_t input) const {
    return moves_weights && (moves_all_inputs || input == 0);
  }
  constexpr bool is_clamp() const { return static8.kind == IntegerKind::kClamp; }
  // True for ops with quantized inputs or outputs, except QuantizeLinear and DequantizeLinear.
  constexpr bool is_quantized() const {
    return op_class == Class::kQuantized || op_class == Class::kIntegerProduct;
  }
  // True for ops that show that a model is already quantized.
  constexpr bool is_quantized_or_converts() const { return is_quantized() || op_class == Class::kQuantize; }
};

// All rows, sorted by name and domain. The first row is kUnknown, with conservative defaults.
std::span<const OpInfo> rows();
const OpInfo& info(Op op);

// kUnknown for an op without a row. "" and "ai.onnx" are the same domain.
Op find_op(std::string_view domain, std::string_view name);
// Finds an op by name alone, as in a profile; the first one if several domains have it.
Op find_op(std::string_view name);
// True for both domains.
constexpr bool is_quantize_linear(Op op) {
  return op == Op::kQuantizeLinear || op == Op::kContribQuantizeLinear;
}
constexpr bool is_dequantize_linear(Op op) {
  return op == Op::kDequantizeLinear || op == Op::kContribDequantizeLinear;
}
// The name in model files; "" for ONNX.
std::string_view name_of(Domain domain);

}  // namespace ounce::ops
