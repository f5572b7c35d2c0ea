#include "verbs/gate_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>

#include "verbs/json_options.h"

namespace ounce::verbs {
namespace {

std::vector<std::string> metric_names() {
  std::vector<std::string> names = {kAutoMetric};
  for (const MetricDescription& metric : known_metrics()) names.emplace_back(metric.name);
  return names;
}

std::string metric_help() {
  std::vector<std::string> all;
  for (const MetricDescription& metric : known_metrics())
    all.push_back(fmt::format("{} ({})", metric.name, metric.help));
  return fmt::format("Metric that decides: {}. Default: by --task, or by the labels", fmt::join(all, ", "));
}

std::string metrics_of(MetricUnit unit) {
  std::vector<std::string_view> names;
  for (const MetricDescription& metric : known_metrics()) {
    if (metric.unit == unit) names.push_back(metric.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_gate_options(Options& options, GateArguments& arguments, const std::string& gates,
                      const std::string& usual) {
  options.add_option("--abs-tol", arguments.abs_tol, "largest difference of any value, such as 0.04")
      ->check(number_between(0, 1e300))
      ->group(gates);
  options.add_option("--mean-tol", arguments.mean_tol, "largest mean difference of an output, such as 0.01")
      ->check(number_between(0, 1e300))
      ->group(gates);
  options
      .add_option("--max-mse", arguments.max_mse,
                  "largest mean squared difference of an output, such as 1e-4")
      ->check(number_between(0, 1e300))
      ->group(gates);
  options
      .add_option("--min-sqnr", arguments.min_sqnr, "least signal to noise of an output and its slices in dB")
      ->check(number_between(-1000, 1000))
      ->group(gates);
  options
      .add_option("--min-agreement", arguments.min_agreement,
                  "least share of same answers, such as 99%: top-1 classes, and outputs that are labels")
      ->group(gates);
  options
      .add_option("--max-flips", arguments.max_flips,
                  "largest share of decisions that change at --threshold, such as 0.5%")
      ->group(gates);
  options
      .add_option(
          "--max-drop", arguments.max_drops,
          fmt::format("what the metric may lose, such as 0.5%: points of {}; relative for {}; or NAME=0.5% "
                      "for one of several (repeatable)",
                      metrics_of(MetricUnit::kShare), metrics_of(MetricUnit::kRelative)))
      ->one_at_a_time()
      ->group(gates);
  options
      .add_option("--confidence", arguments.confidence,
                  "how sure it must be that the gates hold on other data like this: 90%, 95% …; none goes by "
                  "these samples alone (default: " +
                      usual + ")")
      ->group(gates);
  add_metric_options(options, arguments);
}

void add_metric_options(Options& options, GateArguments& arguments) {
  options
      .add_option(
          "--task", arguments.task,
          "what the model is for: classify, detect, embed, ctc, segment, tag, audio or regress; without "
          "labels the original's outputs are the truth")
      ->check(any_name_of<Task>())
      ->show_default();
  options.add_option(
      "--metric-command", arguments.metric_command,
      "a program of your own that prints a number, run with the folder of both models' outputs: "
      "'python3 score.py'");
  options.add_option("--metric-seconds", arguments.metric_seconds, "that it may take")
      ->check(number_between(0.1, 1e6))
      ->show_default();
  options.add_option("--metric", arguments.metric, metric_help())
      ->check(any_of(metric_names()))
      ->show_default();
  options
      .add_option(
          "--tags", arguments.tags,
          "names of the classes of --task tag, with commas: O,B-PER,I-PER (default: O, then B and I in "
          "turn)")
      ->joined("NAME");
  options.add_option("--label-output", arguments.label_output,
                     "the output that labels speak of (default: the first)");
  options
      .add_option(
          "--outputs", arguments.outputs,
          "judge these outputs only (repeatable, or with commas); the others are compared and reported. "
          "Example: --outputs probabilities")
      ->delimiter(',')
      ->one_at_a_time();
  options
      .add_option(
          "--threshold", arguments.threshold,
          "decision threshold of an output: count decisions that change (two columns of probabilities "
          "are one decision); with --task detect, the least score of a box")
      ->check(number_between(-1e300, 1e300));
}

namespace {

// The first metric may have no name, and lose a share of 20 % at most; what has a name has its own unit.
void read_drop(const std::string& text, Gates& gates) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    gates.max_drop = share_of(text, "--max-drop", 0.2);
    return;
  }
  const auto [name, value] = split_pair(text, "--max-drop");
  const bool is_percent = value.ends_with('%');
  const double limit = fraction_of(is_percent ? value.substr(0, value.size() - 1) : value, "--max-drop");
  if (limit < 0) throw Error(ErrorCode::kUsage, fmt::format("`--max-drop` '{}' must be 0 or more", text));
  gates.max_drops[name] = is_percent ? limit / 100 : limit;
}

std::vector<std::string> tags_of(const GateArguments& arguments) {
  std::vector<std::string> tags;
  for (std::size_t at = 0; !arguments.tags.empty() && at <= arguments.tags.size();) {
    const std::size_t comma = std::min(arguments.tags.find(',', at), arguments.tags.size());
    tags.push_back(arguments.tags.substr(at, comma - at));
    at = comma + 1;
  }
  return tags;
}

}  // namespace

Gates gates_of(const GateArguments& arguments) {
  Gates gates;
  gates.max_abs_diff = arguments.abs_tol;
  gates.mean_abs_diff = arguments.mean_tol;
  gates.min_sqnr = arguments.min_sqnr;
  if (!arguments.min_agreement.empty())
    gates.min_agreement = share_of(arguments.min_agreement, "--min-agreement", 1);
  gates.max_mse = arguments.max_mse;
  if (!arguments.max_flips.empty()) gates.max_flips = share_of(arguments.max_flips, "--max-flips", 1);
  for (const std::string& drop : arguments.max_drops) read_drop(drop, gates);
  if (arguments.confidence == "none") {
    gates.confidence = 0;
  } else if (!arguments.confidence.empty()) {
    gates.confidence = share_of(arguments.confidence, "--confidence", 1);
  }
  return gates;
}

void set_quality(const GateArguments& arguments, const InMemoryInputs& given, QualityOptions& options) {
  if (given.metric && !arguments.metric_command.empty())
    throw Error(ErrorCode::kUsage, "there is a metric function and `--metric-command`: leave one out");
  options = {value_of<Task>(arguments.task),
             arguments.metric,
             {arguments.metric_command, arguments.metric_seconds, given.metric},
             tags_of(arguments),
             arguments.label_output,
             arguments.outputs,
             arguments.threshold};
}

}  // namespace ounce::verbs
