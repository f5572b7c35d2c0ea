#include <ounce/diff.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <memory>

#include "report/diff_report.h"
#include "verbs/command.h"
#include "verbs/model_list.h"
#include "verbs/option_kinds.h"
#include "verbs/report_file.h"

namespace ounce::verbs {
namespace diff_verb {

constexpr int kDifferent = 1;
constexpr std::size_t kLines = 12;  // of each kind of change, without --verbose

struct Arguments {
  std::string a, b, report;
  bool json = false, verbose = false;
};

int run(const Arguments& arguments, Host& host, const ReportFile& page) {
  DiffResult result;
  {
    const std::unique_ptr<Watch> watch = host.watch(arguments.b);
    result = diff(one_model(arguments.a), one_model(arguments.b), &watch->progress);
  }
  host.say(for_people(arguments.json),
           report::diff_text(result, arguments.verbose ? static_cast<std::size_t>(-1) : kLines));
  page.deliver(report::diff_json(result), arguments.json, host);
  return result.is_same() ? 0 : kDifferent;
}

}  // namespace diff_verb

Command add_diff(CLI::App& parser) {
  using namespace diff_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app =
      parser.add_subcommand("diff", "what changed between two models? exit 0 if nothing did, 1 otherwise");
  app->add_option("a", arguments->a, "a model")->required();
  app->add_option("b", arguments->b, "the one that it became")->required();
  app->add_flag("-v,--verbose", arguments->verbose, "all changes, and not the first of each kind");
  app->add_flag("--json", arguments->json, "print one JSON document on stdout");
  add_report_option(*app, arguments->report);
  return {app, [arguments, app](Host& host) {
            return run(*arguments, host, ReportFile(*app, arguments->report));
          }};
}

}  // namespace ounce::verbs
