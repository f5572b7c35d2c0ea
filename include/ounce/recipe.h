// What can be asked for when a model is made smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <ounce/names.h>

namespace ounce {

enum class Format {
  // Weight-only: weights are compressed, arithmetic is FP32:
  kW8,   // 8-bit codes and scales: about 25 % of the bytes
  kW4,   // 4-bit codes: about 15 %
  kW16,  // 16-bit floats: 50 %
  // Weight-only, for the MatMulNBits kernels of ONNX Runtime, which multiply with packed weights. Weights
  // that
  // these kernels do not take are stored as in kW8:
  kNbits8,
  kNbits4,  // about 16 % of the bytes
  kNbits2,
  // INT8 arithmetic where the runtime has kernels for it. Weights of nodes that stay in FP32 are stored as in
  // kW8:
  kInt8Dynamic,  // activation scales are found at run time: MatMul, Gemm, LSTM, attention
  kInt8,         // static: activation scales come from calibration data. Conv, too
  // FP16 or BF16 arithmetic, for processors that have it. Nodes that need FP32 keep it:
  kFp16,
  kBf16,
  kFp32,  // unchanged: for single nodes, in Recipe::nodes
};
template <>
struct NamesOf<Format> {
  static constexpr Named<Format> kAll[] = {{Format::kW8, "w8"},
                                           {Format::kW4, "w4"},
                                           {Format::kW16, "w16"},
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

// Packed weights that MatMulNBits kernels multiply with.
constexpr bool is_nbits(Format format) {
  return format == Format::kNbits8 || format == Format::kNbits4 || format == Format::kNbits2;
}

// Says how weights are stored, and that arithmetic is on FP32.
constexpr bool is_storage(Format format) {
  return format == Format::kW8 || format == Format::kW4 || format == Format::kW16 ||
         format == Format::kFp32 || is_nbits(format);
}

// How the runtime gets the values back.
enum class DecoderChoice {
  kAuto,  // the best for each tensor; the plan gives the reason
  kFold,  // Cast, Mul …: folded into FP32 constants when a session is created, so inference runs at FP32
          // speed
  kDq,    // DequantizeLinear: newer runtimes fuse it into MatMul, others run it at every inference
};
template <>
struct NamesOf<DecoderChoice> {
  static constexpr Named<DecoderChoice> kAll[] = {
      {DecoderChoice::kAuto, "auto"}, {DecoderChoice::kFold, "fold"}, {DecoderChoice::kDq, "dq"}};
};

// What DecoderChoice::kAuto trades for memory, with weights of 8 and of 4 bits.
enum class MemoryUse {
  kFast,      // all weights are folded: FP32 speed, and the memory of FP32
  kBalanced,  // the weights are decoded at every run that cost the least time for their bytes, as many as
              // Recipe::decode_share allows; by the shapes that the file tells
  kLow,       // all weights are decoded at every run that can be
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
  std::size_t block = 0;                          // elements that share a scale, for kBlock
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
  kAdaptive,  // so that each layer gives what it gave before, on calibration data; slower
};
template <>
struct NamesOf<Rounding> {
  static constexpr Named<Rounding> kAll[] = {
      {Rounding::kZeroSum, "zero-sum"}, {Rounding::kNearest, "nearest"}, {Rounding::kAdaptive, "adaptive"}};
  static constexpr Named<Rounding> kAliases[] = {{Rounding::kZeroSum, "balanced"}};
};

enum class ExternalData {
  kAuto,    // inline while the file stays below 2 GiB; an unedited model keeps the files it has
  kAlways,  // one data file beside the model
  kNever,
};
template <>
struct NamesOf<ExternalData> {
  static constexpr Named<ExternalData> kAll[] = {
      {ExternalData::kAuto, "auto"}, {ExternalData::kAlways, "always"}, {ExternalData::kNever, "never"}};
};

// How a range is chosen from the statistics of a value.
enum class CalibrationMethod {
  kAuto,        // the one with the least predicted error, value by value
  kMinMax,      // all that occurred
  kMean,        // the mean over the samples of their smallest and largest value
  kPercentile,  // without the largest and smallest share of values
  kEntropy,     // least relative entropy between the values and their codes
  kMse,         // least squared error
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

// How integer arithmetic is written down.
enum class Dialect {
  kQdq,        // QuantizeLinear and DequantizeLinear around float ops, which runtimes fuse
  kQOperator,  // the integer ops themselves: QLinearConv, MatMulIntegerToFloat …
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

// Ops without an integer kernel that are made of ops with one, for kInt8 (docs/explanation/integer.md).
enum class Rewrite {
  kHardSwish,      // HardSwish and HardSigmoid: a sum that its codes clip, a product
  kTanh,           // a Sigmoid whose codes are read with other scales and zeros
  kConvTranspose,  // a Conv that gives all phases at once, and moves
  kMean,           // ReduceMean over all positions: a GlobalAveragePool
  kPadChannels,    // channels of depthwise convolutions up to the next multiple of 16, which kernels are fast
                   // for
};
template <>
struct NamesOf<Rewrite> {
  static constexpr Named<Rewrite> kAll[] = {{Rewrite::kHardSwish, "hard-swish"},
                                            {Rewrite::kTanh, "tanh"},
                                            {Rewrite::kConvTranspose, "conv-transpose"},
                                            {Rewrite::kMean, "mean"},
                                            {Rewrite::kPadChannels, "pad-channels"}};
};

// What a config file says of a single value of the model.
struct ValueOverride {
  std::optional<ValueRange> range;
  std::optional<CalibrationMethod> method;
  std::optional<ActivationType> type;
  bool keep_float = false;
};

// An input whose values are raw bytes times `scale` plus `offset`, one for each channel (the second axis) or
// one for all: what a contract's rescaling, means and deviations come to.
struct RawInput {
  std::vector<double> scale, offset;
};

// For kInt8 and kInt8Dynamic.
struct IntegerRecipe {
  Dialect dialect = Dialect::kQdq;
  ActivationType activations = ActivationType::kU8;
  bool symmetric_activations = false;  // values that take both signs get their zero in the middle
  WeightType weights = WeightType::kS8;
  // The 8-bit products of x86 CPUs without VNNI saturate when two large weights meet. Nothing: scales keep
  // such pairs small enough for every CPU (src/quant/dot_product_pairs.h), unless the target promises exact
  // products. True: 7-bit weights. False: all 8 bits, for CPUs that are known to be exact. The scales of a
  // model that was trained for integers are changed only if this is true, or if it is not set and the target
  // is a CPU without exact products; QuantizeResult::scale_changes lists the changes.
  std::optional<bool> reduce_range;
  bool integer_io = false;                     // inputs and outputs of the model become integers too
  std::map<std::string, RawInput> raw_inputs;  // … and these the raw bytes themselves
  bool dynamic_conv = false;  // kInt8Dynamic: Conv becomes ConvInteger, too, which is slow on most CPUs
  CalibrationMethod calibration = CalibrationMethod::kAuto;
  double percentile = 99.99;
  std::map<std::string, ValueOverride> values;
  // What keeps accuracy without training.
  bool search = true;  // choose calibration, and the nodes that are better left in floats, by measuring
  // Even out channels between layers: cross-layer and SmoothQuant-style. A search leaves that when `values`
  // are given, which speak of channels as they are; without a search `values` are those of evened channels.
  bool equalize = true;
  bool correct_bias = true;  // take the mean error of each channel out of its bias
  // Ranges come from the first, third, fifth … batch only. That clips outliers that occur in the others,
  // which some models need.
  bool fit_on_even_samples = false;
  std::set<Rewrite> skip_rewrites;  // that are not made; see docs/explanation/integer.md
  bool use_cost_model = true;       // nodes slower in INT8 stay in FP32 (docs/explanation/integer.md)
  // Nodes that do not run in INT8 run in FP16 where the target has FP16 arithmetic; elsewhere their weights
  // are stored in FP16. False: they run in FP32 with 8-bit weights (kW8).
  bool fp16_remainder = false;
};

// For kFp16 and kBf16.
struct HalfRecipe {
  bool half_io = false;           // inputs and outputs of the model become 16-bit floats too
  std::vector<std::string> keep;  // regular expressions (RE2) of nodes that stay in FP32
  // Names inside of the model stay; otherwise they are shortened where they are more than 0.2 % of its bytes.
  bool keep_names = false;
};

// The ops that packed weights are written with, for kNbits8, kNbits4 and kNbits2.
enum class NbitsDialect {
  kNbits,  // MatMulNBits and GatherBlockQuantized, ops of ONNX Runtime
  kQdq,    // DequantizeLinear by blocks (opset 21), which newer runtimes fuse into MatMulNBits
};
template <>
struct NamesOf<NbitsDialect> {
  static constexpr Named<NbitsDialect> kAll[] = {{NbitsDialect::kNbits, "nbits"},
                                                 {NbitsDialect::kQdq, "qdq"}};
};

// What MatMulNBits may do to activations.
enum class AccuracyLevel {
  kAuto,  // 4 where the outputs bear it (measured if there is data), and where a release has no other kernel
  k0,     // whatever the runtime likes: floats on today's CPUs
  k1,     // FP32
  k4,     // activations become 8-bit integers: the fast kernels
};
template <>
struct NamesOf<AccuracyLevel> {
  static constexpr Named<AccuracyLevel> kAll[] = {{AccuracyLevel::kAuto, "auto"},
                                                  {AccuracyLevel::k0, "0"},
                                                  {AccuracyLevel::k1, "1"},
                                                  {AccuracyLevel::k4, "4"}};
};

// How the codes and scales of packed weights are found.
enum class WeightMethod {
  kAuto,   // the best of those below on data that was held out; without data kRtn
  kRtn,    // each weight to the nearest code of its block's scale (Recipe::scale)
  kScale,  // scales with the least error at the layer's output, by the energy of its inputs on data
  kGptq,   // those scales, and codes that make up for the errors of others, on data
};
template <>
struct NamesOf<WeightMethod> {
  static constexpr Named<WeightMethod> kAll[] = {{WeightMethod::kAuto, "auto"},
                                                 {WeightMethod::kRtn, "rtn"},
                                                 {WeightMethod::kScale, "scale"},
                                                 {WeightMethod::kGptq, "gptq"}};
};

// For kNbits8, kNbits4 and kNbits2. Blocks are Recipe::granularity's: 16, 32 … 256 weights share a scale.
struct NbitsRecipe {
  NbitsDialect dialect = NbitsDialect::kNbits;
  AccuracyLevel accuracy_level = AccuracyLevel::kAuto;
  WeightMethod method = WeightMethod::kAuto;
  // Bits that a weight may take on the mean, scales included: layers that bring the most on data get 8
  // instead of 4 as long as they fit. 0: all are as `format` says.
  double bits = 0;
  // The same with the bytes that the model may have, all files together. 0: no matter.
  std::uint64_t target_size = 0;
  std::map<std::string, AccuracyLevel> levels;  // of single nodes, named as in Recipe::nodes

  bool has_budget() const { return bits != 0 || target_size != 0; }
};

struct Recipe {
  Format format = Format::kW8;
  // Where the model will run: a place and a release of ONNX Runtime ("android-arm64@1.22.0"), whose measured
  // op support the plan keeps to; an execution provider ("cuda", "coreml" …); or both
  // ("ios-arm64@1.22.0+coreml"). Empty for the CPU of whatever.
  std::string target;
  DecoderChoice decoder = DecoderChoice::kAuto;
  MemoryUse memory = MemoryUse::kFast;
  double decode_share = 0.05;  // kBalanced: of the time of a run, for decoding weights; estimated
  Granularity granularity;
  ScaleMethod scale = ScaleMethod::kMse;
  Rounding rounding = Rounding::kZeroSum;
  bool codebook = false;           // k-means codebook instead of a linear scale
  bool asymmetric = false;         // a zero point for every group
  std::uint64_t min_bytes = 1024;  // smaller tensors are left alone
  // The smallest weights are often the most sensitive. They are stored in FP16 as long as this adds no more
  // than such a share of the size.
  double fp16_budget = 0.001;
  // Regular expressions (RE2), searched for in the names of tensors and of the nodes that use them, and in op
  // types.
  std::vector<std::string> include, exclude;
  // An expression of `include`, `exclude` or `half.keep` that matches nothing is noted instead of refused:
  // for lists that were written for many models.
  bool ignore_unmatched = false;
  // Initializers that are listed as inputs (IR 4 and later) stay inputs with a default value. Otherwise they
  // become constants: old exporters list every weight, and nobody feeds those.
  bool keep_inputs = false;
  // Mixed precision: nodes that are treated otherwise than `format` says, named by the value they give (in a
  // branch "if_output/then_branch/value") or by their own name. kFp32, kW16, kW8, kW4, kNbits8, kNbits4 and
  // kNbits2 say how their weights are stored, and that they compute on floats; kInt8Dynamic is for nodes of
  // kInt8 that compute on integers with scales found while the model runs. kFp16 and kBf16 leave nodes with
  // kFp32 as they are, and know no other.
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

// Throws Error for what cannot be asked for at once: kUsage, and kUnsupported where a target lacks it. What
// takes a recipe calls it first.
void validate(const Recipe& recipe);

}  // namespace ounce
