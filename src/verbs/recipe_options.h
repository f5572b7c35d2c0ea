// The options that set the fields of a recipe (recipe/fields.h), shared by the verbs that plan.
#pragma once

#include <ounce/emit.h>
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

// What the options write to; recipe_of() makes it a recipe.
struct RecipeArguments {
  Recipe recipe;
  std::optional<bool> equalize;     // nothing: unless ranges of single values are given
  std::vector<std::string> expert;  // KEY=VALUE
};

// The formats that `is_meant` accepts, in alphabetical order, and their aliases.
Check any_format(bool (*is_meant)(Format));
// --to, with all formats or only with the weight-only ones.
void add_format_option(Options& options, RecipeArguments& arguments, bool with_integers);
void add_recipe_options(Options& options, RecipeArguments& arguments);
void add_half_options(Options& options, RecipeArguments& arguments);
inline constexpr const char* kIntegerGroup = "Integer arithmetic (--to int8, --to int8-dynamic)";
inline constexpr const char* kNbitsGroup =
    "Packed weights in MatMulNBits (--to nbits4, --to nbits8, --to nbits2)";
void add_nbits_options(Options& options, RecipeArguments& arguments);
void add_integer_options(Options& options, RecipeArguments& arguments);
// Throws Error{kUsage} for combinations that make no sense.
Recipe recipe_of(const RecipeArguments& arguments);

// --emit ort: the model in ONNX Runtime's own format beside the one that was written.

struct EmitArguments {
  std::string format;  // empty: it is not wanted
  EmitOptions options;
};

void add_emit_options(Options& options, EmitArguments& arguments);

// Checks before the work that what is asked for can be written beside the job's output. Throws Error.
void require_emit_places(const EmitArguments& arguments, const Job& job, const OwnFiles& own);

// Writes it if it was asked for, and says so on `out`.
void emit(const EmitArguments& arguments, const std::filesystem::path& model, const OwnFiles& own, Host& host,
          Stream out);

}  // namespace ounce::verbs
