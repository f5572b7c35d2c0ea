// Runs many small jobs in child processes, so that a crash or hang of the runtime is recorded as a result.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ounce::test {

struct GuardedResult {
  std::vector<std::string> lines;  // the result of the job
  std::string crash;               // "killed by signal 11"; empty if the job ended normally
};

// Runs the jobs 0 to count - 1 in `processes` processes. Lines must not contain line breaks. The caller must
// not have threads.
std::vector<GuardedResult> run_guarded(std::size_t count, unsigned processes, unsigned seconds_per_job,
                                       const std::function<std::vector<std::string>(std::size_t)>& job);

}  // namespace ounce::test
