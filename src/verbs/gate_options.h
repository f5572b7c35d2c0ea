// The options that say when a model is as good as its original, shared by the verbs that decide.
#pragma once

#include <ounce/error.h>
#include <ounce/verify.h>

#include <optional>
#include <string>
#include <vector>

#include "verbs/host.h"
#include "verbs/options.h"

namespace ounce::verbs {

struct GateArguments {
  std::string task = "auto", metric = "auto", metric_command, label_output, min_agreement, max_flips;
  std::string tags, confidence;
  std::vector<std::string> outputs;
  std::vector<std::string> max_drops;  // "0.5%" for the first metric, "f1=0.5%" for one by its name
  std::optional<double> threshold, abs_tol, mean_tol, max_mse, min_sqnr;
  double metric_seconds = 300;
};

// `gates` is the heading of the gates in the help, `usual` the confidence when none is given.
void add_gate_options(Options& options, GateArguments& arguments, const std::string& gates,
                      const std::string& usual);
// What labels speak of, and how they are counted.
void add_metric_options(Options& options, GateArguments& arguments);
Gates gates_of(const GateArguments& arguments);
std::vector<std::string> tags_of(const GateArguments& arguments);
// Task, metric, the user's own command, the output that labels speak of and the threshold: fields that the
// options of every verb which judges have under these names.
template <class Request>
void set_quality(const GateArguments& arguments, const Given& given, Request& options) {
  if (given.metric && !arguments.metric_command.empty())
    throw Error(ErrorCode::kUsage, "there is a metric function and `--metric-command`: leave one out");
  options.task = value_of<Task>(arguments.task);
  options.metric = arguments.metric;
  options.metric_command = {arguments.metric_command, arguments.metric_seconds, given.metric};
  options.tags = tags_of(arguments);
  options.label_output = arguments.label_output;
  options.outputs = arguments.outputs;
  options.threshold = arguments.threshold;
}

}  // namespace ounce::verbs
