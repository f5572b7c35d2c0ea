#include "cli/gate_options.h"

#include "cli/data_options.h"
#include "cli/names_of.h"
#include "cli/recipe_options.h"

namespace ounce::cli {

void add_gate_options(CLI::App& app, GateArguments& arguments, const std::string& gates,
                      const std::string& usual) {
  app.add_option("--abs-tol", arguments.abs_tol, "largest difference of any value, such as 0.04")
      ->check(number_between(0, 1e300))
      ->group(gates);
  app.add_option("--mean-tol", arguments.mean_tol, "largest mean difference of an output, such as 0.01")
      ->check(number_between(0, 1e300))
      ->group(gates);
  app.add_option("--min-sqnr", arguments.min_sqnr, "least signal to noise of an output in dB")
      ->check(number_between(-1000, 1000))
      ->group(gates);
  app.add_option("--min-agreement", arguments.min_agreement, "least share of same top-1 answers, such as 99%")
      ->group(gates);
  app.add_option(
         "--max-drop", arguments.max_drop,
         "what the metric may lose, such as 0.5%: points of accuracy, F1 and mAP; relative for nll and mae")
      ->group(gates);
  app.add_option("--confidence", arguments.confidence,
                 "how sure it must be that the gates hold on other data like this: 90%, 95% …; none goes by "
                 "these samples alone (default: " +
                     usual + ")")
      ->group(gates);
  add_metric_options(app, arguments);
}

void add_metric_options(CLI::App& app, GateArguments& arguments) {
  app.add_option("--metric", arguments.metric,
                 "of labelled data: accuracy, nll, f1, mae, map (boxes, IoU 0.5)")
      ->check(any_name_of<Metric>())
      ->capture_default_str();
  app.add_option("--label-output", arguments.label_output,
                 "the output that labels speak of (default: the first)");
  app.add_option("--threshold", arguments.threshold,
                 "an output decides at this value: count decisions that flip; least score of boxes")
      ->check(number_between(-1e300, 1e300));
}

Gates gates_of(const GateArguments& arguments) {
  Gates gates;
  gates.max_abs_diff = arguments.abs_tol;
  gates.mean_abs_diff = arguments.mean_tol;
  gates.min_sqnr = arguments.min_sqnr;
  if (!arguments.min_agreement.empty())
    gates.min_agreement = share_of(arguments.min_agreement, "--min-agreement", 1);
  if (!arguments.max_drop.empty()) gates.max_drop = share_of(arguments.max_drop, "--max-drop", 0.2);
  if (arguments.confidence == "none") {
    gates.confidence = 0;
  } else if (!arguments.confidence.empty()) {
    gates.confidence = share_of(arguments.confidence, "--confidence", 1);
  }
  return gates;
}

Metric metric_of(const GateArguments& arguments) { return value_of<Metric>(arguments.metric); }

}  // namespace ounce::cli
