// Where the time of a run goes: what ONNX Runtime's profile says, put together by op and by node.
//
// The profile is a list of events; those of kernels look like
//
//   {"cat": "Node", "name": "conv1_kernel_time", "ts": 812, "dur": 95, "args": {"op_name": "QLinearConv", …}}
//
// with microseconds. LiteRT's operators are put into the same form: "args" also says who ran an operator
// ("provider") and whether it multiplies integers ("is_integer"), and an event "delegation" has the numbers
// of operators. A node with a body (If, Loop) lasts as long as the nodes inside of it: those are taken off.
#pragma once

#include <ounce/bench.h>

#include <filesystem>
#include <string_view>

namespace ounce::evaluate {

// Of a file that a session wrote; all runs that it holds count, each as one.
Profile read_profile(const std::filesystem::path& file);
Profile profile_of(std::string_view json);

// Ops that multiply integers with weights: what a quantized model is to spend its time in.
bool is_integer_kernel(std::string_view op_type);

}  // namespace ounce::evaluate
