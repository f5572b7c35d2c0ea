// The recipe of a quantization: format, granularity, calibration, and overrides for single nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <ounce/error.h>

namespace ounce {

enum class Format {
  // Weight-only: weights are compressed, arithmetic is FP32.
  kW8,   // 8-bit weights: about 25 % of the size
  kW4,   // 4-bit weights: about 15 %
  kW16,  // FP16 weights: 50 %
  // Core ML only: codebooks of 64, 8, 4 and 2 values.
  kW6,
  kW3,
  kW2,
  kW1,
  // Weight-only for the MatMulNBits kernels of ONNX Runtime, which multiply with packed weights. Other
  // weights
  // are stored as in kW8.
  kNbits8,
  kNbits4,  // about 16 % of the size
  kNbits2,
  // INT8 arithmetic where the runtime has kernels for it. Weights of nodes that stay in FP32 are stored as in
  // kW8.
  kInt8Dynamic,  // activation scales are computed at run time: MatMul, Gemm, LSTM, attention
  kInt8,         // static: activation scales come from calibration; also for Conv
  // FP16 or BF16 arithmetic, for processors that support it. Nodes that need FP32 keep it.
  kFp16,
  kBf16,
  kFp32,  // unchanged; only for single nodes, in Recipe::nodes
};
template <>
struct NamesOf<Format> {
  static constexpr Named<Format> kAll[] = {{Format::kW8, "w8"},
                                           {Format::kW4, "w4"},
                                           {Format::kW16, "w16"},
                                           {Format::kW6, "w6"},
                                           {Format::kW3, "w3"},
                                           {Format::kW2, "w2"},
                                           {Format::kW1, "w1"},
                                           {Format::kNbits8, "nbits8"},
                                           {Format::kNbits4, "nbits4"},
                                           {Format::kNbits2, "nbits2"},
                                           {Format::kInt8Dynamic, "int8-dynamic"},
                                           {Format::kInt8, "int8"},
                                           {Format::kFp16, "fp16"},
                                           {Format::kBf16, "bf16"},
                                           {Format::kFp32, "fp32"}};
  static constexpr Named<Format> kAliases[] = {{Format::kInt8, "static"},
                                               {Format::kInt8, "int8-static"},
                                               {Format::kInt8Dynamic, "dynamic"},
                                               {Format::kNbits4, "int4"},
                                               {Format::kNbits2, "int2"}};
};

// True for the formats with packed weights for MatMulNBits kernels.
constexpr bool is_nbits(Format format) {
  return format == Format::kNbits8 || format == Format::kNbits4 || format == Format::kNbits2;
}

// True for weight-only formats, whose arithmetic is FP32.
constexpr bool is_storage(Format format) {
  switch (format) {
    case Format::kW8:
    case Format::kW4:
    case Format::kW16:
    case Format::kW6:
    case Format::kW3:
    case Format::kW2:
    case Format::kW1:
    case Format::kFp32: return true;
    default: return is_nbits(format);
  }
}

// How the runtime dequantizes weights.
enum class DecoderChoice {
  kAuto,  // the best for each tensor; the plan gives the reason
  kFold,  // at load: Cast, Mul and others are folded into FP32 constants, so inference runs at FP32 speed
  kDq,    // DequantizeLinear: newer runtimes fuse it into MatMul, others run it at every inference
};
template <>
struct NamesOf<DecoderChoice> {
  static constexpr Named<DecoderChoice> kAll[] = {
      {DecoderChoice::kAuto, "auto"}, {DecoderChoice::kFold, "fold"}, {DecoderChoice::kDq, "dq"}};
};

// The trade-off between memory and speed of DecoderChoice::kAuto, for 8-bit and 4-bit weights.
enum class MemoryUse {
  kFast,      // all weights are dequantized at load: FP32 speed and FP32 memory
  kBalanced,  // as many weights as Recipe::decode_share allows are dequantized at run time, those with the
              // lowest cost per byte first; costs are estimated from the shapes in the file
  kLow,       // all possible weights are dequantized at run time
};
template <>
struct NamesOf<MemoryUse> {
  static constexpr Named<MemoryUse> kAll[] = {
      {MemoryUse::kFast, "fast"}, {MemoryUse::kBalanced, "balanced"}, {MemoryUse::kLow, "low"}};
};

enum class GranularityKind { kAuto, kTensor, kChannel, kBlock };
template <>
struct NamesOf<GranularityKind> {
  static constexpr Named<GranularityKind> kAll[] = {{GranularityKind::kAuto, "auto"},
                                                    {GranularityKind::kTensor, "tensor"},
                                                    {GranularityKind::kChannel, "channel"},
                                                    {GranularityKind::kBlock, "block"}};
};

struct Granularity {
  GranularityKind kind = GranularityKind::kAuto;  // per channel; for 4 bits blocks of 32 where they fit
  std::size_t block = 0;                          // elements per scale, for kBlock
};

enum class ScaleMethod {
  kMse,     // the scale with the smallest squared error
  kAbsMax,  // the scale that represents the largest value exactly
};
template <>
struct NamesOf<ScaleMethod> {
  static constexpr Named<ScaleMethod> kAll[] = {{ScaleMethod::kMse, "mse"}, {ScaleMethod::kAbsMax, "absmax"}};
};

enum class Rounding {
  kZeroSum,  // up or down so that the rounding errors of a channel sum to zero; see src/quant/linear.h
  kNearest,
  kAdaptive,  // AdaRound-style layer-wise reconstruction on calibration data; slower
};
template <>
struct NamesOf<Rounding> {
  static constexpr Named<Rounding> kAll[] = {
      {Rounding::kZeroSum, "zero-sum"}, {Rounding::kNearest, "nearest"}, {Rounding::kAdaptive, "adaptive"}};
  static constexpr Named<Rounding> kAliases[] = {{Rounding::kZeroSum, "balanced"}};
};

enum class ExternalData {
  kAuto,    // inline while the file stays below 2 GiB; an unedited model keeps the files it has
  kAlways,  // one data file next to the model
  kNever,
};
template <>
struct NamesOf<ExternalData> {
  static constexpr Named<ExternalData> kAll[] = {
      {ExternalData::kAuto, "auto"}, {ExternalData::kAlways, "always"}, {ExternalData::kNever, "never"}};
};

// How the range of an activation is chosen from its statistics.
enum class CalibrationMethod {
  kAuto,        // the method with the lowest predicted error, per activation
  kMinMax,      // the min-max range
  kMean,        // the mean of the minima and maxima of all samples
  kPercentile,  // the range without the most extreme values
  kEntropy,     // lowest relative entropy between values and quantized values
  kMse,         // lowest squared error
};
template <>
struct NamesOf<CalibrationMethod> {
  static constexpr Named<CalibrationMethod> kAll[] = {
      {CalibrationMethod::kAuto, "auto"},       {CalibrationMethod::kMinMax, "minmax"},
      {CalibrationMethod::kMean, "mean"},       {CalibrationMethod::kPercentile, "percentile"},
      {CalibrationMethod::kEntropy, "entropy"}, {CalibrationMethod::kMse, "mse"}};
};

struct ValueRange {
  double low = 0, high = 0;
};

// The quantization format: how INT8 arithmetic is represented in the graph.
enum class Dialect {
  kQdq,        // QuantizeLinear and DequantizeLinear around float ops, which runtimes fuse
  kQOperator,  // integer ops: QLinearConv, MatMulIntegerToFloat, …
};
template <>
struct NamesOf<Dialect> {
  static constexpr Named<Dialect> kAll[] = {{Dialect::kQdq, "qdq"}, {Dialect::kQOperator, "qoperator"}};
};

enum class ActivationType { kU8, kS8, kU16, kS16 };
template <>
struct NamesOf<ActivationType> {
  static constexpr Named<ActivationType> kAll[] = {{ActivationType::kU8, "u8"},
                                                   {ActivationType::kS8, "s8"},
                                                   {ActivationType::kU16, "u16"},
                                                   {ActivationType::kS16, "s16"}};
};
constexpr bool is_16_bit(ActivationType type) {
  return type == ActivationType::kU16 || type == ActivationType::kS16;
}
enum class WeightType { kS8, kU8, kS4 };
template <>
struct NamesOf<WeightType> {
  static constexpr Named<WeightType> kAll[] = {
      {WeightType::kS8, "s8"}, {WeightType::kU8, "u8"}, {WeightType::kS4, "s4"}};
};

// Rewrites of ops without INT8 kernels as ops with INT8 kernels, for kInt8 (docs/explanation/integer.md).
enum class Rewrite {
  kHardSwish,      // HardSwish and HardSigmoid become a sum that is clipped by quantization, and a product
  kTanh,           // Tanh becomes a Sigmoid whose quantized values have other scales and zero points
  kConvTranspose,  // ConvTranspose becomes a Conv that computes all phases, and data movement
  kMean,           // ReduceMean over all positions becomes a GlobalAveragePool
  kPadChannels,    // channels of depthwise convolutions are padded to a multiple of 16, for faster kernels
};
template <>
struct NamesOf<Rewrite> {
  static constexpr Named<Rewrite> kAll[] = {{Rewrite::kHardSwish, "hard-swish"},
                                            {Rewrite::kTanh, "tanh"},
                                            {Rewrite::kConvTranspose, "conv-transpose"},
                                            {Rewrite::kMean, "mean"},
                                            {Rewrite::kPadChannels, "pad-channels"}};
};

// Settings of a single activation.
struct ValueOverride {
  std::optional<ValueRange> range;
  std::optional<CalibrationMethod> method;
  std::optional<ActivationType> type;
  bool keep_float = false;
};

// A model input that is computed from raw bytes as byte · scale + offset, per channel (the second axis) or
// for all channels. It combines the rescaling, means and deviations of preprocessing metadata.
struct RawInput {
  std::vector<double> scale, offset;
};

// For kInt8 and kInt8Dynamic.
struct IntegerRecipe {
  Dialect dialect = Dialect::kQdq;
  ActivationType activations = ActivationType::kU8;
  bool symmetric_activations = false;  // symmetric ranges for activations with both signs
  WeightType weights = WeightType::kS8;
  // On x86 CPUs without VNNI, sums of 8-bit products saturate if two adjacent weights are large. Unset:
  // scales keep such pairs small enough for every CPU (src/quant/dot_product_pairs.h), unless the target has
  // exact products. True: 7-bit weights. False: all 8 bits, for CPUs with exact products. Scales from
  // quantization-aware training change only if this is true, or if it is unset and the target is a CPU
  // without exact products; QuantizeResult::scale_changes lists the changes.
  std::optional<bool> reduce_range;
  bool integer_io = false;                     // also quantize the inputs and outputs of the model
  std::map<std::string, RawInput> raw_inputs;  // inputs that take raw bytes, with integer_io
  bool dynamic_conv = false;  // kInt8Dynamic: Conv becomes ConvInteger, which is slow on most CPUs
  CalibrationMethod calibration = CalibrationMethod::kAuto;
  double percentile = 99.99;
  std::map<std::string, ValueOverride> values;  // by the name of the activation
  // Measures to keep accuracy without training.
  bool search = true;  // choose the calibration method and the nodes to keep in FP32 by measuring
  // Equalize channels between layers, cross-layer and SmoothQuant-style. With a search, this is off if
  // `values` are given, because they refer to the original channels; without a search, `values` refer to
  // equalized channels.
  bool equalize = true;
  bool correct_bias = true;  // bias correction
  // Calibrate on the first, third, fifth, … batch only. This clips outliers in the other batches, which some
  // models need.
  bool fit_on_even_samples = false;
  std::set<Rewrite> skip_rewrites;  // rewrites to skip; see docs/explanation/integer.md
  bool use_cost_model = true;       // nodes slower in INT8 stay in FP32 (docs/explanation/integer.md)
  // Nodes that do not run in INT8 run in FP16 where the target has FP16 arithmetic; elsewhere their weights
  // are stored in FP16. False: they run in FP32 with 8-bit weights (kW8).
  bool fp16_remainder = false;
};

// For kFp16 and kBf16.
struct HalfRecipe {
  bool half_io = false;           // also convert the inputs and outputs of the model
  std::vector<std::string> keep;  // regular expressions (RE2) of nodes that stay in FP32
  // Keep the names of nodes and intermediate values. False: shorten them if they are more than 0.2 % of the
  // size.
  bool keep_names = false;
};

// The ops for packed weights, for kNbits8, kNbits4 and kNbits2.
enum class NbitsDialect {
  kNbits,  // MatMulNBits and GatherBlockQuantized, ops of ONNX Runtime
  kQdq,    // DequantizeLinear per block (opset 21), which newer runtimes fuse into MatMulNBits
};
template <>
struct NamesOf<NbitsDialect> {
  static constexpr Named<NbitsDialect> kAll[] = {{NbitsDialect::kNbits, "nbits"},
                                                 {NbitsDialect::kQdq, "qdq"}};
};

// The accuracy_level attribute of MatMulNBits.
enum class AccuracyLevel {
  kAuto,  // 4 where the outputs stay accurate (measured if there is data) or a release has no other kernel
  k0,     // the runtime decides; current releases use FP32 activations
  k1,     // FP32 activations
  k4,     // INT8 activations: the fastest kernels
};
template <>
struct NamesOf<AccuracyLevel> {
  static constexpr Named<AccuracyLevel> kAll[] = {{AccuracyLevel::kAuto, "auto"},
                                                  {AccuracyLevel::k0, "0"},
                                                  {AccuracyLevel::k1, "1"},
                                                  {AccuracyLevel::k4, "4"}};
};

// How packed weights are quantized.
enum class WeightMethod {
  kAuto,   // the best method on held-out data; without data kRtn
  kRtn,    // round to nearest, with the scales of Recipe::scale
  kScale,  // scales with the lowest error at the layer output, from the energy of its inputs on data
  kGptq,   // the same scales, and GPTQ error compensation on data
};
template <>
struct NamesOf<WeightMethod> {
  static constexpr Named<WeightMethod> kAll[] = {{WeightMethod::kAuto, "auto"},
                                                 {WeightMethod::kRtn, "rtn"},
                                                 {WeightMethod::kScale, "scale"},
                                                 {WeightMethod::kGptq, "gptq"}};
};

// For kNbits8, kNbits4 and kNbits2. Recipe::granularity sets the block size: 16, 32, … 256 weights per scale.
struct NbitsRecipe {
  NbitsDialect dialect = NbitsDialect::kNbits;
  AccuracyLevel accuracy_level = AccuracyLevel::kAuto;
  WeightMethod method = WeightMethod::kAuto;
  // Mean number of bits per weight, scales included. Layers whose error on data drops most get 8 bits instead
  // of 4 until the mean is reached. 0: all layers have the bits of `format`.
  double bits = 0;
  // The same with the size of the model in bytes, all files together. 0: no limit.
  std::uint64_t target_size = 0;
  std::map<std::string, AccuracyLevel> levels;  // for single nodes, named as in Recipe::nodes

