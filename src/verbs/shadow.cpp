#include <ounce/app.hpp>
#include <ounce/error.h>

#include <memory>

#include "report/reports.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace shadow_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::vector<std::string> files;
  app::ShadowLimits limits;
  double min_compared = static_cast<double>(app::ShadowLimits{}.min_compared);
  double min_sqnr = 0, max_latency = 0;
  bool json = false;
};

int run(const Arguments& arguments, Host& host, const Options& verb) {
  app::ShadowLimits limits = arguments.limits;
  limits.min_compared = static_cast<std::uint64_t>(arguments.min_compared);
  if (arguments.min_sqnr > 0) limits.min_sqnr_db = arguments.min_sqnr;
  if (arguments.max_latency > 0) limits.max_latency_ratio = arguments.max_latency;
  app::ShadowStatistics all = app::read_shadow(arguments.files.front());
  for (std::size_t i = 1; i < arguments.files.size(); ++i) {
    try {
      app::merge(all, app::read_shadow(arguments.files[i]));
    } catch (const app::Failure& failure) {
      if (failure.where() == arguments.files[i]) throw;
      throw Error(failure.code(), failure.what(), arguments.files[i]);
    }
  }
  const app::ShadowVerdict verdict = app::judge(all, limits);
  host.say(for_people(arguments.json), report::shadow_text(all, verdict));
  deliver(results::Document("shadow report").add(results::ShadowResult{all, verdict}), arguments.json, verb,
          host);
  return verdict.passed ? 0 : kGateExit;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("files", arguments.files, "Statistics files, written by app::Shadow on devices")
      ->required();
  options.add_option("--min-calls", arguments.min_compared, "Require this many compared calls")
      ->check(number_between(0, 1e15))
      ->show_default();
  options
      .add_option("--min-agreement", arguments.limits.min_agreement,
                  "Fail if a smaller share of predictions agrees, from 0 to 1")
      ->check(number_between(0, 1))
      ->show_default();
  options
      .add_option("--min-sqnr", arguments.min_sqnr,
                  "Fail if the SQNR of the worst output is lower, in dB (0: no limit)")
      ->check(number_between(0, 1e3))
      ->show_default();
  options
      .add_option("--max-failures", arguments.limits.max_failures,
                  "Fail if the candidate failed in a larger share of calls, from 0 to 1")
      ->check(number_between(0, 1))
      ->show_default();
  options
      .add_option("--max-latency-ratio", arguments.max_latency,
                  "Fail if p50 of the candidate divided by p50 of the primary is larger (0: no limit)")
      ->check(number_between(0, 1e6))
      ->show_default();
  add_json_option(options, arguments.json);
}

constexpr std::string_view kExamples[] = {"ounce shadow report devices/*.json --min-agreement .995"};

constexpr VerbInfo kReport = {
    .name = "report",
    .summary = "Merge statistics of devices and judge the candidate (exit code 1: it does not pass)",
    .examples = kExamples,
    .call = call_of<Arguments, declare, run>,
    .result = "ShadowReportResult"};
constexpr const VerbInfo* kInside[] = {&kReport};

}  // namespace shadow_verb

extern constinit const VerbInfo kShadow = {.name = "shadow",
                                           .summary = "Summarize shadow-deployment statistics from devices",
                                           .verbs = shadow_verb::kInside};

}  // namespace ounce::verbs
