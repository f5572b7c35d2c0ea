// The options that set the fields of a recipe (recipe/fields.h), shared by the verbs that plan.
#pragma once

#include <ounce/quantize.h>
#include <ounce/recipe.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "verbs/model_list.h"
#include "verbs/options.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {

// The variables of the options. recipe_of() converts them to a recipe.
struct RecipeArguments {
  Recipe recipe;
  std::optional<bool> equalize;  // unset: on, unless ranges of single activations are given
};

// Accepts the formats for which `is_meant` is true (shown in alphabetical order) and their aliases.
Check any_format(bool (*is_meant)(Format));
// Adds --to with all formats, or with the weight-only ones if `with_integers` is false.
void add_format_option(Options& options, RecipeArguments& arguments, bool with_integers);
void add_recipe_options(Options& options, RecipeArguments& arguments);
void add_half_options(Options& options, RecipeArguments& arguments);
inline constexpr const char* kIntegerGroup = "INT8 arithmetic (--to int8, --to int8-dynamic)";
inline constexpr const char* kNbitsGroup =
    "Packed weights in MatMulNBits (--to nbits4, --to nbits8, --to nbits2)";
void add_nbits_options(Options& options, RecipeArguments& arguments);
void add_integer_options(Options& options, RecipeArguments& arguments);
// Throws Error{kUsage} for options that contradict each other or the format.
Recipe recipe_of(const RecipeArguments& arguments);

// --emit ort: write the model in ORT format next to the ONNX file.

struct EmitArguments {
  std::string format;  // "ort"; empty: do not write it
  EmitOptions options;
};

void add_emit_options(Options& options, EmitArguments& arguments);

// Checks before the work starts that the additional files can be written next to the job's output. Throws
// Error.
void require_emit_places(const EmitArguments& arguments, const Job& job, const OwnFiles& own);

// Writes the additional files if they were requested, and prints their names to `out`.
void emit(const EmitArguments& arguments, const std::filesystem::path& model, const OwnFiles& own, Host& host,
          Stream out);

}  // namespace ounce::verbs
