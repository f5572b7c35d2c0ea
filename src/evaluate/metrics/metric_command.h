// A quality that a program or a function of the user's finds (ounce/verify.h: MetricCommand). What both
// models give is put aside sample by sample; at the end it stands in a folder of its own:
//
//   original.npz, candidate.npz   each output by its name, [samples, …]; where samples differ in their shape,
//                                 "name/0", "name/1" …
//   labels.npz                    "labels", likewise; not there when there are none
//
// The program is killed, with all that it started, when it takes too long or when we are stopped.
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
  // Asks the program or the function. Throws Error{kUsage} when it fails, takes too long, or says anything
  // but numbers.
  std::vector<MetricResult> results() const override;

 private:
  MetricCommand command_;
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<ArrayPile>> reference_, candidate_;
  std::unique_ptr<ArrayPile> labels_;
};

// What the program may say: 0.93, or {"wer": 0.1, "lower_is_better": true, "unit": "relative"}; behind other
// lines, if it must. Without a unit it is kAbsolute where more is better, else kRelative: values decide
// nothing.
struct SaidMetric {
  std::string name;
  double value = 0;
  bool higher_is_better = true;
  MetricUnit unit = MetricUnit::kAbsolute;
};
// Throws Error{kUsage} for anything else.
std::vector<SaidMetric> read_said(const std::string& text, const std::string& command);

}  // namespace ounce::evaluate
