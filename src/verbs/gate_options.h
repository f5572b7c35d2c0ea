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
void set_quality(const GateArguments& arguments, const InMemoryInputs& given, QualityOptions& options);

}  // namespace ounce::verbs
