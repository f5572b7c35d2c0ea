// The options that say when a model is as good as its original, shared by the verbs that decide.
#pragma once

#include <ounce/verify.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace ounce::cli {

struct GateArguments {
  std::string metric = "auto", label_output, min_agreement, max_drop, confidence;
  std::optional<double> threshold, abs_tol, mean_tol, min_sqnr;
};

// `gates` is the heading of the gates in the help, `usual` the confidence when none is given.
void add_gate_options(CLI::App& app, GateArguments& arguments, const std::string& gates,
                      const std::string& usual);
// What labels speak of, and how they are counted.
void add_metric_options(CLI::App& app, GateArguments& arguments);
Gates gates_of(const GateArguments& arguments);
Metric metric_of(const GateArguments& arguments);

}  // namespace ounce::cli
