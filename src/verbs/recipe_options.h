// The options that say how weights are stored, shared by the verbs that plan.
#pragma once

#include <ounce/recipe.h>

#include <optional>
#include <string>
#include <vector>

#include "verbs/options.h"

namespace ounce::verbs {

struct RecipeArguments {
  std::string format = "w8", decoder = "auto", memory = "fast", granularity = "auto", scale = "mse",
              rounding = "balanced";
  bool codebook = false, asymmetric = false, keep_inputs = false, ignore_unmatched = false;
  double half_share = 0.1, decode_share = 5;  // percent
  std::uint64_t min_bytes = 1024;
  std::vector<std::string> include, exclude, nodes;

  // Of integer arithmetic.
  std::string calibration = "auto", dialect = "qdq", activations = "u8", weights = "s8";
  double percentile = 99.99;
  std::vector<std::string> values;
  std::optional<bool> reduce_range;
  bool symmetric_activations = false, integer_io = false, force_conv = false;
  std::optional<bool> equalize;  // nothing: unless ranges of single values are given
  bool search = true, correct_bias = true, every_second = false;
  std::string fallback = "w8";
  std::vector<std::string> skip_rewrites;
  bool weigh_costs = true;

  // Of few bits in kernels.
  std::string kernels = "nbits", accuracy_level = "auto", method = "auto";
  std::vector<std::string> levels;
  double bits = 0;
  std::uint64_t target_size = 0;

  // Of 16-bit floats.
  std::string io = "keep", target;
  std::vector<std::string> keep;
  bool keep_names = false;
};

// --to, with or without the formats that compute on integers.
void add_format_option(Options& options, RecipeArguments& arguments, bool with_integers);
void add_recipe_options(Options& options, RecipeArguments& arguments);
void add_half_options(Options& options, RecipeArguments& arguments);
inline constexpr const char* kFewBitsGroup = "Few bits in kernels (--to int4, --to int8, --to int2)";
void add_few_bits_options(Options& options, RecipeArguments& arguments);
void add_integer_options(Options& options, RecipeArguments& arguments);
// Throws Error{kUsage} for combinations that make no sense.
Recipe recipe_of(const RecipeArguments& arguments);

}  // namespace ounce::verbs
