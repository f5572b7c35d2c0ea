#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "io/output_file.h"
#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace check_verb {

constexpr int kNotSupported = 3;

struct Arguments {
  std::vector<std::string> models;
  CheckOptions options;
  Remote remote;
  std::string required_ops, runtime, report;
  std::vector<std::string> fail_on;
  bool json = false, list = false;
};

int write_operators(const Arguments& arguments, Host& host, const std::vector<report::CheckRow>& rows,
                    const OwnFiles& own, Stream human) {
  std::vector<std::filesystem::path> models;
  for (const report::CheckRow& row : rows) {
    if (row.error.empty()) models.push_back(row.model);
  }
  if (models.empty()) return 0;
  report::Failure problem;
  const int code = guarded(
      arguments.required_ops,
      [&] {
        own.require_apart(arguments.required_ops);
        EmitOptions how;
        how.library = arguments.runtime;
        write_required_operators(models, arguments.required_ops, how);
        host.say(human, safe_format("{}: operators that a reduced build needs for {} model{}\n",
                                    arguments.required_ops, models.size(), models.size() == 1 ? "" : "s"));
      },
      problem);
  if (!problem.empty()) host.complain(problem.line());
  return code;
}

// Applies --fail-on to the counts of all nodes, because the verdict names only the worst kind.
bool is_refused(const Arguments& arguments, const TargetCheck& target) {
  return std::any_of(arguments.fail_on.begin(), arguments.fail_on.end(), [&](const std::string& verdict) {
    return verdict == name_of(Verdict::kSlow) ? target.slow != 0 : target.unknown != 0;
  });
}

int run(const Arguments& arguments, Host& host, const Options& verb) {
  if (!arguments.list && arguments.models.empty()) throw Error(ErrorCode::kUsage, "check: model is required");
  const ReportFile page(verb, arguments.report);
  if (arguments.list) {
    for (const std::string& release : measured_releases())
      host.say(Stream::kResults, safe_format("{}\n", release));
    return 0;
  }
  CheckOptions options = arguments.options;
  options.remote = remote_of(arguments.remote);
  options.execute = options.execute || options.remote.has_value();
  const OwnFiles own = OwnFiles::of(verb);
  if (!arguments.required_ops.empty()) {
    own.require_apart(arguments.required_ops);
    io::require_place(arguments.required_ops);
  }
  const Stream human = for_people(arguments.json);
  const std::vector<ModelFile> models = find_models(arguments.models);
  auto [rows, worst] = each_row<report::CheckRow>(
      models, refused<report::CheckRow>(models, verb), host,
      [&](report::CheckRow& row, const ModelFile&) {
        row.result = check(row.model, options);
        for (const TargetCheck& target : row.result.targets) {
          const bool has_failed = target.execution && !target.execution->error.empty();
          if (target.verdict > Verdict::kUnknown || has_failed || is_refused(arguments, target))
            row.exit_code = kNotSupported;
        }
      },
      [&](const report::CheckRow& row, bool) { host.say(human, report::check_text(row.result)); });
  if (!arguments.required_ops.empty())
    worst = std::max(worst, write_operators(arguments, host, rows, own, human));
  return page.deliver(results::Document("check").add(rows), arguments.json, host, worst);
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.models, "Models, or folders of models");
  options
      .add_option(
          "--target", arguments.options.targets,
          "Check for this target: linux-x64@1.30.0, android-arm64@1.22.0, ios-arm64@1.22.0, ort-web@1.22.0, "
          "host (repeatable, or separated by commas; default: host)")
      ->delimiter(',');
  options
      .add_option("--fail-on", arguments.fail_on,
                  "Fail with exit code 3 for these verdicts, too: slow, unknown (repeatable, or separated by "
                  "commas; default: none)")
      ->delimiter(',')
      ->one_at_a_time()
      ->check(any_of({std::string(name_of(Verdict::kSlow)), std::string(name_of(Verdict::kUnknown))}));
  options.add_option(
      "--required-ops", arguments.required_ops,
      "Write the configuration file of a reduced build of ONNX Runtime, with the ops of these models and "
      "those that its optimizers insert");
  options.add_option("--runtime", arguments.runtime,
                     "Use this ONNX Runtime for --required-ops: the path of a library, or a version");
  options.add_flag(
      "--execute", arguments.options.execute,
      "Also run the model on the target (arm64 under qemu-user, or over --via) and compare its outputs with "
      "those on this machine");
  add_remote_options(options, arguments.remote);
  options.add_flag("--releases", arguments.list, "List the measured releases and exit");
  add_document_options(options, arguments.json, arguments.report);
}

constexpr std::string_view kEveryday[] = {"--target",   "--execute", "--required-ops",
                                          "--releases", "--json",    "--report"};
constexpr std::string_view kExamples[] = {
    "ounce check model.w8.onnx --target android-arm64@1.22.0",
    "ounce check model.w8.onnx --target linux-x64@1.30.0,ios-arm64@1.22.0 --report check.html"};

}  // namespace check_verb

extern constinit const VerbInfo kCheck = {
    .name = "check",
    .summary = "Check that a model loads and runs on a platform and ONNX Runtime version",
    .audience = Audience::kEveryday,
    .everyday = check_verb::kEveryday,
    .examples = check_verb::kExamples,
    .call = call_of<check_verb::Arguments, check_verb::declare, check_verb::run>,
    .result = "CheckResult",
};

}  // namespace ounce::verbs
