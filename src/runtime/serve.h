// The runner's side of wire.h: takes messages until the other side closes.
#pragma once

namespace ounce::runtime {

// Gives the exit code of the process.
int serve(int in, int out);

}  // namespace ounce::runtime
