// Runs many small jobs in child processes, so that a crash or a hang of the runtime is a result and not the
// end.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ounce::test {

struct GuardedResult {
  std::vector<std::string> lines;  // what the job returned
  std::string crash;               // "killed by signal 11"; empty when it came to its end
};

// Runs job(0) … job(count - 1), `processes` at a time, each process taking one job after another. Lines must
// not contain line breaks. The caller must not have threads.
std::vector<GuardedResult> run_guarded(std::size_t count, unsigned processes, unsigned seconds_per_job,
                                       const std::function<std::vector<std::string>(std::size_t)>& job);

}  // namespace ounce::test
