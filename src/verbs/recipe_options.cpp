#include "verbs/recipe_options.h"
#include "recipe/format_info.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>
#include <cmath>

namespace ounce::verbs {
namespace {

Granularity granularity_of(const std::string& text) {
  const auto kind = from_name<GranularityKind>(text);
  if (kind && kind != GranularityKind::kBlock) return {*kind, 0};
  const std::string block = fmt::format("{}:", name_of(GranularityKind::kBlock));
  if (text.starts_with(block)) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data() + block.size(), text.data() + text.size(), size);
    if (error == std::errc() && end == text.data() + text.size()) return {GranularityKind::kBlock, size};
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("--granularity '{}' must be auto, tensor, channel, or block:N", text));
}

// "-1:6.5"
std::optional<ValueRange> range_of(std::string_view text) {
  ValueRange range;
  const char* const end = text.data() + text.size();
  const auto [colon, failure] = std::from_chars(text.data(), end, range.low);
  if (failure != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto [last, second_failure] = std::from_chars(colon + 1, end, range.high);
  if (second_failure != std::errc() || last != end || !(range.low < range.high)) return std::nullopt;
  return range;
}

void add_override(const std::string& text, std::map<std::string, ValueOverride>& values) {
  const std::size_t equals = text.rfind('=');  // names may hold one
  const std::string what = equals == std::string::npos ? "" : text.substr(equals + 1);
  ValueOverride& value = values[text.substr(0, equals)];
  if (const auto range = range_of(what)) {
    value.range = range;
  } else if (const auto method = from_name<CalibrationMethod>(what)) {
    value.method = method;
  } else if (const auto type = from_name<ActivationType>(what)) {
    value.type = type;
  } else if (what == "float") {
    value.keep_float = true;
  } else {
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--value '{}' must be NAME=LOW:HIGH, NAME=METHOD, NAME=TYPE or NAME=float", text));
  }
}

bool is_for_nodes(Format format) {
  return format == kUnchanged || format == weight_only(16) || format == weight_only(8) ||
         format == weight_only(4) || is_few_bits(format) || is_dynamic(format);
}

void add_node(const std::string& text, std::map<std::string, Format>& nodes) {
  const std::size_t equals = text.rfind('=');  // names may hold one
  const auto format = from_name<Format>(equals == std::string::npos ? "" : text.substr(equals + 1));
  if (!format || !is_for_nodes(*format)) {
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--node '{}' must be NAME=FORMAT with fp32, w16, w8, w4, int8, int4, int2 or dynamic",
                    text));
  }
  const std::string name = text.substr(0, equals);
  if (!nodes.emplace(name, *format).second)
    throw Error(ErrorCode::kUsage, fmt::format("--node '{}' is given twice", name));
}

void add_level(const std::string& text, std::map<std::string, AccuracyLevel>& levels) {
  const std::size_t equals = text.rfind('=');
  const auto level = from_name<AccuracyLevel>(equals == std::string::npos ? "" : text.substr(equals + 1));
  if (!level || *level == AccuracyLevel::kAuto)
    throw Error(ErrorCode::kUsage, fmt::format("--level '{}' must be NAME=LEVEL with 0, 1 or 4", text));
  const std::string name = text.substr(0, equals);
  if (!levels.emplace(name, *level).second)
    throw Error(ErrorCode::kUsage, fmt::format("--level '{}' is given twice", name));
}

}  // namespace

