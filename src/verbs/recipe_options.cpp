#include "verbs/recipe_options.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "io/output_file.h"
#include "recipe/fields.h"
#include "recipe/format_info.h"
#include "report/table.h"
#include "verbs/report_file.h"

namespace ounce::verbs {
namespace {

using Words = std::vector<std::string>;

Options::Take setting(Recipe& recipe, std::string_view field) {
  return [&recipe, field](const std::string& word) { set_field(recipe, field, word); };
}

// Adds the options of the fields that are read by formats from `first` to `last`.
class Binding {
 public:
  Binding(Options& options, RecipeArguments& arguments, ReadBy first, ReadBy last, bool is_for_target = false)
      : options_(options), arguments_(arguments), first_(first), last_(last), is_for_target_(is_for_target) {
    fields(arguments_.recipe, *this);
  }

  template <class T>
  void operator()(const RecipeField& field, T& value, const T& usual) {
    const bool is_target = field.path == "target";
    const bool is_wanted = field.read_by >= first_ && field.read_by <= last_;
    if (!is_wanted || field.path == "format" || is_target != is_for_target_) return;
    Option* option = bind(field, value, usual);
    if (field.help.find("regular expression") != field.help.npos) option->type_name("REGEX");
    option->is_expert = field.is_expert;
    if (!field.old_option.empty()) {
      option->formerly(field.old_off_option.empty()
                           ? std::string(field.old_option)
                           : fmt::format("{},!{}", field.old_option, field.old_off_option));
    }
  }

 private:
  static std::string name(const RecipeField& field) { return std::string(field.option); }
  static std::string help(const RecipeField& field) { return std::string(field.help); }
  static std::string names(const RecipeField& field) {
    return field.off_option.empty() ? name(field) : fmt::format("{},!{}", field.option, field.off_option);
  }

  Option* add_list(const RecipeField& field) {
    return options_.add_list(name(field), help(field), setting(arguments_.recipe, field.path));
  }
  Option* add_word(const RecipeField& field, std::string usual) {
    return options_.add_text(name(field), help(field), setting(arguments_.recipe, field.path))
        ->show_default(std::move(usual));
  }

  template <class Enum>
  requires std::is_enum_v<Enum> Option* bind(const RecipeField& field, Enum&, Enum usual) {
    return add_word(field, name_of(usual))->check(any_sorted_name_of<Enum>());
  }
  Option* bind(const RecipeField& field, Granularity&, const Granularity& usual) {
    return add_word(field, name_of(usual.kind));
  }
  Option* bind(const RecipeField& field, bool& value, bool usual) {
    if (!field.on.empty()) {
      const std::string off(field.off), on(field.on);
      return add_word(field, usual ? on : off)->check(any_of({off, on}));
    }
    if (&value == &arguments_.recipe.integer.equalize)
      return options_.add_flag(names(field), arguments_.equalize, help(field));
    return options_.add_flag(names(field), value, help(field));
  }
  Option* bind(const RecipeField& field, std::optional<bool>& value, std::optional<bool>) {
    return options_.add_flag(names(field), value, help(field));
  }
  Option* bind(const RecipeField& field, double&, double usual) {
    return add_word(field, usual == 0 ? "" : fmt::format("{:.10g}", usual * field.unit))
        ->type_name(type_of(usual))
        ->check(number_between(field.low, field.high));
  }
  Option* bind(const RecipeField& field, std::uint64_t& value, std::uint64_t usual) {
    if (usual == 0) return options_.add_size(name(field), value, help(field));
    return options_.add_option(name(field), value, help(field))->check(whole_number())->show_default();
  }
  Option* bind(const RecipeField& field, std::string& value, const std::string&) {
    return options_.add_option(name(field), value, help(field));
  }
  Option* bind(const RecipeField& field, Words&, const Words&) { return add_list(field); }
  template <class Value>
  Option* bind(const RecipeField& field, std::map<std::string, Value>&, const std::map<std::string, Value>&) {
    return add_list(field);
  }
  Option* bind(const RecipeField& field, std::set<Rewrite>&, const std::set<Rewrite>&) {
    return add_list(field)->delimiter(',')->check(any_sorted_name_of<Rewrite>());
  }

