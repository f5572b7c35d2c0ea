#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/work.h>

#include <memory>

#include "verbs/common_options.h"
#include "verbs/report_file.h"
#include "verbs/sessions.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace work_verb {

struct Arguments {
  std::string folder;
  std::vector<std::string> roots;
  WorkOptions options;
  bool json = false, verbose = false;
};

int run(Arguments& arguments, Host& host, const Options& verb) {
  WorkOptions& options = arguments.options;
  options.open = session_opener(arguments.roots);
  const Stream human = for_people(arguments.json);
  if (arguments.verbose)
    options.tell = [&](const std::string& line) { host.say(Stream::kMessages, safe_format("{}\n", line)); };
  const std::unique_ptr<Watch> watch = host.watch(arguments.folder);
  options.progress = &watch->progress;
  watch->progress.stage = "working";
  const WorkResult result = work(arguments.folder, options);
  host.say(human, fmt::format("answered {} questions in {:.1f} s{}{}\n", result.answered, result.seconds,
                              result.late == 0 ? "" : fmt::format("; {} answers came too late", result.late),
                              result.declined == 0 ? "" : fmt::format("; {} declined", result.declined)));
  deliver(results::Document("work").add(result), arguments.json, verb, host);
  return 0;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("folder", arguments.folder, "The shared folder of the questions")->required();
  options
      .add_converted("--idle", arguments.options.idle_seconds, duration_of,
                     "End after this time without a question")
      ->show_default("10m");
  add_worker_options(options, arguments.roots, arguments.options.times);
  add_lease_option(options, arguments.options.limits);
  add_json_option(options, arguments.json);
  options.add_flag("-v,--verbose", arguments.verbose, "Print a line for each question");
}

constexpr std::string_view kExamples[] = {"ounce work /shared/queue --root /shared",
                                          "ounce work /shared/queue --root /shared --idle 1h --times"};

}  // namespace work_verb

extern constinit const VerbInfo kWork = {
    .name = "work",
    .summary = "Answer questions of 'tune', 'sensitivity' and 'calibrate' in a shared folder",
    .examples = work_verb::kExamples,
    .call = call_of<work_verb::Arguments, work_verb::declare, work_verb::run>,
    .result = "WorkResult",
};

}  // namespace ounce::verbs
