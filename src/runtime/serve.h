// The runner's side of wire.h: takes messages until the other side closes.
#pragma once

namespace ounce::runtime {

// The exit code of a runner that got no memory from the system, or no thread: not the model's fault.
constexpr int kRefusedExit = 71;

// Gives the exit code of the process.
int serve(int in, int out);

}  // namespace ounce::runtime
