#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <memory>

#include "io/mapped_file.h"
#include "report/html/page.h"
#include "report/table.h"
#include "verbs/class_names.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace report_verb {

struct Arguments {
  std::vector<std::string> runs;
  std::string output, class_names;
  bool json = false;
};

// Gives the names to all results that show classes.
void name_classes(const std::vector<std::string>& names, results::Json& document) {
  if (names.empty() || !document.is_object() || !document.contains("results")) return;
  for (results::Json& result : document["results"]) {
    if (result.is_object()) result["class_names"] = names;
  }
}

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile place(verb, arguments.output, "--output");
  const std::vector<std::string> class_names = read_class_names(arguments.class_names);
  std::vector<report::html::Run> runs;
  for (const std::string& path : arguments.runs) {
    const io::MappedFile file = io::MappedFile::open(path);
    runs.push_back(report::html::parse_run(file.bytes(), path));
    name_classes(class_names, runs.back().document);
  }
  const std::string html = report::html::page(runs);
  write_page(arguments.output, html);
  host.say(for_people(arguments.json),
           safe_format("{}: {} run{}, {}\n", arguments.output, runs.size(), runs.size() == 1 ? "" : "s",
                       report::bytes_text(html.size())));
  deliver(results::Document("report").add(results::ReportPage{arguments.output, arguments.runs, html.size()}),
          arguments.json, verb, host);
  return 0;
}

void declare(Options& options, Arguments& arguments) {
  options
      .add_option("run", arguments.runs,
                  fmt::format("JSON documents, printed by --json of {}",
                              fmt::join(report::html::drawn_verbs(), ", ")))
      ->required();
  options.add_option("-o,--output", arguments.output, "Write the HTML report to this file: FILE.html")
      ->type_name("FILE")
      ->required();
  add_class_names_option(options, arguments.class_names);
  add_json_option(options, arguments.json);
}

constexpr std::string_view kExamples[] = {"ounce verify model.onnx model.w8.onnx --json > verify.json",
                                          "ounce report verify.json -o report.html"};

}  // namespace report_verb

extern constinit const VerbInfo kReport = {
    .name = "report",
    .summary = "Combine JSON results into one HTML report",
    .audience = Audience::kEveryday,
    .examples = report_verb::kExamples,
    .call = call_of<report_verb::Arguments, report_verb::declare, report_verb::run>,
    .result = "ReportResult",
};

}  // namespace ounce::verbs
