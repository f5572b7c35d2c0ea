// A metric that a program or function of the user computes (MetricCommand in ounce/verify.h). It reads the
// outputs of all samples from a temporary folder:
//
//   original.npz, candidate.npz   each output by its name, [samples, …]; samples of different shapes as
//                                 "name/0", "name/1" …
//   labels.npz                    "labels", in the same form; missing if there are no labels
//
// The program and all its child processes are killed if it takes too long or the call is canceled.
#pragma once

#include <ounce/verify.h>

#include <memory>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"
#include "io/temporary_files.h"

namespace ounce::evaluate {

// Checks in advance that the program of a metric command exists. Does not check a command that begins with a
// variable, a quote or an assignment. Throws Error{kUsage}.
void require_program(const MetricCommand& command);

class ArrayPile;

class CommandMeter : public Meter {
 public:
  CommandMeter(const MetricCommand& command, const std::vector<data::ValueDescription>& outputs);
  ~CommandMeter() override;

  void add(const Sample& sample) override;
  // Runs the program or the function. Throws Error{kUsage} if it fails, takes too long, or prints no numbers.
  std::vector<MetricResult> results() const override;

 private:
  MetricCommand command_;
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<ArrayPile>> reference_, candidate_;
  std::unique_ptr<ArrayPile> labels_;
};

// The program's output: 0.93, or {"wer": 0.1, "lower_is_better": true, "unit": "relative"}, on the last line.
// The default unit is kAbsolute if higher is better, else kRelative.
struct SaidMetric {
  std::string name;
  double value = 0;
  bool higher_is_better = true;
  MetricUnit unit = MetricUnit::kAbsolute;
};
// Throws Error{kUsage} for anything else.
std::vector<SaidMetric> read_said(const std::string& text, const std::string& command);

}  // namespace ounce::evaluate
