// The list of all fields of a recipe, with options and help. Visitors of this list implement the command
// line, JSON, `--expert`, the command that reproduces a recipe, and the check that a format uses each set
// field.
//
//   struct Count {                      // a visitor is called for each field in list order
//     template <class T>
//     void operator()(const RecipeField&, T& value, const T& usual) { count += value != usual; }
//     int count = 0;
//   };
//   Count count;
//   fields(recipe, count);
#pragma once

#include <ounce/recipe.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace ounce {

// The recipes that use a field.
enum class ReadBy {
  kAll,
  kStatic,   // INT8 arithmetic with calibrated activations
  kInteger,  // INT8 arithmetic
  kNbits,    // MatMulNBits kernels for some or all nodes
  kHalf,     // FP16 or BF16 arithmetic for all nodes or for those that do not run in INT8
};

struct RecipeField {
  std::string_view path;    // in include/ounce/recipe.h; messages contain it in backticks
  std::string_view option;  // of the command line
  std::string_view help;
  ReadBy read_by = ReadBy::kAll;
  std::string_view name = {};          // JSON key, if not the last part of the path
  std::string_view off_option = {};    // bool: the flag that sets it to false
  std::string_view off = {}, on = {};  // bool: the values of its option
  double low = 0, high = 0;            // number: the range of the option's value
  double unit = 1;                     // number: option's value / field's value
  bool is_resolved = false;            // false in a resolved recipe
  bool is_expert = false;              // shown and written as --expert KEY=VALUE
  std::string_view old_key = {};       // earlier key, still accepted in JSON and `--expert`
  // Earlier names of the option, still accepted but not shown.
  std::string_view old_option = {}, old_off_option = {};

  std::string_view key() const { return name.empty() ? path.substr(path.rfind('.') + 1) : name; }
};

inline bool operator==(const Granularity& a, const Granularity& b) {
  return a.kind == b.kind && a.block == b.block;
}
inline bool operator==(const ValueRange& a, const ValueRange& b) {
  return a.low == b.low && a.high == b.high;
}
inline bool operator==(const ValueOverride& a, const ValueOverride& b) {
  return a.range == b.range && a.method == b.method && a.type == b.type && a.keep_float == b.keep_float;
}

// Sets the fields with `is_expert`, as "--expert rounding=nearest".
inline constexpr std::string_view kExpertOption = "--expert";

// The recipe with default values.
const Recipe& usual_recipe();

