#include <ounce/app/shadow.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <memory>

#include "report/json.h"
#include "report/shadow_report.h"
#include "verbs/command.h"
#include "verbs/recipe_options.h"

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

int run(const Arguments& arguments, Host& host) {
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
  if (arguments.json) host.say_json(report::dump(report::shadow_json(all, verdict)));
  return verdict.passed ? 0 : kGateExit;
}

}  // namespace shadow_verb

Command add_shadow(CLI::App& parser) {
  using namespace shadow_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app =
      parser.add_subcommand("shadow", "what a candidate did beside the model that answered, on devices");
  app->require_subcommand(1);
  CLI::App* report = app->add_subcommand(
      "report", "merge the statistics of devices, and judge them; exit 1 if the candidate does not pass");
  report->add_option("files", arguments->files, "files that an app's Shadow has written")->required();
  report->add_option("--min-calls", arguments->min_compared, "calls that must have been compared")
      ->check(number_between(0, 1e15))
      ->capture_default_str();
  report
      ->add_option("--min-agreement", arguments->limits.min_agreement,
                   "share of answers that must be the same")
      ->check(number_between(0, 1))
      ->capture_default_str();
  report->add_option("--min-sqnr", arguments->min_sqnr, "dB that the worst output needs (0: any)")
      ->check(number_between(0, 1e3))
      ->capture_default_str();
  report
      ->add_option("--max-failures", arguments->limits.max_failures,
                   "share of calls that the candidate may fail")
      ->check(number_between(0, 1))
      ->capture_default_str();
  report
      ->add_option("--max-latency-ratio", arguments->max_latency,
                   "of the candidate's p50 to the primary's (0: any)")
      ->check(number_between(0, 1e6))
      ->capture_default_str();
  report->add_flag("--json", arguments->json, "print one JSON document on stdout");
  return {app, [arguments](Host& host) { return run(*arguments, host); }};
}

}  // namespace ounce::verbs
