#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <memory>

#include "io/mapped_file.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/table.h"
#include "verbs/command.h"
#include "verbs/report_file.h"

namespace ounce::verbs {
namespace report_verb {

struct Arguments {
  std::vector<std::string> runs;
  std::string output;
  bool json = false;
};

int run(const Arguments& arguments, Host& host) {
  std::vector<report::html::Run> runs;
  for (const std::string& path : arguments.runs) {
    const io::MappedFile file = io::MappedFile::open(path);
    runs.push_back(report::html::parse_run(file.bytes(), path));
  }
  const std::string html = report::html::page(runs);
  write_page(arguments.output, html);
  host.say(for_people(arguments.json), plainly("{}: {} run{}, {}\n", arguments.output, runs.size(),
                                               runs.size() == 1 ? "" : "s", report::bytes_text(html.size())));
  if (arguments.json) {
    nlohmann::ordered_json document;
    document["schema_version"] = report::kSchemaVersion;
    document["verb"] = "report";
    document["output"] = arguments.output;
    document["runs"] = arguments.runs;
    document["bytes"] = html.size();
    host.say_json(report::dump(document));
  }
  return 0;
}

}  // namespace report_verb

Command add_report(CLI::App& parser) {
  using namespace report_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = parser.add_subcommand(
      "report", "draw runs as one page that anybody can open, from what --json printed");
  app->add_option(
         "run", arguments->runs,
         fmt::format("documents that --json printed: of {}", fmt::join(report::html::drawn_verbs(), ", ")))
      ->required();
  app->add_option("-o,--output", arguments->output, "the page: FILE.html")->required();
  app->add_flag("--json", arguments->json, "print one JSON document on stdout");
  return {app, [arguments, app](Host& host) {
            const ReportFile place(*app, arguments->output, "--output");
            return run(*arguments, host);
          }};
}

}  // namespace ounce::verbs
