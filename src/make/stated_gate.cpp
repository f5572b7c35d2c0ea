#include <fmt/format.h>

#include <cmath>
#include <string>

#include "make/statement.h"
#include "measure/worst_output.h"

namespace ounce::make {
namespace {

// Six digits, so that the last bits of a float do not show.
double rounded(double value) { return std::isfinite(value) ? std::stod(fmt::format("{:.6g}", value)) : 0; }

}  // namespace

StatedGate stated_gate(const VerifyOptions& options, const VerifyResult& result) {
  StatedGate gate;
  gate.gates = options.gates;
  gate.task = options.task;
  gate.metric = options.metric;
  gate.tags = options.tags;
  gate.label_output = options.label_output;
  gate.outputs = options.outputs;
  gate.threshold = options.threshold;
  gate.has_command = !options.metric_command.command.empty();
  gate.edge_cases = options.edge_cases;
  gate.selection = selection_of(options.data);
  gate.run = {result.runtime_version, result.samples,       result.is_generated,
              result.data_digest,     result.labels_digest, stated_decibels(result.worst_sqnr_db)};
  if (const auto agreement = measure::least_agreement(result.outputs)) gate.agreement = rounded(*agreement);
  for (const MetricResult& metric : result.metrics)
    gate.metrics.push_back({metric.name, rounded(metric.reference), rounded(metric.candidate),
                            rounded(metric.drop_low), rounded(metric.drop_high)});
  return gate;
}

}  // namespace ounce::make