  Options& options_;
  RecipeArguments& arguments_;
  ReadBy first_, last_;
  bool is_for_target_;  // add only --target, which has its own place in the help
};

}  // namespace

Check any_format(bool (*is_meant)(Format)) {
  const auto names_among = [is_meant](const auto& all) {
    Words names;
    for (const Named<Format>& entry : all) {
      if (is_meant(entry.value)) names.emplace_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  return any_of(names_among(NamesOf<Format>::kAll), names_among(NamesOf<Format>::kAliases));
}

namespace {

// "Choose the format (typical size): w8 (8-bit weights, FP32 arithmetic, 25 %), …"
std::string format_help(bool (*is_meant)(Format)) {
  Words words, aliases;
  for (const FormatInfo& row : all_formats()) {
    if (!is_meant(row.format)) continue;
    words.push_back(fmt::format("{} ({}, {:.0f} %{})", name_of(row.format), row.help, 100 * row.typical_size,
                                row.needs_data ? ", needs --data or --ranges" : ""));
  }
  for (const Named<Format>& alias : NamesOf<Format>::kAliases) {
    if (is_meant(alias.value)) aliases.push_back(fmt::format("{} for {}", alias.name, name_of(alias.value)));
  }
  return fmt::format("Choose the format; the percentage is the typical size: {}{}", fmt::join(words, ", "),
                     aliases.empty() ? "" : fmt::format(". Aliases: {}", fmt::join(aliases, ", ")));
}

bool is_for_models(Format format) { return format != kUnchanged; }
bool is_weight_only(Format format) { return info_of(format).family == Family::kWeights; }

}  // namespace

void add_format_option(Options& options, RecipeArguments& arguments, bool with_integers) {
  const auto is_meant = with_integers ? is_for_models : is_weight_only;
  options.add_text("--to", format_help(is_meant), setting(arguments.recipe, "format"))
      ->check(any_format(is_meant))
      ->type_name("FORMAT")
      ->show_default(name_of(arguments.recipe.format));
}

void add_recipe_options(Options& options, RecipeArguments& arguments) {
  Binding(options, arguments, ReadBy::kAll, ReadBy::kAll);
  options.other_expert = [&recipe = arguments.recipe](const std::string& key, const std::string& value) {
    set_field(recipe, key, value);
  };
}

void add_integer_options(Options& options, RecipeArguments& arguments) {
  const Heading heading(options, kIntegerGroup);
  Binding(options, arguments, ReadBy::kStatic, ReadBy::kInteger);
}

void add_nbits_options(Options& options, RecipeArguments& arguments) {
  const Heading heading(options, kNbitsGroup);
  Binding(options, arguments, ReadBy::kNbits, ReadBy::kNbits);
}

void add_half_options(Options& options, RecipeArguments& arguments) {
  {
    const Heading heading(options, "FP16 and BF16 arithmetic (--to fp16, --to bf16)");
    Binding(options, arguments, ReadBy::kHalf, ReadBy::kHalf);
  }
  Binding(options, arguments, ReadBy::kAll, ReadBy::kAll, /*is_for_target=*/true);
}

Recipe recipe_of(const RecipeArguments& arguments) {
  Recipe recipe = arguments.recipe;
  recipe.integer.equalize = arguments.equalize.value_or(recipe.integer.values.empty());
  validate(recipe);
  return recipe;
}

void add_emit_options(Options& options, EmitArguments& arguments) {
  const Heading heading(options, "ORT format");
  options
      .add_option("--emit", arguments.format,
                  "Also write the model in ORT format (model.ort), optimized offline by ONNX Runtime, and "
                  "the list of "
                  "operators that a reduced build needs. The only value is ort")
      ->check(any_of({"ort"}));
  options
      .add_option("--ort-style", arguments.options.style,
                  "Choose when ONNX Runtime optimizes an ORT format model: fixed (offline, for the CPU), "
                  "runtime (at load, as NNAPI and CoreML need)")
      ->show_default()
      ->expert();
}

namespace {

std::filesystem::path ort_of(const std::filesystem::path& model) {
  return std::filesystem::path(model).replace_extension(".ort");
}
std::filesystem::path operators_of(const std::filesystem::path& model) {
  return std::filesystem::path(model).replace_extension(".required_operators.config");
}

}  // namespace

void require_emit_places(const EmitArguments& arguments, const Job& job, const OwnFiles& own) {
  if (arguments.format.empty()) return;
  for (const std::filesystem::path& place : {ort_of(job.output), operators_of(job.output)}) {
    own.require_apart(place);
    io::require_file_or_free(place);  // in the folder of the model, which was checked before
  }
}

void emit(const EmitArguments& arguments, const std::filesystem::path& model, const OwnFiles& own, Host& host,
          Stream out) {
  if (arguments.format.empty()) return;
  own.require_apart(ort_of(model));
  own.require_apart(operators_of(model));
  const EmitResult result = emit_ort(model, ort_of(model), arguments.options);
  host.say(out, safe_format("  {}: {}, and {}\n", result.ort.string(), report::bytes_text(result.bytes),
                            result.required_ops.filename().string()));
  if (result.is_decoded)
    host.say(out,
             "  note: ONNX Runtime dequantized the weights while it optimized, so the .ort file has FP32 "
             "weights; use int8 or int8-dynamic for a small .ort file\n");
}

}  // namespace ounce::verbs
