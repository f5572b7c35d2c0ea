#include "search/tune/measurement_json.h"

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/statement.h"

namespace ounce::search {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

double number_or(const json& value, double otherwise) {
  return value.is_number() ? value.get<double>() : otherwise;
}

json trial_json(const TuneTrial& trial) {
  json made = {{"problem", trial.problem},
               {"bytes", trial.bytes},
               {"sqnr_db", number(trial.sqnr_db)},
               {"is_exact", trial.sqnr_db == kInfinity},
               {"passed", trial.passed},
               {"verdict", trial.verdict},
               {"confidence", trial.confidence},
               {"samples", trial.samples},
               {"samples_needed", trial.samples_needed},
               {"too_few", trial.has_too_few_samples}};
  if (trial.agreement) made["agreement"] = *trial.agreement;
  if (trial.metric) {
    const MetricResult& metric = *trial.metric;
    made["metric"] = {{"name", metric.name},
                      {"higher_is_better", metric.higher_is_better},
                      {"unit", name_of(metric.unit)},
                      {"reference", number(metric.reference)},
                      {"candidate", number(metric.candidate)},
                      {"drop", number(metric.drop)},
                      {"drop_low", number(metric.drop_low)},
                      {"drop_high", number(metric.drop_high)}};
    if (metric.drop_bound) made["metric"]["drop_bound"] = number(*metric.drop_bound);
  }
  if (trial.gate) made["gate"] = quantization::to_json(*trial.gate);
  return made;
}

TuneTrial trial_of(const json& made) {
  TuneTrial trial;
  trial.problem = made.at("problem");
  trial.bytes = made.at("bytes");
  trial.sqnr_db = number_or(made.at("sqnr_db"), made.at("is_exact").get<bool>() ? kInfinity : -kInfinity);
  trial.passed = made.at("passed");
  trial.verdict = made.at("verdict");
  trial.confidence = made.at("confidence");
  trial.samples = made.at("samples");
  trial.samples_needed = made.at("samples_needed");
  trial.has_too_few_samples = made.at("too_few");
  if (made.contains("gate")) trial.gate = quantization::gate_from(made["gate"]);
  if (made.contains("agreement")) trial.agreement = made["agreement"].get<double>();
  if (made.contains("metric")) {
    const json& metric = made["metric"];
    const auto at = [&](const char* key) { return number_or(metric.at(key), std::nan("")); };
    trial.metric = MetricResult{metric.at("name"), metric.at("higher_is_better"),
                                at("reference"),   at("candidate"),
                                at("drop"),        at("drop_low"),
                                at("drop_high")};
    trial.metric->unit = from_name<MetricUnit>(metric.value("unit", "")).value_or(MetricUnit::kShare);
    if (metric.contains("drop_bound")) trial.metric->drop_bound = at("drop_bound");
  }
  return trial;
}

json speed_json(const SpeedUp& speed) {
  return {{"ratio", number(speed.ratio)},         {"low", number(speed.low)},
          {"high", number(speed.high)},           {"rounds", speed.rounds},
          {"is_measurable", speed.is_measurable}, {"load", number(speed.load)},
          {"is_reliable", speed.is_reliable}};
}

SpeedUp speed_of(const json& made) {
  SpeedUp speed;
  const double ratio = number_or(made.at("ratio"), 1);
  speed.ratio = ratio > 0 ? ratio : 1;
  speed.low = number_or(made.at("low"), 1);
  speed.high = number_or(made.at("high"), 1);
  speed.rounds = made.at("rounds");
  speed.is_measurable = made.at("is_measurable");
  speed.load = number_or(made.at("load"), 0);
  speed.is_reliable = made.at("is_reliable");
  return speed;
}

}  // namespace ounce::search
