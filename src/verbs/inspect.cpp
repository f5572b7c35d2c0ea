#include <fmt/format.h>
#include <ounce/model.h>

#include <cstdio>
#include <memory>

#include "report/reports.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace inspect_verb {

struct Arguments {
  std::vector<std::string> models;
  RecipeArguments recipe;
  std::size_t tensors = 20;
  std::string report;
  bool json = false;
};

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  const Recipe recipe = recipe_of(arguments.recipe);
  std::vector<ModelFile> models = find_models(arguments.models);
  auto [rows, worst] = refused<report::InspectRow>(models, verb);
  if (!rows.empty()) models.clear();  // a named model cannot be read: inspect none
  for (const ModelFile& model : models) {
    report::InspectRow row;
    row.model = model.path;
    row.exit_code = guarded(
        model.path, [&] { row.result = inspect(model.path, recipe); }, row.error);
    worst = std::max(worst, row.exit_code);
    rows.push_back(std::move(row));
  }
  const Stream human = for_people(arguments.json);
  if (rows.size() > 1 && !models.empty()) {
    host.say(human, report::inspect_table(rows));
  } else if (rows[0].error.empty()) {
    host.say(human, report::inspect_text(rows[0].result, arguments.tensors));
  }
  for (const report::InspectRow& row : rows) {
    if (!row.error.empty()) host.complain(row.error.line());
  }
  return page.deliver(results::Document("inspect").add(rows), arguments.json, host, worst);
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.models, "Models, or folders of models")->required();
  add_format_option(options, arguments.recipe, false);
  add_recipe_options(options, arguments.recipe);
  options.add_option("--tensors", arguments.tensors, "List this many of the largest float tensors")
      ->check(whole_number())
      ->show_default();
  add_document_options(options, arguments.json, arguments.report);
}

constexpr std::string_view kExamples[] = {"ounce inspect model.onnx", "ounce inspect models/ --json"};

}  // namespace inspect_verb

extern constinit const VerbInfo kInspect = {
    .name = "inspect",
    .summary = "Show inputs, ops and weights of a model, and estimate the quantized size",
    .audience = Audience::kEveryday,
    .examples = inspect_verb::kExamples,
    .call = call_of<inspect_verb::Arguments, inspect_verb::declare, inspect_verb::run>,
    .result = "InspectResult",
};

}  // namespace ounce::verbs
