// The results of quantize, for people and for programs.
#pragma once

#include <ounce/quantize.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using QuantizeRow = Row<QuantizeResult>;

// A total closes the table if the rows are different models, and not results of the same one.
std::string quantize_table(const std::vector<QuantizeRow>& rows, bool dry_run);
std::string tensor_table(const std::vector<TensorOutcome>& tensors, std::size_t at_most);
// What became of the result in the runtime; empty when that was not wanted.
std::string trial_line(const TrialResult& trial);
// Empty where it is not known, and for models that are too small to show.
std::string memory_line(const QuantizeResult& result);
std::string speed_line(const TrialResult& trial);    // empty: not timed
std::string kernels_line(const TrialResult& trial);  // empty: not profiled
// Which ops compute on integers, and which stay in floats, grouped by the reason; empty for storage formats.
std::string arithmetic_lines(const std::vector<NodeOutcome>& nodes);
// What was left alone, grouped by the reason.
std::string left_alone(const std::vector<TensorOutcome>& tensors);

}  // namespace ounce::report