void add_recipe_options(Options& options, RecipeArguments& arguments) {
  options
      .add_option(
          "--decode", arguments.decoder,
          "how the runtime gets weights back: fold (constants at load, FP32 speed), dq (DequantizeLinear)")
      ->check(any_sorted_name_of<DecoderChoice>())
      ->show_default();
  options
      .add_option(
          "--memory", arguments.memory,
          "w8, w4: what --decode auto trades for memory in the app: fast (nothing: weights are FP32 once "
          "loaded), balanced (some are decoded at every run, see --decode-share), low (all that can be)")
      ->check(any_sorted_name_of<MemoryUse>())
      ->show_default();
  options
      .add_option(
          "--decode-share", arguments.decode_share,
          "--memory balanced: percent of a run's time to spend on decoding weights, estimated from shapes")
      ->check(number_between(0, 100))
      ->show_default();
  options
      .add_option("--granularity", arguments.granularity,
                  "what shares a scale: auto, tensor, channel, block:N")
      ->show_default();
  options.add_option("--scale", arguments.scale, "how scales are found: mse (least squared error), absmax")
      ->check(any_sorted_name_of<ScaleMethod>())
      ->show_default();
  options
      .add_option("--rounding", arguments.rounding,
                  "balanced (the errors of a channel sum to zero), nearest, adaptive (static: each layer "
                  "gives what it gave before on calibration data; slower)")
      ->check(any_sorted_name_of<Rounding>())
      ->show_default();
  options.add_flag("--codebook", arguments.codebook,
                   "k-means codebook instead of a linear scale (w8: 256 values, w4: 16)");
  options.add_flag("--asymmetric", arguments.asymmetric, "give every scale a zero point");
  options
      .add_option("--half-share", arguments.half_share,
                  "percent of the size to spend on 16-bit floats for the smallest weights")
      ->check(number_between(0, 100))
      ->show_default();
  options.add_option("--min-bytes", arguments.min_bytes, "leave smaller tensors alone")
      ->check(whole_number())
      ->show_default();
  options
      .add_option("--include", arguments.include,
                  "only these: a regular expression on tensor, node and op type (repeatable)")
      ->one_at_a_time();
  options.add_option("--exclude", arguments.exclude, "not these: likewise")->one_at_a_time();
  options.add_flag("--ignore-unmatched", arguments.ignore_unmatched,
                   "warn about a regular expression that matches nothing, instead of failing");
  options.add_flag(
      "--keep-inputs", arguments.keep_inputs,
      "initializers that are listed as inputs stay inputs with a default value (otherwise they become "
      "constants)");
  options
      .add_option(
          "--node", arguments.nodes,
          "NAME=FORMAT for the node that gives the value NAME: fp32, w16, w8, w4, int8, int4 or int2 (so its "
          "weights are stored, and it computes on floats), with --to static also dynamic (repeatable)")
      ->one_at_a_time();
}

void add_format_option(Options& options, RecipeArguments& arguments, bool with_integers) {
  const char* const stored = "w8 (25 % of the bytes), w4 (15 %), w16 (50 %)";
  const char* const few_bits = "small in memory too, in the runtime's kernels: int4 (16 %), int8, int2";
  Option* option =
      options.add_option("--to", arguments.format,
                         with_integers ? fmt::format("stored small: {}; {}; computed on integers: "
                                                     "dynamic, static (needs --data or --ranges); on 16-bit "
                                                     "floats: fp16, bf16",
                                                     stored, few_bits)
                                       : stored);
  option->show_default();
  option->check(with_integers ? any_name_of({format_with(Arithmetic::kBfloat16), format_with(Arithmetic::kDynamic), format_with(Arithmetic::kFloat16), nbits(2),
                                             nbits(4), nbits(8), format_with(Arithmetic::kStatic), weight_only(16),
                                             weight_only(4), weight_only(8)})
                              : any_name_of({weight_only(8), weight_only(4), weight_only(16)}));
}

