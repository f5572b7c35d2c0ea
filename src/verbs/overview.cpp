#include <ounce/search.h>

#include "report/reports.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace overview_verb {

struct Arguments {
  std::string model;
  bool json = false;
};

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const std::filesystem::path model = one_model(arguments.model);
  const Overview found = named(model, [&] { return overview(model); });
  host.say(for_people(arguments.json), report::overview_text(found));
  deliver(results::Document("overview").add(found), arguments.json, verb, host);
  return 0;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "The model")->required();
  add_json_option(options, arguments.json);
}

constexpr std::string_view kExamples[] = {"ounce model.onnx", "ounce model.tflite --json"};

}  // namespace overview_verb

extern constinit const VerbInfo kOverview = {
    .name = "overview",
    .summary =
        "Show the size, family and inputs of a model, and estimate every format; short form: ounce MODEL",
    .audience = Audience::kHidden,
    .examples = overview_verb::kExamples,
    .call = call_of<overview_verb::Arguments, overview_verb::declare, overview_verb::run>,
    .result = "OverviewResult",
};

}  // namespace ounce::verbs