  bool has_budget() const { return bits != 0 || target_size != 0; }
};

struct Recipe {
  Format format = Format::kW8;
  // The target: a platform and a release of ONNX Runtime ("android-arm64@1.22.0"), so that only ops are used
  // that this release supports; an execution provider ("cuda", "coreml", …); or both
  // ("ios-arm64@1.22.0+coreml"). Empty: any CPU.
  std::string target;
  DecoderChoice decoder = DecoderChoice::kAuto;
  MemoryUse memory = MemoryUse::kFast;
  double decode_share = 0.05;  // kBalanced: largest share of a run's time for dequantizing weights; estimated
  Granularity granularity;
  ScaleMethod scale = ScaleMethod::kMse;
  Rounding rounding = Rounding::kZeroSum;
  bool codebook = false;           // k-means codebook instead of a linear scale
  bool asymmetric = false;         // every scale gets a zero point
  std::uint64_t min_bytes = 1024;  // smaller tensors stay unchanged
  // The smallest weights are often the most sensitive. They are stored in FP16 up to this share of the size.
  double fp16_budget = 0.001;
  // Regular expressions (RE2) that are searched in the names of tensors, in the names of the nodes that use
  // them, and in op types.
  std::vector<std::string> include, exclude;
  // Note an expression of `include`, `exclude` or `half.keep` that matches nothing, instead of failing. This
  // is useful for lists that were written for many models.
  bool ignore_unmatched = false;
  // Keep initializers that are also inputs (IR 4 and later) as inputs with a default value. False: make them
  // constants, because old exporters list every weight as an input.
  bool keep_inputs = false;
  // Mixed precision: overrides of `format` for single nodes, named by an output of the node (in a branch
  // "if_output/then_branch/value") or by the name of the node. With kFp32, kW16, kW8, kW4, kNbits8, kNbits4
  // and kNbits2 the node runs in FP32 with weights of this format. kInt8Dynamic is allowed for nodes of
  // kInt8. With kFp16 and kBf16 as `format`, only kFp32 is allowed.
  std::map<std::string, Format> nodes;
  IntegerRecipe integer;
  HalfRecipe half;
  NbitsRecipe nbits;

