#include <ounce/error.h>
#include <ounce/model.h>

#include <memory>

#include "report/reports.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace diff_verb {

constexpr int kDifferent = 1;
constexpr std::size_t kLines = 12;  // shown per kind of change without --verbose

struct Arguments {
  std::string a, b, report;
  bool json = false, verbose = false;
};

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  DiffResult result;
  {
    const std::unique_ptr<Watch> watch = host.watch(arguments.b);
    result = diff(one_model(arguments.a), one_model(arguments.b), &watch->progress);
  }
  host.say(for_people(arguments.json),
           report::diff_text(result, arguments.verbose ? static_cast<std::size_t>(-1) : kLines));
  return page.deliver(results::Document("diff").add(result), arguments.json, host,
                      result.is_same() ? 0 : kDifferent);
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("a", arguments.a, "The original model")->required();
  options.add_option("b", arguments.b, "The changed model")->required();
  options.add_flag("-v,--verbose", arguments.verbose, "List all changes (default: the first of each kind)");
  add_document_options(options, arguments.json, arguments.report);
}

constexpr std::string_view kExamples[] = {"ounce diff model.onnx model.w8.onnx",
                                          "ounce diff model.onnx model.w8.onnx --report diff.html"};

}  // namespace diff_verb

extern constinit const VerbInfo kDiff = {
    .name = "diff",
    .summary = "List the differences between two models (exit code 0: none, 1: some)",
    .examples = diff_verb::kExamples,
    .call = call_of<diff_verb::Arguments, diff_verb::declare, diff_verb::run>,
    .result = "DiffResult",
};

}  // namespace ounce::verbs