void add_integer_options(Options& options, RecipeArguments& arguments) {
  const char* const group = "Integer arithmetic (--to static, --to dynamic)";
  options
      .add_option("--calibration", arguments.calibration,
                  "static: how the range of an activation is chosen: auto (measured on the data; without "
                  "search least predicted error, value by value), minmax, mean, percentile, entropy, mse")
      ->check(any_sorted_name_of<CalibrationMethod>())
      ->show_default()
      ->group(group);
  options.add_option("--percentile", arguments.percentile, "of --calibration percentile")
      ->check(number_between(50, 100))
      ->show_default()
      ->group(group);
  options
      .add_option("--dialect", arguments.dialect,
                  "static: qdq (Q/DQ nodes, which runtimes fuse), qoperator (the integer ops themselves)")
      ->check(any_sorted_name_of<Dialect>())
      ->show_default()
      ->group(group);
  options.add_option("--activations", arguments.activations, "static: type of activations: u8, s8, u16, s16")
      ->check(any_sorted_name_of<ActivationType>())
      ->show_default()
      ->group(group);
  options
      .add_flag("--symmetric-activations", arguments.symmetric_activations,
                "static: zero is the middle code of values that take both signs")
      ->group(group);
  options.add_option("--weights", arguments.weights, "type of weights: s8, u8, s4")
      ->check(any_sorted_name_of<WeightType>())
      ->show_default()
      ->group(group);
  options
      .add_flag(
          "--reduce-range,!--no-reduce-range", arguments.reduce_range,
          "7-bit weights, whose products saturate on no CPU; --no-reduce-range: all 8 bits, for CPUs that "
          "are "
          "known to have exact products (default: 8 bits, less where two neighbouring weights could saturate "
          "on an x86 CPU without VNNI)")
      ->group(group);
  options
      .add_flag("--integer-io", arguments.integer_io,
                "static: inputs and outputs of the model become integers too")
      ->group(group);
  options
      .add_option(
          "--fallback", arguments.fallback,
          "what does not compute on integers: w8 (stored in 8 bits), fp16 (16-bit floats, computed on "
          "where the --target can)")
      ->check(any_of({"w8", "fp16"}))
      ->show_default()
      ->group(group);
  options
      .add_option("--skip-rewrite", arguments.skip_rewrites,
                  "static: do not make these of ops that have integer kernels: hard-swish, tanh, "
                  "conv-transpose, mean, pad-channels (repeatable, or with commas)")
      ->delimiter(',')
      ->one_at_a_time()
      ->check(any_sorted_name_of<Rewrite>())
      ->group(group);
  options
      .add_flag("--weigh-costs,!--no-weigh-costs", arguments.weigh_costs,
                "static: leave in floats what would be slower on integers (default: on)")
      ->group(group);
  options
      .add_flag("--force-conv", arguments.force_conv,
                "dynamic: ConvInteger as well, though it is several times slower than FP32")
      ->group(group);
  options
      .add_option("--value", arguments.values,
                  "static: NAME=WHAT for one activation, where WHAT is LOW:HIGH (its range), a --calibration "
                  "method, a type of --activations, or float (repeatable)")
      ->one_at_a_time()
      ->group(group);
  options
      .add_flag(
          "--search,!--no-search", arguments.search,
          "static: choose the calibration, and the few ops that are better left in floats, by measuring "
          "on the data (default: on)")
      ->group(group);
  options
      .add_flag("--equalize,!--no-equalize", arguments.equalize,
                "even out the channels between layers (default: on)")
      ->group(group);
  options
      .add_flag("--correct-bias,!--no-correct-bias", arguments.correct_bias,
                "static: take the mean error of every channel out of its bias (default: on)")
      ->group(group);
  options
      .add_flag(
          "--every-second", arguments.every_second,
          "static: ranges of every second sample alone, of 16 or more (the search may find that better)")
      ->group(group);
}

void add_few_bits_options(Options& options, RecipeArguments& arguments) {
  const char* const group = kFewBitsGroup;
  options
      .add_option("--kernels", arguments.kernels,
                  "nbits (MatMulNBits and GatherBlockQuantized), qdq (DequantizeLinear by blocks, opset 21)")
      ->check(any_sorted_name_of<FewBitsDialect>())
      ->show_default()
      ->group(group);
  options
      .add_option("--accuracy-level", arguments.accuracy_level,
                  "what MatMulNBits may do to activations: 0 (as the runtime likes), 1 (FP32), 4 (8-bit "
                  "integers: the fast kernels), auto (4 where outputs bear it)")
      ->check(any_sorted_name_of<AccuracyLevel>())
      ->show_default()
      ->group(group);
  options
      .add_option("--level", arguments.levels,
                  "NAME=LEVEL for the node that gives the value NAME: its --accuracy-level (repeatable)")
      ->one_at_a_time()
      ->group(group);
  options
      .add_option(
          "--method", arguments.method,
          "how codes and scales are found: rtn (nearest), scale (for outputs, by the energy of inputs "
          "on --data), gptq (codes that make up for each other, on --data), auto (measured)")
      ->check(any_sorted_name_of<WeightMethod>())
      ->show_default()
      ->group(group);
  options
      .add_option("--bits", arguments.bits,
                  "bits that a weight may take on the mean, with its share of a scale: layers that bring the "
                  "most on --data get more of them (default: all as --to says)")
      ->check(number_between(2, 16))
      ->group(group);
  options
      .add_size("--target-size", arguments.target_size,
                "bytes that the model may have, all files together, spent in the same way (300MB, 2GB)")
      ->group(group);
}