  bool is_integer() const { return format == Format::kInt8Dynamic || format == Format::kInt8; }
  bool is_half() const { return format == Format::kFp16 || format == Format::kBf16; }
  // The storage format of weights whose nodes do not run in INT8.
  Format storage_of_remainder() const {
    if (!is_integer()) return format;
    return integer.fp16_remainder ? Format::kW16 : Format::kW8;
  }
};

// Throws Error{kUsage} for contradicting fields, and Error{kUnsupported} for fields that the target does not
// support. Every function with a recipe calls it first.
void validate(const Recipe& recipe);

// == What a recipe did to a tensor or node ==
//
// How a tensor is stored and how a node computes, for plans and results.

enum class Arithmetic {
  kFloat,
  kStatic,   // INT8, with activation scales from calibration
  kDynamic,  // INT8, with activation scales computed at run time
  kFloat16,
  kBfloat16,
};
template <>
struct NamesOf<Arithmetic> {
  static constexpr Named<Arithmetic> kAll[] = {{Arithmetic::kFloat, "float"},
                                               {Arithmetic::kStatic, "static"},
                                               {Arithmetic::kDynamic, "dynamic"},
                                               {Arithmetic::kFloat16, "float16"},
                                               {Arithmetic::kBfloat16, "bfloat16"}};
};
constexpr bool is_integer(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kStatic || arithmetic == Arithmetic::kDynamic;
}

// The stored type of a tensor.
enum class StoredAs {
  kInt8,
  kUint8,
  kInt4,
  kUint4,
  kInt2,
  kUint2,
  kCodebook256,
  kCodebook64,
  kCodebook16,
  kCodebook8,
  kCodebook4,
  kCodebook2,
  kFloat16,
  kBfloat16,
  kInt32,  // a bias of INT8 ops
};
template <>
struct NamesOf<StoredAs> {
  static constexpr Named<StoredAs> kAll[] = {{StoredAs::kInt8, "int8"},
                                             {StoredAs::kUint8, "uint8"},
                                             {StoredAs::kInt4, "int4"},
                                             {StoredAs::kUint4, "uint4"},
                                             {StoredAs::kInt2, "int2"},
                                             {StoredAs::kUint2, "uint2"},
                                             {StoredAs::kCodebook256, "codebook256"},
                                             {StoredAs::kCodebook64, "codebook64"},
                                             {StoredAs::kCodebook16, "codebook16"},
                                             {StoredAs::kCodebook8, "codebook8"},
                                             {StoredAs::kCodebook4, "codebook4"},
                                             {StoredAs::kCodebook2, "codebook2"},
                                             {StoredAs::kFloat16, "float16"},
                                             {StoredAs::kBfloat16, "bfloat16"},
                                             {StoredAs::kInt32, "int32"}};
};

// How the runtime dequantizes a stored tensor.
enum class Decoder {
  kFold,    // by Cast, Mul and other ops on constants, folded when a session is created
  kDq,      // by DequantizeLinear, which a runtime may fuse into its op
  kLookup,  // after a lookup: only the selected rows of a table are dequantized
  kNbits,   // inside of MatMulNBits and GatherBlockQuantized kernels
  kKernel,  // not at all: an INT8 op uses the quantized values
};
template <>
struct NamesOf<Decoder> {
  static constexpr Named<Decoder> kAll[] = {{Decoder::kFold, "fold"},
                                            {Decoder::kDq, "dq"},
                                            {Decoder::kLookup, "lookup"},
                                            {Decoder::kNbits, "nbits"},
                                            {Decoder::kKernel, "kernel"}};
};

// Scales of a weight from quantization-aware training that were increased, because sums of its int8 products
// saturate on the target CPU of the recipe.
struct ScaleChange {
  std::string weight;         // name of the weight
  std::string node, op_type;  // the node that uses the weight
  std::size_t scales = 0;     // number of scales: one, or one per channel
  std::size_t changed = 0;    // number of increased scales
  double largest_factor = 1;  // largest new scale divided by the trained one
};

}  // namespace ounce
