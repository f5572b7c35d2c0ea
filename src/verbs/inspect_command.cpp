#include <fmt/format.h>
#include <ounce/inspect.h>

#include <nlohmann/json.hpp>
#include <cstdio>
#include <memory>

#include "report/inspect_report.h"
#include "report/json.h"
#include "report/quantize_report.h"
#include "verbs/command.h"
#include "verbs/each_model.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"

namespace ounce::verbs {
namespace inspect_verb {

struct Arguments {
  std::vector<std::string> models;
  RecipeArguments recipe;
  std::size_t tensors = 20;
  bool json = false;
};

int run(const Arguments& arguments, Host& host, const CLI::App& app) {
  const Recipe recipe = recipe_of(arguments.recipe);
  std::vector<ModelFile> models = find_models(arguments.models);
  auto [rows, worst] = refused<report::InspectRow>(models, app);
  if (!rows.empty()) models.clear();  // then nothing is worked on
  for (const ModelFile& model : models) {
    report::InspectRow row;
    row.model = model.path;
    row.exit_code = guarded(
        model.path, [&] { row.info = inspect(model.path, recipe); }, row.error);
    worst = std::max(worst, row.exit_code);
    rows.push_back(std::move(row));
  }
  const Stream human = for_people(arguments.json);
  if (rows.size() > 1 && !models.empty()) {
    host.say(human, report::inspect_table(rows));
  } else if (rows[0].error.empty()) {
    host.say(human, report::inspect_text(rows[0].info, arguments.tensors));
  }
  for (const report::InspectRow& row : rows) {
    if (!row.error.empty()) host.complain(row.error);
  }
  if (arguments.json) host.say_json(report::dump(report::inspect_json(rows)));
  return worst;
}

}  // namespace inspect_verb

Command add_inspect(CLI::App& parser) {
  using namespace inspect_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = parser.add_subcommand("inspect", "what is in a model, and what quantize would do with it");
  app->add_option("model", arguments->models, "models, or folders of models")->required();
  add_format_option(*app, arguments->recipe, false);
  add_recipe_options(*app, arguments->recipe);
  app->add_option("--tensors", arguments->tensors, "how many of the largest float tensors to show")
      ->check(whole_number())
      ->capture_default_str();
  app->add_flag("--json", arguments->json, "print one JSON document on stdout");
  return {app, [arguments, app](Host& host) { return run(*arguments, host, *app); }};
}

}  // namespace ounce::verbs
