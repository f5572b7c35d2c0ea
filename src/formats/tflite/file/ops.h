// One row per builtin operator of TFLite: its name, the ONNX operator that does the same, and its
// requirements for INT8 inference. A file names operators by number; each Operator of a model leads to its
// row by code_of().
//
//   const OpInfo& info = tflite::info(code_of(model, op));
//   if (info.int8 == IntegerRule::kSameScale) …
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/tflite/file/model.h"
#include "ops/op_info.h"

namespace ounce::tflite {

enum class Builtin : std::int32_t {
  kAdd = 0,
  kAveragePool2D = 1,
  kConcatenation = 2,
  kConv2D = 3,
  kDepthwiseConv2D = 4,
  kDepthToSpace = 5,
  kDequantize = 6,
  kEmbeddingLookup = 7,
  kFloor = 8,
  kFullyConnected = 9,
  kHashtableLookup = 10,
  kL2Normalization = 11,
  kL2Pool2D = 12,
  kLocalResponseNormalization = 13,
  kLogistic = 14,
  kLshProjection = 15,
  kLstm = 16,
  kMaxPool2D = 17,
  kMul = 18,
  kRelu = 19,
  kReluN1To1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kResizeBilinear = 23,
  kRnn = 24,
  kSoftmax = 25,
  kSpaceToDepth = 26,
  kSvdf = 27,
  kTanh = 28,
  kConcatEmbeddings = 29,
  kSkipGram = 30,
  kCall = 31,
  kCustom = 32,
  kEmbeddingLookupSparse = 33,
  kPad = 34,
  kUnidirectionalSequenceRnn = 35,
  kGather = 36,
  kBatchToSpaceNd = 37,
  kSpaceToBatchNd = 38,
  kTranspose = 39,
  kMean = 40,
  kSub = 41,
  kDiv = 42,
  kSqueeze = 43,
  kUnidirectionalSequenceLstm = 44,
  kStridedSlice = 45,
  kBidirectionalSequenceRnn = 46,
  kExp = 47,
  kTopkV2 = 48,
  kSplit = 49,
  kLogSoftmax = 50,
  kDelegate = 51,
  kBidirectionalSequenceLstm = 52,
  kCast = 53,
  kPrelu = 54,
  kMaximum = 55,
  kArgMax = 56,
  kMinimum = 57,
  kLess = 58,
  kNeg = 59,
  kPadv2 = 60,
  kGreater = 61,
  kGreaterEqual = 62,
  kLessEqual = 63,
  kSelect = 64,
  kSlice = 65,
  kSin = 66,
  kTransposeConv = 67,
  kSparseToDense = 68,
  kTile = 69,
  kExpandDims = 70,
  kEqual = 71,
  kNotEqual = 72,
  kLog = 73,
  kSum = 74,
  kSqrt = 75,
  kRsqrt = 76,
  kShape = 77,
  kPow = 78,
  kArgMin = 79,
  kFakeQuant = 80,
  kReduceProd = 81,
  kReduceMax = 82,
  kPack = 83,
  kLogicalOr = 84,
  kOneHot = 85,
  kLogicalAnd = 86,
  kLogicalNot = 87,
  kUnpack = 88,
  kReduceMin = 89,
  kFloorDiv = 90,
  kReduceAny = 91,
  kSquare = 92,
  kZerosLike = 93,
  kFill = 94,
  kFloorMod = 95,
  kRange = 96,
  kResizeNearestNeighbor = 97,
  kLeakyRelu = 98,
  kSquaredDifference = 99,
  kMirrorPad = 100,
  kAbs = 101,
  kSplitV = 102,
  kUnique = 103,
  kCeil = 104,
  kReverseV2 = 105,
  kAddN = 106,
  kGatherNd = 107,
  kCos = 108,
  kWhere = 109,
  kRank = 110,
  kElu = 111,
  kReverseSequence = 112,
  kMatrixDiag = 113,
  kQuantize = 114,
  kMatrixSetDiag = 115,
  kRound = 116,
  kHardSwish = 117,
  kIf = 118,
  kWhile = 119,
  kNonMaxSuppressionV4 = 120,
  kNonMaxSuppressionV5 = 121,
  kScatterNd = 122,
  kSelectV2 = 123,
  kDensify = 124,
  kSegmentSum = 125,
  kBatchMatmul = 126,
  kPlaceholderForGreaterOpCodes = 127,
  kCumsum = 128,
  kCallOnce = 129,
  kBroadcastTo = 130,
  kRfft2d = 131,
  kConv3D = 132,
  kImag = 133,
  kReal = 134,
  kComplexAbs = 135,
  kHashtable = 136,
  kHashtableFind = 137,
  kHashtableImport = 138,
  kHashtableSize = 139,
  kReduceAll = 140,
  kConv3DTranspose = 141,
  kVarHandle = 142,
  kReadVariable = 143,
  kAssignVariable = 144,
  kBroadcastArgs = 145,
  kRandomStandardNormal = 146,
  kBucketize = 147,
  kRandomUniform = 148,
  kMultinomial = 149,
  kGelu = 150,
  kDynamicUpdateSlice = 151,
  kRelu0To1 = 152,
  kUnsortedSegmentProd = 153,
  kUnsortedSegmentMax = 154,
  kUnsortedSegmentSum = 155,
  kAtan2 = 156,
  kUnsortedSegmentMin = 157,
  kSign = 158,
  kBitcast = 159,
  kBitwiseXor = 160,
  kRightShift = 161,
  kStablehloLogistic = 162,
  kStablehloAdd = 163,
  kStablehloDivide = 164,
  kStablehloMultiply = 165,
  kStablehloMaximum = 166,
  kStablehloReshape = 167,
  kStablehloClamp = 168,
  kStablehloConcatenate = 169,
  kStablehloBroadcastInDim = 170,
  kStablehloConvolution = 171,
  kStablehloSlice = 172,
  kStablehloCustomCall = 173,
  kStablehloReduce = 174,
  kStablehloAbs = 175,
  kStablehloAnd = 176,
  kStablehloCosine = 177,
  kStablehloExponential = 178,
  kStablehloFloor = 179,
  kStablehloLog = 180,
  kStablehloMinimum = 181,
  kStablehloNegate = 182,
  kStablehloOr = 183,
  kStablehloPower = 184,
  kStablehloRemainder = 185,
  kStablehloRsqrt = 186,
  kStablehloSelect = 187,
  kStablehloSubtract = 188,
  kStablehloTanh = 189,
  kStablehloScatter = 190,
  kStablehloCompare = 191,
  kStablehloConvert = 192,
  kStablehloDynamicSlice = 193,
  kStablehloDynamicUpdateSlice = 194,
  kStablehloPad = 195,
  kStablehloIota = 196,
  kStablehloDotGeneral = 197,
  kStablehloReduceWindow = 198,
  kStablehloSort = 199,
  kStablehloWhile = 200,
  kStablehloGather = 201,
  kStablehloTranspose = 202,
  kDilate = 203,
  kStablehloRngBitGenerator = 204,
  kReduceWindow = 205,
  kStablehloComposite = 206,
  kStablehloShiftLeft = 207,
  kStablehloCbrt = 208,
  kStablehloCase = 209,
};

// The scales that the inputs and outputs of an operator may have in INT8 inference.
enum class IntegerRule : std::uint8_t {
  kNone,        // no INT8 kernel, or none with scales
  kWeights,     // a constant weight with a scale per channel and an INT32 bias; any activations
  kSameScale,   // all have one scale and zero point
  kFixedRange,  // the scale of the output is fixed
  kFreeRange,   // each has its own
};

struct FixedRange {
  float int8_scale = 0;
  std::int32_t int8_zero_point = 0;
  float int16_scale = 0;  // with zero point 0; 0: there is no INT16 kernel
};

struct OpInfo {
  static constexpr std::uint8_t kNoInput = 255;

  Builtin code = Builtin::kCustom;
  const char* name = "";
  Op op = Op::kUnknown;  // of ONNX; data are channels-last here, and some settings are inputs there
  IntegerRule int8 = IntegerRule::kNone;
  bool in_xnnpack =
      false;  // XNNPACK has an INT8 kernel; other operators split the part of the graph that it runs
  bool has_int16 = false;                           // a kernel with INT16 activations and INT8 weights
  std::uint8_t data = 0;                            // index of the input with the activations
  std::uint8_t weight = kNoInput, weight_axis = 0;  // axis: of the channels
  std::uint8_t bias = kNoInput;
  FixedRange fixed = {};

  constexpr bool has_weight() const { return weight != kNoInput; }
};

// All rows, sorted by code without gaps.
std::span<const OpInfo> op_rows();
// Custom operators, and operators of a newer schema, have the row of CUSTOM.
const OpInfo& info(std::int32_t code);
// The name in messages: "CONV_2D", "Convolution2DTransposeBias" of a custom operator, "operator 999".
std::string op_name(const OperatorCode& code);

}  // namespace ounce::tflite
