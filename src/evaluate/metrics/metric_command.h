// A metric that a program or a function of the user computes (ounce/verify.h: MetricCommand). The outputs of
// both models are collected sample by sample in a temporary folder:
//
//   original.npz, candidate.npz   each output by its name, [samples, …]; where samples differ in their shape,
//                                 "name/0", "name/1" …
//   labels.npz                    "labels", in the same way; missing without labels
//
// The program is killed, with all processes that it started, when it takes too long or the call is stopped.
#pragma once

#include <ounce/verify.h>

#include <memory>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"
#include "io/temporary_files.h"

namespace ounce::evaluate {

// Checks before the work that the program of a metric command exists. A command whose first word is not a
// plain word (a variable, a quote, an assignment) is not checked. Throws Error{kUsage}.
void require_program(const MetricCommand& command);

class ArrayPile;

class CommandMeter : public Meter {
 public:
  CommandMeter(const MetricCommand& command, const std::vector<data::ValueDescription>& outputs);
  ~CommandMeter() override;

  void add(const Sample& sample) override;
  // Runs the program or the function. Throws Error{kUsage} when it fails, takes too long, or prints no
  // numbers.
  std::vector<MetricResult> results() const override;

 private:
  MetricCommand command_;
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<ArrayPile>> reference_, candidate_;
  std::unique_ptr<ArrayPile> labels_;
};

// The output of the program: 0.93, or {"wer": 0.1, "lower_is_better": true, "unit": "relative"}, on the last
// line. Without a unit it is kAbsolute if higher is better, else kRelative, for any value.
struct SaidMetric {
  std::string name;
  double value = 0;
  bool higher_is_better = true;
  MetricUnit unit = MetricUnit::kAbsolute;
};
// Throws Error{kUsage} for anything else.
std::vector<SaidMetric> read_said(const std::string& text, const std::string& command);

}  // namespace ounce::evaluate