template <MaybeConst<Recipe> SomeRecipe, class F>
void fields(SomeRecipe& r, F& f) {
  const Recipe& u = usual_recipe();
  constexpr ReadBy kStatic = ReadBy::kStatic, kInteger = ReadBy::kInteger, kNbits = ReadBy::kNbits,
                   kHalf = ReadBy::kHalf;
  f({.path = "format", .option = "--to", .help = ""}, r.format, u.format);
  f({.path = "decoder",
     .option = "--decode",
     .help = "Choose where weights are dequantized: fold (at load, FP32 speed), dq (on every run, small in "
             "memory), auto (by --memory)",
     .is_expert = true},
    r.decoder, u.decoder);
  f({.path = "memory",
     .option = "--memory",
     .help = "Choose the memory after loading, for w8 and w4: fast (weights become FP32), low (weights stay "
             "8-bit or 4-bit, runs are slower), balanced (in between, within its --expert decode-share)"},
    r.memory, u.memory);
  f({.path = "decode_share",
     .option = "--decode-share",
     .help = "Limit the time that --memory balanced spends on dequantizing weights, in percent of a run "
             "(estimated from shapes)",
     .high = 100,
     .unit = 100,
     .is_expert = true},
    r.decode_share, u.decode_share);
  f({.path = "granularity",
     .option = "--granularity",
     .help = "Set the granularity of scales: auto, tensor, channel, block:N. Example: block:32"},
    r.granularity, u.granularity);
  f({.path = "scale",
     .option = "--scale",
     .help = "Choose how scales are computed: mse (least squared error), absmax (largest absolute value)",
     .is_expert = true},
    r.scale, u.scale);
  f({.path = "rounding",
     .option = "--rounding",
     .help = "Choose how weights are rounded: zero-sum (the errors of a channel sum to zero), nearest, "
             "adaptive (int8: AdaRound-style layer-wise reconstruction on calibration data; slower)",
     .is_expert = true},
    r.rounding, u.rounding);
  f({.path = "codebook",
     .option = "--codebook",
     .help = "Use a k-means codebook instead of a linear scale (w8: 256 values, w4: 16)"},
    r.codebook, u.codebook);
  f({.path = "asymmetric",
     .option = "--asymmetric",
     .help = "Quantize weights asymmetrically: every scale gets a zero point"},
    r.asymmetric, u.asymmetric);
  f({.path = "fp16_budget",
     .option = "--fp16-budget",
     .help = "Store the smallest weights in FP16, up to this percentage of the size",
     .high = 100,
     .unit = 100,
     .is_expert = true,
     .old_key = "fp16_budget",
     .old_option = "--half-share"},
    r.fp16_budget, u.fp16_budget);
  f({.path = "min_bytes",
     .option = "--min-bytes",
     .help = "Keep tensors that are smaller than this number of bytes unchanged"},
    r.min_bytes, u.min_bytes);
  f({.path = "include",
     .option = "--include",
     .help = "Quantize only tensors, nodes or op types that match this regular expression (repeatable)"},
    r.include, u.include);
  f({.path = "exclude",
     .option = "--exclude",
     .help = "Skip tensors, nodes or op types that match this regular expression (repeatable). Example: "
             "--exclude '^head'"},
    r.exclude, u.exclude);
  f({.path = "ignore_unmatched",
     .option = "--ignore-unmatched",
     .help = "Warn about a regular expression that matches nothing, instead of failing"},
    r.ignore_unmatched, u.ignore_unmatched);
  f({.path = "keep_inputs",
     .option = "--keep-inputs",
     .help = "Keep initializers that are also graph inputs as inputs with a default value (default: make "
             "them constants)"},
    r.keep_inputs, u.keep_inputs);
  f({.path = "nodes",
     .option = "--node",
     .help = "Override the format of one node, named by its output, as NAME=FORMAT: fp32, w16, w8, w4, "
             "nbits8, nbits4, nbits2, and with --to int8 also int8-dynamic (repeatable). Example: "
             "/fc/Gemm_output_0=fp32"},
    r.nodes, u.nodes);

  f({.path = "integer.calibration",
     .option = "--calibration",
     .help = "Choose how activation ranges are calibrated for int8: minmax, mean, percentile, entropy, mse, "
             "auto (the best one measured on the data; with --no-search per-tensor mse)",
     .read_by = kStatic},
    r.integer.calibration, u.integer.calibration);
  f({.path = "integer.percentile",
     .option = "--percentile",
     .help = "Set the percentile of --calibration percentile, from 50 to 100",
     .read_by = kStatic,
     .low = 50,
     .high = 100,
     .is_expert = true},
    r.integer.percentile, u.integer.percentile);
  f({.path = "integer.dialect",
     .option = "--dialect",
     .help = "Choose the quantization format of int8: qdq (Q/DQ nodes, which runtimes fuse), qoperator "
             "(integer ops such as QLinearConv)",
     .read_by = kStatic,
     .is_expert = true},
    r.integer.dialect, u.integer.dialect);
  f({.path = "integer.activations",
     .option = "--activations",
     .help = "Set the type of activations for int8: u8, s8, u16, s16 (unsigned or signed)",
     .read_by = kStatic},
    r.integer.activations, u.integer.activations);
  f({.path = "integer.symmetric_activations",
     .option = "--symmetric-activations",
     .help = "Use symmetric activation ranges for int8 where values have both signs",
     .read_by = kStatic,
     .is_expert = true},
    r.integer.symmetric_activations, u.integer.symmetric_activations);
  f({.path = "integer.weights",
     .option = "--weights",
     .help = "Set the type of weights: s8, u8, s4 (signed or unsigned)",
     .read_by = kInteger},
    r.integer.weights, u.integer.weights);
  f({.path = "integer.reduce_range",
     .option = "--reduce-range",
     .help = "Use 7-bit weights, which cannot saturate int16 sums on x86 CPUs without VNNI; "
             "--no-reduce-range uses 8 bits everywhere (default: 8 bits, fewer only where two adjacent "
             "weights could saturate)",
     .read_by = kInteger,
     .off_option = "--no-reduce-range"},
    r.integer.reduce_range, u.integer.reduce_range);
  f({.path = "integer.integer_io",
     .option = "--integer-io",
     .help = "Quantize the inputs and outputs of the model, too, for int8",
     .read_by = kStatic},
    r.integer.integer_io, u.integer.integer_io);
  f({.path = "integer.fp16_remainder",
     .option = "--fallback",
     .help = "Choose the format of nodes that do not run in INT8: w8 (8-bit weights, FP32 arithmetic), fp16 "
             "(FP16 weights, FP16 arithmetic where the --target supports it)",
     .read_by = kInteger,
     .off = "w8",
     .on = "fp16",
     .old_key = "fp16_remainder"},
    r.integer.fp16_remainder, u.integer.fp16_remainder);
  f({.path = "integer.skip_rewrites",
     .option = "--skip-rewrite",
     .help = "Do not rewrite these ops as ops that run in INT8: hard-swish, tanh, conv-transpose, mean, "
             "pad-channels (repeatable, or separated by commas)",
     .read_by = kStatic,
     .is_expert = true},
    r.integer.skip_rewrites, u.integer.skip_rewrites);
  f({.path = "integer.use_cost_model",
     .option = "--use-cost-model",
     .help = "Keep nodes in FP32 that INT8 would make slower (default: on)",
     .read_by = kStatic,
     .off_option = "--no-use-cost-model",
     .is_expert = true,
     .old_key = "use_cost_model",
     .old_option = "--weigh-costs",
     .old_off_option = "--no-weigh-costs"},
    r.integer.use_cost_model, u.integer.use_cost_model);
  f({.path = "integer.dynamic_conv",
     .option = "--dynamic-conv",
     .help = "Run Conv as ConvInteger for int8-dynamic, although it is several times slower than FP32",
     .read_by = kInteger,
     .is_expert = true,
     .old_key = "dynamic_conv",
     .old_option = "--force-conv"},
    r.integer.dynamic_conv, u.integer.dynamic_conv);
  f({.path = "integer.values",
     .option = "--value",
     .help = "Override the quantization of one activation for int8, as NAME=SETTING: a range LOW:HIGH, a "
             "--calibration method, a type of --activations, or float to keep it in FP32 (repeatable). "
             "Example: /act/Sigmoid_output_0=0:1",
     .read_by = kStatic,
     .is_expert = true},
    r.integer.values, u.integer.values);
  f({.path = "integer.search",
     .option = "--search",
     .help = "Choose the calibration method and the ops to keep in FP32 by measuring on the data, for int8 "
             "(default: on)",
     .read_by = kStatic,
     .off_option = "--no-search",
     .is_resolved = true},
    r.integer.search, u.integer.search);
  f({.path = "integer.equalize",
     .option = "--equalize",
     .help = "Apply cross-layer equalization (default: on)",
     .read_by = kStatic,
     .off_option = "--no-equalize",
     .is_expert = true},
    r.integer.equalize, u.integer.equalize);
  f({.path = "integer.correct_bias",
     .option = "--correct-bias",
     .help = "Apply bias correction for int8 (default: on)",
     .read_by = kStatic,
     .off_option = "--no-correct-bias",
     .is_expert = true},
    r.integer.correct_bias, u.integer.correct_bias);
  f({.path = "integer.fit_on_even_samples",
     .option = "--fit-on-even-samples",
     .help = "Calibrate int8 on every second sample only, if there are 16 or more",
     .read_by = kStatic,
     .is_expert = true,
     .old_key = "fit_on_even_samples",
     .old_option = "--every-second"},
    r.integer.fit_on_even_samples, u.integer.fit_on_even_samples);

  f({.path = "nbits.dialect",
     .option = "--kernels",
     .help = "Choose the ops for packed weights: nbits (MatMulNBits and GatherBlockQuantized), qdq "
             "(DequantizeLinear per block, opset 21)",
     .read_by = kNbits,
     .name = "kernels",
     .is_expert = true},
    r.nbits.dialect, u.nbits.dialect);
  f({.path = "nbits.accuracy_level",
     .option = "--accuracy-level",
     .help = "Set accuracy_level of MatMulNBits: 0 (the runtime chooses), 1 (FP32 activations), 4 (INT8 "
             "activations, fastest), auto (4 where the outputs stay accurate)",
     .read_by = kNbits,
     .is_expert = true},
    r.nbits.accuracy_level, u.nbits.accuracy_level);
  f({.path = "nbits.levels",
     .option = "--level",
     .help = "Override --accuracy-level for one node, named by its output, as NAME=LEVEL (repeatable)",
     .read_by = kNbits,
     .is_expert = true},
    r.nbits.levels, u.nbits.levels);
  f({.path = "nbits.method",
     .option = "--method",
     .help = "Choose how weights are quantized: rtn (round to nearest), scale (scales that minimize the "
             "output error on --data), gptq (GPTQ error compensation on --data), auto (the best one "
             "measured)",
     .read_by = kNbits},
    r.nbits.method, u.nbits.method);
  f({.path = "nbits.bits",
     .option = "--bits",
     .help = "Set the mean number of bits per weight, scales included; layers that reduce the output error "
             "most on --data get more bits (default: the bits of --to for all layers)",
     .read_by = kNbits,
     .low = 2,
     .high = 16},
    r.nbits.bits, u.nbits.bits);
  f({.path = "nbits.target_size",
     .option = "--target-size",
     .help = "Set the size of the model, all files together; layers that reduce the output error most on "
             "--data get more bits. Example: 300MB",
     .read_by = kNbits},
    r.nbits.target_size, u.nbits.target_size);

  f({.path = "half.half_io",
     .option = "--io",
     .help = "Set the type of the inputs and outputs of the model: keep (unchanged), fp16",
     .read_by = kHalf,
     .off = "keep",
     .on = "fp16"},
    r.half.half_io, u.half.half_io);
  f({.path = "half.keep",
     .option = "--keep-fp32",
     .help = "Keep nodes in FP32 whose name, output or op type matches this regular expression (repeatable)",
     .read_by = kHalf,
     .name = "keep_fp32"},
    r.half.keep, u.half.keep);
  f({.path = "half.keep_names",
     .option = "--keep-names",
     .help = "Keep the names of nodes and intermediate values (default: shorten them if they are more than "
             "0.2 % of the file)",
     .read_by = kHalf,
     .is_expert = true},
    r.half.keep_names, u.half.keep_names);
  f({.path = "target",
     .option = "--target",
     .help = "Use only ops that this target supports: a platform and release (android-arm64@1.22.0), an "
             "execution provider (cuda, coreml, directml, nnapi, qnn), or both (ios-arm64@1.22.0+coreml)"},
    r.target, u.target);
}

// True if the recipe uses such a field.
bool reads(const Recipe& recipe, ReadBy by);
// Lists the formats that use such a field, as "`format=int8` and `format=int8-dynamic`".
std::string formats_that_read(ReadBy by);
// Throws Error{kUsage} for the first field that was set but that the recipe does not use. Switching off an
// option that the format does not have is allowed.
void require_fields_are_read(const Recipe& recipe);

// Sets the field with this key or path. `text` has the syntax of the field's option, or "true" and "false"
// for a bool. Appends to lists. Throws Error{kUsage} for an unknown key or an invalid text.
void set_field(Recipe& recipe, std::string_view key, const std::string& text);
// Returns the options that reproduce a resolved recipe, one word per element.
std::vector<std::string> options_of(const Recipe& recipe);
// Returns the option of a field: "--no-search" for "integer.search=false", "--to" for "format"; empty if it
// is not a field of a recipe.
std::string option_of_recipe_field(std::string_view field);

}  // namespace ounce
