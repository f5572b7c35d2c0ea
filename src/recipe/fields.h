// The only list of the fields of a recipe. Visitors make the command line, JSON, `--expert`, the command that
// reproduces a recipe, and the check that a format reads a field that was set.
//
//   struct Count {                      // a visitor is called for each field, in the order of the list
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

// Which recipes a field matters to.
enum class ReadBy {
  kAll,
  kStatic,   // INT8 arithmetic with calibrated activations
  kInteger,  // INT8 arithmetic
  kNbits,    // MatMulNBits kernels, of all nodes or of some
  kHalf,     // FP16 or BF16 arithmetic, of all nodes or of those that are not INT8
};

struct RecipeField {
  std::string_view path;    // in include/ounce/recipe.h; messages name it in backticks
  std::string_view option;  // of the command line
  std::string_view help;
  ReadBy read_by = ReadBy::kAll;
  std::string_view name = {};          // in JSON, if it is not the last part of the path
  std::string_view off_option = {};    // of a bool: a flag that sets it to false
  std::string_view off = {}, on = {};  // of a bool: the words that its option takes
  double low = 0, high = 0;            // of a number, as the option takes it
  double unit = 1;                     // the option takes the value times this
  bool is_resolved = false;            // a resolved recipe has false
  std::string_view old_key = {};       // an earlier key, which JSON and `--expert` may have
  // Earlier names of the option that are accepted and not shown.
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

// A recipe as it is without any option.
const Recipe& usual_recipe();

template <MaybeConst<Recipe> SomeRecipe, class F>
void fields(SomeRecipe& r, F& f) {
  const Recipe& u = usual_recipe();
  constexpr ReadBy kStatic = ReadBy::kStatic, kInteger = ReadBy::kInteger, kNbits = ReadBy::kNbits,
                   kHalf = ReadBy::kHalf;
  f({.path = "format", .option = "--to", .help = ""}, r.format, u.format);
  f({.path = "decoder",
     .option = "--decode",
     .help = "how the runtime gets weights back: fold (constants at load, FP32 speed), dq "
             "(DequantizeLinear)"},
    r.decoder, u.decoder);
  f({.path = "memory",
     .option = "--memory",
     .help = "w8, w4: what --decode auto trades for memory in the app: fast (nothing: weights are FP32 once "
             "loaded), balanced (some are decoded at every run, see --decode-share), low (all that can be)"},
    r.memory, u.memory);
  f({.path = "decode_share",
     .option = "--decode-share",
     .help = "--memory balanced: percent of a run's time to spend on decoding weights, estimated from shapes",
     .high = 100,
     .unit = 100},
    r.decode_share, u.decode_share);
  f({.path = "granularity",
     .option = "--granularity",
     .help = "what shares a scale: auto, tensor, channel, block:N"},
    r.granularity, u.granularity);
  f({.path = "scale", .option = "--scale", .help = "how scales are found: mse (least squared error), absmax"},
    r.scale, u.scale);
  f({.path = "rounding",
     .option = "--rounding",
     .help = "zero-sum (the errors of a channel sum to zero), nearest, adaptive (int8: each layer gives "
             "what it gave before on calibration data; slower)"},
    r.rounding, u.rounding);
  f({.path = "codebook",
     .option = "--codebook",
     .help = "k-means codebook instead of a linear scale (w8: 256 values, w4: 16)"},
    r.codebook, u.codebook);
  f({.path = "asymmetric", .option = "--asymmetric", .help = "give every scale a zero point"}, r.asymmetric,
    u.asymmetric);
  f({.path = "fp16_budget",
     .option = "--fp16-budget",
     .help = "percent of the size to spend on storing the smallest weights in FP16",
     .high = 100,
     .unit = 100,
     .old_key = "fp16_budget",
     .old_option = "--half-share"},
    r.fp16_budget, u.fp16_budget);
  f({.path = "min_bytes", .option = "--min-bytes", .help = "leave smaller tensors alone"}, r.min_bytes,
    u.min_bytes);
  f({.path = "include",
     .option = "--include",
     .help = "only these: a regular expression on tensor, node and op type (repeatable)"},
    r.include, u.include);
  f({.path = "exclude",
     .option = "--exclude",
     .help = "skip these: a regular expression on tensor, node and op type (repeatable)"},
    r.exclude, u.exclude);
  f({.path = "ignore_unmatched",
     .option = "--ignore-unmatched",
     .help = "warn about a regular expression that matches nothing, instead of failing"},
    r.ignore_unmatched, u.ignore_unmatched);
  f({.path = "keep_inputs",
     .option = "--keep-inputs",
     .help = "initializers that are listed as inputs stay inputs with a default value (otherwise they "
             "become constants)"},
    r.keep_inputs, u.keep_inputs);
  f({.path = "nodes",
     .option = "--node",
     .help =
         "NAME=FORMAT for the node that gives the value NAME: fp32, w16, w8, w4, nbits8, nbits4 or nbits2 "
         "(so "
         "its weights are stored, and it computes on floats), with --to int8 also int8-dynamic (repeatable)"},
    r.nodes, u.nodes);

  f({.path = "integer.calibration",
     .option = "--calibration",
     .help = "int8: how the range of an activation is chosen: auto (measured on the data; without search "
             "least predicted error, value by value), minmax, mean, percentile, entropy, mse",
     .read_by = kStatic},
    r.integer.calibration, u.integer.calibration);
  f({.path = "integer.percentile",
     .option = "--percentile",
     .help = "of --calibration percentile",
     .read_by = kStatic,
     .low = 50,
     .high = 100},
    r.integer.percentile, u.integer.percentile);
  f({.path = "integer.dialect",
     .option = "--dialect",
     .help = "int8: qdq (Q/DQ nodes, which runtimes fuse), qoperator (the integer ops themselves)",
     .read_by = kStatic},
    r.integer.dialect, u.integer.dialect);
  f({.path = "integer.activations",
     .option = "--activations",
     .help = "int8: type of activations: u8, s8, u16, s16",
     .read_by = kStatic},
    r.integer.activations, u.integer.activations);
  f({.path = "integer.symmetric_activations",
     .option = "--symmetric-activations",
     .help = "int8: zero is the middle code of values that take both signs",
     .read_by = kStatic},
    r.integer.symmetric_activations, u.integer.symmetric_activations);
  f({.path = "integer.weights",
     .option = "--weights",
     .help = "type of weights: s8, u8, s4",
     .read_by = kInteger},
    r.integer.weights, u.integer.weights);
  f({.path = "integer.reduce_range",
     .option = "--reduce-range",
     .help = "7-bit weights, whose products saturate on no CPU; --no-reduce-range: all 8 bits, for CPUs that "
             "are known to have exact products (default: 8 bits, less where two neighbouring weights could "
             "saturate on an x86 CPU without VNNI)",
     .read_by = kInteger,
     .off_option = "--no-reduce-range"},
    r.integer.reduce_range, u.integer.reduce_range);
  f({.path = "integer.integer_io",
     .option = "--integer-io",
     .help = "int8: inputs and outputs of the model become integers too",
     .read_by = kStatic},
    r.integer.integer_io, u.integer.integer_io);
  f({.path = "integer.fp16_remainder",
     .option = "--fallback",
     .help = "what does not compute on integers: w8 (stored in 8 bits), fp16 (16-bit floats, computed on "
             "where the --target can)",
     .read_by = kInteger,
     .off = "w8",
     .on = "fp16",
     .old_key = "fp16_remainder"},
    r.integer.fp16_remainder, u.integer.fp16_remainder);
  f({.path = "integer.skip_rewrites",
     .option = "--skip-rewrite",
     .help = "int8: do not make these of ops that have integer kernels: hard-swish, tanh, conv-transpose, "
             "mean, pad-channels (repeatable, or with commas)",
     .read_by = kStatic},
    r.integer.skip_rewrites, u.integer.skip_rewrites);
  f({.path = "integer.use_cost_model",
     .option = "--use-cost-model",
     .help = "int8: keep nodes in FP32 that INT8 would make slower (default: on)",
     .read_by = kStatic,
     .off_option = "--no-use-cost-model",
     .old_key = "use_cost_model",
     .old_option = "--weigh-costs",
     .old_off_option = "--no-weigh-costs"},
    r.integer.use_cost_model, u.integer.use_cost_model);
  f({.path = "integer.dynamic_conv",
     .option = "--dynamic-conv",
     .help = "int8-dynamic: run Conv as ConvInteger, though it is several times slower than FP32",
     .read_by = kInteger,
     .old_key = "dynamic_conv",
     .old_option = "--force-conv"},
    r.integer.dynamic_conv, u.integer.dynamic_conv);
  f({.path = "integer.values",
     .option = "--value",
     .help = "int8: NAME=WHAT for one activation, where WHAT is LOW:HIGH (its range), a --calibration "
             "method, a type of --activations, or float (repeatable)",
     .read_by = kStatic},
    r.integer.values, u.integer.values);
  f({.path = "integer.search",
     .option = "--search",
     .help = "int8: choose the calibration, and the few ops that are better left in floats, by measuring "
             "on the data (default: on)",
     .read_by = kStatic,
     .off_option = "--no-search",
     .is_resolved = true},
    r.integer.search, u.integer.search);
  f({.path = "integer.equalize",
     .option = "--equalize",
     .help = "even out the channels between layers (default: on)",
     .read_by = kStatic,
     .off_option = "--no-equalize"},
    r.integer.equalize, u.integer.equalize);
  f({.path = "integer.correct_bias",
     .option = "--correct-bias",
     .help = "int8: take the mean error of every channel out of its bias (default: on)",
     .read_by = kStatic,
     .off_option = "--no-correct-bias"},
    r.integer.correct_bias, u.integer.correct_bias);
  f({.path = "integer.fit_on_even_samples",
     .option = "--fit-on-even-samples",
     .help = "int8: calibrate on every second sample only, of 16 or more (the search may choose this)",
     .read_by = kStatic,
     .old_key = "fit_on_even_samples",
     .old_option = "--every-second"},
    r.integer.fit_on_even_samples, u.integer.fit_on_even_samples);

  f({.path = "nbits.dialect",
     .option = "--kernels",
     .help = "nbits (MatMulNBits and GatherBlockQuantized), qdq (DequantizeLinear by blocks, opset 21)",
     .read_by = kNbits,
     .name = "kernels"},
    r.nbits.dialect, u.nbits.dialect);
  f({.path = "nbits.accuracy_level",
     .option = "--accuracy-level",
     .help = "what MatMulNBits may do to activations: 0 (as the runtime likes), 1 (FP32), 4 (8-bit integers: "
             "the fast kernels), auto (4 where outputs bear it)",
     .read_by = kNbits},
    r.nbits.accuracy_level, u.nbits.accuracy_level);
  f({.path = "nbits.levels",
     .option = "--level",
     .help = "NAME=LEVEL for the node that gives the value NAME: its --accuracy-level (repeatable)",
     .read_by = kNbits},
    r.nbits.levels, u.nbits.levels);
  f({.path = "nbits.method",
     .option = "--method",
     .help = "how codes and scales are found: rtn (nearest), scale (for outputs, by the energy of inputs on "
             "--data), gptq (codes that make up for each other, on --data), auto (measured)",
     .read_by = kNbits},
    r.nbits.method, u.nbits.method);
  f({.path = "nbits.bits",
     .option = "--bits",
     .help = "bits that a weight may take on the mean, with its share of a scale: layers that bring the most "
             "on --data get more of them (default: all as --to says)",
     .read_by = kNbits,
     .low = 2,
     .high = 16},
    r.nbits.bits, u.nbits.bits);
  f({.path = "nbits.target_size",
     .option = "--target-size",
     .help = "bytes that the model may have, all files together, spent in the same way (300MB, 2GB)",
     .read_by = kNbits},
    r.nbits.target_size, u.nbits.target_size);

  f({.path = "half.half_io",
     .option = "--io",
     .help = "inputs and outputs of the model: keep (the types they have), fp16 (16-bit floats too)",
     .read_by = kHalf,
     .off = "keep",
     .on = "fp16"},
    r.half.half_io, u.half.half_io);
  f({.path = "half.keep",
     .option = "--keep-fp32",
     .help = "these nodes stay in FP32: a regular expression on node names, their outputs and op types "
             "(repeatable)",
     .read_by = kHalf,
     .name = "keep_fp32"},
    r.half.keep, u.half.keep);
  f({.path = "half.keep_names",
     .option = "--keep-names",
     .help = "keep the names of values and nodes inside of the model, which are shortened where they are "
             "more than 0.2 % of the file",
     .read_by = kHalf},
    r.half.keep_names, u.half.keep_names);
  f({.path = "target",
     .option = "--target",
     .help = "where the model will run: a place and a release, which must have all that is written "
             "(android-arm64@1.22.0, linux-x64@1.30.0 …), what computes (cuda, coreml, directml, nnapi, qnn "
             "…), or both (ios-arm64@1.22.0+coreml)"},
    r.target, u.target);
}

// Does the recipe look at such a field?
bool reads(const Recipe& recipe, ReadBy by);
// "`format=int8` and `format=int8-dynamic`": the formats that read it.
std::string formats_that_read(ReadBy by);
// Throws Error{kUsage} that names the first field that was set and that the recipe does not read. Switching
// off what a format does not do is no mistake.
void require_fields_are_read(const Recipe& recipe);

// Sets the field with this key or path to what `text` says, in the words of its option; "true" and "false"
// for a bool. Lists get one more entry. Throws Error{kUsage} for a key or a text that is none.
void set_field(Recipe& recipe, std::string_view key, const std::string& text);
// The options that ask for a recipe that is resolved, each word alone.
std::vector<std::string> options_of(const Recipe& recipe);
// "--no-search" for "integer.search=false", "--to" for "format"; empty for what is no field of a recipe.
std::string option_of_recipe_field(std::string_view field);

}  // namespace ounce