void add_half_options(Options& options, RecipeArguments& arguments) {
  const char* const group = "16-bit floats (--to fp16, --to bf16)";
  options
      .add_option("--io", arguments.io,
                  "inputs and outputs of the model: keep (the types they have), fp16 (16-bit floats too)")
      ->check(any_of({"keep", "fp16"}))
      ->show_default()
      ->group(group);
  options
      .add_option("--keep-fp32", arguments.keep,
                  "these nodes stay in FP32: a regular expression on node names, their outputs and op types "
                  "(repeatable)")
      ->one_at_a_time()
      ->group(group);
  options
      .add_flag("--keep-names", arguments.keep_names,
                "keep the names of values and nodes inside of the model, which are shortened where they are "
                "more than 0.2 % of the file")
      ->group(group);
  options.add_option(
      "--target", arguments.target,
      "where the model will run: a place and a release, which must have all that is written "
      "(android-arm64@1.22.0, linux-x64@1.30.0 …), what computes (cuda, coreml, directml, nnapi, qnn …), "
      "or both (ios-arm64@1.22.0+coreml)");
}

Recipe recipe_of(const RecipeArguments& arguments) {
  Recipe recipe;
  recipe.format = value_of<Format>(arguments.format);
  recipe.decoder = value_of<DecoderChoice>(arguments.decoder);
  recipe.memory = value_of<MemoryUse>(arguments.memory);
  recipe.decode_share = arguments.decode_share / 100;
  recipe.granularity = granularity_of(arguments.granularity);
  recipe.scale = value_of<ScaleMethod>(arguments.scale);
  recipe.rounding = value_of<Rounding>(arguments.rounding);
  recipe.half_share = arguments.half_share / 100;
  recipe.codebook = arguments.codebook;
  recipe.asymmetric = arguments.asymmetric;
  recipe.min_bytes = arguments.min_bytes;
  recipe.include = arguments.include;
  recipe.exclude = arguments.exclude;
  recipe.ignore_unmatched = arguments.ignore_unmatched;
  recipe.keep_inputs = arguments.keep_inputs;
  for (const std::string& text : arguments.nodes) add_node(text, recipe.nodes);
  IntegerRecipe& integer = recipe.integer;
  integer.calibration = value_of<CalibrationMethod>(arguments.calibration);
  integer.percentile = arguments.percentile;
  integer.dialect = value_of<Dialect>(arguments.dialect);
  integer.activations = value_of<ActivationType>(arguments.activations);
  integer.symmetric_activations = arguments.symmetric_activations;
  integer.weights = value_of<WeightType>(arguments.weights);
  integer.reduce_range = arguments.reduce_range;
  integer.integer_io = arguments.integer_io;
  integer.force_conv = arguments.force_conv;
  for (const std::string& text : arguments.values) add_override(text, integer.values);
  integer.search = arguments.search;
  integer.equalize = arguments.equalize.value_or(arguments.values.empty());
  integer.correct_bias = arguments.correct_bias;
  integer.every_second = arguments.every_second;
  integer.weigh_costs = arguments.weigh_costs;
  for (const std::string& name : arguments.skip_rewrites)
    integer.skip_rewrites.insert(*from_name<Rewrite>(name));
  integer.half_rest = arguments.fallback == "fp16";
  recipe.half.half_io = arguments.io == "fp16";
  recipe.half.keep = arguments.keep;
  recipe.half.keep_names = arguments.keep_names;
  recipe.few_bits.dialect = value_of<FewBitsDialect>(arguments.kernels);
  recipe.few_bits.accuracy_level = value_of<AccuracyLevel>(arguments.accuracy_level);
  recipe.few_bits.bits = arguments.bits;
  recipe.few_bits.target_size = arguments.target_size;
  for (const std::string& text : arguments.levels) add_level(text, recipe.few_bits.levels);
  recipe.few_bits.method = value_of<WeightMethod>(arguments.method);
  recipe.target = arguments.target;
  validate(recipe);
  return recipe;
}

}  // namespace ounce::verbs
