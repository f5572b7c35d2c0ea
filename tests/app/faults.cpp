// Runs a primary model with a shadow candidate that crashes, hangs, fails and returns NaN, over many calls.
// The results of the primary must not change, and every fault must be counted.
//
//   app_faults MODEL LIBRARY RUNNER CALLS
#include <ounce/app.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace ounce::app;

void fill(Call& call, int number) {
  float value = static_cast<float>(number % 17) / 16;
  for (float& place : call.input<float>()) place = value += 0.125F;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) return 2;
  ::setenv("OUNCE_RUNNER", argv[3], 1);
  const LoadOptions options{.library = argv[2]};
  const Session session = Session::load(argv[1], options);
  std::vector<std::vector<float>> expected;
  Call alone = session.call();
  for (int number = 0; number < 17; ++number) {
    fill(alone, number);
    alone.run();
    expected.emplace_back(alone.output<float>().begin(), alone.output<float>().end());
  }
  ShadowOptions how;
  how.load = options;
  how.candidate_seconds = 0.1;  // timeout of a run that hangs
  Shadow shadow(Session::load(argv[1], options), argv[1], how);
  ShadowCall call = shadow.call();
  const int calls = std::atoi(argv[4]);
  int wrong = 0;
  for (int i = 0; i < calls; ++i) {
    fill(call.inputs(), i);
    call.run();
    const auto values = call.output<float>();
    if (std::vector<float>(values.begin(), values.end()) != expected[static_cast<std::size_t>(i % 17)])
      ++wrong;
    if (i % (calls / 8) == 0) shadow.flush(std::chrono::minutes(1));  // waits for the candidate
  }
  shadow.flush(std::chrono::minutes(1));
  const ShadowStatistics found = shadow.statistics();
  const auto count = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "%d calls, %d wrong; %llu compared, %llu dropped, %llu errors, %llu crashes, %llu timeouts, %llu not "
      "finite\n",
      calls, wrong, count(found.compared), count(found.dropped), count(found.errors), count(found.crashes),
      count(found.timeouts), count(found.not_finite));
  const bool are_counted = found.calls == static_cast<std::uint64_t>(calls) &&
                           found.compared + found.dropped + found.failures() == found.calls;
  return wrong == 0 && are_counted && found.failures() > 0 ? 0 : 1;
} catch (const Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
